"""Public facts about the columns of a private table: kinds, bounds, levels, and what to do about missing cells.

Everything here is declared by a person before a row is read, and nothing is ever computed from the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.bounds import Interval, check_limits
from discreet.privacy.adjacency import Adjacency, check_adjacency


@dataclass(frozen=True, slots=True)
class Constant:
    """A declared public value that is put in the place of every missing cell.

    Parameters
    ----------
    value : float or str
        In the units of its column, or one of its levels.
    """

    value: float | str


Missing = Literal["error", "drop"] | Constant


def _missing(value: Any) -> Missing:
    """Return a policy: "error", "drop", or a Constant (a bare value is taken as one)."""
    if isinstance(value, Constant) or (isinstance(value, str) and value in {"error", "drop"}):
        return value  # type: ignore[return-value]
    return Constant(value)


@dataclass(frozen=True, slots=True)
class Number:
    """A declared number.

    Parameters
    ----------
    lower, upper : float
        Public limits in the column's own units, ``lower < upper``, both finite; cells outside are clipped.
    missing : "error", "drop", or a constant
        What happens to a record whose cell is missing, not a number, or not finite.
        "error" (the default) is the data owner's check and stops before anything is charged; with "drop" the record
        contributes nothing; a constant within the limits is put in its place.
    description : str, optional
        For people.

    Raises
    ------
    InvalidArgument
        If a limit is not finite or not below the other, or the constant lies outside them.

    Examples
    --------
    >>> Number(17, 90)
    Number(lower=17.0, upper=90.0, missing='error', description=None)
    """

    lower: float
    upper: float
    missing: Missing | float = field(default="error", kw_only=True)
    description: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        lower, upper = check_limits(self.lower, self.upper, column="a Number")
        missing = _missing(self.missing)
        if isinstance(missing, Constant):
            value = _checks.finite_float(missing.value, "missing")
            if not lower <= value <= upper:
                raise InvalidArgument(
                    f"`missing` must be a constant within the bounds {lower!r} and {upper!r}; found {value!r}."
                )
            missing = Constant(value)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(self, "missing", missing)


@dataclass(frozen=True, slots=True)
class Category:
    """A declared category.

    Parameters
    ----------
    levels : sequence of str or int
        The public code list, at least two, distinct; an integer stands for its decimal text.
        A cell is compared as text, exactly: "01234" is not "1234".
        The first level is the reference of models with an intercept.
    missing : "error", "drop", or a constant
        As for `Number`; an undeclared level counts as missing; a constant is one of the levels.
        A level that is itself called "error" or "drop" is written ``Constant("drop")``.
    description : str, optional
        For people.

    Raises
    ------
    InvalidArgument
        If there are fewer than two levels, one stands twice, or the constant is none of them.

    Examples
    --------
    >>> Category(["NA", "NO", "SE"]).levels
    ('NA', 'NO', 'SE')
    """

    levels: tuple[str, ...]
    missing: Missing | str = field(default="error", kw_only=True)
    description: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        levels = _levels(self.levels)
        missing = _missing(self.missing)
        if isinstance(missing, Constant):
            missing = Constant(_level(missing.value))
            if missing.value not in levels:
                raise InvalidArgument("`missing` must be a constant that is one of the levels; found another one.")
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "missing", missing)


@dataclass(frozen=True, slots=True)
class Flag:
    """A declared yes-or-no column that counts as 0 or 1.

    Parameters
    ----------
    missing : "error", "drop", or a constant
        As for `Number`; every cell that is none of 0, 1, true and false (in any case) counts as missing;
        a constant is 0 or 1.
    description : str, optional
        For people.

    Examples
    --------
    >>> Flag(missing=0).missing
    Constant(value=0.0)
    """

    missing: Missing | float = field(default="error", kw_only=True)
    description: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        missing = _missing(self.missing)
        if isinstance(missing, Constant):
            known = {0: 0.0, 1: 1.0}  # False and True are equal to them
            value = known.get(missing.value) if isinstance(missing.value, (int, float)) else None  # type: ignore[call-overload]
            if value is None:
                raise InvalidArgument('`missing` of a flag must be "error", "drop" or the constant 0 or 1.')
            missing = Constant(value)
        object.__setattr__(self, "missing", missing)


Column = Number | Category | Flag


def _level(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidType(f"A level must be a text or a whole number; found {type(value).__name__}.")
    return str(int(value))


def _levels(values: Any) -> tuple[str, ...]:
    if isinstance(values, (str, bytes, Mapping, AbstractSet)) or not hasattr(values, "__iter__"):
        raise InvalidType(f"`levels` must be a sequence of texts or whole numbers; found {type(values).__name__}.")
    levels = tuple(map(_level, values))
    twice = sorted({level for level in levels if levels.count(level) > 1}) if len(set(levels)) < len(levels) else []
    if twice:
        raise InvalidArgument(f"`levels` must be distinct; {', '.join(map(repr, twice))} stands twice.")
    if len(levels) < 2:
        raise InvalidArgument(f"`levels` must hold at least two levels; found {len(levels)}.")
    return levels


@dataclass(frozen=True, slots=True)
class Reading:
    """How text files are read.

    Parameters
    ----------
    delimiter : str
        One character between the cells of a line.
    missing_tokens : tuple of str
        Cells of number columns that mean "missing" although they may be numbers, such as "-9"; in text columns the
        declared levels decide, so "NA" may be a level.
    thousands : str, optional
        One character that groups digits, such as "," in 54,908.
    """

    delimiter: str = ","
    missing_tokens: tuple[str, ...] = ()
    thousands: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.delimiter, str) or len(self.delimiter) != 1 or self.delimiter in '"\r\n':
            raise InvalidArgument("`delimiter` must be one character other than a quote or a line end.")
        tokens: Any = self.missing_tokens
        if isinstance(tokens, str) or not all(isinstance(token, str) for token in tokens):
            raise InvalidType("`missing_tokens` must be a sequence of texts.")
        if self.thousands is not None and (
            not isinstance(self.thousands, str) or len(self.thousands) != 1 or self.thousands in '0123456789.+-eE"'
        ):
            raise InvalidArgument("`thousands` must be one character that cannot be part of a plain number.")
        object.__setattr__(self, "missing_tokens", tuple(tokens))


@dataclass(frozen=True, slots=True, init=False)
class Schema:
    """The declared columns of a private table.

    Parameters
    ----------
    columns : mapping of str to Number, Category or Flag
        The declared columns by their exact names, in order.
    adjacency : Replace or AddRemove, optional
        The neighbours that releases from this table promise by default.
    reading : Reading, optional
        How text files are read.
    description : str, optional
        For people.

    Raises
    ------
    InvalidArgument
        If a declaration is not usable; names the column.

    Examples
    --------
    >>> schema = Schema({"age": Number(17, 90), "sex": Category(["Female", "Male"])})
    >>> list(schema.columns)
    ['age', 'sex']
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    _items: tuple[tuple[str, Column], ...]
    adjacency: Adjacency | None
    reading: Reading
    description: str | None

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        adjacency: Adjacency | None = None,
        reading: Reading | None = None,
        description: str | None = None,
    ) -> None:
        if not isinstance(columns, Mapping):
            raise InvalidType(f"`columns` must map names to declarations; found {type(columns).__name__}.")
        if not columns:
            raise InvalidArgument("A schema needs at least one declared column; found none.")
        for name, column in columns.items():
            if not isinstance(name, str) or not name:
                raise InvalidType(f"Column names must be texts that are not empty; found {type(name).__name__}.")
            if not isinstance(column, (Number, Category, Flag)):
                raise InvalidType(
                    f"Column `{name}` must be declared as Number, Category or Flag; found {type(column).__name__}."
                )
        object.__setattr__(self, "_items", tuple(columns.items()))
        object.__setattr__(self, "adjacency", None if adjacency is None else check_adjacency(adjacency))
        object.__setattr__(self, "reading", Reading() if reading is None else reading)
        object.__setattr__(self, "description", description)

    @property
    def columns(self) -> dict[str, Column]:
        """The declared columns by name, in order; a copy."""
        return dict(self._items)

    def restricted_to(self, names: Sequence[str]) -> Schema:
        """Return the schema of the columns called `names` alone, in this schema's order."""
        return Schema(
            {name: column for name, column in self._items if name in set(names)},
            adjacency=self.adjacency,
            reading=self.reading,
            description=self.description,
        )

    def with_columns(self, columns: Mapping[str, Column]) -> Schema:
        """Return this schema with some declarations added or put in the place of its own."""
        return Schema(
            {**self.columns, **columns},
            adjacency=self.adjacency,
            reading=self.reading,
            description=self.description,
        )

    @classmethod
    def from_toml(cls, path: str | Path) -> Schema:
        """Return the schema that the TOML file at `path` declares.

        Raises
        ------
        InvalidArgument
            If the file cannot be read, is no TOML, has an unknown key or a declaration that is not usable;
            names the column and the key.
        """
        from discreet.tables import schema_file

        return schema_file.read(Path(path))

    def to_toml(self, path: str | Path | None = None) -> str:
        """Return the schema as the text of a TOML file, and write it to `path` if one is given."""
        from discreet.tables import schema_file

        text = schema_file.toml_text(self)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def to_json(self) -> dict[str, Any]:
        """Return the schema as a JSON object."""
        from discreet.tables import schema_file

        return schema_file.as_object(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Schema:
        """Return the schema that `to_json` wrote."""
        from discreet.tables import schema_file

        return schema_file.from_object(value)

    @classmethod
    def from_bounds(
        cls,
        declared: Mapping[str, Interval | Sequence[str | int]],
        *,
        over: Schema | None = None,
        adjacency: Adjacency | None = None,
    ) -> Schema:
        """Return the schema of columns given by their bounds or levels alone.

        Parameters
        ----------
        declared : mapping of str to Interval or sequence of levels
            An interval declares a number, a sequence of levels a category.
        over : Schema, optional
            The schema whose declarations these replace; a column of the same kind keeps its missing policy
            where that still fits.
        adjacency : Replace or AddRemove, optional
            Instead of the schema's.
        """
        columns = {} if over is None else over.columns
        for name, facts in declared.items():
            old = columns.get(name)
            try:
                columns[name] = _declared(facts, old)
                continue
            except InvalidArgument as error:
                reason, kind = str(error), type(error)
            raise kind(f"Column `{name}`: {reason}")
        return cls(
            columns,
            adjacency=adjacency if adjacency is not None or over is None else over.adjacency,
            reading=None if over is None else over.reading,
            description=None if over is None else over.description,
        )


def _declared(facts: Any, old: Column | None) -> Column:
    if isinstance(facts, Interval):
        missing = old.missing if isinstance(old, Number) else "error"
        if isinstance(missing, Constant) and not facts.lower <= float(missing.value) <= facts.upper:
            missing = "error"
        return Number(facts.lower, facts.upper, missing=missing)
    levels = _levels(facts)
    missing_level = old.missing if isinstance(old, Category) else "error"
    if isinstance(missing_level, Constant) and missing_level.value not in levels:
        missing_level = "error"
    return Category(levels, missing=missing_level)
