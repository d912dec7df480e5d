"""One private Gram matrix, many regressions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks, _files
from discreet.errors import InvalidArgument
from discreet.functional.bootstrap import Bootstrap, public_seed
from discreet.functional.gram import NoisyGram, gram_of, noise_variances, plan_gram
from discreet.functional.kurtosis import entry_kurtosis
from discreet.functional.least_squares import LeastSquares, Problem, own_rule
from discreet.functional.repair import mean_predictor, warn_if_dominated
from discreet.functional.sandwich import sandwich, why_not_offered
from discreet.lattice.gram_noise import GramEvent, noise_scale
from discreet.lattice.grid import Layout
from discreet.models.result import RegressionResult
from discreet.privacy.events.event import event_from_json
from discreet.privacy.release import LABELS, Release, release, settle_adjacency, with_notes
from discreet.tables.design import Design
from discreet.tables.rows import TableRows

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from discreet.models.uncertainty import Uncertainty
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.findings import Finding
    from discreet.privacy.ledger import Ledger
    from discreet.tables.schema.schema import Schema
    from discreet.tables.selection import Selection


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

    def n_rows(self) -> float | None:
        """Return the number of rows: public, else the release's own noisy count, else None; public either way."""
        noisy = self.release.value
        if noisy.n_rows is not None:
            return float(noisy.n_rows)
        return float(self.gram()[0, 0]) if self.layout.intercept else None

    def entry_variances(self) -> np.ndarray:
        """Return the variance of the noise in every entry of :meth:`gram`, shape (D, D); public."""
        variances = noise_variances(_gram_event(self.release.event), self.layout) / 16.0**self.layout.bits
        if self._corner_is_public:
            variances[0, 0] = 0.0
        return np.asarray(variances)

    @property
    def _corner_is_public(self) -> bool:
        return self.layout.intercept and self.release.value.n_rows is not None

    def mean(self, column: str) -> float:
        """Return the mean of a released column, within its bounds: the prediction that is left where noise dominates.

        *Guarantee.* Post-processing of the release: costs nothing.
        """
        if column not in self.names or not self.layout.intercept:
            raise InvalidArgument(f"`column` must be one of a release with an intercept: {', '.join(self.names)}.")
        place = self.names.index(column)
        corner_std = float(np.sqrt(self.entry_variances()[0, 0]))
        value = mean_predictor(self.gram(), self.layout.user_coding()[1 + place], noise_norm=2.0 * corner_std)
        coding = self.layout.codings[place]
        return min(max(value, coding.lower), coding.upper)

    def regress(self, formula: str, *, repair: str | None = None, penalty: float = 0.0) -> RegressionResult:
        """Return the least-squares regression that `formula` names, read from the release.

        Parameters
        ----------
        formula : str
            Such as "income ~ age + hours"; target and terms must be among the released ones.
        repair : {"adaptive", "paper", "paper_code"} or None
            How the noisy quadratic is made convex; None for the mechanism's own rule, "adaptive" but for the paper's.
        penalty : float
            A ridge penalty on the coefficients of features scaled to [-1, 1] by their bounds, not on the intercept,
            in units of the sum of squared residuals of the target scaled alike; at least 0.

        Returns
        -------
        RegressionResult
            Estimates in the units of the columns, with standard errors that count the privacy noise where valid.

        Raises
        ------
        InvalidFormula
            If a name is unknown or was not released.

        Guarantee
        ---------
        Post-processing of the release: costs nothing.
        """
        selection = self._selected(formula)
        answer = self.least_squares(selection, repair=repair, penalty=penalty)
        warn_if_dominated(answer.repair)
        return self._result(formula, selection, answer)

    def ridge_path(
        self, formula: str, penalties: Iterable[float], *, repair: str | None = None
    ) -> tuple[RegressionResult, ...]:
        """Return one regression a penalty, all from the one release.

        Parameters
        ----------
        formula : str
            As for :meth:`regress`.
        penalties : iterable of float
            Each at least 0; see :meth:`regress`.
        repair : {"adaptive", "paper", "paper_code"} or None
            As for :meth:`regress`.

        Guarantee
        ---------
        Post-processing of the release: costs nothing, however long the path. A penalty that is chosen by its error
        on private rows is not covered.
        """
        selection = self._selected(formula)
        answers = [self.least_squares(selection, repair=repair, penalty=penalty) for penalty in penalties]
        return tuple(self._result(formula, selection, answer) for answer in answers)

    def _selected(self, formula: str) -> Selection:
        if self.design is None:
            raise InvalidArgument(
                "These moments were released from arrays; a formula needs a release made with a schema."
            )
        return self.design.select(formula)

    def _result(self, formula: str, selection: Selection, answer: LeastSquares) -> RegressionResult:
        uncertainty = self.uncertainty(answer)
        assert self.design is not None  # noqa: S101  (a selection was made from it)
        return RegressionResult(
            loss="squared",
            formula=formula,
            names=selection.names,
            coefs=answer.coef[None, :],
            constants=np.array([answer.intercept]),
            has_intercept=selection.intercept,
            noise_dominated=answer.repair.noise_dominated,
            ridge=answer.repair.ridge,
            event=self.release.event,
            label=self.release.label,
            schema=self.design.schema,
            notes=self.release.notes,
            penalty=answer.penalty,
            uncertainty=uncertainty,
            no_intervals=self.why_no_intervals(answer),
            entry_std=self.noise_scale(),
            bootstrap=None if uncertainty is None else self.bootstrap(answer, uncertainty),
        )

    def least_squares(self, selection: Selection, *, repair: str | None = None, penalty: float = 0.0) -> LeastSquares:
        """Return the repaired least-squares solution for features that are linear in the released columns.

        The features are scaled to [-1, 1] by their declared bounds, and centered where the model has an intercept,
        before a penalty is added: it then means the same for every unit of measurement. The repair's ridge is added
        on the release's own grid, where the noise is the same in every direction.

        `repair` and `penalty` are as for :meth:`regress`.
        """
        added = _checks.finite_float(penalty, "penalty")
        if not added >= 0.0:
            raise InvalidArgument(f"`penalty` must be at least 0; found {added}.")
        problem = Problem.of(selection, self.gram(), self.layout)
        minimiser = problem.minimise(
            rule=own_rule(self.release.event) if repair is None else repair,
            penalty=added,
            entry_std=self.noise_scale(),
            entry_variances=self.entry_variances(),
        )
        coef, intercept = problem.user_parameters(minimiser.solution)
        return LeastSquares(coef, intercept, minimiser, problem, added)

    def uncertainty(self, answer: LeastSquares) -> Uncertainty | None:
        """Return the covariance of an answer of :meth:`least_squares`, None where :meth:`why_no_intervals` says why.

        Guarantee
        ---------
        Post-processing of the release: costs nothing. Derivation: docs/proofs/intervals.md.
        """
        n_rows = self.n_rows()
        if n_rows is None or why_not_offered(answer, n_rows) is not None:
            return None
        return sandwich(
            answer,
            entry_variances=self.entry_variances(),
            n_rows=n_rows,
            entry_kurtosis=entry_kurtosis(_gram_event(self.release.event)),
            alike=self.release.event.rows_per_unit,
        )

    def why_no_intervals(self, answer: LeastSquares) -> str | None:
        """Return why an answer of :meth:`least_squares` has no valid interval, None where it has."""
        return why_not_offered(answer, self.n_rows())

    def bootstrap(self, answer: LeastSquares, uncertainty: Uncertainty) -> Bootstrap:
        """Return what bootstrap intervals of an answer are drawn from; nothing is drawn yet."""
        alike = self.release.event.rows_per_unit
        return Bootstrap(
            answer=answer,
            residual_variance=alike * uncertainty.residual_variance / answer.problem.target_scale**2,
            event=_gram_event(self.release.event),
            layout=self.layout,
            corner_is_public=self._corner_is_public,
            seed=public_seed(self.release.value),
        )

    def to_finding(self) -> Finding:
        """Return what a report says of the release."""
        from discreet.functional.findings import finding_of_moments

        return finding_of_moments(self)

    def dumps(self) -> str:
        """Return the text of a moments file: strict JSON, nothing of the rows but the release."""
        if self.design is None:
            raise InvalidArgument(
                "Moments of arrays have no schema and are not saved. Save a release made with a schema."
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
        The private rows: a file, a folder or list of files, a pandas or polars frame, an Arrow table; see
        docs/sources.md.
    schema : Schema
        The public facts about the columns.
    terms : str or None
        The released terms, such as "income + age + C(education)"; None for every declared column.
    budget : Pure, Approx, Zcdp or Gdp
        What the release may cost.
    ledger : Ledger or None
        Is charged; None opens a ledger in memory whose total is `budget`.
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
    loss: str = "squared",
    progress: Callable[[int], None] | None = None,
) -> Moments:
    """Release the Gram matrix of a design; `release_moments` with a design that is already made."""
    from discreet.tables.readers.tables import Table, open_rows

    neighbours = settle_adjacency(adjacency, ledger, design.schema)
    plan = plan_gram(
        design.layout,
        budget=budget,
        adjacency=neighbours,
        mechanism=mechanism,
        loss=loss,
        size_is_public=neighbours.size_is_public and not design.may_drop,
        statistic=gram_of(design.layout),
        rows_per_unit=design.schema.rows_per_unit,
    )
    table = data if isinstance(data, Table) else open_rows(data, design.schema, design.columns_needed)
    rows = TableRows(table, design, may_be_empty=not neighbours.size_is_public, progress=progress)
    return Moments(design.layout, with_notes(release(plan, rows, ledger), table.notes), design)
