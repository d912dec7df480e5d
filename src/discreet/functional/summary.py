"""The printed table of a regression, as text and as HTML."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from discreet import _checks
from discreet.functional.gram import noise_scale
from discreet.privacy.events.noise import CoefficientLaplaceEvent, GaussianEvent, KNormEvent, LaplaceEvent, WishartEvent
from discreet.privacy.wording import in_words, unit_words

if TYPE_CHECKING:
    from discreet.functional.inference import RegressionResult
    from discreet.privacy.events.event import Event

DASH = "-"
ESTIMATES = (
    "Estimated is the minimizer of a parabola in the place of the logistic loss, a multiple of least squares on -1 and "
    "+1: no log odds ratios (slopes are biased towards 0, by more than 40 % on the Adult table), so there are neither "
    "p values nor intervals."
)


class Summary:
    """The table of a regression: estimates, what they may be off by, and from where that comes.

    Parameters
    ----------
    result : RegressionResult
        What is shown.
    level : float
        The level of the intervals, between 0 and 1.
    """

    def __init__(self, result: RegressionResult, level: float = 0.95) -> None:
        self._result = result
        self._level = _checks.finite_float(level, "level")
        self._intervals = result.conf_int(self._level)

    @property
    def header(self) -> tuple[str, ...]:
        """The heads of the columns; of a parabola's estimates there are neither p values nor intervals."""
        if self._result.loss == "logistic":
            return ("", "estimate", "std err", "noise share")
        return ("", "estimate", "std err", "p", f"{100 * self._level:.6g} % interval", "noise share")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """One row an estimate."""
        result = self._result
        if result.uncertainty is None:
            dashes = (DASH,) * (len(self.header) - 2)
            return [(name, f"{value:.6g}", *dashes) for name, value in result.params.items()]
        errors, chances, shares = result.bse, result.pvalues, result.noise_shares
        if not result.has_intervals:
            return [
                (name, f"{value:.6g}", f"{errors[name]:.3g}", f"{100 * shares[name]:.0f} %")
                for name, value in result.params.items()
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
            for name, value in result.params.items()
        ]

    @property
    def remarks(self) -> list[str]:
        """What a reader must know beside the table, one sentence or two each."""
        result = self._result
        lines = [
            f"Cost: {result.cost!r} under {result.event.adjacency!r}; {result.label}.",
            in_words(result.cost, result.event.adjacency),
        ]
        if result.event.adjacency.unit is not None:
            lines.append(f"Unit: {unit_words(result.event.adjacency, result.event.rows_per_unit)}.")
        if result.entry_std is not None:
            lines.append(
                f"Noise: {result.event.kind} law, standard deviation {result.entry_std:.6g} in an off-diagonal entry "
                "of the Gram matrix of rows scaled to [-1, 1], "
                f"{_sensitivity(result.event, result.entry_std)}; all derived from the budget and the declared bounds."
            )
        lines += self._bounds()
        if result.why_no_intervals is None:
            lines.append(
                "Intervals cover sampling error (errors of one variance) and the privacy noise, "
                "not the bias of clipping to the bounds; noise share is the privacy noise's part of the variance."
            )
        elif result.uncertainty is not None:
            lines.append(
                "Standard errors count sampling error (errors of one variance) and the privacy noise, not the bias; "
                "noise share is the privacy noise's part of the variance."
            )
        else:
            lines.append(f"{DASH}: {result.why_no_intervals}.")
        if result.uncertainty is not None and result.event.rows_per_unit > 1:
            lines.append("Rows of one unit may err alike: the sampling error is counted as if all of them did.")
        if result.loss == "logistic":
            lines.append(ESTIMATES)
        if result.noise_dominated:
            lines.append("Noise-dominated: the noise hides the weakest direction of the data, so a ridge was added.")
        return lines + [f"Note: {note}." for note in result.notes]

    def _bounds(self) -> list[str]:
        schema = self._result.schema
        numbers = {} if schema is None else schema.columns
        shown = [
            f"{name} [{column.lower:g}, {column.upper:g}]"
            for name, column in numbers.items()
            if hasattr(column, "lower") and hasattr(column, "upper")
        ]
        return [f"Bounds: {', '.join(shown)}."] if shown else []

    def __str__(self) -> str:
        table = [self.header, *self.rows]
        widths = [max(len(row[k]) for row in table) for k in range(len(self.header))]
        lines = [self._result.formula, ""]
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
        caption = f"<caption>{escape(self._result.formula)}</caption>"
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{remarks}"


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
