"""A fitted linear model as a value: estimates in the data's own units, how sure they are, what they predict."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks, _files
from discreet.errors import InvalidArgument
from discreet.models.files import dumps, fields_of
from discreet.models.predictors import linear_predictors, means_of
from discreet.models.printed import Summary, remarks_of
from discreet.models.reported import finding_of_result
from discreet.models.tails import quantile, tail

if TYPE_CHECKING:
    import os

    import pandas as pd
    from numpy.typing import NDArray

    from discreet.lattice.row_grid import RowGrid
    from discreet.models.uncertainty import Uncertainty
    from discreet.privacy.budgets import Budget
    from discreet.privacy.events.event import Event
    from discreet.privacy.findings import Finding
    from discreet.tables.design import Design
    from discreet.tables.schema.schema import Schema

NOT_COMPUTED = "this model was written by a version that computed no standard errors"
PARABOLA = (
    "no p value and no interval, for the estimates are those of a parabola in the place of the logistic loss, "
    "which are no log odds ratios"
)
METHODS = ("sandwich", "bootstrap")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RegressionResult:
    """A regression that was released or read from a release; everything in it is public.

    Parameters
    ----------
    loss : str
        What was minimized: "squared", "logistic", "poisson", ...; of "logistic" by one Gram matrix the coefficients are
        those of the loss of degree two, which are no log odds ratios.
    coefs : ndarray of float64, shape (n_models, n_features)
        Change of the linear predictor for one unit of the feature; one model, or one a class.
    constants : ndarray of float64, shape (n_models,)
        The intercepts; 0 where the model has none.
    has_intercept : bool
        Whether the model has an intercept.
    event : Event
        The release that the numbers were read from.
    label : str
        "private", or why the release is not.
    notes : tuple of str
        What else a reader of the release must know.
    names : tuple of str or None
        One name a coefficient, without the intercept; None for x0, x1, ....
    noise_dominated : bool
        Whether the noise of the release hides what the model says.
    method, reason : str, str or None
        How it was fitted, and why so; None where nothing was chosen.
    formula : str or None
        What was asked, where it was a formula.
    classes : ndarray or None
        The class labels, of two the positive one last.
    target_bounds : (float, float) or None
        The declared range of the target.
    n_rows : int or None
        The public number of rows.
    settings : dict
        Public settings that were used, by name.
    schema : Schema or None
        The declarations, where the model can predict from a table.
    labels : bool
        Whether the formula's target is declared as a label.
    design : Design or None
        How a record becomes a row.
    grid : RowGrid or None
        Where rows are scaled down to a norm, how.
    ridge : float
        The ridge that the noise made necessary, in grid units; 0 where none was.
    penalty : float
        The ridge penalty that was asked for, on features and target scaled to [-1, 1]; 0 for none.
    uncertainty : Uncertainty or None
        The covariance of the estimates; None where none is valid.
    no_intervals : str or None
        Why there is none.
    entry_std : float or None
        The noise's standard deviation in an off-diagonal entry of the Gram matrix of rows scaled to [-1, 1].
    bootstrap : Bootstrap or None
        What bootstrap intervals are drawn from; a result that was loaded from a file has none.
    estimator : str or None
        The name of the class that fitted it.
    declarations : dict
        The arguments of that class, as JSON has them.
    n_columns, columns : int or None, tuple of str or None
        How many columns its X had, and their names.

    Guarantee
    ---------
    Post-processing of the release: no method here costs anything, `predict` on private rows apart, which is an exact
    function of those rows and for their owner only.
    """

    loss: str
    coefs: NDArray[np.float64]
    constants: NDArray[np.float64]
    has_intercept: bool
    event: Event
    label: str
    notes: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    noise_dominated: bool = False
    method: str = "moments"
    reason: str | None = None
    formula: str | None = None
    classes: NDArray[Any] | None = None
    target_bounds: tuple[float, float] | None = None
    n_rows: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    schema: Schema | None = None
    labels: bool = False
    design: Design | None = None
    grid: RowGrid | None = None
    ridge: float = 0.0
    penalty: float = 0.0
    uncertainty: Uncertainty | None = None
    no_intervals: str | None = None
    entry_std: float | None = None
    bootstrap: Any = None
    estimator: str | None = None
    declarations: dict[str, Any] = field(default_factory=dict)
    n_columns: int | None = None
    columns: tuple[str, ...] | None = None

    @property
    def coef(self) -> NDArray[np.float64]:
        """The coefficients, shape (n_features,); of one model a class, (n_classes, n_features)."""
        return self.coefs[0] if len(self.coefs) == 1 else self.coefs

    @property
    def intercept(self) -> Any:
        """The intercept, in units of the linear predictor; of one model a class, an array of shape (n_classes,)."""
        return float(self.constants[0]) if len(self.coefs) == 1 else self.constants

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The coefficients, as `coef`."""
        return self.coef

    @property
    def intercept_(self) -> Any:
        """The intercept, as `intercept`."""
        return self.intercept

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """One name a coefficient, without the intercept."""
        return tuple(f"x{place}" for place in range(self.coefs.shape[1])) if self.names is None else self.names

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the coefficients, shape (n_features,)."""
        return np.array(self.feature_names, dtype=object)

    @property
    def cost(self) -> Budget:
        """What the release cost; reading a further regression from it costs nothing."""
        return self.event.budget

    @cached_property
    def params(self) -> dict[str, float]:
        """The estimates by name, the intercept first under "Intercept"; with several classes one set a class."""
        several = len(self.coefs) > 1 and self.classes is not None
        titles = [f"{label}: " for label in self.classes] if several else [""]  # type: ignore[union-attr]
        found: dict[str, float] = {}
        for title, coef, constant in zip(titles, self.coefs, self.constants, strict=True):
            if self.has_intercept:
                found[f"{title}Intercept"] = float(constant)
            found |= {f"{title}{name}": value for name, value in zip(self.feature_names, coef.tolist(), strict=True)}
        return found

    @property
    def bse(self) -> dict[str, float]:
        """The standard errors by name: sampling error and privacy noise; NaN where none is valid."""
        return self._named(None if self.uncertainty is None else self.uncertainty.standard_errors)

    @property
    def noise_shares(self) -> dict[str, float]:
        """The share of every estimate's variance that is privacy noise, by name; NaN where none is valid."""
        return self._named(None if self.uncertainty is None else self.uncertainty.noise_shares)

    @property
    def tvalues(self) -> dict[str, float]:
        """The estimates in standard errors, by name; NaN where no p value is."""
        if not self.has_intervals:
            return self._named(None)
        errors = self.bse
        return {name: _ratio(value, errors[name]) for name, value in self.params.items()}

    @property
    def pvalues(self) -> dict[str, float]:
        """The two-sided p-values of "the coefficient is 0" by name; NaN where none is valid."""
        if self.uncertainty is None or not self.has_intervals:
            return self._named(None)
        distances = np.abs(np.array(list(self.tvalues.values())))
        return self._named(2.0 * tail(distances, self.uncertainty.tails))

    @property
    def has_intervals(self) -> bool:
        """Whether there are p values and intervals."""
        return self.uncertainty is not None and self.loss == "squared"

    @property
    def why_no_intervals(self) -> str | None:
        """The reason why no interval is given; None where intervals are."""
        if self.has_intervals:
            return None
        return PARABOLA if self.uncertainty is not None else self.no_intervals or NOT_COMPUTED

    def cov_params(self) -> NDArray[np.float64]:
        """Return the covariance of the estimates, shape (k, k), in the order of `params`; NaN where none is valid."""
        if self.uncertainty is None:
            return np.full((len(self.params), len(self.params)), np.nan)
        return self.uncertainty.covariance.copy()

    def conf_int(self, level: float = 0.95, method: str = "sandwich") -> dict[str, tuple[float, float]]:
        """Return an interval for each estimate; (NaN, NaN) where none is valid (see `why_no_intervals`).

        The intervals count sampling error, for errors of one variance, and the privacy noise of the release; not the
        bias of clipping to the declared bounds.

        Parameters
        ----------
        level : float
            The wanted coverage, between 0 and 1.
        method : {"sandwich", "bootstrap"}
            Quantiles of a law with the variance and the kurtosis of the estimate, which is the normal law but for
            Laplace and l-infinity noise; or the reflected parametric bootstrap: 999 public draws of the model and
            of the noise, seeded from the release, so that the answer never changes.

        Raises
        ------
        InvalidArgument
            If a result is to be bootstrapped that holds no moments, such as one loaded from a file.

        Notes
        -----
        Derivation and measured coverage: docs/proofs/intervals.md.
        """
        if not 0 < _checks.finite_float(level, "level") < 1:
            raise InvalidArgument("`level` must be between 0 and 1, such as 0.95.")
        spread = self.uncertainty if self.has_intervals else None
        if _checks.one_of(method, "method", METHODS) == "bootstrap" and spread is not None:
            if self.bootstrap is None:
                raise InvalidArgument(
                    '`method` "bootstrap" draws from the release, which a saved result does not hold. '
                    "Ask the moments again with `regress`, or use the sandwich."
                )
            lower, upper = self.bootstrap.intervals(level)
            return dict(zip(self.params, zip(map(float, lower), map(float, upper), strict=True), strict=True))
        reach, errors = self._named(None if spread is None else quantile(level, spread.tails)), self.bse
        return {
            name: (value - reach[name] * errors[name], value + reach[name] * errors[name])
            for name, value in self.params.items()
        }

    def predict(self, data: Any) -> NDArray[Any]:
        """Return predictions for the rows of a table, shape (n_rows,), in units of the target.

        Of a logistic regression they are the probabilities of the target's second level, or with more than two classes
        those of every class, shape (n_rows, n_classes).

        Cells are clipped to their declared bounds, as they were when the model was fitted.
        A row that lacks a cell whose policy is "drop" is predicted as NaN.

        Parameters
        ----------
        data : path, data frame, Arrow table
            Rows with the columns that the formula's right side names.

        Raises
        ------
        InvalidData
            If a column is absent or a cell is missing under policy "error"; names the column.
        """
        return means_of(self, self.margins(data))

    def margins(self, data: Any) -> NDArray[np.float64]:
        """Return the linear predictors of the rows of a table, shape (n_rows, n_models); see `predict`."""
        return linear_predictors(self, data)

    def summary(self, level: float = 0.95) -> Summary:
        """Return the table that is printed, with intervals of the given level."""
        return Summary(self, level)

    @property
    def remarks(self) -> list[str]:
        """What a reader must know beside the table, one sentence or two each."""
        return remarks_of(self)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return the table as a pandas frame, one row an estimate; NaN where no standard error is valid.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ModuleNotFoundError:
            pd = None
        if pd is None:
            raise ImportError("`to_frame` needs pandas, which is no dependency of discreet: pip install pandas.")
        intervals = self.conf_int(level)
        columns = {
            "estimate": self.params,
            "std_err": self.bse,
            "noise_share": self.noise_shares,
            "z": self.tvalues,
            "p_value": self.pvalues,
            "lower": {name: low for name, (low, _) in intervals.items()},
            "upper": {name: high for name, (_, high) in intervals.items()},
        }
        return pd.DataFrame({name: list(values.values()) for name, values in columns.items()}, index=list(self.params))

    def __str__(self) -> str:
        return str(self.summary())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def to_finding(self) -> Finding:
        """Return what a report says of the regression."""
        return finding_of_result(self)

    def dumps(self) -> str:
        """Return the text of a model file: strict JSON, nothing of the rows but the release."""
        return dumps(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that :meth:`load` reads."""
        with _files.OutputFile(path, name="path") as output:
            output.write(self.dumps())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RegressionResult:
        """Read a model that :meth:`save` or an estimator wrote, in this version or an older one."""
        return cls(**fields_of(path))

    def _named(self, values: NDArray[np.float64] | None) -> dict[str, float]:
        if values is None:
            return dict.fromkeys(self.params, math.nan)
        return dict(zip(self.params, map(float, values), strict=True))


def _ratio(value: float, error: float) -> float:
    if error > 0.0:
        return value / error
    return math.copysign(math.inf, value) if error == 0.0 and value != 0.0 else math.nan
