"""The public facts about a private table: its declared columns, its neighbours, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.bounds import Interval
from discreet.privacy.adjacency import Adjacency, check_adjacency
from discreet.tables.schema.columns import Category, Column, Constant, Flag, Number, Reading, levels_of

if TYPE_CHECKING:
    from discreet.tables.schema.schema_file import Declarations

# As many as `group_curve` takes.
MOST_ROWS_PER_UNIT = 1000


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
    unit : str, optional
        The column that says whose a row is, where one person has several; it is no declared column, and its cells are
        never released or kept. Neighbours then differ in all rows of one unit.
    rows_per_unit : int, optional
        How many rows of one unit contribute at most; needed with `unit`.

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
    unit: str | None
    rows_per_unit: int | None

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        adjacency: Adjacency | None = None,
        reading: Reading | None = None,
        description: str | None = None,
        unit: str | None = None,
        rows_per_unit: int | None = None,
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
        _check_unit(unit, rows_per_unit, columns)
        object.__setattr__(self, "unit", unit)
        object.__setattr__(self, "rows_per_unit", rows_per_unit)
        object.__setattr__(self, "adjacency", None if adjacency is None else _of_unit(adjacency, unit))
        object.__setattr__(self, "reading", Reading() if reading is None else reading)
        object.__setattr__(self, "description", description)

    @property
    def columns(self) -> dict[str, Column]:
        """The declared columns by name, in order; a copy."""
        return dict(self._items)

    def restricted_to(self, names: Sequence[str]) -> Schema:
        """Return the schema of the columns called `names` alone, in this schema's order."""
        return self._like({name: column for name, column in self._items if name in set(names)})

    def with_columns(self, columns: Mapping[str, Column]) -> Schema:
        """Return this schema with some declarations added or put in the place of its own."""
        return self._like({**self.columns, **columns})

    def of_single_rows(self) -> Schema:
        """Return this schema without its unit: for reading records that are nobody's private rows."""
        return Schema(self.columns, reading=self.reading, description=self.description)

    def _like(self, columns: Mapping[str, Column]) -> Schema:
        """Return a schema of other columns that is this one in all else."""
        return Schema(
            columns,
            adjacency=self.adjacency,
            reading=self.reading,
            description=self.description,
            unit=self.unit,
            rows_per_unit=self.rows_per_unit,
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
        from discreet.tables.schema import schema_file

        return cls._of(schema_file.read(Path(path)))

    def to_toml(self, path: str | Path | None = None) -> str:
        """Return the schema as the text of a TOML file, and write it to `path` if one is given."""
        from discreet.tables.schema import schema_file

        text = schema_file.toml_text(self._declarations())
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def to_json(self) -> dict[str, Any]:
        """Return the schema as a JSON object."""
        from discreet.tables.schema import schema_file

        return schema_file.as_object(self._declarations())

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Schema:
        """Return the schema that `to_json` wrote."""
        from discreet.tables.schema import schema_file

        return cls._of(schema_file.from_object(value))

    @classmethod
    def _of(cls, declared: Declarations) -> Schema:
        return cls(
            declared.columns,
            adjacency=declared.adjacency,
            reading=declared.reading,
            description=declared.description,
            unit=declared.unit,
            rows_per_unit=declared.rows_per_unit,
        )

    def _declarations(self) -> Declarations:
        from discreet.tables.schema.schema_file import Declarations

        return Declarations(self.columns, self.adjacency, self.reading, self.description, self.unit, self.rows_per_unit)

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
        if over is None:
            return cls(columns, adjacency=adjacency)
        return cls(
            columns,
            adjacency=over.adjacency if adjacency is None else adjacency,
            reading=over.reading,
            description=over.description,
            unit=over.unit,
            rows_per_unit=over.rows_per_unit,
        )


def _check_unit(unit: Any, rows_per_unit: Any, columns: Mapping[str, Column]) -> None:
    """Refuse a unit without a cap, a cap without a unit, and a unit that is also a declared column."""
    if unit is None and rows_per_unit is None:
        return
    if unit is None or rows_per_unit is None:
        raise InvalidArgument(
            f"`{'unit' if unit is None else 'rows_per_unit'}` is missing. Declare `unit`, the column that says whose a "
            "row is, together with `rows_per_unit`, how many rows of one unit contribute at most."
        )
    if not isinstance(unit, str) or not unit:
        raise InvalidType(f"`unit` must be the name of a column; found {type(unit).__name__}.")
    _checks.integer(rows_per_unit, "rows_per_unit", low=1, high=MOST_ROWS_PER_UNIT)
    if unit in columns:
        raise InvalidArgument(
            f"Column `{unit}` is the `unit`, which says whose a row is, and a declared column. "
            "Take it out of the columns: its cells are never released."
        )


def _of_unit(adjacency: Any, unit: str | None) -> Adjacency:
    """Return the adjacency of a schema, which is about its unit."""
    found = check_adjacency(adjacency, units=True)
    if found.unit is None or found.unit == unit:
        return type(found)(unit)
    said = "declares none" if unit is None else f"declares `{unit}`"
    raise InvalidArgument(
        f"`adjacency` {found!r} names a unit, and the schema {said}. Give the schema the same `unit`, and "
        "`rows_per_unit`."
    )


def _declared(facts: Any, old: Column | None) -> Column:
    if isinstance(facts, Interval):
        missing = old.missing if isinstance(old, Number) else "error"
        if isinstance(missing, Constant) and not facts.lower <= float(missing.value) <= facts.upper:
            missing = "error"
        return Number(facts.lower, facts.upper, missing=missing)
    levels = levels_of(facts)
    missing_level = old.missing if isinstance(old, Category) else "error"
    if isinstance(missing_level, Constant) and missing_level.value not in levels:
        missing_level = "error"
    return Category(levels, missing=missing_level)
