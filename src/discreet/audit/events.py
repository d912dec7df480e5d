"""Events that tell two data sets apart: chosen on some runs, judged on others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.audit.bounds import epsilon_below, mu_below, upper_limits
from discreet.audit.training import candidate_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.audit.scores import Outputs, Score
    from discreet.privacy.curves.tradeoff import TradeoffFunction

    Floats = NDArray[np.float64]

# What an event is chosen for: the distance from the claimed curve, epsilon, mu, and mu where both errors are alike.
N_PURPOSES = 4
# Thresholds of a score that are looked at, besides the extreme ones.
_N_THRESHOLDS = 256


@dataclass(frozen=True, eq=False)
class Event:
    """A set of outputs: those whose score is above a threshold.

    Parameters
    ----------
    score : Score
        Larger where the second data set is likelier.
    threshold : float
        Outputs above it are in the event.
    """

    score: Score
    threshold: float

    def holds(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return which outputs are in the event.

        Parameters
        ----------
        outputs : ndarray, shape (n_runs, k)
            As the mechanism returned them, one row a run.
        """
        held: NDArray[np.bool_] = self.score(outputs) > self.threshold
        return held

    def errors(self, first: Outputs, second: Outputs) -> tuple[int, int]:
        """Return how often the event misleads: it holds for the first data set, or fails for the second."""
        return int(np.count_nonzero(self.holds(first))), int(np.count_nonzero(~self.holds(second)))

    def __str__(self) -> str:
        return self.score.event(self.threshold)


def choose_events(
    first: Outputs, second: Outputs, claim: TradeoffFunction, *, delta: float, n_judges: int, error: float
) -> list[Event]:
    """Return the events that promise most, the one for the claimed curve first; at most one a purpose.

    Parameters
    ----------
    first, second : ndarray, shape (n_runs, k)
        Runs that no limit will be computed from. One half of them trains scores, the other compares events.
    claim : TradeoffFunction
        What the events are to contradict.
    delta : float
        Where epsilon is bounded.
    n_judges : int
        How many runs, of each data set, the chosen events will be judged by.
    error : float
        How often one of their limits may be wrong.
    """
    half = first.shape[0] // 2
    best: list[tuple[float, Event]] = []
    for score in candidate_scores(first[:half], second[:half]):
        thresholds, alphas, betas = _errors(score(first[half:]), score(second[half:]))
        limits = (upper_limits(np.rint(rates * n_judges), n_judges, error) for rates in (alphas, betas))
        upper_alphas, upper_betas = limits
        mus = mu_below(upper_alphas, upper_betas)
        # The best of many limits is a lucky one; the midpoint is nobody's choice.
        midpoint = np.arange(alphas.size) == np.argmin(np.abs(alphas - betas))
        promises = (
            _standing(claim, alphas, betas, upper_alphas, upper_betas),
            epsilon_below(upper_alphas, upper_betas, delta),
            mus,
            np.where(midpoint, mus, -1.0),
        )
        for purpose, promise in enumerate(promises):
            place = int(np.argmax(promise))
            found = float(promise[place]), Event(score, float(thresholds[place]))
            if len(best) <= purpose:
                best.append(found)
            elif found[0] > best[purpose][0]:
                best[purpose] = found
    return [event for _, event in best]


def _standing(
    claim: TradeoffFunction, alphas: Floats, betas: Floats, upper_alphas: Floats, upper_betas: Floats
) -> Floats:
    """Return how far below the claimed curve points lie, in units of what their limits leave open."""
    claimed, least = claim.beta(alphas), claim.beta(upper_alphas)
    standing: Floats = (claimed - betas) / (upper_betas - betas + claimed - least + 1e-300)
    return standing


def _errors(first: Floats, second: Floats) -> tuple[Floats, Floats, Floats]:
    """Return thresholds, and how often a score is above each on the first data set, and not on the second."""
    one, other = np.sort(first), np.sort(second)
    levels = np.arange(1, _N_THRESHOLDS) / _N_THRESHOLDS
    places = [np.quantile(scores, levels, method="inverted_cdf") for scores in (one, other)]
    # The extreme scores show outputs that one data set alone can have.
    ends = [one[[0, -1]], other[[0, -1]], np.nextafter(other[:1], -np.inf), np.nextafter(one[:1], -np.inf)]
    thresholds = np.unique(np.concatenate([*places, *ends]))
    thresholds = thresholds[np.isfinite(thresholds)] if np.isfinite(thresholds).any() else np.zeros(1)
    return thresholds, *error_rates(one, other, thresholds)


def error_rates(first: Floats, second: Floats, thresholds: Floats) -> tuple[Floats, Floats]:
    """Return the shares of sorted scores above each threshold on the first data set, and at most it on the second."""
    alphas = 1 - np.searchsorted(first, thresholds, "right") / first.size
    betas = np.searchsorted(second, thresholds, "right") / second.size
    return np.maximum(alphas, 0.0), betas
