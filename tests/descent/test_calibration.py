"""Plans of a descent: the right noise for the budget, the printed noise at its true cost."""

import math
from fractions import Fraction

import pytest

from discreet.descent.calibration import automatic_selection, plan_descent, printed_variance, true_cost
from discreet.descent.losses import LogisticLoss, SquaredLoss
from discreet.descent.rows import RESIDUAL_BOUND
from discreet.errors import BudgetExceeded, IncompatiblePlan, InvalidArgument
from discreet.lattice.noise import accuracy
from discreet.lattice.row_grid import RowGrid
from discreet.privacy.accounting import bun_steinke_rho, gaussian_mu, zcdp_rho
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.events.descent import CHOICE_IN_GDP
from discreet.privacy.ledger import Ledger

GRID = RowGrid(1_000, row_norm=20.0, entry_bound=1.16)


def plan(budget, adjacency=None, **changes):
    options = {
        "budget": budget, "adjacency": adjacency or Replace(), "target_bounds": (-30, 30), "n_selected": 10,
        "n_steps": 7, "step_size": 1.0, "divisor": 1000, "selection": "threshold",
    }  # fmt: skip
    return plan_descent(changes.pop("grid", GRID), SquaredLoss(clip=0.25), **(options | changes))


def sigma(event, n_steps=7):
    """Return the standard deviation in the math page's unit, G sqrt(T) / n."""
    return math.sqrt(event.variance / n_steps) / (RESIDUAL_BOUND * GRID.norm)


# delta, epsilon, mu, rho by CKS, rho by the paper's Lemma 3.4
CONVERSIONS = [
    ("1e-2", 1, 0.53252, 0.10341, 0.04909), ("1e-2", 2, 0.89585, 0.30508, 0.17985),
    ("1e-2", 4, 1.49468, 0.88407, 0.62014), ("1e-2", 6, 2.00050, 1.62066, 1.23341),
    ("1e-2", 8, 2.44880, 2.46781, 1.97237), ("1e-2", 10, 2.85635, 3.39901, 2.80799),
    ("1e-5", 1, 0.26805, 0.03056, 0.02082), ("1e-5", 2, 0.50155, 0.10826, 0.08005),
    ("1e-5", 4, 0.92493, 0.37314, 0.29765), ("1e-5", 8, 1.66603, 1.22971, 1.04914),
    ("1e-5", 10, 2.00045, 1.78270, 1.55036),
]  # fmt: skip


@pytest.mark.parametrize(("delta", "epsilon", "mu", "tight", "printed"), CONVERSIONS)
def test_conversions_are_those_of_the_table(delta, epsilon, mu, tight, printed):
    """The three ways from (epsilon, delta), each used by one kind of plan."""
    assert float(gaussian_mu(epsilon=epsilon, delta=delta)) == pytest.approx(mu, abs=6e-6)
    assert float(zcdp_rho(epsilon=epsilon, delta=delta)) == pytest.approx(tight, abs=6e-6)
    assert float(bun_steinke_rho(epsilon=epsilon, delta=delta)) == pytest.approx(printed, abs=6e-6)
    budget = Approx(epsilon=epsilon, delta=delta)
    assert float(plan(budget).event.price.mu) == pytest.approx(mu, abs=6e-6)
    assert float(plan(budget, selection="peel").event.price.rho) == pytest.approx(tight, abs=6e-6)


# delta, epsilon, sigma as printed, exact under Replace and AddRemove, and the printed one's true epsilons
NOISE = [
    ("1e-2", 2, 2.358, 2.233, 1.116, 1.86, 0.74), ("1e-2", 4, 1.270, 1.338, 0.669, 4.30, 1.68),
    ("1e-2", 6, 0.900, 1.000, 0.500, 6.96, 2.67), ("1e-2", 8, 0.712, 0.817, 0.408, 9.76, 3.67),
    ("1e-2", 10, 0.597, 0.700, 0.350, 12.66, 4.68), ("1e-5", 1, 6.930, 7.461, 3.731, 1.08, 0.51),
    ("1e-5", 2, 3.535, 3.988, 1.994, 2.29, 1.06), ("1e-5", 10, 0.803, 1.000, 0.500, 13.14, 5.65),
]  # fmt: skip


@pytest.mark.parametrize(
    ("delta", "epsilon", "printed", "replace", "addremove", "true_replace", "true_addremove"), NOISE
)
def test_noise_is_that_of_the_table(delta, epsilon, printed, replace, addremove, true_replace, true_addremove):
    """Exact noise belongs to its adjacency; printed noise is one for both, and its event costs the truth."""
    budget = Approx(epsilon=epsilon, delta=delta)
    for adjacency, exact, true in ((Replace(), replace, true_replace), (AddRemove(), addremove, true_addremove)):
        assert sigma(plan(budget, adjacency).event) == pytest.approx(exact, abs=6e-4)
        event = plan(budget, adjacency, noise="paper").event
        assert sigma(event) == pytest.approx(printed, abs=6e-4)
        assert float(event.budget.epsilon) == pytest.approx(true, abs=6e-3)
        assert event.budget.delta == budget.delta
        assert event.nominal == repr(budget)
        assert event.price == Gdp.from_squared(event.n_steps * event.sensitivity_squared / event.variance)


def test_printed_noise_is_charged_at_its_true_cost():
    """Nominal 10 does not fit a ledger of 10 under Replace; under AddRemove it costs less than half."""
    budget = Approx(epsilon=10, delta=0.01)
    ledger = Ledger(total=budget, adjacency=Replace(), composition="sum")
    with pytest.raises(BudgetExceeded, match="Cannot charge"):
        ledger.charge(plan(budget, noise="paper").event)
    ledger = Ledger(total=budget, adjacency=AddRemove(), composition="sum")
    ledger.charge(plan(budget, AddRemove(), noise="paper").event)
    assert ledger.spent.epsilon < 5


def test_printed_noise_is_off_by_two_either_way():
    """rho is really 2 rho under Replace and rho / 2 under AddRemove; in Gdp the squares are."""
    assert plan(Zcdp(rho="1/3"), noise="paper").event.budget == Zcdp(rho="2/3")
    assert plan(Zcdp(rho="1/3"), AddRemove(), noise="paper").event.budget == Zcdp(rho="1/6")
    assert plan(Gdp(mu=1), noise="paper").event.budget == Gdp.from_squared(2)
    assert plan(Gdp(mu=1), AddRemove(), noise="paper").event.budget == Gdp.from_squared("1/2")
    assert printed_variance(GRID, 7, Zcdp(rho=2)) == Fraction(7 * (RESIDUAL_BOUND * GRID.norm) ** 2, 2)
    assert true_cost(Fraction(4), Zcdp(rho=9)) == Zcdp(rho=2)


@pytest.mark.parametrize("budget", [Zcdp(rho="1/7"), Gdp(mu="1/3"), Approx(epsilon="1/2", delta=1e-6)])
@pytest.mark.parametrize("adjacency", [Replace(), AddRemove()])
def test_prices_are_exactly_the_budget(budget, adjacency):
    """Gaussian steps spend what was asked, to the last digit."""
    event = plan(budget, adjacency).event
    expected = {
        Zcdp: lambda: 2 * budget.rho, Gdp: lambda: budget.mu_squared,
        Approx: lambda: gaussian_mu(epsilon=budget.epsilon, delta=budget.delta) ** 2,
    }[type(budget)]()  # fmt: skip
    assert event.price.mu_squared == expected
    assert event.budget == budget
    assert event.sensitivity_squared == GRID.l2_squared(RESIDUAL_BOUND, adjacency)


@pytest.mark.parametrize("selection", ["peel", "coordinate"])
@pytest.mark.parametrize("intercept", [0.0, 1.0])
@pytest.mark.parametrize("budget", [Zcdp(rho="1/7"), Approx(epsilon=2, delta=1e-6), Gdp(mu=1)])
def test_choices_and_values_share_the_budget(selection, intercept, budget):
    """Shares of 3/5 and 1/2 pay for the choice; the price is below the budget by rounding alone."""
    grid = RowGrid(1_000, 20.0, 1.16, intercept=intercept)
    event = plan(budget, selection=selection, grid=grid).event
    rho = getattr(budget, "rho", Fraction(1, 2))
    if isinstance(budget, Approx):
        rho = zcdp_rho(epsilon=2, delta=1e-6)
    n_chosen, share = (10, 0.6) if selection == "peel" else (1, 0.5)
    assert event.n_selected == n_chosen
    price = event.price.mu_squared / 2 if isinstance(budget, Gdp) else event.price.rho
    assert rho * (1 - Fraction(1, 2**50)) < price <= rho
    of_choice = (
        (CHOICE_IN_GDP if isinstance(budget, Gdp) else 1)
        * event.n_steps
        * n_chosen
        * (event.entry_sensitivity / event.selection_scale) ** 2
        / 2
    )
    assert float(of_choice / rho) == pytest.approx(share)
    assert event.entry_sensitivity == grid.linf(RESIDUAL_BOUND, Replace())
    assert event.value_sensitivity_squared == 4 * RESIDUAL_BOUND**2 * (n_chosen * grid.entry**2 + grid.constant**2)


def test_auto_decides_by_public_numbers_alone():
    """K squared against 2 s kappa squared: the paper's design peels, unit-norm text does not; at equality it peels."""
    assert automatic_selection(GRID, 10) == "peel"
    text = RowGrid(47_000, 1.0, 0.3)
    assert automatic_selection(text, 500) == "threshold"
    half = RowGrid(100, 1.0, 0.5)
    assert automatic_selection(half, 2) == "peel"
    assert automatic_selection(half, 3) == "threshold"
    assert plan(Approx(epsilon=2, delta=0.01), selection="auto").settings.selection == "peel"
    assert plan(Gdp(mu=1), selection="auto", grid=text).event.selection == "threshold"


def test_what_a_budget_cannot_pay_for_is_refused():
    """No pure guarantee, no printed noise of a choice."""
    for pure in (Pure(epsilon=1), Approx(epsilon=1, delta=0)):
        with pytest.raises(IncompatiblePlan, match="no pure guarantee"):
            plan(pure)
    with pytest.raises(IncompatiblePlan, match="`noise`"):
        plan(Zcdp(rho=1), selection="coordinate", noise="paper")
    for rho in (Fraction(1, 2**200), 2**2000):
        with pytest.raises(InvalidArgument, match="`budget`"):
            plan(Zcdp(rho=rho))
        with pytest.raises(InvalidArgument, match="`budget`"):
            plan(Zcdp(rho=rho), selection="peel")
    with pytest.raises(InvalidArgument, match="`noise`"):
        plan(Zcdp(rho=1), noise="none")


def test_a_poor_library_is_refused_before_a_charge(monkeypatch):
    """A plan is not even made where numpy is too inaccurate for exact noise."""
    calls = []
    monkeypatch.setattr("discreet.descent.calibration.check_library", lambda: calls.append(1))
    plan(Zcdp(rho=1))
    assert calls == [1]
    assert accuracy.check_library() is None


def test_an_event_says_in_words_what_is_released():
    """For the ledger's readers; public facts alone."""
    event = plan_descent(
        GRID, LogisticLoss(), budget=Zcdp(rho=1), adjacency=Replace(), target_bounds=(0, 1), n_selected=10, n_steps=1,
        step_size=1.0, divisor=1.0, selection="all",
    ).event  # fmt: skip
    assert event.statistic == "1 step along the gradient of the logistic loss, 1000 columns"
    assert event.shape == (1000,)
