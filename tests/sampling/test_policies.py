"""Policies and plans: blocks, refusals by name before any charge, and prices that are the budget."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import AdjacencyMismatch, IncompatiblePlan, InvalidArgument, InvalidType
from discreet.lattice.bounds import Interval
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.coins import Coins
from discreet.privacy.events.event import event_from_json
from discreet.privacy.events.sampling import SamplingEvent, block_length, cool_down_epsilon, miss
from discreet.privacy.ledger import Ledger
from discreet.sampling.mechanisms import plan_draws, sample
from discreet.sampling.policies import (
    BlockRestart,
    ConstantAcceptance,
    CoolDown,
    Plain,
    Squeeze,
    Truncated,
    check_policy,
)
from discreet.sampling.samplers import Counters
from discreet.sampling.targets.bases import Uniform
from discreet.sampling.targets.candidates import FiniteCandidates
from discreet.sampling.targets.lipschitz import Lipschitz
from discreet.sampling.targets.targets import Target
from discreet.sampling.targets.user_targets import UserTarget
from sampling.contract import known_target, rows_like, utility

ROWS = rows_like(1)
CHANGE = Fraction(4, 10)  # 4 |x - y| / n with ten rows
PURE, APPROX = Pure(epsilon=1), Approx(epsilon=1, delta="1e-6")


class Known(Target):
    """A target under a common envelope with a known normalizer, an evaluation error, and a fixed n."""

    name = "known"
    dimension = 1

    def __init__(self, error=Fraction(0), normalizer=Fraction(1, 10**9)):
        self.error, self.normalizer = error, normalizer

    def sensitivity(self, adjacency):
        """Return the change."""
        return CHANGE

    def count(self, data):
        """Return the number of rows."""
        return len(data)

    def prepare(self, data):
        """Return the rows."""
        return data

    def at(self, scale, n_rows):
        """Return the scaled target."""
        least = Fraction(np.exp(-4 * float(scale)) * (1 - 1e-9))
        return known_target(
            float(scale),
            acceptance=least,
            least_ratio=least,
            error=scale * self.error,
            normalizer_error=self.normalizer,
        )


def user_target(**changes):
    fields = {
        "utility": utility,
        "base": Uniform(Interval(0, 1)),
        "upper": 0,
        "lower": -4,
        "change": CHANGE,
        "example": ROWS,
    }
    return UserTarget(**(fields | changes))


def lipschitz():
    return Lipschitz(utility=utility, slopes=4, bounds=Interval(0, 1), change=CHANGE, example=ROWS)


def planned(target, budget=PURE, runtime=None, n_draws=1):
    return plan_draws(
        target, budget=budget, adjacency=Replace(), runtime=runtime or CoolDown(), n_draws=n_draws, n_rows=10
    )


@pytest.mark.parametrize(
    ("acceptance", "blocks"), [("0.5", (10, 20, 30)), ("0.1", (66, 132, 197)), ("0.01", (688, 1375, 2062))]
)
def test_the_table_of_truncated_blocks(acceptance, blocks):
    """N = log(1 / delta) / -log(1 - p), rounded up, as printed for 1e-3, 1e-6 and 1e-9."""
    assert tuple(block_length(Fraction(acceptance), Fraction(1, 10**k)) for k in (3, 6, 9)) == blocks


@given(st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000)), st.integers(1, 15))
def test_a_block_is_the_shortest_that_suffices(acceptance, digits):
    """(1 - p)**N is at most eta, and (1 - p)**(N - 1) is not."""
    eta = Fraction(1, 10**digits)
    block = block_length(acceptance, eta)
    assert (1 - acceptance) ** block <= eta < (1 - acceptance) ** (block - 1)
    assert (1 - acceptance) ** block <= miss(acceptance, block)


@pytest.mark.parametrize(
    ("eta", "s", "printed"), [("1e-6", "1/2", 1.0000016e-6), ("1e-12", "1e-6", 1.0e-6), ("1e-9", "1/2", 1e-9)]
)
def test_the_table_of_cool_downs(eta, s, printed):
    """max(-log(1 - eta), log((1 - eta) / (1 - eta / s))) at the printed settings."""
    found = float(cool_down_epsilon(Fraction(eta), Fraction(s)))
    assert abs(found - printed) < 1e-6 * printed + 1e-15


@pytest.mark.parametrize("n_draws", [1, 7, 1000])
@pytest.mark.parametrize("make", [Known, lipschitz, user_target])
def test_a_cool_down_costs_the_budget_and_its_clock_at_most_one_millionth(make, n_draws):
    """The joint price of output and blocks is the budget but for rounding, and the clock's part is 1e-6 at most."""
    budget = Pure(epsilon=n_draws)
    plan = planned(make(), budget, n_draws=n_draws)
    event = plan.event
    assert event.price <= budget
    assert budget.epsilon - event.price.epsilon < Fraction(1, 10**15) * n_draws
    assert n_draws * event.runtime_epsilon <= Fraction(1, 10**6)
    assert event.price.epsilon == n_draws * (
        2 * event.scale * event.sensitivity + 4 * event.error + event.runtime_epsilon
    )


@given(
    st.floats(0.05, 0.95),
    st.floats(0.0, 1.0),
    st.floats(0.0, 1.0),
    st.integers(1, 40),
    st.floats(0.05, 0.95),
)
def test_the_price_of_a_cool_down_bounds_the_law_of_its_blocks(least, first, second, block, s):
    """For any two acceptance probabilities above the bound no count of blocks has a larger log-ratio."""
    h = (1 - least) ** block
    if not h < 0.999 * s:
        return
    price = float(cool_down_epsilon(Fraction(h), Fraction(s)))
    etas = [(1 - (least + part * (1 - least))) ** block for part in (first, second)]
    counts = np.arange(1, 200)
    sums = [np.cumsum((eta / s) ** np.arange(counts.size)) * (1 - eta) for eta in etas]
    assert np.abs(np.log(sums[0] / sums[1])).max() <= price * (1 + 1e-9) + 1e-12


@given(st.lists(st.floats(0, 1), min_size=10, max_size=10), st.integers(0, 9), st.floats(0, 1))
def test_the_joint_law_of_output_and_blocks_keeps_the_price_of_a_cool_down(values, place, other):
    """The exact joint log-ratio on neighbours, by quadrature, is within the event's price, which is the budget."""
    event = planned(Known(), PURE, CoolDown(eta="1e-2", s="1/2")).event
    rows, grid = np.array(values)[:, None], (np.arange(2000) + 0.5)[:, None] / 2000
    changed = rows.copy()
    changed[place] = other
    accepted = [np.exp(float(event.scale) * utility(grid, table)) for table in (rows, changed)]
    of_output = np.log(accepted[0] / accepted[0].mean()) - np.log(accepted[1] / accepted[1].mean())
    counts, s = np.arange(60), float(event.parameter)
    etas = [(1 - chances.mean()) ** event.block for chances in accepted]
    sums = [np.log((1 - eta) * np.cumsum((eta / s) ** counts)) for eta in etas]
    joint = np.abs(of_output).max() + np.abs(sums[0] - sums[1]).max()
    assert joint <= float(event.price.epsilon) + 1e-9
    assert event.price <= PURE


@pytest.mark.parametrize(
    ("budget", "runtime"),
    [
        (PURE, CoolDown()),
        (Zcdp(rho="1/8"), CoolDown()),
        (Gdp(mu="1/2"), CoolDown()),
        (APPROX, CoolDown()),
        (APPROX, Truncated()),
        (APPROX, Truncated(delta="1e-9")),
        (APPROX, BlockRestart()),
        (APPROX, BlockRestart(eta="1e-8")),
        (APPROX, ConstantAcceptance()),
        (PURE, Squeeze()),
        (Zcdp(rho="1/8"), Squeeze(slack="1/4")),
        (Approx(epsilon=8, delta="1e-6"), Plain(thin="1/10")),
    ],
)
@pytest.mark.parametrize("error", [Fraction(0), Fraction(1, 10**6)])
def test_every_policy_keeps_its_budget_and_runs(budget, runtime, error):
    """The price is within the budget and nearly it; the event survives its JSON; the plan draws."""
    plan = planned(Known(error), budget, runtime, n_draws=2)
    price = plan.event.price
    assert price <= budget
    assert price.coordinates[0] > budget.coordinates[0] * Fraction(99, 100)
    assert event_from_json(plan.event.to_json()) == plan.event
    drawn = plan.draw(ROWS, Coins.from_seed(1))
    assert drawn.points.shape == (2, 1)
    assert drawn.point.shape == (1,)


def test_an_exact_normalizer_keeps_pure_privacy():
    """With no error of the normalizer constant acceptance costs the output alone."""
    plan = planned(Known(normalizer=Fraction(0)), PURE, ConstantAcceptance())
    assert plan.event.price == PURE
    with pytest.raises(IncompatiblePlan, match="`p0` must be at most"):
        planned(Known(), APPROX, ConstantAcceptance(p0=1))


def test_a_smaller_p0_is_honored():
    """A declared p0 is the acceptance probability of the run."""
    assert planned(Known(), APPROX, ConstantAcceptance(p0="0.001")).event.parameter == Fraction(1, 1000)


def test_a_wrong_normalizer_needs_a_delta():
    """A normalizer that errs has no pure price, and a budget in Pure is refused."""
    with pytest.raises(IncompatiblePlan, match="leaves nothing"):
        planned(Known(), PURE, ConstantAcceptance())


def test_a_plain_sampler_pays_for_its_clock():
    """At the same budget its target is at least five times flatter than under a cool-down, however it is thinned."""
    budget = Approx(epsilon=1, delta="1e-6")
    plain, cool = (planned(Known(), budget, runtime).event.scale for runtime in (Plain(thin="1/100"), CoolDown()))
    assert plain < cool / 5


def test_data_dependent_envelopes_cost_more_when_truncated():
    """Without a common envelope epsilon grows by -log(1 - h); block restart has no such growth."""
    for runtime in (Truncated(), BlockRestart()):
        event = planned(lipschitz(), APPROX, runtime).event
        h = miss(event.acceptance, event.block)
        reach = 2 * event.scale * event.sensitivity + 4 * event.error
        assert event.envelope == "data-dependent"
        assert event.price.delta == h
        assert (event.price.epsilon > reach) == (runtime == Truncated())


def test_a_plain_sampler_with_a_data_dependent_envelope_pays_by_its_worst_pair():
    """Its price uses the public limits of acceptance alone."""
    event = planned(lipschitz(), Approx(epsilon=100, delta="1e-2"), Plain()).event
    assert event.partner == event.acceptance < event.acceptance_high == 1
    assert event.price <= Approx(epsilon=100, delta="1e-2")


@pytest.mark.parametrize(
    ("target", "budget", "runtime", "text"),
    [
        (Known(), PURE, Truncated(), "Truncated costs a delta"),
        (Known(), Zcdp(rho=1), BlockRestart(), "BlockRestart costs a delta"),
        (Known(), PURE, Plain(), "Plain costs a delta"),
        (Known(), APPROX, Truncated(delta="1e-3"), "wants a delta of 1/1000"),
        (lipschitz(), APPROX, ConstantAcceptance(), "needs a target that knows its normalizer"),
        (lipschitz(), PURE, Squeeze(), "Squeeze has no proved price"),
        (Known(), Pure(epsilon=40), CoolDown(), "expected work is"),
        (Known(), Pure(epsilon="1e-7"), CoolDown(), "beside their running time"),
        (Known(error=Fraction(1, 2)), PURE, CoolDown(), "evaluation error"),
        (Known(error=Fraction(10**7)), PURE, Squeeze(), "Squeeze fits no scale"),
        (Known(error=Fraction(10**7)), PURE, CoolDown(), "no bound of acceptance"),
    ],
)
def test_what_does_not_go_together_is_refused_by_name(target, budget, runtime, text):
    """Refused when planned, so before any charge, by a message that says what to do."""
    with pytest.raises(IncompatiblePlan, match=text):
        planned(target, budget, runtime)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: CoolDown(eta=0), "`eta`"),
        (lambda: CoolDown(s=1), "`s`"),
        (lambda: CoolDown(eta="1e-3", s="1e-3"), "`eta` must be below `s`"),
        (lambda: Truncated(delta=float("nan")), "`delta`"),
        (lambda: BlockRestart(eta=-1), "`eta`"),
        (lambda: ConstantAcceptance(p0=2), "`p0`"),
        (lambda: Squeeze(slack=1), "`slack`"),
        (lambda: Plain(thin=0), "`thin`"),
    ],
)
def test_unusable_settings_are_refused_by_name(make, text):
    """Every number of a policy has its range."""
    with pytest.raises(InvalidArgument, match=text):
        make()


def test_only_policies_are_policies():
    """A word or a class is no policy."""
    for value in ("plain", CoolDown):
        with pytest.raises(InvalidType, match="CoolDown"):
            check_policy(value)
    assert check_policy(Plain()) == Plain()


def test_a_refusal_charges_nothing():
    """Bad combinations and bad data leave the ledger as it was."""
    ledger = Ledger(total=PURE, adjacency=Replace())
    for target, runtime in ((lipschitz(), Truncated()), (lipschitz(), Squeeze())):
        with pytest.raises(IncompatiblePlan):
            sample(target, ROWS, budget=PURE, runtime=runtime, ledger=ledger)
    with pytest.raises(Exception, match="missing cells"):
        sample(lipschitz(), np.full((10, 1), np.nan), budget=PURE, ledger=ledger)
    assert ledger.spent == Pure(epsilon=0)


def test_sample_asks_for_an_adjacency_or_takes_the_ledgers():
    """No default neighbours: from the ledger, or said."""
    with pytest.raises(InvalidArgument, match="`adjacency`"):
        sample(lipschitz(), ROWS, budget=PURE)
    ledger = Ledger(total=PURE, adjacency=AddRemove(), coins=Coins.from_seed(1))
    released = sample(lipschitz(), ROWS, budget=PURE, ledger=ledger)
    assert released.adjacency == AddRemove()
    assert any("declared and believed" in note for note in released.notes)
    with pytest.raises(AdjacencyMismatch):
        sample(lipschitz(), ROWS, budget=PURE, adjacency=Replace(), ledger=ledger)
    with pytest.raises(InvalidType, match="`target`"):
        sample("median", ROWS, budget=PURE, adjacency=Replace())
    with pytest.raises(InvalidType, match="`ledger`"):
        sample(lipschitz(), ROWS, budget=PURE, ledger="file")


def test_a_numerical_claim_is_a_note_of_the_release():
    """A bound on acceptance that is not proved is said beside the value and stands in the event."""

    class Numerical(Known):
        def at(self, scale, n_rows):
            return known_target(float(scale), acceptance=Fraction(1, 100), claim="numerical")

    released = sample(Numerical(), ROWS, budget=PURE, adjacency=Replace())
    assert released.event.claim == "numerical"
    assert any("not a proof" in note for note in released.notes)


def test_results_hold_no_count_of_the_work():
    """Neither the value nor the release tells how long it took."""
    released = sample(lipschitz(), ROWS, budget=PURE, adjacency=Replace())
    assert vars(released.value).keys() == {"points"}
    plan = planned(lipschitz())
    counters = Counters()
    plan.observe(plan.measure(ROWS), Coins.from_seed(3), counters)
    assert counters.proposals == counters.blocks.sum() * plan.event.block


def test_a_target_whose_error_grows_as_its_scale_falls_is_refused():
    """The plan never settles for a scale whose price was computed with another error."""

    class Perverse(Known):
        def at(self, scale, n_rows):
            return known_target(float(scale), acceptance=Fraction(1, 100), error=Fraction(1, 1000) / scale)

    with pytest.raises(IncompatiblePlan):
        planned(Perverse(), Pure(epsilon="1/1000"))


def test_a_plan_holds_the_worse_of_two_errors():
    """Where the error is larger at the final scale than at the first, the price counts the larger one."""

    class Uneven(Known):
        def at(self, scale, n_rows):
            """Return the scaled target."""
            error = Fraction(1, 1000) if scale > Fraction(1247, 1000) else Fraction(1, 500)
            return known_target(float(scale), acceptance=Fraction(1, 200), error=error)

    event = planned(Uneven()).event
    assert event.error == Fraction(1, 500)
    assert event.price <= PURE


def test_a_sure_acceptance_needs_one_proposal():
    """A block of one never fails, and the clock costs nothing."""

    class Sure(Known):
        def at(self, scale, n_rows):
            """Return the scaled target."""
            return known_target(float(scale), acceptance=Fraction(1))

    event = planned(Sure()).event
    assert (event.block, event.runtime_epsilon) == (1, 0)
    assert event.price == PURE
    assert planned(Sure(), APPROX, Truncated()).event.block == 1


def test_choices_have_fixed_work_and_keep_every_policy():
    """Candidates are chosen by Gumbel noise: any runtime holds; a scale that no noise has is refused."""
    target = FiniteCandidates(
        candidates=[0, 1], utility=lambda points, rows: (points == rows.T).sum(axis=1), change=1, example=[[0]]
    )
    released = sample(target, [[0]], budget=PURE, adjacency=Replace(), runtime=CoolDown())
    assert released.event.price == PURE
    with pytest.raises(InvalidType, match="`runtime`"):
        sample(target, [[0]], budget=PURE, adjacency=Replace(), runtime="fast")
    with pytest.raises(InvalidArgument, match="2\\*\\*55"):
        sample(target, [[0]], budget=Pure(epsilon="1e-30"), adjacency=Replace())
    assert sample(target, [[0]], budget=Zcdp(rho=1), adjacency=Replace(), n_draws=3).value.points.shape == (3, 1)


def test_events_refuse_what_no_theorem_covers():
    """Fields out of their range are refused by name."""
    good = planned(Known()).event.to_json()
    for changes, text in [
        ({"policy": "never"}, "policy"),
        ({"envelope": "none"}, "envelope"),
        ({"parameter": "0"}, "`parameter`"),
        ({"block": "1"}, "chance"),
        ({"acceptance": "2"}, "`acceptance`"),
        ({"acceptance": "1", "acceptance_high": "1/2"}, "at most `acceptance_high`"),
        ({"policy": "squeeze", "slack": "0"}, "slack"),
        ({"policy": "block-restart"}, "`parameter`"),
        ({"policy": "truncated", "parameter": "0"}, "currency|price|budget|Approx"),
        ({"scale": "100"}, "costs"),
    ]:
        with pytest.raises((InvalidArgument, IncompatiblePlan, Exception), match=text):
            event_from_json(good | changes)
    assert isinstance(event_from_json(good), SamplingEvent)
