"""One run is enough where it holds many canaries: audits of mechanisms that are slow, or see many columns.

A fair coin decides for every canary whether it is in the data (under Replace: which of its two forms is). The
mechanism runs once. From its output an auditor guesses coins, as many as were fixed beforehand. A private mechanism
keeps the number of right guesses low, whatever the guesses are and although all canaries share one run.

Proof: docs/proofs/audit.md
Source: Steinke, Nasr and Jagielski 2023, Privacy auditing with one (1) training run, for the idea; the limits used
here are derived on that page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.audit.bounds import DEFAULT_CONFIDENCE, error_of
from discreet.audit.distinguish import claim_curve, delta_of
from discreet.audit.names import check_name, in_a_file, on_a_line
from discreet.audit.planning import gaussian_distance
from discreet.audit.power import FACTORS
from discreet.audit.verdicts import CONSISTENT, MOST_FACTOR, NO_EVIDENCE, VIOLATED, claim_text
from discreet.errors import InvalidArgument
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp, to_json
from discreet.privacy.coins import Coins

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from discreet.audit.verdicts import Claim
    from discreet.privacy.curves.tradeoff import TradeoffFunction

    OneRun = Callable[[NDArray[np.bool_], Coins], Any]

_FEWEST = 16
# Certain upper limits are moved up by this part of themselves.
_SHADE = 1e-9
# Log-odds beyond this are those of certainty.
_LARGEST_EPSILON = 700.0


@dataclass(frozen=True, eq=False, kw_only=True)
class OneRunVerdict:
    """What an audit with one run found.

    Parameters
    ----------
    name : str
        Of the mechanism.
    answer : {"consistent", "violated", "no evidence"}
        As in `Verdict`.
    claim : Budget or TradeoffFunction
        What was claimed.
    n_canaries, n_guesses, n_right : int
        Canaries, how many were guessed, how many of these rightly.
    epsilon : float
        A lower limit of the epsilon of the mechanism at `delta`.
    delta : Fraction
        Where epsilon was asked.
    p_value : float
        How often a mechanism that keeps its claim would be guessed so well, at most.
    convicts_from : Fraction or None
        The power, for numbers with Gaussian noise and canaries that show all of what is paid for: from this factor on
        a mechanism would have been convicted as often as was asked. None beside "violated" and "no evidence".
    confidence : Fraction
        With this probability the answer is not a false alarm, and `epsilon` is a limit.
    """

    name: str
    answer: str
    claim: Claim
    n_canaries: int
    n_guesses: int
    n_right: int
    epsilon: float
    delta: Fraction
    p_value: float
    convicts_from: Fraction | None
    confidence: Fraction

    @property
    def violated(self) -> bool:
        """Whether the claim is false."""
        return self.answer == VIOLATED

    def __str__(self) -> str:
        line = (
            f"{on_a_line(self.name)}: {self.answer}; claims {claim_text(self.claim)}; epsilon at least "
            f"{self.epsilon:.3g} at delta {float(self.delta):.3g}; one run, {self.n_right} of {self.n_guesses} guesses "
            "right"
        )
        if self.violated:
            return line
        if self.convicts_from is None:
            return f"{line}; would not convict even {MOST_FACTOR} times what is claimed; more canaries needed"
        return f"{line}; would convict from {float(self.convicts_from):g} times if its noise is Gaussian"

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain JSON."""
        claim = to_json(self.claim) if isinstance(self.claim, (Pure, Approx, Zcdp, Gdp)) else repr(self.claim)
        return {
            "name": in_a_file(self.name),
            "answer": self.answer,
            "claim": claim,
            "epsilon": self.epsilon,
            "delta": str(self.delta),
            "p_value": self.p_value,
            "convicts_from": None if self.convicts_from is None else float(self.convicts_from),
            "n_canaries": self.n_canaries,
            "n_guesses": self.n_guesses,
            "n_right": self.n_right,
            "confidence": str(self.confidence),
        }


def audit_one_run(
    mechanism: OneRun,
    n_canaries: int,
    claim: Claim,
    *,
    n_guesses: int | None = None,
    coins: Coins | None = None,
    confidence: Any = DEFAULT_CONFIDENCE,
    delta: Any = None,
    power: float = 0.9,
    excess: float = 2.0,
    name: str = "mechanism",
) -> OneRunVerdict:
    """Run a mechanism once, on data with many canaries, and say whether its claim can be true.

    Parameters
    ----------
    mechanism : callable
        `mechanism(included, coins)` takes which canaries are in, a boolean array of shape (n_canaries,), makes the
        data, runs once, and returns a number for every canary: the larger, the likelier it is in. Changing one entry
        of `included` must change the data to a neighbour.
    n_canaries : int
        How many, at least 16.
    claim : Pure, Approx, Zcdp, Gdp or TradeoffFunction
        What is claimed; currencies other than Pure and Approx are judged by their epsilon at `delta`.
    n_guesses : int or None
        How many canaries to guess, the half with the largest numbers as in, the half with the smallest as out; fixed
        beforehand. None takes what is best for a Gaussian mechanism that is `excess` times worse than the claim.
    delta : number, text or None
        Where a claim is judged that is neither Pure nor Approx. Nothing is ever refuted with an error below about
        `n_canaries * delta / n_guesses`, so None takes a quarter of the allowed error over `n_canaries`.
    coins, confidence, power, excess, name
        As in `discreet.audit.distinguish.audit`. With a delta, audits of one run need a modest confidence.

    Raises
    ------
    InvalidArgument
        If an argument is out of its range, or the mechanism does not return a number a canary.

    Guarantee
    ---------
    If the claim is true, the answer is "violated" with probability at most 1 - `confidence`.
    Proof: docs/proofs/audit.md

    Examples
    --------
    >>> def leaky(included, coins):
    ...     return included + np.random.default_rng(0).normal(scale=0.5, size=included.size)
    >>> audit_one_run(leaky, 1000, Pure(epsilon=1), coins=Coins.from_seed(0)).answer
    'violated'
    """
    curve = claim_curve(claim)
    called = check_name(name)
    error = float(error_of(confidence))
    size = _checks.integer(n_canaries, "n_canaries", low=_FEWEST)
    at = _delta(claim, size, error_of(confidence)) if delta is None else _checks.exact_delta(delta)
    promised = curve.epsilon(float(at))
    guesses = _guesses(n_guesses, size, curve, excess)
    source = Coins.from_system() if coins is None else coins
    included = (source.words(size) & np.uint64(1)).astype(np.bool_)
    scores = np.asarray(mechanism(included.copy(), source))
    if scores.shape != (size,) or scores.dtype.kind not in "fiub":
        raise InvalidArgument(
            f"`mechanism` must return one number a canary, shape ({size},); found {scores.dtype} of shape "
            f"{scores.shape}."
        )
    n_right = right_guesses(scores.astype(np.float64), included, guesses)
    p_value = right_guess_chance(n_right, guesses, size, epsilon=promised, delta=float(at))
    answer, convicts_from = VIOLATED, None
    if p_value > error:
        distance = gaussian_distance(curve)

        def convicted(factor: Fraction) -> bool:
            expected = _expected_right(size, guesses, float(factor) * distance, power)
            return right_guess_chance(expected, guesses, size, epsilon=promised, delta=float(at)) <= error

        convicts_from = next((factor for factor in FACTORS if convicted(factor)), None)
        answer = NO_EVIDENCE if convicts_from is None else CONSISTENT
    return OneRunVerdict(
        name=called,
        answer=answer,
        claim=claim,
        n_canaries=size,
        n_guesses=guesses,
        n_right=n_right,
        epsilon=least_epsilon(n_right, guesses, size, delta=float(at), error=error),
        delta=at,
        p_value=p_value,
        convicts_from=convicts_from,
        confidence=1 - error_of(confidence),
    )


def _delta(claim: Claim, n_canaries: int, error: Fraction) -> Fraction:
    if isinstance(claim, (Pure, Approx)):
        return delta_of(claim)
    return error / (4 * n_canaries)


def right_guesses(scores: NDArray[np.float64], included: NDArray[np.bool_], n_guesses: int) -> int:
    """Return how many guesses are right: the canaries with the largest scores are in, those with the smallest out.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_canaries,)
        One a canary.
    included : ndarray of bool, shape (n_canaries,)
        What was so.
    n_guesses : int
        How many are guessed; one half, rounded down, as out.
    """
    order = np.argsort(np.nan_to_num(scores), kind="stable")
    n_out = n_guesses // 2
    out, inside = order[:n_out], order[order.size - (n_guesses - n_out) :]
    return int(np.count_nonzero(included[inside])) + int(np.count_nonzero(~included[out]))


def right_guess_chance(n_right: int, n_guesses: int, n_canaries: int, *, epsilon: float, delta: float) -> float:
    """Return the largest chance that an (epsilon, delta)-private run lets so many guesses be right.

    Parameters
    ----------
    n_right : int
        At least so many of the guesses are right.
    n_guesses : int
        Fixed beforehand.
    n_canaries : int
        Of which the guesses are about some.
    epsilon, delta : float
        What is promised of one canary.

    Notes
    -----
    The number of right guesses is at most ``B + N``: B binomial with chance ``e**epsilon / (1 + e**epsilon)``, and N,
    which may depend on it, with a mean of at most ``n_canaries * delta``. The largest chance of ``B + N >= n_right``
    lifts those outcomes of B that need least.

    Guarantee
    ---------
    An upper limit, rounded up; it rises with `epsilon` and `delta`.
    Proof: docs/proofs/audit.md

    Examples
    --------
    >>> round(right_guess_chance(90, 100, 100, epsilon=1.0, delta=0.0), 7)
    2.74e-05
    """
    from scipy import stats

    if n_right <= 0:
        return 1.0
    chance = 1 / (1 + math.exp(-min(epsilon, _LARGEST_EPSILON)))
    total = float(stats.binom.sf(n_right - 1, n_guesses, chance))
    left = n_canaries * delta * (1 + _SHADE)
    if left > 0:
        short = np.arange(1, n_right + 1)
        masses = stats.binom.pmf(n_right - short, n_guesses, chance)
        # Lifting an outcome by one more right guess costs one more of the mean.
        costs = np.cumsum(short * masses)
        whole = int(np.searchsorted(costs, left, side="right"))
        total += float(masses[:whole].sum())
        if whole < short.size:
            total += (left - (float(costs[whole - 1]) if whole else 0.0)) / (whole + 1)
    return min(1.0, total * (1 + _SHADE))


def least_epsilon(n_right: int, n_guesses: int, n_canaries: int, *, delta: float, error: float) -> float:
    """Return a lower limit of epsilon at `delta`: below it so many right guesses have a chance below `error`.

    Examples
    --------
    >>> round(least_epsilon(90, 100, 100, delta=0.0, error=0.05), 3)
    1.631
    """

    def refuted(epsilon: float) -> bool:
        return right_guess_chance(n_right, n_guesses, n_canaries, epsilon=epsilon, delta=delta) <= error

    if not refuted(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while refuted(high) and high < _LARGEST_EPSILON:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def _guesses(asked: int | None, n_canaries: int, claim: TradeoffFunction, excess: float) -> int:
    if asked is not None:
        return _checks.integer(asked, "n_guesses", low=1, high=n_canaries)
    distance = excess * gaussian_distance(claim)
    choices = sorted({max(8, n_canaries // part) for part in (1, 2, 3, 5, 8, 12, 20, 30, 50)})
    limits = [
        least_epsilon(_expected_right(n_canaries, choice, distance, 0.5), choice, n_canaries, delta=0.0, error=1e-9)
        for choice in choices
    ]
    return choices[int(np.argmax(limits))]


def _expected_right(n_canaries: int, n_guesses: int, distance: float, power: float) -> int:
    """Return how many guesses are right at least, with probability `power`, where scores are Gaussian."""
    from scipy import special, stats

    if not math.isfinite(distance):
        return n_guesses
    low, high = 0.0, distance / 2 + 40.0
    for _ in range(60):
        middle = (low + high) / 2
        share = special.ndtr(distance / 2 - middle) + special.ndtr(-distance / 2 - middle)
        low, high = (middle, high) if share > n_guesses / n_canaries else (low, middle)
    right, wrong = special.ndtr(distance / 2 - low), special.ndtr(-distance / 2 - low)
    return int(stats.binom.ppf(1 - power, n_guesses, right / (right + wrong)))
