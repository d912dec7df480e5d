"""What a front-door model says: estimates, how sure they are where that is known, and how they were found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.estimators.methods.inference import PARABOLA
from discreet.estimators.methods.quality import ASTRAY
from discreet.models.tails import quantile, tail
from discreet.privacy.findings import Estimate, Finding, finite
from discreet.privacy.wording import in_words
from discreet.tables.schema.declarations import declared_texts

if TYPE_CHECKING:
    from discreet.estimators.fitted import FittedModel
    from discreet.models.uncertainty import Uncertainty
    from discreet.privacy.events.event import Event

DASH = "-"
TITLES = {"squared": "Linear regression", "logistic": "Logistic regression", "poisson": "Poisson regression"}
_COVERED = (
    "Intervals cover sampling error (errors of one variance) and the privacy noise, not the bias of clipping; "
    "noise share is the privacy noise's part of the variance."
)


@dataclass(frozen=True, eq=False)
class ModelResult:
    """Estimates by name; everything in it is public.

    Parameters
    ----------
    loss : {"squared", "logistic", "poisson"}
        What was minimized.
    method, reason : str
        How, and why so.
    params : dict of str to float
        Estimates by name, the intercept first; with several classes one set a class.
    uncertainty : Uncertainty or None
        Of the estimates, in their order.
    why_no_intervals : str or None
        Why there is none.
    event : Event
        What was done.
    label : str
        "private", or why not.
    notes : tuple of str
        What else must be known.
    noise_dominated : bool
        Whether the noise hides the model.
    declarations : tuple of (str, str)
        What was declared of every column.
    again : str
        How to do the same again.

    Guarantee
    ---------
    Post-processing of the release: no method here costs anything.
    """

    loss: str
    method: str
    reason: str
    params: dict[str, float]
    uncertainty: Uncertainty | None
    why_no_intervals: str | None
    event: Event
    label: str
    notes: tuple[str, ...]
    noise_dominated: bool
    declarations: tuple[tuple[str, str], ...]
    again: str

    @property
    def bse(self) -> dict[str, float]:
        """The standard errors by name: sampling error and privacy noise; NaN where none is known to be right."""
        return self._named(None if self.uncertainty is None else self.uncertainty.standard_errors)

    @property
    def noise_shares(self) -> dict[str, float]:
        """The share of every estimate's variance that is privacy noise, by name; NaN where it is not known."""
        return self._named(None if self.uncertainty is None else self.uncertainty.noise_shares)

    @property
    def pvalues(self) -> dict[str, float]:
        """The two-sided p-values of "the coefficient is 0" by name; NaN where there are none."""
        if self.uncertainty is None:
            return self._named(None)
        errors = np.maximum(self.uncertainty.standard_errors, 1e-300)
        return self._named(2.0 * tail(np.abs(np.array(list(self.params.values()))) / errors, self.uncertainty.tails))

    def cov_params(self) -> np.ndarray:
        """Return the covariance of the estimates, shape (k, k), in the order of `params`; NaN where there is none."""
        if self.uncertainty is None:
            return np.full((len(self.params), len(self.params)), np.nan)
        return self.uncertainty.covariance.copy()

    def conf_int(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Return an interval for each estimate; (NaN, NaN) where none is known to be right."""
        wanted = _checks.finite_float(level, "level")
        if self.uncertainty is None:
            return dict.fromkeys(self.params, (math.nan, math.nan))
        reach = quantile(wanted, self.uncertainty.tails) * self.uncertainty.standard_errors
        return {
            name: (value - float(far), value + float(far))
            for (name, value), far in zip(self.params.items(), reach, strict=True)
        }

    @property
    def remarks(self) -> list[str]:
        """What a reader must know beside the table, one sentence or two each."""
        lines = [
            f"Method: {self.reason}",
            f"Cost: {self.event.budget!r} under {self.event.adjacency!r}; {self.label}.",
            in_words(self.event.budget, self.event.adjacency),
            *self.quality,
        ]
        return lines + [f"Note: {note}." for note in self.notes]

    @property
    def quality(self) -> list[str]:
        """How good the estimates are, one sentence each."""
        lines = [_COVERED if self.uncertainty is not None else f"{DASH}: no intervals, for {self.why_no_intervals}."]
        if self.noise_dominated and ASTRAY not in self.notes:
            lines.append("Noise-dominated: by public numbers at least half of what the model says is privacy noise.")
        return lines

    @property
    def table(self) -> list[tuple[str, ...]]:
        """The printed table, its head first."""
        if self.why_no_intervals == PARABOLA:
            return [("", "estimate"), *((name, f"{value:.6g}") for name, value in self.params.items())]
        head = ("", "estimate", "std err", "p", "95 % interval", "noise share")
        if self.uncertainty is None:
            return [head, *((name, f"{value:.6g}", *(DASH,) * 4) for name, value in self.params.items())]
        errors, chances, shares, limits = self.bse, self.pvalues, self.noise_shares, self.conf_int()
        rows = (
            (
                name,
                f"{value:.6g}",
                f"{errors[name]:.3g}",
                f"{chances[name]:.3f}" if chances[name] >= 0.001 else "< 0.001",
                f"[{limits[name][0]:.6g}, {limits[name][1]:.6g}]",
                f"{100 * shares[name]:.0f} %",
            )
            for name, value in self.params.items()
        )
        return [head, *rows]

    def __str__(self) -> str:
        widths = [max(len(row[k]) for row in self.table) for k in range(len(self.table[0]))]
        lines = [TITLES[self.loss], ""]
        for row in self.table:
            cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, "", *self.remarks])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        # Names come from a user's file, so everything is text, never markup.
        head, *rows = self.table
        heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        body = "".join(
            f"<tr><th>{escape(row[0])}</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:]) + "</tr>"
            for row in rows
        )
        remarks = "".join(f"<p>{escape(line)}</p>" for line in self.remarks)
        caption = f"<caption>{TITLES[self.loss]}</caption>"
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{remarks}"

    def to_finding(self) -> Finding:
        """Return what a report says of the model."""
        errors, chances, shares, limits = self.bse, self.pvalues, self.noise_shares, self.conf_int()
        return Finding(
            title=TITLES[self.loss],
            asked=(("Loss", self.loss), ("Method", self.method), ("Because", self.reason)),
            event=self.event,
            label=self.label,
            estimates=tuple(
                Estimate(
                    name=name,
                    value=value,
                    standard_error=finite(errors[name]),
                    lower=finite(limits[name][0]),
                    upper=finite(limits[name][1]),
                    p_value=finite(chances[name]),
                    noise_share=finite(shares[name]),
                )
                for name, value in self.params.items()
            ),
            level=None if self.uncertainty is None else 0.95,
            quality=tuple(self.quality),
            noise_dominated=self.noise_dominated,
            declarations=self.declarations,
            again=(self.again,),
            notes=self.notes,
        )

    def _named(self, values: Any) -> dict[str, float]:
        if values is None:
            return dict.fromkeys(self.params, math.nan)
        return dict(zip(self.params, map(float, values), strict=True))


def result_of(model: FittedModel) -> ModelResult:
    """Return the result of a fitted model of the front door."""
    coefs, constants = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    classes = getattr(model, "classes_", None)
    titles = [""] if len(coefs) == 1 else [f"{label}: " for label in classes]  # type: ignore[union-attr]
    params: dict[str, float] = {}
    for title, coef, constant in zip(titles, coefs, constants, strict=True):
        if model.has_intercept_:
            params[f"{title}Intercept"] = float(constant)
        params |= {f"{title}{name}": float(value) for name, value in zip(model.coef_names_, coef, strict=True)}
    columns = {} if model.design_ is None else model.design_.schema.columns
    return ModelResult(
        loss=model.loss,
        method=model.method_,
        reason=model.reason_,
        params=params,
        uncertainty=model.uncertainty_,
        why_no_intervals=model.why_no_intervals_,
        event=model.release_.event,
        label=model.release_.label,
        notes=model.release_.notes,
        noise_dominated=model.noise_dominated_,
        declarations=declared_texts(columns),
        again=repr(model),
    )
