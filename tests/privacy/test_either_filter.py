"""A total in (epsilon, delta) grants what either of two filters grants, and nothing an adversary could use."""

import itertools
import json
import math
import sqlite3
from contextlib import closing
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from discreet.errors import BudgetExceeded, InvalidArgument, NoSoundConversion
from discreet.privacy.accounting import convert, gaussian_delta, gaussian_mu
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.filters import Cost, filter_for
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger_store import cost_of
from privacy.doubles import gaussian, laplace, priced

TOTAL = Approx(epsilon=1, delta="1e-6")


@pytest.fixture(params=["memory", "file"])
def ledger(request, tmp_path):
    """Open a ledger of either kind under the default composition."""
    if request.param == "memory":
        return Ledger(total=TOTAL, adjacency=Replace())
    return Ledger.open(tmp_path / "book.ledger", TOTAL, Replace())


def grants(ledger, event):
    """Whether a charge is granted."""
    try:
        ledger.charge(event)
    except BudgetExceeded:
        return False
    return True


def test_ten_pure_tenths_are_granted_and_the_eleventh_is_told_what_is_left(ledger):
    """As by sums; by Gdp alone the fourth would be refused."""
    assert ledger.composition == "either"
    assert [grants(ledger, laplace("1/10")) for _ in range(10)] == [True] * 10
    assert (ledger.spent, ledger.left, ledger.left_pure) == (Pure(epsilon=1), Pure(epsilon=0), Pure(epsilon=0))
    assert ledger.left_approx == Approx(epsilon=0, delta=0)
    with pytest.raises(BudgetExceeded) as refusal:
        ledger.charge(laplace("1/10"))
    assert "mu**2 = 0 of mu**2 = about 0.056" in str(refusal.value)
    assert "and for pure releases alone epsilon 0 is left" in str(refusal.value)
    assert "larger total for the same people would break the promise" in str(refusal.value)
    alone = Ledger(total=TOTAL, adjacency=Replace(), composition="gdp")
    assert sum(grants(alone, laplace("1/10")) for _ in range(10)) == 3


def test_the_refusal_of_a_pure_release_names_both_rests(ledger):
    """While both ways are open, both rests are told."""
    ledger.charge(laplace("1/10"))
    with pytest.raises(BudgetExceeded, match=r"about 0\.0\d+, .* and for pure releases alone epsilon 9/10 is left"):
        ledger.charge(laplace(2))


def test_noise_that_is_not_pure_closes_the_pure_way(ledger):
    """After one Gaussian release everything is summed in Gdp, what was pure too."""
    ledger.charge(laplace("1/10"))
    assert ledger.left_pure == Pure(epsilon="9/10")
    ledger.charge(gaussian("1/1000"))
    assert ledger.left_pure is None
    spent = convert(Pure(epsilon="1/10"), Gdp).mu_squared + Fraction(1, 1000)
    assert abs(ledger.spent.mu_squared - spent) < Fraction(1, 2**100)
    assert [grants(ledger, laplace("1/10")) for _ in range(3)] == [True, True, False]
    assert "for pure releases" not in refusal_of(ledger, laplace("1/10"))


def refusal_of(ledger, event):
    """Return what a refused charge says."""
    with pytest.raises(BudgetExceeded) as refusal:
        ledger.charge(event)
    return str(refusal.value)


def test_after_the_pure_way_passed_gdp_only_pure_releases_go_on(ledger):
    """A history that Gdp would not grant takes no Gaussian release any more."""
    for _ in range(5):
        ledger.charge(laplace("1/10"))
    assert not grants(ledger, gaussian("1/100000"))
    with pytest.raises(NoSoundConversion):
        ledger.charge(priced(Approx(epsilon="0.01", delta="1e-9")))
    assert grants(ledger, laplace("1/2"))
    assert ledger.left == Pure(epsilon=0)


def test_both_sums_stand_in_the_file(tmp_path):
    """The file goes on where it was, in a format of its own; a changed sum of either kind is found."""
    path = tmp_path / "book.ledger"
    first = Ledger.open(path, TOTAL, Replace())
    for _ in range(9):
        first.charge(laplace("1/10"))
    again = Ledger.open(path, composition="auto")
    assert (again.composition, again.spent, len(again.entries)) == ("either", Pure(epsilon="9/10"), 9)
    assert again.entries[0].cost == convert(Pure(epsilon="1/10"), Gdp) or again.entries[0].cost.mu_squared > 0
    assert again.to_json()["left_pure"] == {"currency": "Pure", "epsilon": "1/10"}
    assert grants(again, laplace("1/10"))
    assert not grants(first, laplace("1/10"))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
        text = json.loads(connection.execute("SELECT spent FROM ledger").fetchone()[0])
    assert text["pure"] == {"currency": "Pure", "epsilon": "1"}


@pytest.mark.parametrize(
    "statement",
    [
        """UPDATE ledger SET spent = json_set(spent, '$.pure.epsilon', '1/4')""",
        """UPDATE ledger SET spent = json_remove(spent, '$.pure')""",
        """UPDATE entries SET cost = json_set(cost, '$.pure.epsilon', '1/20') WHERE number = 3""",
        """UPDATE entries SET cost = json_remove(cost, '$.pure') WHERE number = 3""",
        """UPDATE entries SET cost = json_set(cost, '$.pure', json('{"currency": "Zcdp", "rho": "1"}'))""",
        """UPDATE entries SET cost = '[]'""",
    ],
)
def test_a_changed_pure_sum_is_damage(tmp_path, statement):
    """Neither sum is believed without its entries."""
    from discreet.errors import LedgerUnusable

    path = tmp_path / "book.ledger"
    ledger = Ledger.open(path, TOTAL, Replace())
    for _ in range(5):
        ledger.charge(laplace("1/10"))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
    with pytest.raises(LedgerUnusable):
        Ledger.open(path)


def test_a_stored_pure_price_must_be_pure():
    """A cost text of another kind is refused by name."""
    with pytest.raises(InvalidArgument, match="must be in Pure"):
        cost_of('{"currency": "Gdp", "mu_squared": "1", "pure": {"currency": "Zcdp", "rho": "1"}}')


def test_auto_of_an_older_file_goes_on_as_it_was(tmp_path):
    """Before, "auto" meant Gdp alone; such a file opens under "auto" and stays what it is."""
    path = tmp_path / "book.ledger"
    Ledger.open(path, TOTAL, Replace(), "gdp")
    assert Ledger.open(path, TOTAL, Replace(), "auto").composition == "gdp"
    with pytest.raises(InvalidArgument, match="`composition` is 'either'"):
        Ledger.open(path, composition="either")


def test_the_curve_of_the_promise_counts_both_kinds_of_histories(ledger):
    """Beyond epsilon it is Gdp's delta, at epsilon the total's, below what two lines through it allow."""
    curve = ledger.tradeoff()
    mu = gaussian_mu(epsilon=1, delta=TOTAL.delta)
    assert curve.delta("1") == gaussian_delta(epsilon=1, mu=mu) <= TOTAL.delta
    assert curve.delta("3/2") == gaussian_delta(epsilon="3/2", mu=mu)
    for epsilon in (Fraction(0), Fraction(1, 2), Fraction(99, 100)):
        both = Pure(epsilon=1).tradeoff().delta(epsilon), Gdp(mu=mu).tradeoff().delta(epsilon)
        assert max(both) <= curve.delta(epsilon) <= Approx(epsilon=1, delta=TOTAL.delta).tradeoff().delta(epsilon)
    grid = np.array([0.0, 0.3, 0.999, 1.0, 1.5, 4.0])
    exact = np.array([float(curve.upper_delta(Fraction(float(e)))) for e in grid])
    assert (curve.float_deltas(grid) >= exact * (1 - 1e-15)).all()
    assert curve.float_deltas(grid) == pytest.approx(exact, rel=1e-6, abs=1e-15)
    assert curve.is_symmetric
    assert "EitherCurve" in repr(curve)
    assert 0 < curve.beta("0.05") < Gdp(mu=mu).tradeoff().beta("0.05")
    for _ in range(10):
        ledger.charge(laplace("1/10"))
    assert ledger.tradeoff(of="spent").epsilon("0") == 1


# Small mechanisms, each as the law of its output on two neighbours, its pure price if it has one, and its Gdp price.


def randomized_response(epsilon):
    yes = math.exp(epsilon) / (1 + math.exp(epsilon))
    return (np.array([yes, 1 - yes]), np.array([1 - yes, yes])), priced(Pure(epsilon=epsilon))


def one_sided(epsilon):
    """Return a pure mechanism whose laws are no mirror images."""
    p = np.array([0.2, 0.5, 0.3])
    q = p * np.exp([epsilon, 0, -epsilon])
    q[1] = 1 - q[0] - q[2]
    assert np.all(np.abs(np.log(p / q)) <= epsilon + 1e-12)
    return (p, q), priced(Pure(epsilon=epsilon))


def binned_gaussian(square, *edges):
    """Return which bin a Gaussian falls into: post-processing, and not told to be pure."""
    mu, normal = math.sqrt(square), NormalDist()

    def law(center):
        return np.diff([0.0, *(normal.cdf(edge - center) for edge in edges), 1.0])

    return (law(0.0), law(mu)), gaussian(square)


def best_attack(rule, total, mechanisms, n_steps):
    """Return the largest delta at the total's epsilon over all adaptive choices of what a rule grants.

    Exact: a history matters only through the sums and the two likelihoods, so the best choice after each history is
    found by trying all of them.
    """
    costs = [rule.price(event) for _, event in mechanisms]
    ratio = math.exp(total.epsilon)

    def best(p, q, spent, left):
        stop = max(0.0, p - ratio * q)
        if not left:
            return stop
        values = [
            sum(best(p * a, q * b, spent + cost, left - 1) for a, b in zip(*laws, strict=True))
            for (laws, _), cost in zip(mechanisms, costs, strict=True)
            if rule.holds(spent + cost)
        ]
        return max([stop, *values])

    first = best(1.0, 1.0, rule.nothing(), n_steps)
    mechanisms = [(laws[::-1], event) for laws, event in mechanisms]
    return max(first, best(1.0, 1.0, rule.nothing(), n_steps))


def cases():
    """Return totals, each with mechanisms that fill both ways and a Gaussian whose best test is one of its bins."""
    for epsilon, delta in itertools.product((0.5, 1.0), ("0.02", "0.1")):
        total = Approx(epsilon=epsilon, delta=delta)
        square = gaussian_mu(epsilon=epsilon, delta=delta) ** 2
        mu = math.sqrt(square)
        # Where the likelihood ratio of N(mu, 1) and N(0, 1) is e**epsilon, and a step to either side of it.
        edge = epsilon / mu + mu / 2
        yield (
            total,
            [
                randomized_response(epsilon / 2),
                one_sided(epsilon / 4),
                binned_gaussian(square / 2, edge / 2, edge, 1.5 * edge),
                binned_gaussian(square, -edge + mu, edge),
            ],
        )


CASES = list(cases())
NAMES = [repr(total) for total, _ in CASES]


class SeparateSums(Cost):
    """The sums of two budgets, each of which forgets what the other one paid for."""

    def __add__(self, other):
        if other.pure is None:
            return SeparateSums(self.budget + other.budget, self.pure)
        return SeparateSums(self.budget, self.pure + other.pure)


class SeparateBudgets:
    """A planted fault: pure releases are paid from one budget, all others from a second one."""

    def __init__(self, total):
        self._rule = filter_for(total)

    def price(self, event):
        """Price as the filter does."""
        return self._rule.price(event)

    def nothing(self):
        """Begin with nothing."""
        return SeparateSums(Gdp(mu=0), Pure(epsilon=0))

    def holds(self, spent):
        """Whether each budget holds by itself."""
        return spent.pure <= self._rule.pure_limit and spent.budget <= self._rule.limit


@pytest.mark.parametrize(("total", "mechanisms"), CASES, ids=NAMES)
def test_no_adaptive_strategy_passes_the_total(total, mechanisms):
    """Whoever chooses what after which output: delta at epsilon is at most the total's, and nearly reaches it."""
    delta = float(total.delta)
    found = best_attack(filter_for(total), total, mechanisms, 4)
    assert 0.9 * delta < found <= delta * (1 + 1e-9)


@pytest.mark.parametrize(("total", "mechanisms"), CASES, ids=NAMES)
def test_two_separate_budgets_are_found_out(total, mechanisms):
    """The same enumeration convicts a rule by which each filter counts only what it paid for."""
    assert best_attack(SeparateBudgets(total), total, mechanisms, 4) > 1.2 * float(total.delta)


@pytest.mark.parametrize("currency", [Pure, Zcdp, Gdp])
def test_other_totals_have_one_way(currency):
    """Either is for (epsilon, delta) alone."""
    total = currency.from_coordinates((Fraction(1),))
    assert Ledger(total=total, adjacency=Replace()).left_pure is None
    with pytest.raises(InvalidArgument, match="`composition`"):
        Ledger(total=total, adjacency=Replace(), composition="either")
