"""What a released result says to a reader: the question, the answer, how sure it is, and what it cost.

A pillar turns its results into findings; a report is made from findings and a ledger alone, so that it knows no pillar.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidType
from discreet.privacy.release import Release

if TYPE_CHECKING:
    from discreet.privacy.events.event import Event

# A released array with more numbers is shown by its shape.
_MOST_NUMBERS = 100


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One released number and how sure it is; everything in it is public.

    Parameters
    ----------
    name : str
        What it belongs to.
    value : float
        In the data's own units.
    standard_error : float, optional
        The same units; None where no valid one is known.
    lower, upper : float, optional
        Limits of the interval of the finding's level.
    p_value : float, optional
        Of the hypothesis that the true number is 0.
    noise_share : float, optional
        The privacy noise's part of the variance, 0 to 1.
    """

    name: str
    value: float
    standard_error: float | None = None
    lower: float | None = None
    upper: float | None = None
    p_value: float | None = None
    noise_share: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Finding:
    """A released result as a reader needs it; everything in it is public.

    Parameters
    ----------
    title : str
        What kind of result it is.
    asked : tuple of (str, str)
        What was asked, as names and texts.
    event : Event
        What was done.
    label : str
        "private", or why not.
    estimates : tuple of Estimate
        The answer, number by number.
    level : float, optional
        Of the intervals, where there are any.
    quality : tuple of str
        How good the answer is, one sentence each.
    noise_dominated : bool
        Whether the noise hides the answer.
    declarations : tuple of (str, str)
        What was declared in public before a row was read, column by column.
    again : tuple of str
        How to do the same again, as a command or as code.
    notes : tuple of str
        What else must be known.
    """

    title: str
    asked: tuple[tuple[str, str], ...]
    event: Event
    label: str
    estimates: tuple[Estimate, ...] = ()
    level: float | None = None
    quality: tuple[str, ...] = ()
    noise_dominated: bool = False
    declarations: tuple[tuple[str, str], ...] = ()
    again: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def finding_of(result: Any) -> Finding:
    """Return what a released result says.

    Parameters
    ----------
    result : object
        A finding, whatever has a method `to_finding` (or `result`, whose result has one), or a Release.

    Raises
    ------
    InvalidType
        If it is none of them; says which types are.
    """
    if isinstance(result, Finding):
        return result
    if hasattr(result, "to_finding"):
        finding = result.to_finding()
        assert isinstance(finding, Finding)  # noqa: S101  (by the method's contract)
        return finding
    if callable(getattr(result, "result", None)) and hasattr(result, "release_"):
        return finding_of(result.result())
    if isinstance(getattr(result, "release_", None), Release):
        return finding_of_release(result.release_)
    if isinstance(result, Release):
        return finding_of_release(result)
    raise InvalidType(
        f"A report needs released results: a fitted model, a RegressionResult, Moments or a Release; found "
        f"{type(result).__name__}."
    )


def finding_of_release(release: Release[Any]) -> Finding:
    """Return what a release says of itself: its numbers where they are few, else their shape."""
    event = release.event
    if hasattr(release.value, "to_finding"):
        return release.value.to_finding(release)  # type: ignore[no-any-return]
    return Finding(
        title="Release",
        asked=(("Statistic", event.statistic),),
        event=event,
        label=release.label,
        estimates=_numbers(release.value, event.statistic),
        quality=() if _numbers(release.value, "") else (f"The release has the shape {event.shape}.",),
        notes=release.notes,
    )


def _numbers(value: Any, name: str) -> tuple[Estimate, ...]:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return ()
    if array.ndim > 1 or array.size > _MOST_NUMBERS or not np.isfinite(array).all():
        return ()
    if array.ndim == 0:
        return (Estimate(name=name, value=float(array)),)
    return tuple(Estimate(name=f"{name} [{k}]", value=float(number)) for k, number in enumerate(array))


def finite(number: float) -> float | None:
    """Return a number, or None for NaN and infinities."""
    return float(number) if math.isfinite(number) else None
