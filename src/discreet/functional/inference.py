"""What a regression says: estimates in the data's own units, and how sure they are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks, _files
from discreet.errors import InvalidArgument
from discreet.functional.sandwich import Uncertainty
from discreet.functional.summary import Summary
from discreet.functional.tails import quantile, tail
from discreet.privacy.events.event import event_from_json
from discreet.privacy.release import LABELS

if TYPE_CHECKING:
    import os

    import pandas as pd

    from discreet.functional.bootstrap import Bootstrap
    from discreet.privacy.budgets import Budget
    from discreet.privacy.events.event import Event
    from discreet.privacy.findings import Finding
    from discreet.tables.schema.schema import Schema

NOT_COMPUTED = "this model was written by a version that computed no standard errors"
PARABOLA = (
    "no p value and no interval, for the estimates are those of a parabola in the place of the logistic loss, "
    "which are no log odds ratios"
)
LOSSES = ("squared", "logistic")
METHODS = ("sandwich", "bootstrap")


@dataclass(frozen=True, eq=False)
class RegressionResult:
    """A linear regression read from a release; everything in it is public.

    Parameters
    ----------
    formula : str
        What was asked.
    feature_names : tuple of str
        One name a coefficient, without the intercept.
    coef : ndarray of float64, shape (n_features,)
        Change of the target, in its units, for one unit of the feature.
    intercept : float
        In units of the target; 0 where the model has none.
    has_intercept : bool
        Whether the model has an intercept.
    noise_dominated : bool
        Whether the noise of the release hides the smallest direction of the data.
    ridge : float
        The ridge that the noise made necessary, in grid units; 0 where none was.
    event : Event
        The release that the numbers were read from.
    label : str
        "private", or why the release is not.
    schema : Schema or None
        The declarations, where the model can predict from a table.
    notes : tuple of str
        What else a reader of the release must know.
    penalty : float
        The ridge penalty that was asked for, on features and target scaled to [-1, 1]; 0 for none.
    uncertainty : Uncertainty or None
        The covariance of the estimates; None where none is valid.
    no_intervals : str or None
        Why there is none.
    entry_std : float or None
        The noise's standard deviation in an off-diagonal entry of the Gram matrix of rows scaled to [-1, 1].
    loss : {"squared", "logistic"}
        "logistic": the coefficients are those of the logistic loss of degree two, which are no log odds ratios, so that
        there are standard errors but neither p values nor intervals; predictions are probabilities of the target's
        second level.
    bootstrap : Bootstrap or None
        What bootstrap intervals are drawn from; a result that was loaded from a file has none.

    Guarantee
    ---------
    Post-processing of the release: no method here costs anything, `predict` on private rows apart, which is an exact
    function of those rows and for their owner only.
    """

    formula: str
    feature_names: tuple[str, ...]
    coef: np.ndarray
    intercept: float
    has_intercept: bool
    noise_dominated: bool
    ridge: float
    event: Event
    label: str
    schema: Schema | None = None
    notes: tuple[str, ...] = field(default=())
    penalty: float = 0.0
    uncertainty: Uncertainty | None = None
    no_intervals: str | None = None
    entry_std: float | None = None
    loss: str = "squared"
    bootstrap: Bootstrap | None = field(default=None, repr=False)

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients, shape (n_features,)."""
        return self.coef

    @property
    def intercept_(self) -> float:
        """The intercept, in units of the target."""
        return self.intercept

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the coefficients, shape (n_features,)."""
        return np.array(self.feature_names, dtype=object)

    @property
    def cost(self) -> Budget:
        """What the release cost; reading a further regression from it costs nothing."""
        return self.event.budget

    @property
    def params(self) -> dict[str, float]:
        """The estimates by name, the intercept first under "Intercept"."""
        named = dict(zip(self.feature_names, map(float, self.coef), strict=True))
        return {"Intercept": float(self.intercept), **named} if self.has_intercept else named

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

    def cov_params(self) -> np.ndarray:
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
            If the bootstrap is asked of a result that was loaded from a file.

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

    def predict(self, data: Any) -> np.ndarray:
        """Return predictions for the rows of a table, shape (n_rows,), in units of the target.

        Of a logistic regression they are the probabilities of the target's second level.

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
        if self.schema is None:
            raise InvalidArgument(
                "This result has no schema, so it cannot read a table. Multiply with `coef_` instead."
            )
        from discreet.tables.prediction import feature_blocks

        logistic = self.loss == "logistic"
        blocks = [
            np.where(kept, features @ self.coef + self.intercept, np.nan)
            for features, kept in feature_blocks(data, self.schema, self.formula, self.feature_names, labels=logistic)
        ]
        predictor = np.concatenate(blocks) if blocks else np.empty(0)
        return 0.5 + np.tanh(predictor / 2.0) / 2.0 if logistic else predictor

    def summary(self, level: float = 0.95) -> Summary:
        """Return the table that is printed, with intervals of the given level."""
        return Summary(self, level)

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

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def to_json(self) -> dict[str, Any]:
        """Return the content of a model file."""
        return {
            "formula": self.formula,
            "feature_names": list(self.feature_names),
            "coef": [float(value) for value in self.coef],
            "intercept": float(self.intercept),
            "has_intercept": self.has_intercept,
            "noise_dominated": self.noise_dominated,
            "ridge": float(self.ridge),
            "event": self.event.to_json(),
            "label": self.label,
            "notes": list(self.notes),
            "schema": None if self.schema is None else self.schema.to_json(),
            "penalty": float(self.penalty),
            "uncertainty": None if self.uncertainty is None else self.uncertainty.to_json(),
            "no_intervals": self.why_no_intervals,
            "entry_std": self.entry_std,
            "loss": self.loss,
        }

    def to_finding(self) -> Finding:
        """Return what a report says of the regression."""
        from discreet.functional.findings import finding_of_regression

        return finding_of_regression(self)

    def dumps(self) -> str:
        """Return the text of a model file: strict JSON, nothing of the rows but the release."""
        return _files.dump("regression", self.to_json())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that :meth:`load` reads."""
        with _files.OutputFile(path, name="path") as output:
            output.write(self.dumps())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RegressionResult:
        """Read a model that :meth:`save` wrote, in this version or an older one."""
        from discreet.tables.schema.schema import Schema

        content = _files.read(path, kind="regression")
        with _files.well_formed(repr(str(path))):
            names = tuple(map(str, content["feature_names"]))
            has_intercept = bool(content["has_intercept"])
            spread, reason = content.get("uncertainty"), content.get("no_intervals")
            entry_std = content.get("entry_std")
            return cls(
                formula=str(content["formula"]),
                feature_names=names,
                coef=np.array(content["coef"], dtype=np.float64),
                intercept=float(content["intercept"]),
                has_intercept=has_intercept,
                noise_dominated=bool(content["noise_dominated"]),
                ridge=float(content["ridge"]),
                event=event_from_json(content["event"]),
                label=_files.one_of(content["label"], LABELS),
                schema=None if content["schema"] is None else Schema.from_json(content["schema"]),
                notes=tuple(map(str, content["notes"])),
                penalty=float(content.get("penalty", 0.0)),
                uncertainty=None if spread is None else Uncertainty.from_json(spread, len(names) + has_intercept),
                no_intervals=None if reason is None else str(reason),
                entry_std=None if entry_std is None else float(entry_std),
                loss=_files.one_of(content.get("loss", "squared"), LOSSES),
            )

    def _named(self, values: np.ndarray | None) -> dict[str, float]:
        if values is None:
            return dict.fromkeys(self.params, math.nan)
        return dict(zip(self.params, map(float, values), strict=True))


def _ratio(value: float, error: float) -> float:
    if error > 0.0:
        return value / error
    return math.copysign(math.inf, value) if error == 0.0 and value != 0.0 else math.nan
