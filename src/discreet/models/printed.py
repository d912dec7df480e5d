"""The printed table of a regression, as text and as HTML, and what a reader must know beside it."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.lattice.gram_noise import noise_scale
from discreet.privacy.events.noise import CoefficientLaplaceEvent, GaussianEvent, KNormEvent, LaplaceEvent, WishartEvent
from discreet.privacy.wording import in_words, unit_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.privacy.events.event import Event

DASH = "-"
TITLES = {
    "squared": "Linear regression",
    "logistic": "Logistic regression",
    "poisson": "Poisson regression",
    "quantile": "Quantile regression",
}
# The intercept and so many of the largest coefficients are shown of each model.
MOST_SHOWN = 200
# A note of a release whose steps were too long; files keep it.
STEPS_TOO_LONG = "steps were longer than these rows allow, so the model may be far off: lower `step_size` or `sparsity`"
DOMINATED = "Noise-dominated: by public numbers at least half of what the model says is privacy noise."
ESTIMATES = (
    "Estimated is the minimizer of a parabola in the place of the logistic loss, a multiple of least squares on -1 and "
    "+1: no log odds ratios (slopes are biased towards 0, by more than 40 % on the Adult table), so there are neither "
    "p values nor intervals."
)


def title_of(loss: str) -> str:
    """Return what a model of a loss is called."""
    return TITLES.get(loss, f"{loss.capitalize()} regression")


class Printed:
    """A table with a heading and remarks, as text and as HTML.

    Parameters
    ----------
    heading : str
        What stands above the table.
    header : sequence of str
        The heads of the columns.
    rows : list of sequences of str
        The cells.
    remarks : list of str
        What a reader must know beside the table, one sentence or two each.
    """

    def __init__(self, heading: str, header: Sequence[str], rows: list[tuple[str, ...]], remarks: list[str]) -> None:
        self.heading, self.header, self.rows, self.remarks = heading, header, rows, remarks

    def __str__(self) -> str:
        table = [self.header, *self.rows]
        widths = [max(len(row[k]) for row in table) for k in range(len(self.header))]
        lines = [self.heading, ""]
        for row in table:
            cells = [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, "", *self.remarks])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        # Names come from a user's file, so everything is text, never markup.
        heads = "".join(f"<th>{escape(head)}</th>" for head in self.header)
        body = "".join(
            "<tr><th>" + escape(row[0]) + "</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:]) + "</tr>"
            for row in self.rows
        )
        remarks = "".join(f"<p>{escape(line)}</p>" for line in self.remarks)
        caption = f"<caption>{escape(self.heading)}</caption>"
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{remarks}"


class Summary(Printed):
    """The table of a regression: estimates, what they may be off by, and from where that comes.

    Parameters
    ----------
    result : RegressionResult
        What is shown.
    level : float
        The level of the intervals, between 0 and 1.
    """

    def __init__(self, result: Any, level: float = 0.95) -> None:
        self._result = result
        self._level = _checks.finite_float(level, "level")
        self._intervals = result.conf_int(self._level)
        super().__init__(self._heading(), self._header(), self._rows(), remarks_of(result))

    def _header(self) -> tuple[str, ...]:
        """Return the heads of the columns; of a parabola's estimates there are neither p values nor intervals."""
        if self._result.loss == "logistic" and self._result.method == "moments":
            is_sure = self._result.reason is None or self._result.uncertainty is not None
            return ("", "estimate", "std err", "noise share") if is_sure else ("", "estimate")
        return ("", "estimate", "std err", "p", f"{100 * self._level:.6g} % interval", "noise share")

    def _rows(self) -> list[tuple[str, ...]]:
        """Return one row an estimate; of many coefficients those of the largest."""
        result = self._result
        estimates = {name: result.params[name] for name in shown_names(result)}
        if result.uncertainty is None:
            dashes = (DASH,) * (len(self._header()) - 2)
            return [(name, f"{value:.6g}", *dashes) for name, value in estimates.items()]
        errors, chances, shares = result.bse, result.pvalues, result.noise_shares
        if not result.has_intervals:
            return [
                (name, f"{value:.6g}", f"{errors[name]:.3g}", f"{100 * shares[name]:.0f} %")
                for name, value in estimates.items()
            ]
        return [
            (
                name,
                f"{value:.6g}",
                f"{errors[name]:.3g}",
                f"{chances[name]:.3f}" if chances[name] >= 0.001 else "< 0.001",
                f"[{self._intervals[name][0]:.6g}, {self._intervals[name][1]:.6g}]",
                f"{100 * shares[name]:.0f} %",
            )
            for name, value in estimates.items()
        ]

    def _heading(self) -> str:
        """Return what stands above the table."""
        result = self._result
        if _of_moments_alone(result) and result.formula:
            return str(result.formula).replace("`", "")
        return title_of(result.loss)


def shown_names(result: Any) -> list[str]:
    """Return the names of the estimates that are printed one by one: all, or of many the largest."""
    names, width = list(result.params), result.coefs.shape[1]
    if width <= MOST_SHOWN and result.grid is None:
        return names
    kept: list[str] = []
    first = int(result.has_intercept)
    for number, coef in enumerate(result.coefs):
        of_model = names[number * (width + first) : (number + 1) * (width + first)]
        order = np.argsort(-np.abs(coef), kind="stable")[: min(MOST_SHOWN, np.count_nonzero(coef))]
        kept += of_model[:first] + [of_model[first + place] for place in order]
    return kept


def remarks_of(result: Any) -> list[str]:
    """Return what a reader must know beside the table, one sentence or two each."""
    adjacency = result.event.adjacency
    lines = [] if result.reason is None else [f"Method: {result.reason}"]
    lines += cost_lines(result.event, result.label)
    if adjacency.unit is not None:
        lines.append(f"Unit: {unit_words(adjacency, result.event.rows_per_unit)}.")
    if len(result.coefs) > 1:
        lines.append(f"Models: {len(result.coefs)} classes, each against the rest.")
    # Files of front-door models of 0.1.0 are printed as they were: without their columns.
    columns = selected_of(result) if result.reason is None else []
    return lines + columns + quality_of(result) + [f"Note: {note}." for note in result.notes]


def cost_lines(event: Event, label: str) -> list[str]:
    """Return what a release cost, as a value and in words."""
    return [f"Cost: {event.budget!r} under {event.adjacency!r}; {label}.", in_words(event.budget, event.adjacency)]


def quality_of(result: Any) -> list[str]:
    """Return how good the estimates are, one sentence or two each."""
    lines: list[str] = []
    # Of one noisy Gram matrix more is known, save in files of versions that did not write it.
    if not _of_moments_alone(result) and result.entry_std is None:
        lines.append(_covered("clipping") if result.has_intervals else f"{DASH}: no intervals, for {_why(result)}.")
        if result.noise_dominated and STEPS_TOO_LONG not in result.notes:
            lines.append(DOMINATED)
        return lines
    if result.entry_std is not None:
        lines.append(
            f"Noise: {result.event.kind} law, standard deviation {result.entry_std:.6g} in an off-diagonal entry "
            "of the Gram matrix of rows scaled to [-1, 1], "
            f"{_sensitivity(result.event, result.entry_std)}; all derived from the budget and the declared bounds."
        )
    lines += _bounds(result)
    if result.has_intervals:
        lines.append(_covered("clipping to the bounds"))
    elif result.uncertainty is not None:
        lines.append(
            "Standard errors count sampling error (errors of one variance) and the privacy noise, not the bias; "
            "noise share is the privacy noise's part of the variance."
        )
    else:
        lines.append(f"{DASH}: {'' if result.reason is None else 'no intervals, for '}{_why(result)}.")
    if result.uncertainty is not None and result.event.rows_per_unit > 1:
        lines.append("Rows of one unit may err alike: the sampling error is counted as if all of them did.")
    if result.loss == "logistic":
        lines.append(ESTIMATES)
    if result.noise_dominated:
        lines.append("Noise-dominated: the noise hides the weakest direction of the data, so a ridge was added.")
    return lines


def _of_moments_alone(result: Any) -> bool:
    """Return whether a regression was read from moments, where no method was chosen."""
    return bool(result.method == "moments" and result.reason is None)


def _covered(clipping: str) -> str:
    return (
        "Intervals cover sampling error (errors of one variance) and the privacy noise, "
        f"not the bias of {clipping}; noise share is the privacy noise's part of the variance."
    )


def _why(result: Any) -> str:
    return str(result.why_no_intervals)


def selected_of(result: Any) -> list[str]:
    """Return how many columns a sparse model has, and whether all of them are shown."""
    n_selected = [int(np.count_nonzero(coef)) for coef in result.coefs]
    if result.grid is None or max(n_selected) == result.coefs.shape[1]:
        return []
    lines = [f"Selected columns: {', '.join(map(str, n_selected))} of {result.coefs.shape[1]}."]
    if max(n_selected) > MOST_SHOWN:
        lines.append(f"The table has the {MOST_SHOWN} largest coefficients of each model.")
    return lines


def _bounds(result: Any) -> list[str]:
    columns = {} if result.schema is None else result.schema.columns
    shown = [
        f"{name} [{column.lower:g}, {column.upper:g}]"
        for name, column in columns.items()
        if hasattr(column, "lower") and hasattr(column, "upper")
    ]
    return [f"Bounds: {', '.join(shown)}."] if shown else []


def _sensitivity(event: Event, entry_std: float) -> str:
    """Return what one record changes, in the units of `entry_std`."""
    if isinstance(event, WishartEvent):
        norm, size = "nuclear", float(event.price.epsilon / event.theta)
    elif isinstance(event, GaussianEvent):
        norm, size = "Frobenius", math.sqrt(event.sensitivity_squared)
    elif isinstance(event, KNormEvent):
        norm, size = "largest-entry", float(event.sensitivity * event.half_width)
    else:
        assert isinstance(event, (LaplaceEvent, CoefficientLaplaceEvent))  # noqa: S101  (the laws of a Gram matrix)
        norm, size = "L1", float(event.sensitivity)
    return f"{norm} sensitivity {size * entry_std / noise_scale(event):.6g}"
