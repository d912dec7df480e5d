"""What an exact draw costs: its output and its running time together.

Notation, for one draw: ``r = 2 scale sensitivity + 4 error`` is the range of the output's log-ratio between
neighbours; ``h = (1 - acceptance)**block`` bounds the chance that a block of proposals fails.

Proof: docs/proofs/sampling.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.numbers.outward import exp_up, log_down, log_up, round_up
from discreet.privacy.bounded_range import largest_reach, price_together
from discreet.privacy.budgets import Approx, Budget, Currency
from discreet.privacy.curves.envelopes import CommonEnvelope
from discreet.privacy.curves.products import WithPure
from discreet.privacy.curves.runtimes import acceptance as checked_acceptance
from discreet.privacy.curves.runtimes import geometric_runtime
from discreet.privacy.events.event import Event, Names

if TYPE_CHECKING:
    from discreet.privacy.curves.tradeoff import TradeoffFunction

__all__ = [
    "ChoiceEvent",
    "Runtime",
    "SamplingEvent",
    "beside",
    "block_length",
    "cool_down_epsilon",
    "largest_reach",
    "miss",
    "plain_curve",
    "squeeze_epsilon",
]

POLICIES = ("cool-down", "truncated", "block-restart", "constant", "squeeze", "plain")
ENVELOPES = ("common", "data-dependent")
CLAIMS = ("proved", "numerical")
_ZERO = Fraction(0)


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """The public numbers of how long a sampler runs; `sampling.policies` says what each policy does.

    Parameters
    ----------
    policy : str
        One of cool-down, truncated, block-restart, constant, squeeze, plain.
    block : int
        How many proposals a block has.
    parameter : Fraction
        Of cool-down the chance s of a further block, of constant p0, of squeeze its acceptance probability, of
        plain what every acceptance is thinned by; else 0.
    slack : Fraction
        Of squeeze, what part of the least acceptance it is; else 0.
    wrong : Fraction
        Of constant, how wrong the logarithm of a thinned acceptance probability may be; else 0.
    """

    policy: str
    block: int
    parameter: Fraction = _ZERO
    slack: Fraction = _ZERO
    wrong: Fraction = _ZERO


def block_length(acceptance: Fraction, eta: Fraction) -> int:
    """Return the least number of proposals that all fail with probability at most `eta`; certified.

    Examples
    --------
    >>> [block_length(Fraction(1, 10), Fraction(1, 10**k)) for k in (3, 6, 9)]
    [66, 132, 197]
    """
    if acceptance == 1:
        return 1
    return max(1, math.ceil(log_up(1 / eta) / _hazard(acceptance)))


def _hazard(acceptance: Fraction) -> Fraction:
    """Return at most -log(1 - acceptance), and more than 0."""
    return max(acceptance, log_down(1 / (1 - acceptance)))


def miss(acceptance: Fraction, block: int) -> Fraction:
    """Return the chance that all proposals of a block fail, rounded up."""
    return _ZERO if acceptance == 1 else exp_up(-block * _hazard(acceptance))


def cool_down_epsilon(h: Fraction, s: Fraction) -> Fraction:
    """Return what the number of blocks of a cool-down costs, rounded up: pure, where a block fails with at most `h`.

    Examples
    --------
    >>> cool_down_epsilon(Fraction(1, 10**12), Fraction(1, 10**6)) < Fraction(1, 10**6)
    True
    """
    if h == 0:
        return _ZERO
    if not h < s:
        raise InvalidArgument(f"`parameter` must be more than the chance {float(h):.2g} that a block fails. Raise it.")
    return max(log_up(1 / (1 - h)), log_up((1 - h) / (1 - h / s)))


@lru_cache(maxsize=256)
def squeeze_epsilon(change: Fraction, ratio: Fraction, slack: Fraction) -> Fraction:
    """Return what output and time of a squeeze cost together, rounded up.

    Parameters
    ----------
    change : Fraction
        By how much the log of an acceptance probability changes between neighbours, at most.
    ratio : Fraction
        The squeeze's acceptance probability, the same at every point.
    slack : Fraction
        It is at most this part of every acceptance probability, in (0, 1).

    Examples
    --------
    >>> round(float(squeeze_epsilon(Fraction(1, 20), Fraction(1, 4), Fraction(1, 2))), 3)
    0.402
    """
    grown = exp_up(change)
    rest = grown + (grown - 1) * slack / (1 - slack)
    shape = (1 - ratio) * slack / (ratio * (1 - slack))
    return log_up(rest**2 + shape * (1 - 1 / rest))


@dataclass(frozen=True, kw_only=True)
class SamplingEvent(Event):
    """Exact draws from a density proportional to exp(scale * utility) * base, by rejection, and their running time.

    Parameters
    ----------
    scale : Fraction
        What the utility is multiplied by, greater than 0.
    sensitivity : Fraction
        The most by which the utility changes between neighbours, greater than 0.
    error : Fraction
        By how much the logarithm of an acceptance may err, at least 0.
    envelope : {"common", "data-dependent"}
        Whether proposals and envelope are the same for all data sets.
    claim : {"proved", "numerical"}
        How sure `acceptance` is.
    acceptance, acceptance_high : Fraction
        Public limits of the probability that a proposal is accepted, evaluation error included.
    partner : Fraction
        What a neighbour of a data set with probability `acceptance_high` accepts at least; used by "plain" alone.
    policy, block, parameter, slack, wrong
        See `Runtime`.
    n_draws : int
        How many draws, each with a running time of its own.

    Guarantee
    ---------
    For output and number of blocks (or proposals) together: see `price`. Proof: docs/proofs/sampling.md

    Examples
    --------
    >>> from discreet.privacy.adjacency import Replace
    >>> from discreet.privacy.budgets import Pure
    >>> event = SamplingEvent(scale="0.4", sensitivity=1, error=0, envelope="common", claim="proved",
    ...     acceptance="0.1", acceptance_high=1, partner="0.1", policy="cool-down", block=263, parameter="1e-6",
    ...     slack=0, wrong=0, n_draws=1, adjacency=Replace(), budget=Pure(epsilon=1), statistic="a point", shape=(1,))
    >>> 0.8 < event.price.epsilon < 0.800001
    True
    """

    kind: ClassVar[str] = "rejection-sampling"
    _positive: ClassVar[Names] = ("scale", "sensitivity")
    _nonnegative: ClassVar[Names] = ("error", "parameter", "slack", "wrong")
    _counts: ClassVar[Names] = ("block", "n_draws")
    _words: ClassVar[dict[str, Names]] = {"envelope": ENVELOPES, "claim": CLAIMS, "policy": POLICIES}

    scale: Fraction
    sensitivity: Fraction
    error: Fraction
    envelope: str
    claim: str
    acceptance: Fraction
    acceptance_high: Fraction
    partner: Fraction
    policy: str
    block: int
    parameter: Fraction
    slack: Fraction
    wrong: Fraction
    n_draws: int

    def _check_numbers(self) -> None:
        _checks.check_fields(self, checked_acceptance, "acceptance", "acceptance_high", "partner")
        high = 0 if self.policy in {"truncated", "block-restart"} else 1
        if not (0 < self.parameter <= high or (high == 0 and self.parameter == 0)):
            raise InvalidArgument(f"`parameter` of {self.policy} must be in (0, 1], or 0 where there is none.")
        if self.policy == "squeeze" and not (0 < self.slack < 1 and self.envelope == "common"):
            raise InvalidArgument("A squeeze needs a common envelope and a `slack` in (0, 1).")
        if self.acceptance > self.acceptance_high:
            raise InvalidArgument("`acceptance` must be at most `acceptance_high`.")

    @property
    def runtime(self) -> Runtime:
        """How long it runs."""
        return Runtime(
            policy=self.policy, block=self.block, parameter=self.parameter, slack=self.slack, wrong=self.wrong
        )

    @property
    def change(self) -> Fraction:
        """By how much the log of an acceptance changes between neighbours, under a common envelope."""
        return self.change_in(type(self.budget))

    def change_in(self, currency: Currency) -> Fraction:
        """Return half of what counts in `currency` as the range of a draw's log-ratio, in nats."""
        del currency
        return self.scale * self.sensitivity + 2 * self.error

    @cached_property
    def price(self) -> Budget:
        """The price in the budget's currency.

        Cool-down, and constant with an exact normalizer: output of range r beside a time of its own pure price. In
        Pure they add up; in Zcdp ``r**2 / 8`` and ``e**2 / 2`` do, in Gdp the squares of mu.
        Truncated: (r, h) with a common envelope, else (r - log(1 - h), h). Block restart: (r, h). Constant with a
        normalizer that errs: (r, distance of the two times). Squeeze: pure. Plain: the joint curve at the budget.
        All of it `n_draws` times.
        """
        return _price(self)

    def price_in(self, currency: Currency) -> Budget | None:
        """Return the price in a currency: bounded range beside pure time has one in each. See `Event.price_in`."""
        n, change = self.n_draws, self.change_in(currency)
        if self.policy == "squeeze":
            return price_together(currency, n, _ZERO, squeeze_epsilon(change, self.parameter, self.slack))
        if self.policy not in {"cool-down", "constant"}:
            return None
        other, delta = beside(self.runtime, self.acceptance, self.envelope)
        return price_together(currency, n, 2 * change, other) if delta == 0 else None

    @property
    def plain_delta(self) -> Fraction:
        """The delta of outputs and numbers of proposals of a plain sampler, at the budget's epsilon; rounded up."""
        return self.n_draws * plain_curve(self).upper_delta(self.budget.coordinates[0] / self.n_draws)

    @property
    def runtime_epsilon(self) -> Fraction:
        """What the number of blocks of one draw costs by itself, where that is pure: 0 but for cool-down."""
        return beside(self.runtime, self.acceptance, self.envelope)[0] if self.policy == "cool-down" else _ZERO


def beside(runtime: Runtime, acceptance: Fraction, envelope: str) -> tuple[Fraction, Fraction]:
    """Return what stands beside one output in a price: a pure epsilon and a delta, for all policies with fixed shares.

    Parameters
    ----------
    runtime : Runtime
        Of cool-down, truncated, block-restart or constant.
    acceptance : Fraction
        How often a proposal is accepted at least.
    envelope : {"common", "data-dependent"}
        See `SamplingEvent`.
    """
    return _beside(runtime, acceptance, envelope)


@lru_cache(maxsize=256)
def _beside(runtime: Runtime, acceptance: Fraction, envelope: str) -> tuple[Fraction, Fraction]:
    if runtime.policy == "constant":
        if runtime.wrong == 0:
            return _ZERO, _ZERO
        ratio = exp_up(runtime.wrong)
        pair = geometric_runtime(p=min(Fraction(1), runtime.parameter * ratio), q=runtime.parameter / ratio)
        return _ZERO, pair.upper_delta(_ZERO)
    h = miss(acceptance, runtime.block)
    if runtime.policy == "cool-down":
        return cool_down_epsilon(h, runtime.parameter), _ZERO
    inflated = runtime.policy == "truncated" and envelope == "data-dependent" and 0 < h < 1
    return log_up(1 / (1 - h)) if inflated else _ZERO, h


def _price(event: SamplingEvent) -> Budget:
    own = event.price_in(type(event.budget))
    if own is not None:
        return own
    if event.policy == "plain":
        return _plain_price(event)
    other, delta = beside(event.runtime, event.acceptance, event.envelope)
    return _approx(event, 2 * event.change + other, delta)


def _approx(event: SamplingEvent, epsilon: Fraction, delta: Fraction) -> Budget:
    n = event.n_draws
    if n * delta < 1:
        return Approx(epsilon=n * epsilon, delta=n * delta)
    raise InvalidArgument(f"`block` of {event.block} proposals is too short: nothing is promised. Lengthen it.")


def _plain_price(event: SamplingEvent) -> Budget:
    budget = event.budget
    if not isinstance(budget, Approx) or budget.delta == 0:
        raise IncompatiblePlan(
            f"The running time of a plain sampler has no price in {budget!r}: no finite epsilon bounds it. "
            "Use CoolDown(), or a budget Approx with a delta above 0."
        )
    delta = round_up(event.plain_delta)
    if delta <= budget.delta:
        return budget
    if delta < 1:
        return Approx(epsilon=budget.epsilon, delta=delta)
    raise InvalidArgument(f"A plain sampler of this scale promises nothing at {budget!r}. Lower the scale.")


def plain_curve(event: SamplingEvent) -> CommonEnvelope | WithPure:
    """Return the joint curve of output and number of proposals of one plain draw."""
    if event.envelope == "common" and event.change <= 20:
        return CommonEnvelope(shift=event.change, p_high=event.parameter * event.acceptance_high)
    return WithPure(plain_time(event), epsilon=2 * event.change)


def plain_time(event: SamplingEvent) -> TradeoffFunction:
    """Return the curve of the number of proposals of one plain draw, of the two extreme data sets."""
    low = min(event.partner, event.acceptance_high)
    return geometric_runtime(p=event.parameter * event.acceptance_high, q=event.parameter * low)


@dataclass(frozen=True, kw_only=True)
class ChoiceEvent(Event):
    """Exact draws from finitely many candidates with probabilities proportional to weight * exp(scale * utility).

    The work is the same for all data sets, so the running time tells nothing.

    Parameters
    ----------
    scale : Fraction
        What the utility is multiplied by, greater than 0.
    sensitivity : Fraction
        The most by which a utility changes between neighbours, greater than 0; weights do not change.
    n_candidates : int
        How many there are, at least 1.
    n_draws : int
        How many independent draws.

    Guarantee
    ---------
    An exponential mechanism of bounded range r = 2 scale sensitivity: r-differentially private, r**2 / 8-zCDP, and
    mu-GDP with mu**2 = (pi/2) (r/2)**2 (McSherry and Talwar 2007; Dong, Durfee and Rogers 2020). Proof:
    docs/proofs/gumbel.md

    Examples
    --------
    >>> from discreet.privacy.adjacency import Replace
    >>> from discreet.privacy.budgets import Zcdp
    >>> ChoiceEvent(scale="1/2", sensitivity=1, n_candidates=9, n_draws=1, adjacency=Replace(),
    ...             budget=Zcdp(rho="1/8"), statistic="a candidate", shape=(1,)).price
    Zcdp(rho=1/8)
    """

    kind: ClassVar[str] = "exponential-choice"
    _positive: ClassVar[Names] = ("scale", "sensitivity")
    _counts: ClassVar[Names] = ("n_candidates", "n_draws")

    scale: Fraction
    sensitivity: Fraction
    n_candidates: int
    n_draws: int

    @cached_property
    def price(self) -> Budget:
        """In the budget's currency: Pure and Approx n r, Zcdp n r**2 / 8, Gdp mu**2 = n (pi/2) (r/2)**2."""
        return self.price_in(type(self.budget))

    def price_in(self, currency: Currency) -> Budget:
        """Return the price in a currency, by its bounded range. See `Event.price_in`."""
        return price_together(currency, self.n_draws, 2 * self.scale * self.sensitivity, _ZERO)
