"""How sure will the coefficients be? A forecast from public facts, before anything is spent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import DiscreetError, IncompatiblePlan, InvalidArgument
from discreet.functional.assumptions import laws_of, second_moments
from discreet.functional.gram import MECHANISMS, gram_of, noise_variances, plan_gram
from discreet.functional.least_squares import Problem, own_rule
from discreet.functional.sandwich import spread_of
from discreet.lattice.gram_noise import noise_scale
from discreet.privacy.budgets import check_budget
from discreet.privacy.release import settle_adjacency
from discreet.tables.design import Design

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discreet.functional.gram import GramPlan
    from discreet.functional.moments import Moments
    from discreet.models.uncertainty import Uncertainty
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.tables.schema.schema import Schema
    from discreet.tables.selection import Selection

# Of the target's variance; surveys of people seldom explain more, and a smaller number is the cautious one.
ASSUMED_R_SQUARED = 0.3


@dataclass(frozen=True, eq=False)
class MechanismForecast:
    """The standard errors that one law of noise leads to, by coefficient, in units of target per unit of feature.

    Parameters
    ----------
    mechanism : str
        The law.
    standard_errors, noise_parts, sampling_parts : dict of str to float
        The square of the first is the sum of the squares of the other two.
    entry_std : float
        The noise's standard deviation in an off-diagonal entry of the Gram matrix of rows scaled to [-1, 1].
    offered : bool
        Whether intervals are expected to be valid: the data stand above the noise, and the law's repair adds no ridge
        then (the paper's always does).
    """

    mechanism: str
    standard_errors: dict[str, float]
    noise_parts: dict[str, float]
    sampling_parts: dict[str, float]
    entry_std: float
    offered: bool

    @property
    def typical(self) -> float:
        """The geometric mean of the standard errors, for comparison between mechanisms."""
        return math.exp(math.fsum(math.log(value) for value in self.standard_errors.values()) / self._count)

    @property
    def _count(self) -> int:
        return len(self.standard_errors)


@dataclass(frozen=True, eq=False)
class Forecast:
    """What a regression would say of its own precision; nothing was read and nothing was spent.

    Parameters
    ----------
    formula : str
        What would be asked.
    n_rows : int
        The public, or expected, number of rows.
    budget : Budget
        What the release would cost.
    adjacency : Replace or AddRemove
        Which data sets would be neighbours.
    assumption : str
        Where the second moments come from, in words.
    r_squared : float or None
        The assumed share of the target's variance that the features explain; None where a release says it.
    mechanisms : tuple of MechanismForecast
        One a law that fits the budget, the best first.
    """

    formula: str
    n_rows: int
    budget: Budget
    adjacency: Adjacency
    assumption: str
    r_squared: float | None
    mechanisms: tuple[MechanismForecast, ...]

    @property
    def best(self) -> MechanismForecast:
        """The law with the least standard errors, by their geometric mean; one whose intervals are offered if any."""
        return self.mechanisms[0]

    def of(self, mechanism: str) -> MechanismForecast:
        """Return the forecast of one mechanism."""
        for found in self.mechanisms:
            if found.mechanism == mechanism:
                return found
        names = ", ".join(found.mechanism for found in self.mechanisms)
        raise InvalidArgument(f"`mechanism` must be one that fits the budget: {names}.")

    def to_json(self) -> dict[str, Any]:
        """Return the forecast as a JSON object."""
        return {
            "formula": self.formula,
            "n_rows": self.n_rows,
            "budget": repr(self.budget),
            "adjacency": repr(self.adjacency),
            "assumption": self.assumption,
            "r_squared": self.r_squared,
            "best": self.best.mechanism,
            "mechanisms": [
                {
                    "mechanism": found.mechanism,
                    "intervals_expected": found.offered,
                    "entry_std": found.entry_std,
                    "coefficients": {
                        name: {
                            "std_err": found.standard_errors[name],
                            "noise": found.noise_parts[name],
                            "sampling": found.sampling_parts[name],
                        }
                        for name in found.standard_errors
                    },
                }
                for found in self.mechanisms
            ],
        }

    def __str__(self) -> str:
        best = self.best
        rows = [("", "forecast std err", "noise part", "sampling part")]
        rows += [
            (name, f"{value:.3g}", f"{best.noise_parts[name]:.3g}", f"{best.sampling_parts[name]:.3g}")
            for name, value in best.standard_errors.items()
        ]
        laws = [("mechanism", "std err to the best", "noise an entry", "intervals")]
        laws += [
            (
                found.mechanism,
                f"{found.typical / best.typical:.2f}",
                f"{found.entry_std:.3g}",
                "expected" if found.offered else "not expected",
            )
            for found in self.mechanisms
        ]
        explained = "" if self.r_squared is None else f"; R2 = {self.r_squared:g} assumed"
        lines = [
            self.formula,
            f"{self.n_rows} rows, {self.budget!r} under {self.adjacency!r}; nothing is read and nothing is spent.",
            f"Second moments: {self.assumption}{explained}.",
            "",
            *_table(rows),
            "",
            *_table(laws),
            "",
            f"Least standard errors: {best.mechanism}. A standard error's square is the sum of its parts' squares.",
        ]
        if not best.offered:
            lines.append(
                "The noise is expected to hide the weakest direction of the data: a ridge will be needed and no "
                "interval will be valid. Raise the budget, or ask for fewer terms."
            )
        return "\n".join(lines)

    __repr__ = __str__


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]).rstrip()
        for row in rows
    ]


def forecast(
    formula: str,
    schema: Schema | None = None,
    *,
    n_rows: int,
    budget: Budget,
    adjacency: Adjacency | None = None,
    r_squared: float | None = None,
    assume: Mapping[str, Any] | None = None,
    moments: Moments | None = None,
) -> Forecast:
    """Forecast the standard errors of a regression for every law of noise that fits a budget.

    Parameters
    ----------
    formula : str
        Such as "income ~ age + hours".
    schema : Schema, optional
        Public facts about the columns; may be left out where `moments` is given.
    n_rows : int
        The number of rows under Replace(), the expected number under AddRemove() or of contributing rows where the
        schema declares a unit; a public number.
    budget : Pure, Approx, Zcdp or Gdp
        What the release would cost.
    adjacency : Replace or AddRemove, optional
        Which data sets are neighbours; needed where the schema does not say it.
    r_squared : float, optional
        The share of the target's variance that the features are assumed to explain; 0.3 unless asked otherwise.
    assume : mapping, optional
        Public assumptions about columns: a number's (mean, standard deviation), a flag's share of ones, a category's
        shares. A column without one is assumed uniform on its bounds or levels, which is often far from the truth;
        columns are assumed independent. They must be public: what is computed from the rows spends a budget.
    moments : Moments, optional
        A release, of these or of like rows, from which second moments and residuals are taken instead; free.

    Returns
    -------
    Forecast
        By mechanism and coefficient.

    Raises
    ------
    InvalidArgument, InvalidFormula
        If something is not usable; says what.

    Guarantee
    ---------
    Reads no rows and spends nothing; with `moments` it is post-processing of that release.

    Notes
    -----
    The formula of docs/proofs/intervals.md at the expected Gram matrix. Where the slopes are not known they are given
    one size, on features scaled to [-1, 1], and random signs, such that they explain `r_squared`.

    Examples
    --------
    >>> import discreet as dp
    >>> schema = dp.Schema({"y": dp.Number(0, 1), "x": dp.Number(0, 10)}, adjacency=dp.Replace())
    >>> plan = dp.forecast("y ~ x", schema, n_rows=10_000, budget=dp.Pure(epsilon=1))
    >>> plan.best.mechanism, round(plan.best.standard_errors["x"], 5)
    ('l_inf', 0.00087)
    """
    known = _schema_of(schema, moments)
    count = _checks.integer(n_rows, "n_rows", low=1)
    neighbours = settle_adjacency(adjacency, None, known)
    design = Design.for_formula(formula, known)
    selection = design.select(formula)
    if moments is None:
        share = _share(ASSUMED_R_SQUARED if r_squared is None else r_squared)
        outlook = _from_assumptions(design, selection, count, share, assume)
    else:
        if assume is not None or r_squared is not None:
            raise InvalidArgument("`moments` says what `assume` and `r_squared` would; give the one or the others.")
        share = None
        outlook = _from_release(design, selection, count, moments, formula)
    plans = _plans(design, check_budget(budget), neighbours)
    found = [_one(name, plan, design, selection, outlook) for name, plan in plans.items()]
    found.sort(key=lambda one: (not one.offered, one.typical))
    return Forecast(formula, count, budget, neighbours, outlook.source, share, tuple(found))


@dataclass(frozen=True, eq=False)
class _Outlook:
    """An expected Gram matrix and what is expected of the residuals."""

    n_rows: int
    problem: Problem
    residual_variance: float
    second_moment: np.ndarray
    source: str


def _schema_of(schema: Schema | None, moments: Moments | None) -> Schema:
    if schema is not None:
        return schema
    if moments is not None and moments.design is not None:
        return moments.design.schema
    raise InvalidArgument("`schema` is needed: the bounds and levels of the columns. Use Schema.from_toml(path).")


def _share(value: Any) -> float:
    share = _checks.finite_float(value, "r_squared")
    if 0.0 <= share < 1.0:
        return share
    raise InvalidArgument(f"`r_squared` must be at least 0 and below 1; found {share}.")


def _plans(design: Design, budget: Budget, adjacency: Adjacency) -> dict[str, GramPlan]:
    """Return the plan of every law that fits the budget."""
    plans, refusal = {}, None
    for name in MECHANISMS:
        if name == "auto":
            continue
        try:
            plans[name] = plan_gram(
                design.layout,
                budget=budget,
                adjacency=adjacency,
                mechanism=name,
                size_is_public=adjacency.size_is_public and not design.may_drop,
                statistic=gram_of(design.layout),
                rows_per_unit=design.schema.rows_per_unit,
            )
        except IncompatiblePlan:
            continue
        except DiscreetError as error:
            refusal = str(error)
    if not plans:
        raise InvalidArgument(refusal or "No mechanism fits `budget`.")
    return plans


def _from_assumptions(
    design: Design, selection: Selection, n_rows: int, r_squared: float, assume: Mapping[str, Any] | None
) -> _Outlook:
    laws = laws_of(design.schema.columns, assume)
    inverse = np.linalg.inv(design.layout.user_coding())
    row = inverse @ second_moments(design, laws) @ inverse.T
    problem = _determined(Problem.of(selection, n_rows * row, design.layout))
    first = int(problem.intercept)
    slopes, target = problem.features[first:], problem.target
    if first:
        # The constant takes out the means.
        constant = problem.features[0]
        slopes = slopes - np.outer(slopes @ row @ constant, constant)
        target = target - (target @ row @ constant) * constant
    spread = float(target @ row @ target)
    size = r_squared * spread / float(np.trace(slopes @ row @ slopes.T))
    second = np.outer(target, target) + size * slopes.T @ slopes
    named = f"as assumed of {', '.join(sorted(assume))}, else " if assume else ""
    words = f"columns independent, {named}uniform on bounds and levels"
    return _Outlook(n_rows, problem, (1.0 - r_squared) * spread, second, words)


def _determined(problem: Problem) -> Problem:
    if np.linalg.eigvalsh(problem.quadratic)[0] > problem.rounding_error:
        return problem
    raise InvalidArgument(
        "Under the assumptions some term does not vary, or is a combination of others, so it has no standard error. "
        "Change `assume`, or leave the term out."
    )


def _from_release(design: Design, selection: Selection, n_rows: int, moments: Moments, formula: str) -> _Outlook:
    if moments.design is None:
        raise InvalidArgument("`moments` were released from arrays; a formula needs a release made with a schema.")
    released = moments.n_rows()
    if released is None or not released > 0.0:
        raise InvalidArgument(
            "`moments` hold no number of rows, so they cannot be scaled to another one. Give `assume`."
        )
    old = moments.design.select(formula)
    answer = moments.least_squares(old)
    units = np.eye(moments.layout.width)
    columns = np.vstack([units[: int(selection.intercept)], old.rows, units[old.target_index]])
    change = np.linalg.inv(design.layout.user_coding()) @ columns @ moments.layout.user_coding()
    row = change @ moments.gram() @ change.T / released
    problem = Problem.of(selection, n_rows * row, design.layout)
    residual = problem.target - problem.features.T @ problem.solution(answer.coef, answer.intercept)
    variance = max(float(residual @ row @ residual), 0.0)
    if answer.repair.noise_dominated:
        raise InvalidArgument(
            "`moments` are noise-dominated for this formula, so no forecast can be made from them. "
            "Use public assumptions, or ask for fewer terms."
        )
    words = f"a release of {', '.join(moments.names)}"
    return _Outlook(n_rows, problem, variance, np.outer(residual, residual), words)


def _one(name: str, plan: GramPlan, design: Design, selection: Selection, outlook: _Outlook) -> MechanismForecast:
    unit = 4.0**design.layout.bits
    variances = noise_variances(plan.event, design.layout) / unit**2
    if plan.size_is_public and design.layout.intercept:
        variances[0, 0] = 0.0
    std = noise_scale(plan.event) / unit
    spread = spread_of(
        outlook.problem,
        residual_variance=outlook.residual_variance,
        second_moment=outlook.second_moment,
        entry_variances=variances,
        n_rows=outlook.n_rows,
        alike=plan.event.rows_per_unit,
    )
    whitener = outlook.problem.whitener
    smallest = float(np.linalg.eigvalsh(whitener.T @ outlook.problem.quadratic @ whitener)[0])
    offered = own_rule(plan.event) == "adaptive" and smallest >= outlook.problem.noise_norm(std)
    return MechanismForecast(name, *_parts(spread, selection), std, offered=offered)


def _parts(spread: Uncertainty, selection: Selection) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    names = ("Intercept",) * selection.intercept + selection.names
    total, noise = np.diag(spread.covariance), np.diag(spread.noise_covariance)
    parts = [np.sqrt(np.maximum(part, 0.0)) for part in (total, noise, total - noise)]
    whole, of_noise, of_sampling = (dict(zip(names, map(float, part), strict=True)) for part in parts)
    return whole, of_noise, of_sampling
