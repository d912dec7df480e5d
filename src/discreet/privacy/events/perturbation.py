"""Events of the rivals of noisy descent: perturbed objectives, perturbed minimizers, Frank-Wolfe, support votes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import ClassVar

from discreet import _checks
from discreet.errors import InvalidArgument
from discreet.numbers import mills
from discreet.numbers.intervals import Arithmetic, Interval, refined
from discreet.numbers.outward import PARAMETER_BITS, log_up
from discreet.numbers.roots import certified, root_up
from discreet.privacy.bounded_range import price_together
from discreet.privacy.budgets import Approx, Budget, Currency, Gdp, Pure, Zcdp, is_pure
from discreet.privacy.events.event import Event, Names

# Between these the quantile of the normal law is nearer than Chernoff's bound, and doubles find where to look.
_LEAST_DELTA, _LARGEST_DELTA = Fraction(1, 10**290), Fraction(8, 100)
# Gaussian words say nothing of 2**62 steps; what that can add to delta is below this part of it.
_OF_DELTA = 1 - Fraction(1, 2**40)


@dataclass(frozen=True, kw_only=True)
class PerturbedObjectiveEvent(Event):
    """A convex objective with a random linear term, minimized; the minimizer with a little noise.

    J(w) = sum of losses + (regularization / 2) |w|**2 + b'w, with the loss of a record a function of one linear
    combination of w.

    Parameters
    ----------
    row_norm_squared : int or Fraction
        Largest squared Euclidean norm of a row, greater than 0.
    slope : int or Fraction
        Largest derivative of the loss by the margin, greater than 0.
    curvature : int or Fraction
        Largest second derivative of the loss by the margin, greater than 0.
    regularization : Fraction
        Strong convexity of the whole objective, greater than 0.
    law : {"l2", "gaussian"}
        "l2": b has a density proportional to `exp(-|b| / scale)`. "gaussian": b is normal, `scale` an entry's
        standard deviation; `budget` must be in Approx.
    scale : Fraction
        Scale of b, greater than 0.
    error : Fraction
        How far the number that noise is added to may be from the exact minimizer, greater than 0.
    output_scale : Fraction
        The released minimizer has l2 noise with a density proportional to `exp(-|z| / output_scale)`; above 0.

    Guarantee
    ---------
    With a = 2 under Replace and 1 under AddRemove, x = a * slope * |row| / scale and t such that a normal number
    exceeds t in size with probability delta: epsilon is `log(1 + curvature * |row|**2 / regularization)`, plus x for
    "l2" or `x t + x**2 / 2` for "gaussian", plus `2 * error / output_scale`, all rounded up.
    Proof: docs/proofs/perturbation.md
    """

    kind: ClassVar[str] = "perturbed-objective"
    _positive: ClassVar[Names] = (
        "row_norm_squared", "slope", "curvature", "regularization", "scale", "error", "output_scale",
    )  # fmt: skip

    row_norm_squared: Fraction
    slope: Fraction
    curvature: Fraction
    regularization: Fraction
    law: str
    scale: Fraction
    error: Fraction
    output_scale: Fraction

    def _check_numbers(self) -> None:
        _check_law(self.law, self.budget, gaussian=(Approx,))

    @cached_property
    def price(self) -> Pure | Approx:
        """Pure for "l2", Approx at the budget's delta for "gaussian"."""
        return self._of_objective()

    def _of_objective(self) -> Pure | Approx:
        epsilon = objective_epsilon(
            ratio=self.curvature * self.row_norm_squared / self.regularization,
            shift_squared=(self.adjacency.rows_changed * self.slope / self.scale) ** 2 * self.row_norm_squared,
            delta=self.budget.delta if self.law == "gaussian" and isinstance(self.budget, Approx) else None,
        )
        epsilon += 2 * self.error / self.output_scale
        if self.law == "gaussian" and isinstance(self.budget, Approx):
            return Approx(epsilon=epsilon, delta=self.budget.delta)
        return Pure(epsilon=epsilon)


@dataclass(frozen=True, kw_only=True)
class TwoStageEvent(PerturbedObjectiveEvent):
    """Votes of blocks for a support, with Laplace noise; then a perturbed objective on it.

    Parameters
    ----------
    sparsity : int
        How many columns a block votes for, and are kept.
    n_blocks : int
        How many blocks. Under Replace a record's block is its position, under AddRemove a function of its content.
    vote_scale : Fraction
        Scale of the Laplace noise on every count of votes, greater than 0.

    Guarantee
    ---------
    The objective's price plus `2 * sparsity / vote_scale`. Proof: docs/proofs/perturbation.md
    """

    kind: ClassVar[str] = "two-stage"
    _positive: ClassVar[Names] = ("vote_scale",)
    _counts: ClassVar[Names] = ("sparsity", "n_blocks")

    sparsity: int
    n_blocks: int
    vote_scale: Fraction

    @cached_property
    def price(self) -> Pure | Approx:
        """The votes' epsilon and the objective's, added."""
        of_objective = self._of_objective()
        epsilon = of_objective.epsilon + 2 * self.sparsity / self.vote_scale
        if isinstance(of_objective, Approx):
            return Approx(epsilon=epsilon, delta=of_objective.delta)
        return Pure(epsilon=epsilon)


@dataclass(frozen=True, kw_only=True)
class PerturbedMinimizerEvent(Event):
    """The minimizer of a strongly convex objective, with noise.

    Parameters
    ----------
    row_norm_squared, slope, regularization, error
        As in `PerturbedObjectiveEvent`.
    law : {"l2", "gaussian"}
        "l2": the noise has a density proportional to `exp(-|z| / scale)`. "gaussian": `scale` is the standard
        deviation of an entry.
    scale : Fraction
        Scale of the noise, greater than 0.

    Guarantee
    ---------
    The sensitivity is D = `a * slope * |row| / regularization + 2 * error`, a = 2 under Replace and 1 under AddRemove:
    Pure with epsilon = D / scale, or Gdp with mu = D / scale. Proof: docs/proofs/perturbation.md
    """

    kind: ClassVar[str] = "perturbed-minimizer"
    _positive: ClassVar[Names] = ("row_norm_squared", "slope", "regularization", "error", "scale")

    row_norm_squared: Fraction
    slope: Fraction
    regularization: Fraction
    error: Fraction
    law: str
    scale: Fraction

    def _check_numbers(self) -> None:
        _check_law(self.law, self.budget, gaussian=(Approx, Zcdp, Gdp))

    @property
    def sensitivity(self) -> Fraction:
        """How far the computed minimizers of two neighbours can lie apart, rounded up."""
        reach = self.adjacency.rows_changed * self.slope * root_up(self.row_norm_squared)
        return reach / self.regularization + 2 * self.error

    @cached_property
    def price(self) -> Pure | Gdp:
        """Pure for "l2", Gdp for "gaussian"."""
        ratio = self.sensitivity / self.scale
        return Pure(epsilon=ratio) if self.law == "l2" else Gdp.from_squared(ratio**2)


@dataclass(frozen=True, kw_only=True)
class FrankWolfeEvent(Event):
    """Steps that each choose a vertex: the largest of noisy scores.

    Parameters
    ----------
    n_steps : int
        How many choices, at least 1.
    law : {"gumbel", "laplace"}
        Law of the noise on every score.
    ratio : Fraction
        Its scale, in units of how far one record can move a score at that step; greater than 0.

    Guarantee
    ---------
    A choice is Pure(2 / ratio). Gumbel's is Zcdp(1 / (2 ratio**2)) as well, by its bounded range; Laplace's
    Zcdp(2 / ratio**2). Steps add up; the price is in Pure where the budget is, and in Zcdp otherwise.
    Proof: docs/proofs/perturbation.md
    """

    kind: ClassVar[str] = "frank-wolfe"
    _positive: ClassVar[Names] = ("ratio",)
    _counts: ClassVar[Names] = ("n_steps",)
    _words: ClassVar[dict[str, Names]] = {"law": ("gumbel", "laplace")}

    n_steps: int
    law: str
    ratio: Fraction

    @cached_property
    def price(self) -> Pure | Zcdp:
        """Pure where the budget is, also as a delta of 0; Zcdp otherwise."""
        if is_pure(self.budget):
            return Pure(epsilon=2 * self.n_steps / self.ratio)
        rho = self.price_in(Zcdp)
        assert isinstance(rho, Zcdp)  # noqa: S101  (what was asked)
        return rho

    def price_in(self, currency: Currency) -> Budget:
        """Return the price in a currency: of Gumbel's choices by their bounded range, of Laplace's as pure ones."""
        each = 2 / self.ratio
        reach, other = (each, Fraction(0)) if self.law == "gumbel" else (Fraction(0), each)
        return price_together(currency, self.n_steps, reach, other)


def objective_epsilon(*, ratio: Fraction, shift_squared: Fraction, delta: Fraction | None) -> Fraction:
    """Return what a perturbed objective costs, before the noise on its minimizer; rounded up.

    Parameters
    ----------
    ratio : Fraction
        Curvature of one record over the regularization, greater than 0.
    shift_squared : Fraction
        Square of a record's largest gradient, times a, over the scale of b.
    delta : Fraction or None
        None for l2 noise; with Gaussian noise what the epsilon may fail with.
    """
    shift = root_up(shift_squared)
    if delta is not None:
        shift = shift * normal_tail(delta) + shift_squared / 2
    return log_up(1 + ratio) + shift


@lru_cache(maxsize=256)
def normal_tail(delta: Fraction) -> Fraction:
    """Return t, rounded up, such that a standard normal number exceeds t in size with probability at most delta.

    Above delta = 0.08, or below 1e-290, Chernoff's bound `sqrt(2 log(1 / delta))`; the proof needs t >= sqrt(3) of
    any sharper one. Of delta a part of 2**-40 is left for numbers outside 64 bits.

    Examples
    --------
    >>> round(float(normal_tail(Fraction(1, 10**6))), 4)
    4.8916
    """
    tail = delta * _OF_DELTA
    if not _LEAST_DELTA <= delta <= _LARGEST_DELTA:
        return root_up(2 * log_up(1 / tail))

    def holds(t: Fraction) -> bool:
        def two_tails(reals: Arithmetic) -> Interval:
            return 2 * mills.normal_tail(reals.of(t), reals)

        # Only the relation to `tail` matters: the width is relative to it.
        return refined(two_tails, width=tail / 2**70)[1] <= tail

    guess = Fraction(-NormalDist().inv_cdf(float(tail) / 2))
    return certified(guess, holds, upward=True, bits=PARAMETER_BITS)


def _check_law(law: str, budget: Budget, *, gaussian: tuple[type[Budget], ...]) -> None:
    name = _checks.one_of(law, "law", ("l2", "gaussian"))
    allowed: tuple[type[Budget], ...] = (Pure,) if name == "l2" else gaussian
    if is_pure(budget) != (name == "l2") or not (name == "l2" or isinstance(budget, allowed)):
        needed = " or ".join(currency.__name__ for currency in allowed)
        raise InvalidArgument(f'`law` "{name}" needs a budget in {needed}; found {budget!r}.')
