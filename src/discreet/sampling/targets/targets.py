"""Laws that are drawn by rejection: what is public about them, and who proposes and evaluates.

A target's density is proportional to ``exp(scale * u(x)) * base(x)``, where the utility u depends on private rows and
changes by at most its sensitivity between neighbours. Three classes share the work:

- `Target`: public declarations alone. It counts and prepares rows, and knows its sensitivity.
- `ScaledTarget`: the target at one public scale: how often proposals are accepted at least, how far an evaluation may
  be off, what else a policy may use.
- `Proposer`: has seen the prepared rows. It proposes, evaluates and settles points; it never raises.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet import _checks
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import numpy as np

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.coins import Coins

CLAIMS = ("proved", "numerical")
# What a release says of a function of private rows that its user gave: no check can see what it looks at.
BELIEVED = "{} of the user's utility: declared and believed, not enforced"
# Below this the logarithm of an acceptance probability is not followed.
FLOOR = -700.0
ONE = Fraction(1)
ZERO = Fraction(0)


class Target(ABC):
    """A law to draw from: public declarations, no data.

    A subclass is a frozen dataclass of what its user declares.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """What is drawn, in words, such as "K-norm gradient, logistic regression"; part of the event."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """How many numbers a point has."""

    @abstractmethod
    def sensitivity(self, adjacency: Adjacency) -> Fraction:
        """Return the most by which the utility of any point changes between neighbours, exact or rounded up.

        Raises
        ------
        IncompatiblePlan
            If there is no bound under this adjacency.
        """

    @abstractmethod
    def count(self, data: Any) -> int:
        """Return the number of rows, which is public under Replace; it is not asked under AddRemove.

        Raises
        ------
        InvalidArgument, InvalidType
            If the data have a wrong shape or type. No cell is looked at.
        """

    @abstractmethod
    def prepare(self, data: Any) -> Any:
        """Return the private rows as evaluation needs them; the only step that may raise because of a cell.

        It is the plan's `measure`: no coins, no scale; it raises only what the data owner declared.
        """

    @abstractmethod
    def at(self, scale: Fraction, n_rows: int | None) -> ScaledTarget:
        """Return the target at a public scale.

        Parameters
        ----------
        scale : Fraction
            What the utility is multiplied by, greater than 0.
        n_rows : int or None
            The number of rows under Replace; None under AddRemove, where it is private.

        Raises
        ------
        IncompatiblePlan
            If no envelope, or no bound on its acceptance, is known; nothing was charged.
        """

    def normalizer_change(self, adjacency: Adjacency) -> Fraction | None:
        """Return at least by how much the log of the normalizer changes between neighbours, at every scale.

        None where that is not known; where it is small, draws are priced more sharply by it.
        """
        del adjacency
        return None


@dataclass(frozen=True, kw_only=True)
class ScaledTarget(ABC):
    """A target at one public scale. All fields are public and hold for every data set that could be.

    Write ``U`` for the law of proposals, ``r(x)`` for the ideal log ratio, the logarithm of unnormalized target over
    envelope, at most 0, and ``l(x)`` for what `Proposer.log_ratio` computes. A sampler accepts x with probability
    exactly ``a(x) = exp(min(max(l(x), floor), 0))``.

    Parameters
    ----------
    dimension : int
        How many numbers a point has.
    acceptance : Fraction
        At most the ideal probability that a proposal is accepted, ``E exp(r)``, whatever the data; in (0, 1], rounded
        down. The sampler itself multiplies it by exp(-error).
    acceptance_high : Fraction, default 1
        At least that probability, rounded up.
    error : Fraction, default 0
        At least ``|l(x) - r(x)|`` at every point and for every data set; for proposals that depend on data also what
        stands between the point that was evaluated and the one that is published. It should not fall as the scale
        rises. Costs four times itself.
    common_envelope : bool
        Whether proposals and envelope are the same for all data sets, constants included.
    claim : {"proved", "numerical"}
        How sure `acceptance` is; a release says so where it is only numerical.
    floor : float, default -700
        Where log ratios are cut off below. With a common envelope any value is sound. Otherwise the target must have
        either ``r(x) >= floor`` for every x and data set, or log envelopes of neighbours within ``scale *
        sensitivity + 2 error`` of each other at every x: docs/proofs/sampling.md, section 2.
    default : tuple of float
        A public point that stands for an answer where a truncated run has none.
    least_ratio : Fraction or None
        At most ``exp(r(x))`` for every x and data set, if such a number above 0 is known: a squeeze.
    normalizer_error : Fraction or None
        At least ``|log p^ - log p|`` where `Proposer.log_acceptance` computes the logarithm of the sampler's own
        acceptance probability; None where it is not known.
    acceptance_change : Fraction or None
        At least ``|log p - log p'|`` of neighbours' acceptance probabilities, if known; a common envelope has
        ``scale * sensitivity + 2 error`` without being told.
    notes : tuple of str
        What a reader of the release must know, a sentence each.
    """

    dimension: int
    acceptance: Fraction
    acceptance_high: Fraction = ONE
    error: Fraction = ZERO
    common_envelope: bool
    claim: str = "proved"
    floor: float = FLOOR
    default: tuple[float, ...]
    least_ratio: Fraction | None = None
    normalizer_error: Fraction | None = None
    acceptance_change: Fraction | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _checks.integer(self.dimension, "dimension", low=1)
        _checks.one_of(self.claim, "claim", CLAIMS)
        _checks.exact_nonnegative(self.error, "error")
        if not 0 < self.acceptance <= self.acceptance_high <= 1:
            raise InvalidArgument(
                "`acceptance` must satisfy 0 < acceptance <= acceptance_high <= 1; "
                f"found {float(self.acceptance):.3g} and {float(self.acceptance_high):.3g}. "
                "Without a positive public bound no running time is private."
            )
        if not self.floor < 0:
            raise InvalidArgument(f"`floor` must be below 0; found {self.floor}.")
        if len(self.default) != self.dimension:
            raise InvalidArgument(f"`default` must have {self.dimension} numbers; found {len(self.default)}.")

    @abstractmethod
    def begin(self, prepared: Any) -> Proposer:
        """Return who proposes and evaluates on these prepared rows, after fixed work; never raises on a cell."""


@dataclass(eq=False)
class Points:
    """Proposed points as doubles, with whatever their proposer needs to settle one (a subclass adds it).

    Parameters
    ----------
    values : np.ndarray of float64, shape (size, dimension)
        Where the target is evaluated.
    """

    values: np.ndarray


class Proposer(ABC):
    """What has seen private rows. Nothing here raises, warns or branches its work on a private value."""

    @abstractmethod
    def propose(self, coins: Coins, size: int) -> Points:
        """Return `size` independent proposals, from a public number of words (refinement excepted)."""

    @abstractmethod
    def log_ratio(self, points: Points) -> np.ndarray:
        """Return the log of target over envelope, float64 of shape (size,).

        The sampler cuts it to [floor, 0] and takes NaN for the floor. What is computed of a point must not depend on
        the other points.
        """

    def settle(self, points: Points, indices: np.ndarray, coins: Coins) -> np.ndarray:
        """Return the points to publish, float64 of shape (len(indices), dimension), on the target's public grid.

        The default returns the doubles themselves, which suits proposals that do not depend on data.
        `coins` lengthen the words of a point that doubles leave undecided.
        """
        del coins  # nothing is undecided
        chosen: np.ndarray = points.values[indices]
        return chosen

    def log_squeeze(self, points: Points) -> np.ndarray | None:
        """Return the log of a lower bound over the envelope, for demonstrations of `Squeeze`; None if there is none."""
        del points
        return None

    def log_acceptance(self) -> float:
        """Return the logarithm of the probability that a proposal is accepted; see `normalizer_error`."""
        return 0.0


class ExactTarget(ABC):
    """A law on finitely many candidates that is drawn with fixed work, without rejection; public declarations alone.

    The candidate j has a probability proportional to ``weight_j * exp(scale * u_j)``, exactly.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """What is drawn, in words; part of the event."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """How many numbers a point has."""

    @property
    @abstractmethod
    def n_candidates(self) -> int:
        """How many candidates there are."""

    @abstractmethod
    def sensitivity(self, adjacency: Adjacency) -> Fraction:
        """Return the most by which a utility changes between neighbours; see `Target.sensitivity`."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of a draw must know, such as what is believed of a user's own function."""
        return ()

    @abstractmethod
    def count(self, data: Any) -> int:
        """Return the number of rows; see `Target.count`."""

    @abstractmethod
    def prepare(self, data: Any) -> Any:
        """Return the private statistic; the only step that may raise because of a cell."""

    def check_scale(self, scale: Fraction) -> None:
        """Refuse a public scale at which no draw can be made, before any charge; the default takes all."""
        del scale

    @abstractmethod
    def choose(self, prepared: Any, scale: Fraction, coins: Coins, n_draws: int) -> np.ndarray:
        """Return `n_draws` independent points, float64 of shape (n_draws, dimension), in the exact law."""
