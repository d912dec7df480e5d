"""Can anybody tell two neighbours apart better than is claimed? Lower limits from samples.

The runs are split in three. One part trains scores, one compares the events they suggest, and the rest judges the few
that were chosen: their probabilities get Clopper-Pearson limits, and the thresholds of the best score limits that
hold for all of them at once (Dvoretzky, Kiefer, Wolfowitz; Massart's constant). Half of the allowed error goes to
either, and all limits hold together, so whatever is computed from them holds, too.

Proof: docs/proofs/audit.md
Source: Jagielski, Ullman and Oprea 2020, and Nasr et al. 2023, for audits by events; Ding et al. 2018 for the split.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.audit.bounds import DEFAULT_CONFIDENCE, error_of, uniform_width, upper_limits
from discreet.audit.events import N_PURPOSES, Event, choose_events, error_rates
from discreet.audit.planning import HELD_OUT, runs_needed
from discreet.audit.verdicts import CONSISTENT, TOO_FEW, VIOLATED, Evidence, Verdict, curve_of
from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.coins import Coins
from discreet.privacy.budgets import Approx, Pure, check_value
from discreet.privacy.tradeoff import TradeoffFunction

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.audit.scores import Outputs
    from discreet.audit.verdicts import Claim

    Floats = NDArray[np.float64]
    Mechanism = Callable[[Any, Coins, int], Any]

# Fewer runs leave too few for each of the three parts.
FEWEST_RUNS = 64
# Where the power does not ask for more: scores are learned better, and cheap mechanisms stay cheap.
_USUAL_RUNS = 4000
_MOST_RUNS = 1_000_000
_USUAL_DELTA = Fraction(1, 10**5)
# Thresholds of the best score, for the curve.
_N_POINTS = 201
# Of the allowed error, this part goes to the chosen events, the rest to the curve.
_FOR_EVENTS = 0.5


def audit(
    mechanism: Mechanism,
    first: Any,
    second: Any,
    claim: Claim,
    *,
    n_runs: int | None = None,
    coins: Coins | None = None,
    confidence: Any = DEFAULT_CONFIDENCE,
    delta: Any = None,
    power: float = 0.9,
    excess: float = 2.0,
    name: str = "mechanism",
) -> Verdict:
    """Run a mechanism on two neighbours and say whether its claim can be true.

    The data must be made up: an audit charges nothing, and shows outputs as often as it likes.

    Parameters
    ----------
    mechanism : callable
        `mechanism(data, coins, n_runs)` returns the outputs of so many independent runs: an array of numbers of shape
        (n_runs,) or (n_runs, k). A mechanism of your own may ignore `coins` and use its own randomness.
    first, second : object
        Two neighbouring data sets, as the mechanism takes them; see `discreet.audit.neighbours` for the worst ones.
    claim : Pure, Approx, Zcdp, Gdp or TradeoffFunction
        What is claimed of the pair. A curve that is not symmetric is claimed of the order (first, second).
    n_runs : int or None
        Runs of each data set, at least 64. None takes what `power` asks for, and 4000 to 1,000,000.
    coins : Coins or None
        Such as a test seed's, or those of `Ledger.for_audit()`; None for the system's.
    confidence : number or text
        How surely everything the verdict says holds, in (0, 1). The default is so high that a thousand audits of
        sound mechanisms together raise a false alarm with a probability of one in a million.
    delta : number, text or None
        Where the verdict tells epsilon; None for the claim's own, and 1e-5 where it has none.
    power : float
        How often a mechanism must be convicted that is `excess` times worse than it claims, in (0, 1).
    excess : float
        See `runs_needed`; 2 is noise of half the scale.
    name : str
        Of the mechanism, for the verdict.

    Returns
    -------
    Verdict
        "consistent", "violated" with the event that shows it, or "not enough runs".

    Raises
    ------
    InvalidArgument
        If an argument is out of its range, or the mechanism returns something else than numbers of `n_runs` runs.

    Guarantee
    ---------
    If the runs are independent and the claim is true, the answer is "violated" with probability at most
    1 - `confidence`; with the same probability all limits of the verdict hold.
    Proof: docs/proofs/audit.md

    Examples
    --------
    >>> from fractions import Fraction
    >>> from discreet.lattice.noise.laplace import rounded_laplace
    >>> def mechanism(data, coins, n_runs):
    ...     return rounded_laplace(np.full(n_runs, sum(data)), scale=Fraction(500), coins=coins)
    >>> found = audit(mechanism, [0, 1000], [0, 0], Pure(epsilon=1), coins=Coins.from_seed(0))
    >>> found.answer, found.epsilon() > 1
    ('violated', True)
    """
    curve = claim_curve(claim)
    error = float(error_of(confidence))
    at = delta_of(claim) if delta is None else _checks.exact_delta(delta)
    if not 0 < _checks.finite_float(power, "power") < 1:
        raise InvalidArgument(f"`power` must satisfy 0 < power < 1; found {power}.")
    if not _checks.finite_float(excess, "excess") > 1:
        raise InvalidArgument(f"`excess` must be greater than 1; found {excess}.")
    if coins is not None and not isinstance(coins, Coins):
        raise InvalidType(f"`coins` must be Coins, such as Coins.from_seed(0); found {type(coins).__name__}.")
    each = error * _FOR_EVENTS / (2 * N_PURPOSES)
    needed = runs_needed(curve, excess=excess, power=power, error=each)
    if n_runs is None:
        size = min(max(needed or _MOST_RUNS, _USUAL_RUNS), _MOST_RUNS)
    else:
        size = _checks.integer(n_runs, "n_runs", low=FEWEST_RUNS)
    source = Coins.from_system() if coins is None else coins
    one, other = (_outputs(mechanism(data, source, size), size) for data in (first, second))
    if one.shape[1] != other.shape[1]:
        raise InvalidArgument("`mechanism` must return as many numbers a run for both data sets; found different ones.")
    if one.dtype != other.dtype:
        one, other = one.astype(np.float64), other.astype(np.float64)
    judges = size - int(size * HELD_OUT)
    events = choose_events(one[judges:], other[judges:], curve, delta=float(at), n_judges=judges, error=each)
    evidence = [_judged(event, one[:judges], other[:judges], curve, each) for event in events]
    limits, seen, best = _along(events[0], one[:judges], other[:judges], curve, error * (1 - _FOR_EVENTS) / 2)
    evidence.append(best)
    evidence.sort(key=lambda found: found.beta - found.claimed_beta)
    answer = CONSISTENT if needed is not None and size >= needed else TOO_FEW
    if any(found.contradicts for found in evidence):
        answer = VIOLATED
    return Verdict(
        name=name,
        answer=answer,
        claim=claim,
        evidence=tuple(evidence),
        delta=at,
        n_runs=size,
        n_needed=needed,
        confidence=1 - error_of(confidence),
        curve=limits,
        seen=seen,
    )


def claim_curve(claim: Any) -> TradeoffFunction:
    """Return the curve of a claim, if it is one."""
    return claim if isinstance(claim, TradeoffFunction) else curve_of(check_value(claim, "claim"))


def delta_of(claim: Claim) -> Fraction:
    """Return where the epsilon of a claim is told: its own delta, or a usual one."""
    if isinstance(claim, Approx):
        return claim.delta
    return Fraction(0) if isinstance(claim, Pure) else _USUAL_DELTA


def _outputs(found: Any, n_runs: int) -> Outputs:
    """Return what a mechanism returned as a table, one row a run."""
    outputs = np.asarray(found)
    if outputs.dtype.kind not in "fiub" or outputs.ndim not in {1, 2} or outputs.shape[0] != n_runs or not outputs.size:
        raise InvalidArgument(
            "`mechanism` must return an array of numbers of shape (n_runs,) or (n_runs, k), one row a run; found "
            f"{outputs.dtype} of shape {outputs.shape} for n_runs = {n_runs}."
        )
    whole = outputs.dtype.kind in "ib" or (outputs.dtype.kind == "u" and outputs.dtype.itemsize < 8)
    return outputs.astype(np.int64 if whole else np.float64).reshape(n_runs, -1)


def _judged(event: Event, first: Outputs, second: Outputs, claim: TradeoffFunction, error: float) -> Evidence:
    n_runs = first.shape[0]
    n_false, n_missed = event.errors(first, second)
    alpha, beta = upper_limits([n_false, n_missed], n_runs, error).tolist()
    return _evidence(event, n_runs, (n_false, n_missed), (alpha, beta), claim)


def _evidence(
    event: Event, n_runs: int, counts: tuple[int, int], limits: tuple[float, float], claim: TradeoffFunction
) -> Evidence:
    alpha, beta = limits
    return Evidence(
        event=event,
        n_runs=n_runs,
        n_false=counts[0],
        n_missed=counts[1],
        alpha=alpha,
        beta=beta,
        claimed_beta=float(claim.beta(alpha)),
    )


def _along(
    event: Event, first: Outputs, second: Outputs, claim: TradeoffFunction, error: float
) -> tuple[Floats, Floats, Evidence]:
    """Return limits along all thresholds of an event's score, what was seen, and the most telling threshold."""
    n_runs, score = first.shape[0], event.score
    one, other = np.sort(score(first)), np.sort(score(second))
    levels = np.linspace(0, 1, _N_POINTS)
    places = np.concatenate([np.quantile(scores, levels, method="inverted_cdf") for scores in (one, other)])
    thresholds = np.unique(places[np.isfinite(places)]) if np.isfinite(places).any() else np.zeros(1)
    seen = np.stack(error_rates(one, other, thresholds))
    limits = np.minimum(seen + uniform_width(n_runs, error), 1.0)
    best = int(np.argmax(claim.beta(limits[0]) - limits[1]))
    counts = np.rint(seen[:, best] * n_runs).astype(int).tolist()
    alpha, beta = limits[:, best].tolist()
    found = _evidence(Event(score, float(thresholds[best])), n_runs, (counts[0], counts[1]), (alpha, beta), claim)
    return limits, seen, found
