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
from discreet.audit.names import check_name
from discreet.audit.planning import HELD_OUT, runs_needed
from discreet.audit.power import modelled_power, rehearsed_power
from discreet.audit.runs import FEWEST_RUNS, runs_of_both
from discreet.audit.verdicts import CONSISTENT, NO_EVIDENCE, VIOLATED, Evidence, Verdict, curve_of
from discreet.errors import InvalidArgument, InvalidType
from discreet.privacy.budgets import Approx, Pure, check_value
from discreet.privacy.coins import Coins
from discreet.privacy.curves.tradeoff import TradeoffFunction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.audit.power import Worse
    from discreet.audit.runs import Mechanism
    from discreet.audit.scores import Outputs
    from discreet.audit.verdicts import Claim

    Floats = NDArray[np.float64]

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
    worse: Worse | None = None,
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
        How often a mechanism must be convicted from the factor on that the verdict states, in (0, 1).
    excess : float
        What factor None for `n_runs` plans for, see `runs_needed`; 2 is noise of half the scale.
    name : str
        Of the mechanism, for the verdict; any text.
    worse : callable or None
        `worse(times)` returns the mechanism with noise so many times smaller, a Fraction above 1: then the power is
        rehearsed on it. None takes the noise for Gaussian or Laplace, whichever is worse to see.

    Returns
    -------
    Verdict
        "violated" with the event that shows it; "consistent" with the factor from which it would have been convicted;
        or "no evidence", where ten times what is claimed would not have been.

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
    called = check_name(name)
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
    one, other = runs_of_both(mechanism, first, second, size, source)
    judges = size - int(size * HELD_OUT)
    events = choose_events(one[judges:], other[judges:], curve, delta=float(at), n_judges=judges, error=each)
    evidence = [_judged(event, one[:judges], other[:judges], curve, each) for event in events]
    limits, seen, best = _along(events[0], one[:judges], other[:judges], curve, error * (1 - _FOR_EVENTS) / 2)
    evidence.append(best)
    evidence.sort(key=lambda found: found.beta - found.claimed_beta)
    convicts_from = None
    if any(found.contradicts for found in evidence):
        answer = VIOLATED
    else:
        wanted = {"power": power, "error": each}
        if worse is None:
            convicts_from = modelled_power(evidence, curve, **wanted)
        else:
            convicts_from = rehearsed_power(
                worse, first, second, curve, n_runs=size, coins=source, delta=float(at), **wanted
            )
        answer = NO_EVIDENCE if convicts_from is None else CONSISTENT
    return Verdict(
        name=called,
        answer=answer,
        claim=claim,
        evidence=tuple(evidence),
        delta=at,
        n_runs=size,
        n_needed=needed,
        convicts_from=convicts_from,
        rehearsed=worse is not None,
        confidence=1 - error_of(confidence),
        curve=limits,
        seen=seen,
    )


def claim_curve(claim: Any) -> TradeoffFunction:
    """Return the curve of a claim, if it is one."""
    return claim if isinstance(claim, TradeoffFunction) else curve_of(check_value(claim, "claim"))


def delta_of(claim: Claim) -> Fraction:
    """Return at which delta the epsilon of a claim is stated: its own delta, or a usual one."""
    if isinstance(claim, Approx):
        return claim.delta
    return Fraction(0) if isinstance(claim, Pure) else _USUAL_DELTA


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
