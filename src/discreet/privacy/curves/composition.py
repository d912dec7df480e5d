"""What a plan costs whose parts were all fixed in advance, as one curve.

A plan is a list written down before anything is seen. Its parts may be composed as curves, which is exact for
Gaussian noise and nearly so for mixtures. **A ledger may not**: its releases are chosen after seeing outputs, and a
curve composed of what happened to be chosen is no promise; see docs/adaptive-composition.md.

Gaussian parts are one Gaussian, and those known by their rho alone add up. A mixture goes through dp-accounting's
privacy-loss distributions: each part becomes the distribution on a grid of losses whose deltas on the grid are its
own (rounded up) and whose deltas between are the chords above (Doroshenko and others 2022), and these are convolved.
Convolution is by Fourier transform in floats, so 1e-12 (and as much again for every thousand parts) is added to every
delta: below 1e-10 they are coarse. No answer is above that of basic composition, by which epsilons and deltas add up.

Proof: docs/proofs/tradeoff.md
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import AdjacencyMismatch, InvalidArgument, InvalidType
from discreet.numbers.outward import float_down, float_up
from discreet.privacy.basic_composition import BasicComposition
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.curves.concentrated import ConcentratedCurve
from discreet.privacy.curves.families import EpsilonDelta, GaussianCurve, LaplaceCurve
from discreet.privacy.curves.tradeoff import DualCurve, TradeoffFunction, two_sided_float_deltas
from discreet.privacy.events.event import Event
from discreet.privacy.events.noise import LaplaceEvent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# A part's losses beyond the ones of this tail mass count as infinite.
_TAIL = 1e-15
_MOST_POINTS = 2**20
# What rounding in the Fourier transform may hide of a delta, for a thousand parts.
_TRANSFORM_SLACK = 1e-12
# Parts with larger losses would leave no grid for the others; of them only sums are kept.
_LARGEST_SCALE = 100.0
# Losses beyond this count as infinite.
_MOST_LOSS = 600.0


def compose_plan(parts: Iterable[Any]) -> TradeoffFunction:
    """Return the curve of several releases together that were all fixed before any was seen.

    Parameters
    ----------
    parts : iterable of Event, Budget or TradeoffFunction
        At least one. An event counts with its own price, which is often cheaper than the budget it was asked for.
        A curve that holds for one order of the neighbours only is made symmetric first.

    Returns
    -------
    TradeoffFunction
        Exact for Gaussian parts; for mixtures at most about 1 % above the exact epsilon for deltas of 1e-10 and more,
        and nowhere above the sums of epsilons and deltas.

    Raises
    ------
    InvalidArgument
        If there is none.
    AdjacencyMismatch
        If events have different neighbours.

    Guarantee
    ---------
    Releases fixed in advance, each of which keeps its part's curve, together keep this curve.
    Not for a ledger's entries, which are chosen after seeing outputs. Proof: docs/proofs/tradeoff.md

    Examples
    --------
    >>> from discreet.privacy.budgets import Gdp, Pure
    >>> round(float(compose_plan([Gdp(mu="1/20")] * 60).epsilon("0.002")), 6)
    0.90294
    >>> compose_plan([Gdp(mu=1), Pure(epsilon=1)]).epsilon(1e-6) < Gdp(mu=1).epsilon(1e-6) + 1
    True
    """
    listed = list(parts)
    if not listed:
        raise InvalidArgument("`parts` must hold at least one event, budget or curve; found none.")
    if len({part.adjacency for part in listed if isinstance(part, Event)}) > 1:
        raise AdjacencyMismatch("`parts` must all have one adjacency: convert the events, or compose them apart.")
    counts: dict[Any, int] = {}
    curves: dict[Any, TradeoffFunction] = {}
    square, rho = Fraction(0), Fraction(0)
    for part in listed:
        curve = part_curve(part)
        if isinstance(curve, GaussianCurve):
            square += curve.mu_squared
            continue
        if isinstance(curve, ConcentratedCurve):
            rho += curve.rho
            continue
        # Equal parts are convolved at once; curves without a name are equal only to themselves.
        name = part if isinstance(part, (Pure, Approx)) else repr(curve) if isinstance(part, Event) else id(part)
        counts[name] = counts.get(name, 0) + 1
        curves[name] = curve
    for name, sum_of_all in (("Gdp", GaussianCurve(square)), ("Zcdp", ConcentratedCurve(rho))):
        counts[name], curves[name] = 1, sum_of_all
    members = [(curves[name], count) for name, count in counts.items() if not _is_perfect(curves[name])]
    if not members:
        return EpsilonDelta(epsilon=Fraction(0), delta=Fraction(0))
    if len(members) == 1 and members[0][1] == 1:
        return members[0][0]
    if any(_scale(curve) * count**0.5 > _LARGEST_SCALE for curve, count in members):
        return SummedCurve(members)
    with suppress(IndexError):  # where next to nothing is finite, or different from 0, no loss is left on the grid
        return ComposedCurve(members)
    return SummedCurve(members)


def part_curve(part: Any) -> TradeoffFunction:
    """Return the symmetric curve of an event (by its own price), a budget or a curve."""
    if isinstance(part, TradeoffFunction):
        return part.symmetrized()
    if isinstance(part, LaplaceEvent) and part.shape in {(), (1,)}:
        return LaplaceCurve(part.price.epsilon)
    if isinstance(part, Event):
        return part.price.tradeoff()
    if isinstance(part, (Pure, Approx, Zcdp, Gdp)):
        return part.tradeoff()
    raise InvalidType(f"`parts` must hold events, budgets or curves; found {type(part).__name__}.")


def _is_perfect(curve: TradeoffFunction) -> bool:
    return curve.upper_delta(Fraction(0)) == 0


class SummedCurve(DualCurve):
    """The curve of parts of which one has losses far beyond 1: by basic composition alone; symmetric.

    Parameters
    ----------
    members : list of (TradeoffFunction, int)
        Symmetric curves, and how often each occurs.
    """

    def __init__(self, members: list[tuple[TradeoffFunction, int]]) -> None:
        self._basic = BasicComposition(members)
        self._n_parts = sum(count for _, count in members)

    def __repr__(self) -> str:
        return f"compose_plan of {self._n_parts} parts, by sums"

    def inverse(self) -> TradeoffFunction:
        """Return the curve itself."""
        return self

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return the sum's delta."""
        return min(Fraction(1), self._basic.upper_delta(epsilon))

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return `upper_delta` in floats."""
        return self._basic.float_deltas(epsilons)

    def least_epsilon(self, delta: Fraction) -> Fraction | None:
        """Return the sum's epsilon."""
        return self._basic.least_epsilon(delta)


class ComposedCurve(DualCurve):
    """The curve of independent parts, by privacy-loss distributions; symmetric.

    Parameters
    ----------
    members : list of (TradeoffFunction, int)
        Symmetric curves, and how often each occurs.
    """

    def __init__(self, members: list[tuple[TradeoffFunction, int]]) -> None:
        self._members = members
        self._basic = BasicComposition(members)
        scales = [_scale(curve) for curve, _ in members]
        n_parts = sum(count for _, count in members)
        spread = math.sqrt(sum(count * scale**2 for scale, (_, count) in zip(scales, members, strict=True)))
        # Chords add about step**2 / 8 to a loss's variance, in every part.
        step = spread * min(2.5e-4, 0.03 / math.sqrt(n_parts))
        total: PrivacyLossDistribution | None = None
        for (curve, count), scale in zip(members, scales, strict=True):
            one = _distribution(curve, step, scale)
            many = one.self_compose(count, tail_mass_truncation=_TAIL) if count > 1 else one
            total = many if total is None else total.compose(many, tail_mass_truncation=_TAIL)
        assert total is not None  # noqa: S101  (there is at least one member)
        # The distribution is worse than the truth, and chords between its deltas lie above them.
        self._epsilons = np.append(np.linspace(0, _reach(total, spread), 4097), _MOST_LOSS + 1)
        deltas = np.asarray(total.get_delta_for_epsilon(self._epsilons), dtype=np.float64)
        slack = _TRANSFORM_SLACK * (1 + n_parts / 1000)
        self._deltas = np.clip(np.maximum.accumulate(deltas[::-1])[::-1] + slack, 0.0, 1.0)
        self._ratios = np.exp(self._epsilons)

    def __repr__(self) -> str:
        return f"compose_plan of {sum(count for _, count in self._members)} parts"

    def inverse(self) -> TradeoffFunction:
        """Return the curve itself."""
        return self

    def upper_delta(self, epsilon: Fraction) -> Fraction:
        """Return the delta of a distribution that is worse than the truth, and a slack for the transform.

        Where the sum of epsilons and deltas says less, that.
        """
        near = np.array([float_down(min(epsilon, Fraction(10**6)))])
        return min(Fraction(float(self._by_distributions(near)[0])), self._basic.upper_delta(epsilon))

    def least_epsilon(self, delta: Fraction) -> Fraction | None:
        """Return the lesser of the composed epsilon and the sum; None for infinity."""
        found = [epsilon for epsilon in (super().least_epsilon(delta), self._basic.least_epsilon(delta))
                 if epsilon is not None]  # fmt: skip
        return min(found, default=None)

    def float_deltas(self, epsilons: Floats) -> Floats:
        """Return `upper_delta` in floats."""
        return np.minimum(self._by_distributions(epsilons), self._basic.float_deltas(epsilons))

    def _by_distributions(self, epsilons: Floats) -> Floats:
        # delta is convex in e^epsilon, so its chords are above.
        place = np.clip(np.searchsorted(self._epsilons, epsilons), 1, len(self._epsilons) - 1)
        left, right = self._ratios[place - 1], self._ratios[place]
        inside = np.exp(np.minimum(epsilons, self._epsilons[-1]))
        part = np.clip((inside - left) / (right - left), 0.0, 1.0)
        chords = self._deltas[place - 1] * (1 - part) + self._deltas[place] * part
        raised: Floats = np.minimum(1.0, chords * (1 + 2.0**-40))
        return raised


def _scale(curve: TradeoffFunction) -> float:
    """Return about the size of a part's losses; it decides how fine the grid is, not how safe the answer."""
    most = float(curve.upper_delta(Fraction(0)))
    typical = curve.epsilon(min(most / 4, 0.2))
    return max(typical if math.isfinite(typical) else 0.0, min(most, 0.5))


def _distribution(curve: TradeoffFunction, step: float, scale: float) -> PrivacyLossDistribution:
    """Return a distribution of privacy losses on multiples of `step` that is worse than the curve."""
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    if isinstance(curve, GaussianCurve):
        sigma = math.nextafter(1 / float_up(Gdp.from_squared(curve.mu_squared).mu), 0.0)
        return privacy_loss_distribution.from_gaussian_mechanism(sigma, value_discretization_interval=step)
    if isinstance(curve, LaplaceCurve):
        width = math.nextafter(1 / float_up(curve.span), 0.0)
        return privacy_loss_distribution.from_laplace_mechanism(width, value_discretization_interval=step)
    # Beyond the least and the largest loss of the grid everything counts as the next worse one.
    reach, floor = scale, float(curve.float_deltas(np.array([_MOST_LOSS]))[0])
    while reach < _MOST_LOSS and float(curve.float_deltas(np.array([reach]))[0]) > floor + _TAIL:
        reach *= 1.25
    count = min(math.ceil(reach / step) + 1, _MOST_POINTS // 2)
    losses: Floats = np.arange(-count, count + 1).astype(np.float64) * step
    deltas = two_sided_float_deltas(curve, losses)
    pmf = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(
        step, -count, count, np.minimum.accumulate(np.clip(deltas, 0.0, 1.0))
    )
    return privacy_loss_distribution.PrivacyLossDistribution(pmf)


def _reach(total: PrivacyLossDistribution, spread: float) -> float:
    """Return a loss beyond which only infinite ones are left."""
    reach, floor = 4 * spread, float(total.get_delta_for_epsilon(_MOST_LOSS)) + _TAIL
    while reach < _MOST_LOSS and float(total.get_delta_for_epsilon(reach)) > floor:
        reach *= 1.25
    return min(reach, _MOST_LOSS)
