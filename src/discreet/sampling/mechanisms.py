"""Draws from any target, at any budget, by any policy: the plan, and `sample`."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidType
from discreet.numbers.outward import exp_down, exp_up
from discreet.privacy.budgets import Approx, Budget, Pure, check_budget
from discreet.privacy.events.k_norm import KNormGradientEvent
from discreet.privacy.events.sampling import ChoiceEvent, Runtime, SamplingEvent, beside, largest_reach
from discreet.privacy.release import Release, release, settle_adjacency
from discreet.sampling.evaluation import refuse_no_rows
from discreet.sampling.policies import THINNING_ERROR, CoolDown, Policy, PolicyTerms, check_policy
from discreet.sampling.samplers import Counters, run
from discreet.sampling.targets.targets import ExactTarget, ScaledTarget, Target

if TYPE_CHECKING:
    import numpy as np

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.coins import Coins
    from discreet.privacy.ledger import Ledger

# A block, or an expected number of proposals, beyond this is refused: no fixed work would end in reasonable time.
MOST_PROPOSALS = 10**6
# More draws of one release than this would outgrow memory.
MOST_DRAWS = 10**7
_BISECTIONS = 40
# How often a scale is corrected by what its price is above the budget.
_CORRECTIONS = 4
_ROUNDS = 8
_NUMERICAL = (
    "how often proposals are accepted at least is numerical evidence, not a proof: the guarantee of the running time "
    "rests on it"
)


@dataclass(frozen=True, eq=False)
class Draw:
    """Drawn points.

    Parameters
    ----------
    points : np.ndarray of float64, shape (n_draws, dimension)
        Independent draws, one a row.
    """

    points: np.ndarray

    @property
    def point(self) -> np.ndarray:
        """The first draw, shape (dimension,)."""
        first: np.ndarray = self.points[0]
        return first


@dataclass(frozen=True, eq=False)
class SamplingPlan:
    """Draws by rejection, as a plan for the one door.

    Parameters
    ----------
    event : SamplingEvent
        What is done, and what it costs.
    target : Target
        The law.
    scaled : ScaledTarget
        The law at the event's scale.
    """

    event: SamplingEvent
    target: Target
    scaled: ScaledTarget

    def measure(self, data: Any) -> Any:
        """Return the prepared private rows."""
        return self.target.prepare(data)

    def draw(self, statistic: Any, coins: Coins) -> Draw:
        """Return the points."""
        return self.observe(statistic, coins, Counters())

    def observe(self, statistic: Any, coins: Coins, counters: Counters) -> Draw:
        """Return the points, and let `counters` see what was done: for tests and audits."""
        event = self.event
        points = run(self.scaled, statistic, event.runtime, coins, n_draws=event.n_draws, counters=counters)
        return Draw(points)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the release must know."""
        return ((_NUMERICAL,) if self.event.claim == "numerical" else ()) + self.scaled.notes


@dataclass(frozen=True, eq=False)
class ChoicePlan:
    """Draws with fixed work from finitely many candidates, as a plan for the one door."""

    event: ChoiceEvent
    target: ExactTarget

    def measure(self, data: Any) -> Any:
        """Return the private statistic."""
        return self.target.prepare(data)

    def draw(self, statistic: Any, coins: Coins) -> Draw:
        """Return the points."""
        return Draw(self.target.choose(statistic, self.event.scale, coins, self.event.n_draws))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the release must know."""
        return self.target.notes


def sample(
    target: Target | ExactTarget,
    data: Any,
    *,
    budget: Budget,
    adjacency: Adjacency | None = None,
    runtime: Policy | None = None,
    ledger: Ledger | None = None,
    n_draws: int = 1,
) -> Release[Draw]:
    """Draw from the exponential mechanism of a target, exactly; output and running time together keep the budget.

    Parameters
    ----------
    target : Target or ExactTarget
        What to draw from.
    data : object
        Private rows, as the target takes them.
    budget : Budget
        For all draws together. The density is as sharp as it pays for.
    adjacency : Replace or AddRemove, optional
        Which data sets are neighbours; taken from the ledger where one is given.
    runtime : policy, optional
        How long to run; default `CoolDown()`. Targets with fixed work keep any of them and need none.
    ledger : Ledger, optional
        Is charged; None opens one in memory whose total is the budget.
    n_draws : int, default 1
        How many independent draws share the budget.

    Returns
    -------
    Release
        Its value is a `Draw`. Neither value nor event tells how long it took.

    Raises
    ------
    InvalidArgument, InvalidType
        If an argument is unusable.
    IncompatiblePlan
        If target, policy and budget do not go together, or the expected work is too much; nothing is charged.
    BudgetExceeded, AdjacencyMismatch
        If the ledger refuses.

    Guarantee
    ---------
    The pair of output and number of blocks keeps `budget`; what each operation takes is assumed to be independent of
    the data. Proof: docs/proofs/sampling.md
    Source: McSherry and Talwar 2007; Awan and Rao 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.lattice.bounds import Interval
    >>> from discreet.privacy.adjacency import Replace
    >>> from discreet.privacy.budgets import Pure
    >>> from discreet.sampling.targets.lipschitz import Lipschitz
    >>> def utility(points, rows):
    ...     return -np.abs(points - rows.T).mean(axis=1)
    >>> target = Lipschitz(utility=utility, slopes=1, bounds=Interval(0, 1), change=0.1, example=np.zeros((5, 1)))
    >>> released = sample(target, np.full((10, 1), 0.25), budget=Pure(epsilon=1), adjacency=Replace())
    >>> released.value.point.shape, released.cost
    ((1,), Pure(epsilon=1))
    """
    relation = settle_adjacency(adjacency, ledger, units=False)
    draws = _checks.integer(n_draws, "n_draws", low=1, high=MOST_DRAWS)
    plan: SamplingPlan | ChoicePlan
    if not isinstance(target, (Target, ExactTarget)):
        raise InvalidType(f"`target` must be a Target; found {type(target).__name__}.")
    n_rows = None
    if relation.size_is_public:
        n_rows = target.count(data)
        refuse_no_rows(n_rows)
    if isinstance(target, ExactTarget):
        if runtime is not None:
            check_policy(runtime)
        plan = plan_choice(target, budget=budget, adjacency=relation, n_draws=draws)
    else:
        policy = CoolDown() if runtime is None else check_policy(runtime)
        plan = plan_target(target, budget=budget, adjacency=relation, runtime=policy, n_draws=draws, n_rows=n_rows)
    released = release(plan, data, ledger, n_rows=n_rows)
    return replace(released, notes=(*released.notes, *plan.notes))


def plan_choice(target: ExactTarget, *, budget: Budget, adjacency: Adjacency, n_draws: int = 1) -> ChoicePlan:
    """Return the plan of draws from finitely many candidates, as sharp as the budget pays for.

    Raises
    ------
    IncompatiblePlan
        If the target has no sensitivity under this adjacency.
    """
    sensitivity = target.sensitivity(adjacency)
    scale = largest_reach(budget, n_draws=n_draws) / (2 * sensitivity)
    target.check_scale(scale)
    event = ChoiceEvent(
        scale=scale,
        sensitivity=sensitivity,
        n_candidates=target.n_candidates,
        n_draws=n_draws,
        adjacency=adjacency,
        budget=budget,
        statistic=target.name,
        shape=(n_draws, target.dimension),
    )
    return ChoicePlan(event, target)


def plan_draws(
    target: Target, *, budget: Budget, adjacency: Adjacency, runtime: Policy, n_draws: int, n_rows: int | None
) -> SamplingPlan:
    """Return the plan of draws by rejection, as sharp as the budget pays for.

    Parameters
    ----------
    target : Target
        The law.
    budget : Budget
        For output and running time of all draws together.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    runtime : policy
        How long to run.
    n_draws : int
        How many draws.
    n_rows : int or None
        The number of rows, under Replace; None under AddRemove.

    Raises
    ------
    IncompatiblePlan
        If they do not go together, or the expected work is too much.
    """
    frame = _Frame(target, check_budget(budget), adjacency, runtime, n_draws, n_rows)
    if runtime.kind in {"plain", "squeeze"}:
        return frame.searched()
    return frame.solved()


def plan_target(
    target: Target, *, budget: Budget, adjacency: Adjacency, runtime: Policy, n_rows: int | None, n_draws: int = 1
) -> SamplingPlan:
    """Return the plan of draws by the sharpest price that is known: that of the normalizer, where the target has one.

    Parameters
    ----------
    target : Target
        The law.
    budget, adjacency, runtime, n_rows, n_draws
        As for `plan_draws`.

    Raises
    ------
    IncompatiblePlan
        If they do not go together, or the expected work is too much.

    Guarantee
    ---------
    In Pure and Approx the density is up to twice as sharp as `plan_draws` makes it, where the normalizers of neighbours
    are close; the event's price says so. Proof: docs/proofs/k_norm_gradient.md, section 4
    """
    common: dict[str, Any] = {"adjacency": adjacency, "runtime": runtime, "n_rows": n_rows, "n_draws": n_draws}
    plain = plan_draws(target, budget=budget, **common)
    change = target.normalizer_change(adjacency)
    if change is None or not isinstance(budget, (Pure, Approx)):
        return plain
    # A plan of this budget has the scale that leaves the normalizer's part, but for its own clock and errors.
    double = 2 * (budget.epsilon - n_draws * change)
    if double <= budget.epsilon:
        return plain
    first = plan_draws(target, budget=_with_epsilon(budget, double), **common)
    double -= _beside(first)
    # The clock of a less sharp plan may cost more: where the price is still above the budget, the rest is taken off.
    for _ in range(_CORRECTIONS):
        if double <= budget.epsilon:
            break
        sharp = plan_draws(target, budget=_with_epsilon(budget, double), **common)
        numbers = {field.name: getattr(sharp.event, field.name) for field in fields(sharp.event)}
        room = _with_epsilon(budget, double + n_draws * change)
        event = KNormGradientEvent(**{**numbers, "budget": room, "normalizer": change})
        excess = _epsilon_of(event.price) - budget.epsilon
        if excess <= 0:
            return SamplingPlan(replace(event, budget=budget), target, sharp.scaled)
        double -= 4 * excess
    return plain


@dataclass(frozen=True)
class _Sketch:
    """A scale and what goes with it."""

    scale: Fraction
    scaled: ScaledTarget
    acceptance: Fraction
    error: Fraction
    runtime: Runtime


@dataclass(frozen=True)
class _Frame:
    """What stays the same while the scale is looked for."""

    target: Target
    budget: Budget
    adjacency: Adjacency
    policy: Policy
    n_draws: int
    n_rows: int | None

    def solved(self) -> SamplingPlan:
        """Find the scale whose price is the budget, where the runtime's share of it does not depend on the scale."""
        sensitivity = self.target.sensitivity(self.adjacency)
        # The largest scale accepts least and errs most: its numbers hold for what is left when the clock is paid.
        most = self._sketch(largest_reach(self.budget, n_draws=self.n_draws) / (2 * sensitivity))
        for _ in range(_ROUNDS):
            other, delta = beside(most.runtime, most.acceptance, _envelope(most.scaled))
            reach = largest_reach(self.budget, n_draws=self.n_draws, other=other, delta=delta) - 4 * most.error
            if reach <= 0:
                raise IncompatiblePlan(
                    f"{self.budget!r} leaves nothing for {self.n_draws} draws beside an evaluation error of "
                    f"{float(most.error):.2g}. Raise it."
                )
            less = self._sketch(reach / (2 * sensitivity))
            if less.acceptance >= most.acceptance and less.error <= most.error:
                return self._plan(replace(most, scale=less.scale, scaled=less.scaled))
            most = replace(most, acceptance=min(most.acceptance, less.acceptance), error=max(most.error, less.error))
            most = replace(most, runtime=self._runtime(most.scaled, most.acceptance))
        raise IncompatiblePlan("No scale fits the budget: the target's error grows as its scale falls. Raise it.")

    def searched(self) -> SamplingPlan:
        """Find the largest scale, by halving, whose price is within the budget."""
        top = largest_reach(self.budget, n_draws=self.n_draws) / (2 * self.target.sensitivity(self.adjacency))
        best, low, high = None, Fraction(0), Fraction(2)
        for _ in range(_BISECTIONS):
            part = (low + high) / 2
            try:
                found = self._plan(self._sketch(top * part))
            except (InvalidArgument, IncompatiblePlan) as error:
                high, refusal = part, error
                if part > 1 / Fraction(2**20):
                    continue
                raise IncompatiblePlan(f"{type(self.policy).__name__} fits no scale: {refusal}") from refusal
            best, low = found, part
        assert best is not None  # noqa: S101  (else the loop has raised)
        return best

    def _sketch(self, scale: Fraction) -> _Sketch:
        scaled = self.target.at(scale, self.n_rows)
        error = scaled.error
        if self.policy.kind == "constant" and scaled.normalizer_error:
            error += THINNING_ERROR
        acceptance = scaled.acceptance * exp_down(-error)
        if acceptance == 0:
            raise IncompatiblePlan(
                f"{self.target.name}: an evaluation error of {float(error):.3g} leaves no bound of acceptance above 0. "
                "Lower the budget."
            )
        return _Sketch(scale, scaled, acceptance, error, self._runtime(scaled, acceptance))

    def _runtime(self, scaled: ScaledTarget, acceptance: Fraction) -> Runtime:
        terms = PolicyTerms(scaled=scaled, acceptance=acceptance, budget=self.budget, n_draws=self.n_draws)
        runtime = self.policy.runtime(terms)
        expected = runtime.block
        if runtime.block == 1:
            thinned = runtime.parameter * acceptance if runtime.policy == "plain" else acceptance
            expected = int(1 / (runtime.parameter if runtime.policy in {"constant", "squeeze"} else thinned))
        if expected <= MOST_PROPOSALS:
            return runtime
        raise IncompatiblePlan(
            f"{self.target.name}: the expected work is {_size(expected)} proposals a draw, as at most one in "
            f"{_size(1 / acceptance)} is known to be accepted; at most {MOST_PROPOSALS} are made. Lower the "
            "budget, or choose another method."
        )

    def _plan(self, sketch: _Sketch) -> SamplingPlan:
        scaled, runtime = sketch.scaled, sketch.runtime
        high = scaled.acceptance_high
        if high < 1:
            high = min(Fraction(1), high * exp_up(sketch.error) + exp_up(Fraction(max(scaled.floor, -2000.0))))
        change = scaled.acceptance_change
        partner = sketch.acceptance if change is None else max(sketch.acceptance, high * exp_down(-change))
        event = SamplingEvent(
            scale=sketch.scale,
            sensitivity=self.target.sensitivity(self.adjacency),
            error=sketch.error,
            envelope=_envelope(scaled),
            claim=scaled.claim,
            acceptance=sketch.acceptance,
            acceptance_high=high,
            partner=partner,
            policy=runtime.policy,
            block=runtime.block,
            parameter=runtime.parameter,
            slack=runtime.slack,
            wrong=runtime.wrong,
            n_draws=self.n_draws,
            adjacency=self.adjacency,
            budget=self.budget,
            statistic=self.target.name,
            shape=(self.n_draws, self.target.dimension),
        )
        return SamplingPlan(event, self.target, scaled)


def _envelope(scaled: ScaledTarget) -> str:
    return "common" if scaled.common_envelope else "data-dependent"


def _size(number: Fraction | int) -> str:
    """Return about how large a number is."""
    return f"{float(number):.3g}" if number < 10**300 else "more than 1e300"


def _with_epsilon(budget: Pure | Approx, epsilon: Fraction) -> Pure | Approx:
    return Pure(epsilon=epsilon) if isinstance(budget, Pure) else Approx(epsilon=epsilon, delta=budget.delta)


def _beside(plan: SamplingPlan) -> Fraction:
    """Return what the event pays in epsilon beside the utility: for errors, and for the clock."""
    event = plan.event
    return _epsilon_of(event.price) - event.n_draws * 2 * event.scale * event.sensitivity


def _epsilon_of(price: Budget) -> Fraction:
    assert isinstance(price, (Pure, Approx))  # noqa: S101  (as its budget)
    return price.epsilon
