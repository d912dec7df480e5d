"""How good will each method be? Forecasts from public facts and public assumptions; nothing is read or spent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.descent.model_plans import ModelFacts
from discreet.descent.preconditioned.links import link_of
from discreet.descent.preconditioned.models import OVERRIDES, plan_descents
from discreet.descent.preconditioned.plan import PreconditionedFit
from discreet.descent.preconditioned.whitened_steps import step_stds, tail_weights
from discreet.descent.preconditioned.whitening import whitener
from discreet.descent.rivals.models import plan_perturbed
from discreet.errors import DiscreetError, InvalidArgument
from discreet.estimators.methods.choice import LOSSES, METHODS, PublicFacts, choose, why_not
from discreet.estimators.methods.declared import label_layout, row_norm_of
from discreet.functional.assumptions import laws_of, second_moments
from discreet.functional.forecast import ASSUMED_R_SQUARED
from discreet.functional.gram import gram_of, noise_variances, plan_gram
from discreet.privacy.budgets import check_budget
from discreet.privacy.release import settle_adjacency
from discreet.tables.design import Design

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.estimators.methods.choice import Choice
    from discreet.lattice.grid import Layout
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.tables.schema.schema import Schema

# A label's residual, and the second derivative of its loss, at an even chance.
_LABEL_RESIDUAL, _LABEL_CURVATURE = 0.5, 0.2


@dataclass(frozen=True, eq=False)
class MethodForecast:
    """What one method is expected to do.

    Parameters
    ----------
    method : str
        The method.
    noise : float or None
        The privacy noise's standard deviation in a prediction for a typical row: in units of the target, in log-odds,
        or in the logarithm of a count. None where it is not forecast.
    remark : str
        What is to be known beside.
    """

    method: str
    noise: float | None
    remark: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """All methods for one regression; nothing was read and nothing was spent.

    Parameters
    ----------
    choice : Choice
        What the rule picks, and why.
    sampling : float
        The standard deviation that sampling error alone gives a prediction for a typical row, in the same units.
    forecasts : tuple of MethodForecast
        One a method that has a release, the least noise first.
    """

    choice: Choice
    sampling: float
    forecasts: tuple[MethodForecast, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as a JSON object."""
        return {
            "auto": self.choice.method,
            "reason": self.choice.reason,
            "sampling": self.sampling,
            "methods": [vars(found) for found in self.forecasts],
        }

    def __str__(self) -> str:
        rows = [("method", "noise in a prediction", "")]
        rows += [
            (found.method, "-" if found.noise is None else f"{found.noise:.3g}", found.remark)
            for found in self.forecasts
        ]
        widths = [max(len(row[k]) for row in rows) for k in range(2)]
        lines = [f"{row[0].ljust(widths[0])}  {row[1].rjust(widths[1])}  {row[2]}".rstrip() for row in rows]
        return "\n".join(
            [
                *lines,
                "",
                f"Sampling error alone: {self.sampling:.3g}. `--method auto` would take {self.choice.reason}",
            ]
        )

    __repr__ = __str__


def compare_methods(
    formula: str,
    schema: Schema,
    *,
    loss: str = "squared",
    n_rows: int,
    budget: Budget,
    adjacency: Adjacency | None = None,
    r_squared: float | None = None,
    assume: Mapping[str, Any] | None = None,
) -> Comparison:
    """Return what every method of the front door is expected to do for one regression.

    Parameters
    ----------
    formula, schema, n_rows, budget, adjacency, r_squared, assume
        As for `discreet.forecast`.
    loss : {"squared", "logistic", "poisson"}
        What is minimized.

    Raises
    ------
    InvalidArgument, InvalidFormula
        If something is not usable; says what.

    Guarantee
    ---------
    Reads no rows and spends nothing.

    Examples
    --------
    >>> import discreet as dp
    >>> schema = dp.Schema({"y": dp.Number(0, 1), "x": dp.Number(0, 10)}, adjacency=dp.Replace())
    >>> found = compare_methods("y ~ x", schema, n_rows=10_000, budget=dp.Gdp(mu=1))
    >>> found.choice.method, sorted(one.method for one in found.forecasts)
    ('descent', ['descent', 'moments', 'peel', 'sample', 'threshold'])
    """
    name = _checks.one_of(loss, "loss", LOSSES)
    count = _checks.integer(n_rows, "n_rows", low=1)
    neighbours = settle_adjacency(adjacency, None, schema)
    design = Design.for_formula(formula, schema, labels=name == "logistic")
    share = _checks.finite_float(ASSUMED_R_SQUARED if r_squared is None else r_squared, "r_squared")
    if not 0.0 <= share < 1.0:
        raise InvalidArgument(f"`r_squared` must be at least 0 and below 1; found {share}.")
    inverse = np.linalg.inv(design.layout.user_coding())
    moments = inverse @ second_moments(design, laws_of(design.schema.columns, assume)) @ inverse.T
    layout = label_layout(design.layout) if name == "logistic" else design.layout
    outlook = _Outlook(layout, name, moments, share, count, check_budget(budget), neighbours)
    facts = PublicFacts(
        loss=name,
        n_rows=count,
        n_columns=layout.width - layout.intercept - 1,
        intercept=layout.intercept,
        budget=outlook.budget,
        adjacency=neighbours,
        bounded=True,
    )
    found = [outlook.forecast(method) for method in METHODS[1:] if why_not(method, facts) is None]
    found.sort(key=lambda one: math.inf if one.noise is None else one.noise)
    return Comparison(choose("auto", facts), outlook.sampling(), tuple(found))


@dataclass(frozen=True, eq=False)
class _Outlook:
    """An expected mean of vv' for grid rows v over 2**bits, and what is expected of the residuals."""

    layout: Layout
    loss: str
    moments: np.ndarray
    r_squared: float
    n_rows: int
    budget: Budget
    adjacency: Adjacency

    @property
    def unit(self) -> float:
        """One half-width of a target in its units; 1 for labels and counts, whose margins have no unit."""
        coding = self.layout.codings[-1]
        return 2.0**self.layout.bits / coding.scale if self.loss == "squared" else 1.0

    @property
    def mean(self) -> float:
        """The mean of a count, over its bound."""
        if not self.layout.intercept:
            return math.sqrt(float(self.moments[-1, -1]))
        return min(max((float(self.moments[0, -1]) + 1.0) / 2.0, 1e-4), 1.0)

    @property
    def residual(self) -> float:
        """A typical residual in the units of a clip."""
        if self.loss == "logistic":
            return _LABEL_RESIDUAL
        if self.loss == "poisson":
            return math.sqrt(self.mean / self.layout.codings[-1].upper)
        middle = float(self.moments[0, -1]) if self.layout.intercept else 0.0
        return math.sqrt((1.0 - self.r_squared) * max(float(self.moments[-1, -1]) - middle**2, 0.0))

    @property
    def curvature(self) -> float:
        """A typical second derivative of the loss by the margin, in the units of a clip."""
        return {"squared": 1.0, "logistic": _LABEL_CURVATURE}.get(self.loss, self.mean)

    def sampling(self) -> float:
        """Return what sampling error gives a typical prediction: p parameters share n rows."""
        p = self.layout.width - 1
        return self.unit * self.residual / self.curvature * math.sqrt(p / self.n_rows)

    def forecast(self, method: str) -> MethodForecast:
        """Return the forecast of one method."""
        try:
            if method == "descent":
                return MethodForecast(method, self._of_descent(), "steps in whitened coordinates")
            if method == "moments":
                remark = "every regression among the terms is then free"
                if self.loss == "logistic":
                    remark += "; slopes are biased towards 0"
                return MethodForecast(method, self._of_moments(), remark)
            if method == "perturbation":
                return MethodForecast(method, self._of_perturbation(), "a ridge pulls the coefficients to 0")
        except DiscreetError:
            return MethodForecast(method, None, "no noise of 64 bits for this budget")
        return MethodForecast(method, None, "not forecast: what it loses is mostly bias")

    def _of_descent(self) -> float:
        """Return the noise of the averaged iterates, with the clip that clips as many rows as it is meant to."""
        plan = plan_descents(
            self.layout,
            self.layout,
            self.loss,
            n_rows=self.n_rows,
            n_models=1,
            budget=self.budget,
            adjacency=self.adjacency,
            overrides=dict.fromkeys(OVERRIDES),
        ).one
        p, settings, event = self.layout.width - 1, plan.settings, plan.event
        clipped = min(max(settings.clip_target / self.n_rows, 1e-6), 0.9)
        clip = self.residual * math.sqrt(p) * NormalDist().inv_cdf(1.0 - clipped / 2.0)
        std = math.sqrt(event.gram_noise / 2) if event.law == "gaussian" else _wishart_std(event, self.layout.width)
        std /= 4.0**self.layout.bits
        gram = self.n_rows * self.moments
        public = whitener(self.layout, gram, entry_std=std, n_rows=self.n_rows)
        link, mean = link_of(self.layout, self.loss, gram, entry_std=std, n_rows=self.n_rows)
        fit = PreconditionedFit(
            coef=np.zeros(p - self.layout.intercept),
            intercept=0.0,
            gram=gram,
            gram_std=std,
            whitener=public,
            step_size=settings.step_size / mean,
            step_stds=step_stds(event, (clip,) * settings.n_steps),
            weights=tuple(tail_weights(event, settings.first_averaged)),
            clips=(clip,) * settings.n_steps,
            layout=self.layout,
            link=link,
            settings=settings,
        )
        coding = self.layout.user_coding()[:-1, :-1]
        moments = coding @ self.moments[:-1, :-1] @ coding.T
        return math.sqrt(max(float(np.trace(fit.noise_covariance(self.curvature) @ moments)), 0.0))

    def _of_moments(self) -> float:
        """Return the noise of the solution of the noisy normal equations, to first order."""
        plan = plan_gram(
            self.layout,
            budget=self.budget,
            adjacency=self.adjacency,
            mechanism="auto",
            loss="logistic" if self.loss == "logistic" else "squared",
            size_is_public=self.adjacency.size_is_public,
            statistic=gram_of(self.layout),
        )
        variances = noise_variances(plan.event, self.layout) / 16.0**self.layout.bits
        p = self.layout.width - 1
        inverse = np.linalg.pinv(self.n_rows * self.moments[:p, :p])
        # Slopes are of the order of what they explain; the target's own column has the weight 1.
        squares = self.r_squared * float(self.moments[-1, -1])
        of_rows = variances[:p, p] + squares * variances[:p, :p].mean(axis=1)
        noise = float(np.trace(inverse @ np.diag(of_rows))) / self.n_rows
        return self.unit * math.sqrt(noise) * (2.0 if self.loss == "logistic" else 1.0)

    def _of_perturbation(self) -> float:
        """Return the noise of the minimizer of an objective with a random linear term, to first order."""
        n_columns = self.layout.width - 1 - self.layout.intercept
        facts = ModelFacts(
            loss=self.loss,
            budget=self.budget,
            adjacency=self.adjacency,
            n_columns=n_columns,
            n_rows=self.n_rows,
            row_norm=row_norm_of(self.layout),
            entry_bound=None,
            intercept=self.layout.intercept,
            target_bounds=(0.0, 1.0),
        )
        plan = plan_perturbed(facts).plan
        event, grid = plan.event, plan.problem.grid
        first = int(self.layout.intercept)
        rows = self.moments[first:-1, first:-1] / grid.row_norm**2
        if first:
            column = grid.constant * grid.unit / grid.row_norm
            cross = self.moments[:1, 1:-1] * column / grid.row_norm
            rows = np.block([[rows, cross.T], [cross, np.array([[column**2]])]])
        hessian = self.n_rows * _LABEL_CURVATURE * rows + float(event.regularization) * np.eye(len(rows))
        inverse, width = np.linalg.inv(hessian), len(rows)
        variance = float(event.scale) ** 2 * (width + 1 if event.law == "l2" else 1)
        return math.sqrt(variance * float(np.trace(inverse @ rows @ inverse)))


def _wishart_std(event: Any, width: int) -> float:
    """Return the standard deviation of a Wishart difference off the diagonal."""
    return math.sqrt((width + 1) / 2) / float(event.gram_noise)
