"""One private Gram matrix, many regressions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _files
from discreet.errors import AdjacencyMismatch, InvalidArgument, InvalidData
from discreet.functional.gram import GramEvent, NoisyGram, gram_of, noise_scale, plan_gram
from discreet.functional.inference import RegressionResult
from discreet.functional.repair import Minimiser, adaptive_ridge
from discreet.lattice.grid import Layout
from discreet.privacy.adjacency import check_adjacency
from discreet.privacy.events import event_from_json
from discreet.privacy.release import LABELS, Release, release
from discreet.tables.design import Design

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.tables.readers import Table
    from discreet.tables.schema import Schema
    from discreet.tables.selection import Selection


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Coefficients in the user's units with the repair that led to them."""

    coef: np.ndarray
    intercept: float
    repair: Minimiser


@dataclass(frozen=True, eq=False)
class Moments:
    """A released Gram matrix with its public grid: it answers every regression among its columns, free.

    Parameters
    ----------
    layout : Layout
        The public grid of a row.
    release : Release
        The noisy Gram matrix and what it cost.
    design : Design or None
        The terms and the declarations of a table; None for arrays.

    Guarantee
    ---------
    Post-processing of one release: nothing here reads a private row, so no answer costs anything.
    """

    layout: Layout
    release: Release[NoisyGram]
    design: Design | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the released columns."""
        return self.layout.names

    @property
    def cost(self) -> Budget:
        """What the release cost."""
        return self.release.cost

    def gram(self) -> np.ndarray:
        """Return the noisy Gram matrix of rows scaled to [-1, 1], float64 of shape (D, D).

        Where the number of rows is public, it stands in the corner of the intercept.
        """
        noisy = self.release.value
        matrix = noisy.entries.astype(np.float64) * (2.0**noisy.step_bits / 4.0**self.layout.bits)
        if self.layout.intercept and noisy.n_rows is not None:
            matrix[0, 0] = noisy.n_rows
        return matrix

    def noise_scale(self) -> float:
        """Return the standard deviation of the noise in an off-diagonal entry of :meth:`gram`; public."""
        return noise_scale(_gram_event(self.release.event)) / 4.0**self.layout.bits

    def regress(self, formula: str) -> RegressionResult:
        """Return the least-squares regression that `formula` names, read from the release.

        Parameters
        ----------
        formula : str
            Such as "income ~ age + hours"; target and terms must be among the released ones.

        Returns
        -------
        RegressionResult
            Estimates in the units of the columns.

        Raises
        ------
        InvalidFormula
            If a name is unknown or was not released.

        Guarantee
        ---------
        Post-processing of the release: costs nothing.
        """
        if self.design is None:
            raise InvalidArgument(
                "These moments were released from arrays; a formula needs a release made with a schema."
            )
        selection = self.design.select(formula)
        answer = self.least_squares(selection)
        return RegressionResult(
            formula=formula,
            feature_names=selection.names,
            coef=answer.coef,
            intercept=answer.intercept,
            has_intercept=selection.intercept,
            noise_dominated=answer.repair.noise_dominated,
            ridge=answer.repair.ridge,
            event=self.release.event,
            label=self.release.label,
            schema=self.design.schema,
            notes=self.release.notes,
        )

    def least_squares(self, selection: Selection) -> LeastSquares:
        """Return the repaired least-squares solution for features that are linear in the released columns.

        The features are scaled to [-1, 1] by their declared bounds, and centered where the model has an intercept,
        before the ridge is added: the ridge then means the same for every unit of measurement.
        """
        coding = self.layout.user_coding()
        half_width = 2.0**self.layout.bits
        largest = np.array(self.layout.entry_bounds, dtype=np.float64) / half_width
        features, offsets, scales = _scaled(selection.rows @ coding, largest, centered=selection.intercept)
        target = coding[selection.target_index][None, :]
        target, target_offset, target_scale = _scaled(target, largest, centered=selection.intercept)
        if selection.intercept:
            features = np.vstack([np.eye(1, coding.shape[0]), features])
        gram = self.gram()
        spread = float(np.linalg.norm(features, 2)) ** 2 if features.size else 0.0
        noise_norm = 2.0 * self.noise_scale() * np.sqrt(features.shape[0]) * spread
        repair = adaptive_ridge(features @ gram @ features.T, features @ gram @ target[0], noise_norm=float(noise_norm))
        solution = repair.solution
        constant, slopes = (solution[0], solution[1:]) if selection.intercept else (0.0, solution)
        coef = slopes * (target_scale[0] / scales)
        intercept = (
            float(target_offset[0] + target_scale[0] * constant - coef @ offsets) if selection.intercept else 0.0
        )
        return LeastSquares(coef, intercept, repair)

    def dumps(self) -> str:
        """Return the text of a moments file: strict JSON, nothing of the rows but the release."""
        if self.design is None:
            raise InvalidArgument(
                "Moments of arrays have no schema and are not saved; save a release made with a schema."
            )
        noisy = self.release.value
        upper = np.triu_indices(self.layout.width)
        return _files.dump(
            "moments",
            {
                "design": self.design.to_json(),
                "layout": self.layout.to_json(),
                "step_bits": noisy.step_bits,
                "n_rows": noisy.n_rows,
                # Whole numbers above 2**53 are not safe in every JSON reader, so all are text.
                "upper_triangle": [str(int(value)) for value in noisy.entries[upper]],
                "event": self.release.event.to_json(),
                "label": self.release.label,
                "notes": list(self.release.notes),
            },
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the release to a file that :meth:`load` reads without the rows."""
        with _files.OutputFile(path, name="path") as output:
            output.write(self.dumps())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Moments:
        """Read a release that :meth:`save` wrote; the rows are not needed."""
        content = _files.read(path, kind="moments")
        with _files.well_formed(repr(str(path))):
            layout = Layout.from_json(content["layout"])
            entries = np.zeros((layout.width, layout.width), dtype=np.int64)
            entries[np.triu_indices(layout.width)] = [int(text) for text in content["upper_triangle"]]
            entries = np.triu(entries) + np.triu(entries, 1).T
            n_rows = None if content["n_rows"] is None else int(content["n_rows"])
            return cls(
                layout=layout,
                release=Release(
                    value=NoisyGram(entries, int(content["step_bits"]), n_rows),
                    event=_gram_event(event_from_json(content["event"])),
                    label=_files.one_of(content["label"], LABELS),
                    notes=tuple(map(str, content["notes"])),
                ),
                design=Design.from_json(content["design"]),
            )


def _gram_event(event: Any) -> GramEvent:
    if isinstance(event, GramEvent):
        return event
    raise TypeError


def _scaled(rows: np.ndarray, largest: np.ndarray, *, centered: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows over the grid scaled to at most 1 in size, the constants taken out, and the scales."""
    rows = rows.copy()
    offsets = np.zeros(rows.shape[0])
    if centered:
        offsets = rows[:, 0].copy()
        rows[:, 0] = 0.0
    scales = np.abs(rows) @ largest
    scales[scales == 0.0] = 1.0
    return rows / scales[:, None], offsets, scales


class TableRows:
    """The rows of a table, ready to be summed on the grid of a design."""

    def __init__(
        self, table: Table, design: Design, *, may_be_empty: bool, progress: Callable[[int], None] | None = None
    ) -> None:
        self._table = table
        self._design = design
        self._may_be_empty = may_be_empty
        self._progress = progress
        self._private_size = 0

    def private_gram(self, layout: Layout) -> np.ndarray:
        """Return the exact Gram matrix of the rows; one pass.

        Raises
        ------
        InvalidData
            If a cell is missing under policy "error", or the table is empty where its size is public.
        """
        from discreet.lattice.gram import GramSum

        total = GramSum(layout)
        self._private_size = 0
        for block in self._table.blocks():
            total.add(self._design.encode(block))
            self._private_size += block.n_rows
            if self._progress is not None:
                self._progress(self._table.position)
        if self._private_size == 0 and not self._may_be_empty:
            raise InvalidData(
                "The table has no rows, and under Replace() their number is public. "
                "Read the right file, or declare AddRemove() if the number is private."
            )
        return total.gram

    def private_size(self) -> int:
        """Return the number of rows read."""
        return self._private_size


def release_moments(
    data: Any,
    schema: Schema,
    *,
    terms: str | None = None,
    budget: Budget,
    ledger: Ledger | None = None,
    adjacency: Adjacency | None = None,
    mechanism: str = "auto",
) -> Moments:
    """Release one noisy Gram matrix of a table, from which every regression among its terms can be read.

    Parameters
    ----------
    data : path, data frame, Arrow table
        The private rows: a CSV or Parquet file, a pandas or polars frame, an Arrow table.
    schema : Schema
        The public facts about the columns.
    terms : str or None
        The released terms, such as "income + age + C(education)"; None for every declared column.
    budget : Pure, Approx, Zcdp or Gdp
        What the release may cost.
    ledger : Ledger or None
        Who pays; None opens a ledger in memory whose total is `budget`.
    adjacency : Replace or AddRemove, optional
        Which data sets are neighbours; needed where neither ledger nor schema says it.
    mechanism : {"auto", "wishart", "laplace", "gaussian"}
        The law of the noise.

    Returns
    -------
    Moments
        The release; save it, and ask it anything.

    Raises
    ------
    InvalidFormula
        If a term is unknown or is not of the grammar.
    InvalidData
        If the rows do not fit the schema; nothing is spent.
    BudgetExceeded
        If the ledger has too little left; nothing is released.

    Guarantee
    ---------
    The release satisfies `budget` under the adjacency, for any rows: sensitivities are exact integers
    (docs/proofs/gram.md), the noise is the ideal law, rounded (docs/proofs/rounding.md, docs/proofs/wishart.md).

    Source
    ------
    Zhang et al. 2012, Algorithm 1, with the noise of docs/proofs/wishart.md.
    """
    return release_design(
        data, Design.for_terms(terms, schema), budget=budget, ledger=ledger, adjacency=adjacency, mechanism=mechanism
    )


def release_design(
    data: Any,
    design: Design,
    *,
    budget: Budget,
    ledger: Ledger | None = None,
    adjacency: Adjacency | None = None,
    mechanism: str = "auto",
    progress: Callable[[int], None] | None = None,
) -> Moments:
    """Release the Gram matrix of a design; `release_moments` with a design that is already made."""
    from discreet.tables.readers import Table, open_table

    neighbours = settle_adjacency(adjacency, ledger, design.schema)
    plan = plan_gram(
        design.layout,
        budget=budget,
        adjacency=neighbours,
        mechanism=mechanism,
        size_is_public=neighbours.size_is_public and not design.may_drop,
        statistic=gram_of(design.layout),
    )
    table = data if isinstance(data, Table) else open_table(data, design.schema, design.columns_needed)
    rows = TableRows(table, design, may_be_empty=not neighbours.size_is_public, progress=progress)
    return Moments(design.layout, release(plan, rows, ledger), design)


def settle_adjacency(adjacency: Adjacency | None, ledger: Ledger | None, schema: Schema | None) -> Adjacency:
    """Return the one adjacency that argument, ledger and schema speak of; refuse silence and contradiction."""
    said = {
        "adjacency": adjacency if adjacency is None else check_adjacency(adjacency),
        "ledger": None if ledger is None else ledger.adjacency,
        "schema": None if schema is None else schema.adjacency,
    }
    found = {where: value for where, value in said.items() if value is not None}
    if not found:
        raise InvalidArgument(
            "No adjacency was named: give `adjacency` Replace() (n public) or AddRemove() (n private), "
            "or declare it in the schema."
        )
    if len(set(found.values())) > 1:
        words = ", ".join(f"{where} says {value!r}" for where, value in found.items())
        raise AdjacencyMismatch(f"The adjacency is not one: {words}. Make them agree.")
    return next(iter(found.values()))
