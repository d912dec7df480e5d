"""A formula and a schema make a design: integer columns on a public grid, their names, and the longest row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidFormula, InvalidType
from discreet.lattice.grid import DEFAULT_BITS, Coding, Layout
from discreet.tables.complete_block import CompleteBlock
from discreet.tables.features import Feature, TermFeatures, codings_of, expand, main_effect
from discreet.tables.formula import Factor, Formula, Term, parse
from discreet.tables.row_norm import row_norm_squared
from discreet.tables.schema.schema import Schema
from discreet.tables.selection import Selection, select

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from discreet.tables.blocks import RecordBlock

# How a design was asked for: by terms, by a formula, or by the formula of a label.
WRITTEN = {"terms", "formula", "labels"}


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """The integer columns of a release, computed from public declarations alone.

    Made by :meth:`for_terms` or :meth:`for_formula`.

    Attributes
    ----------
    schema : Schema
        The declared columns that are needed.
    features : tuple of Feature
        The columns other than the constant, in grid order; a formula's target is the last.
    layout : Layout
        Their public grid.
    target : str or None
        The target where the design was made for one formula.

    Notes
    -----
    *Guarantee.* `layout` is a function of the schema and the formula; `encode` gives every record a column of the
    grid that depends on that record alone, whose squared norm is at most ``layout.row_norm_squared``.
    Proof: docs/proofs/gram.md.

    Examples
    --------
    >>> from discreet.tables.schema.columns import Category, Number
    >>> from discreet.tables.schema.schema import Schema
    >>> schema = Schema({"age": Number(17, 90), "sex": Category(["Female", "Male"])})
    >>> Design.for_terms("age * sex", schema).layout.names
    ('age', 'sex[Male]', 'age:sex[Male]')
    """

    schema: Schema
    features: tuple[Feature, ...]
    layout: Layout
    target: str | None
    written: tuple[tuple[str, str | None], ...]

    @classmethod
    def for_terms(cls, terms: str | None, schema: Schema, *, bits: int = DEFAULT_BITS) -> Design:
        """Return the design of a release of many uses.

        Parameters
        ----------
        terms : str or None
            The right side of a formula, such as "income + age * C(education)"; None means the main effect of every
            declared column.
        schema : Schema
            Public facts.
        bits : int, optional
            Fineness of the grid, ``2**bits`` steps a half-width.

        Raises
        ------
        InvalidFormula
            If a term is not fitted or names an undeclared column.
        """
        columns = _check_schema(schema).columns
        if terms is None:
            formula = Formula(None, tuple(Term((Factor(name),)) for name in columns), intercept=True)
        else:
            formula = parse(terms, columns, with_target=False)
        return cls._made(formula, schema, bits, (("terms", terms),))

    @classmethod
    def for_formula(cls, formula: str, schema: Schema, *, bits: int = DEFAULT_BITS, labels: bool = False) -> Design:
        """Return the design of one regression, such as "income ~ age + sex"; its target is the last column.

        Parameters
        ----------
        formula : str
            Target and terms.
        schema : Schema
            Public facts.
        bits : int, optional
            Fineness of the grid.
        labels : bool
            Whether the target is a label, a flag or a category of two levels, coded -K and K.

        Raises
        ------
        InvalidFormula
            If the formula uses what is not fitted, names an undeclared column, or its target is a category.
        """
        parsed = parse(formula, _check_schema(schema).columns, with_target=True, labels=labels)
        return cls._made(parsed, schema, bits, (("labels" if labels else "formula", formula),), labels=labels)

    @classmethod
    def _made(
        cls,
        formula: Formula,
        schema: Schema,
        bits: int,
        written: tuple[tuple[str, str | None], ...],
        *,
        labels: bool = False,
    ) -> Design:
        columns = schema.columns
        blocks = expand(formula, columns)
        if formula.target is not None:
            blocks = (*blocks, TermFeatures((main_effect(formula.target, columns[formula.target]),)))
        features = tuple(feature for block in blocks for feature in block.features)
        names = tuple(feature.name for feature in features)
        if len(set(names)) < len(names):
            raise InvalidFormula(f"The target `{names[-1]}` has the name of a term; rename a column or a level.")
        codings = codings_of(blocks, columns, intercept=formula.intercept, bits=bits)
        if labels:
            # The whole grid, as any target: half of it would double the noise on what the target says.
            codings = (*codings[:-1], Coding.centered(0.0, 1.0, bits))
        longest = row_norm_squared(features, codings, columns, intercept=formula.intercept, bits=bits)
        layout = Layout(names, codings, intercept=formula.intercept, bits=bits, row_norm_squared=longest)
        needed = schema.restricted_to(list(dict.fromkeys(name for feature in features for name in feature.columns)))
        return cls(needed, features, layout, formula.target, (*written, ("bits", str(bits))))

    @property
    def columns_needed(self) -> tuple[str, ...]:
        """The table's columns that are read, in the schema's order."""
        return tuple(self.schema.columns)

    @property
    def may_drop(self) -> bool:
        """Whether a needed column drops records, so that how many contribute is private under either adjacency."""
        return any(column.missing == "drop" for column in self.schema.columns.values())

    def select(self, formula: str, *, labels: bool = False) -> Selection:
        """Return how a regression on some of the design's columns is written in terms of them.

        Parameters
        ----------
        formula : str
            Target and terms.
        labels : bool
            Whether the target is a label, see :meth:`for_formula`; it then counts as 0 and 1.

        Raises
        ------
        InvalidFormula
            If the formula needs what is not among the design's terms; names it.
        """
        return select(formula, columns=self.schema.columns, features=self.features, layout=self.layout, labels=labels)

    def encode(self, block: RecordBlock) -> NDArray[np.float64]:
        """Return the grid rows of some records as whole numbers.

        Parameters
        ----------
        block : RecordBlock
            Private records with the needed columns.

        Returns
        -------
        ndarray of float64, shape (layout.width, n_rows)
            One record a column; a dropped record is a column of zeros.

        Raises
        ------
        InvalidData
            If a cell is missing in a column whose policy is "error"; names the column.
        """
        return self.encode_kept(block)[0]

    def encode_kept(self, block: RecordBlock) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
        """Return the grid rows of some records as :meth:`encode` does, and which records are dropped, None where none.

        Raises
        ------
        InvalidData
            As :meth:`encode`.
        """
        complete = CompleteBlock(block, self.schema.columns)
        out = np.empty((self.layout.width, block.n_rows))
        first = int(self.layout.intercept)
        if first:
            out[0] = 2.0**self.layout.bits
        for row, feature, coding in zip(out[first:], self.features, self.layout.codings, strict=True):
            if not feature.numbers:
                zero, one = coding.encode([0.0, 1.0])
                row.fill(zero)
                row[complete.hit(feature)] = one
            elif not feature.hits and len(feature.numbers) == 1 and feature.numbers[0].power == 1:
                coding.encode(complete.raw(feature.numbers[0].column), out=row)
            else:
                complete.multiply(feature, row)
                coding.encode(row, out=row)
        if complete.dropped is not None:
            out[:, complete.dropped] = 0.0
        return out, complete.dropped

    def to_json(self) -> dict[str, Any]:
        """Return the design's declarations as a JSON object."""
        written = dict(self.written)
        bits = int(written.pop("bits") or DEFAULT_BITS)
        return {"schema": self.schema.to_json(), "bits": bits, **written}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Design:
        """Return the design that `to_json` wrote."""
        if not isinstance(value, dict) or set(value) - WRITTEN != {"schema", "bits"} or len(value) != 3:
            raise InvalidArgument("A design in JSON must have the fields schema, bits, and terms, formula or labels.")
        schema = Schema.from_json(value["schema"])
        bits = _checks.integer(value["bits"], "bits", low=1)
        for name in ("formula", "labels"):
            if name in value:
                return cls.for_formula(value[name], schema, bits=bits, labels=name == "labels")
        return cls.for_terms(value["terms"], schema, bits=bits)


def _check_schema(schema: Any) -> Schema:
    if isinstance(schema, Schema):
        return schema
    raise InvalidType(f"`schema` must be a Schema; found {type(schema).__name__}. Use Schema.from_toml(path).")
