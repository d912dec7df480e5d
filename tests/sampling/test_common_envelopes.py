"""Targets of this part: their contract, their laws by numerical integration, and what they refuse by name."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidData, InvalidType
from discreet.lattice.bounds import Box, Interval
from discreet.privacy.adjacency import AddRemove, Replace
from discreet.privacy.budgets import Pure
from discreet.privacy.coins import Coins
from discreet.privacy.events.sampling import Runtime, block_length
from discreet.privacy.ledger import Ledger
from discreet.sampling.evaluation import complete_rows, evaluate, rows_of
from discreet.sampling.mechanisms import sample
from discreet.sampling.samplers import run
from discreet.sampling.targets.bases import Custom, Normal, Uniform, check_base
from discreet.sampling.targets.candidates import FiniteCandidates
from discreet.sampling.targets.common_envelopes import Posterior, SyntheticData
from discreet.sampling.targets.lipschitz import GaussianBase, Lipschitz
from discreet.sampling.targets.posterior import posterior_draw
from discreet.sampling.targets.user_targets import UserTarget
from sampling.contract import ALPHA, N_FIT, TILT, TargetContract, fit_p_value, neighbour, rows_like, utility

ROWS = rows_like(1)
LINE = Interval(0, 1)


def drawn(scaled, prepared, n_draws=N_FIT, seed=1):
    runtime = Runtime(policy="block-restart", block=block_length(scaled.acceptance, Fraction(1, 100)))
    return run(scaled, prepared, runtime, Coins.from_seed(seed), n_draws=n_draws)


def log_likelihood(points, rows):
    return -((points[:, :1] - rows[None, :, 0]) ** 2)


def line_cells(points):
    share = np.clip(points[:, 0], 0.0, 1.0)
    return np.column_stack([share, (1 - share) / 2, (1 - share) / 2])


class Rows(TargetContract):
    """Ten rows and a neighbour."""

    def data(self):
        """Return private rows."""
        return ROWS

    def neighbour(self):
        """Return a neighbour's rows."""
        return neighbour(ROWS)


class TestLipschitz(Rows):
    """A utility with slopes on an interval."""

    def target(self):
        """Return the target."""
        return Lipschitz(utility=utility, slopes=4, bounds=LINE, change=Fraction(2, 5), example=ROWS)

    def test_the_law_and_the_bound(self):
        """Draws fit exp(scale u), not a tilted one; the bound is exp(-scale slope width / 2)."""
        scaled = self.target().at(Fraction(1, 2), 10)
        assert float(scaled.acceptance) == pytest.approx(np.exp(-1.0), rel=1e-6)
        points = drawn(scaled, ROWS)[:, 0]
        density = lambda x: np.exp(utility(x[:, None], ROWS) / 2)  # noqa: E731
        assert fit_p_value(points, density, 0, 1) > ALPHA
        assert fit_p_value(points, density, 0, 1, tilt=TILT) < ALPHA


class TestLipschitzInAPlane(Rows):
    """Two coordinates of different width and slope, under AddRemove."""

    adjacency = AddRemove()

    def target(self):
        """Return the target."""
        return Lipschitz(
            utility=lambda points, rows: -np.abs(points - rows[0, 0]) @ np.array([1.0, 0.5]),
            slopes=[1, "1/2"],
            bounds=Box(lower=[0, -1], upper=[1, 2]),
            change=1,
            example=ROWS,
        )

    def test_the_marginals(self):
        """Each coordinate has its own law, as the utility is a sum."""
        points = drawn(self.target().at(Fraction(2), None), ROWS)
        place = ROWS[0, 0]
        assert fit_p_value(points[:, 0], lambda x: np.exp(-2 * np.abs(x - place)), 0, 1) > ALPHA
        assert fit_p_value(points[:, 1], lambda x: np.exp(-np.abs(x - place)), -1, 2) > ALPHA


class TestGaussianBase(Rows):
    """A utility with slopes under a normal base law."""

    def target(self):
        """Return the target."""
        return GaussianBase(
            utility=utility, slopes=4, base=Normal(center=0, spread=0.5), change=Fraction(2, 5), example=ROWS
        )

    def test_the_law(self):
        """Draws fit exp(scale u) times the normal density, not a tilted one."""
        points = drawn(self.target().at(Fraction(1, 4), 10), ROWS)[:, 0]
        density = lambda x: np.exp(utility(x[:, None], ROWS) / 4 - 2 * x**2)  # noqa: E731
        assert fit_p_value(points, density, -3, 3) > ALPHA
        assert fit_p_value(points, density, -3, 3, tilt=TILT) < ALPHA

    @pytest.mark.parametrize(("slant", "printed"), [("1/2", 0.446), ("1", 0.189)])
    def test_the_table_of_bounds(self, slant, printed):
        """E exp(-a |Z|) / E exp(a |Z|) in one dimension."""
        scaled = self.target().at(Fraction(slant) / 2, 10)
        assert float(scaled.acceptance) == pytest.approx(printed, abs=5e-4)

    def test_a_slope_that_leaves_no_work_is_refused(self):
        """A target far too sharp for its base law has no usable bound."""
        with pytest.raises(IncompatiblePlan, match="no usable bound"):
            self.target().at(Fraction(100), 10)


class TestPosterior(Rows):
    """A tempered posterior with its prior as envelope."""

    def target(self):
        """Return the target."""
        return Posterior(
            log_likelihood=log_likelihood, lower=-1, upper=0, prior=Normal(center=0, spread=1), example=ROWS
        )

    def test_the_law(self):
        """Draws fit prior times clamped likelihood to the power, not a tilted one."""
        points = drawn(self.target().at(Fraction(1, 4), 10), ROWS)[:, 0]

        def density(x):
            each = np.clip(log_likelihood(x[:, None], ROWS), -1, 0).sum(axis=1)
            return np.exp(each / 4 - x**2 / 2)

        assert fit_p_value(points, density, -5, 5) > ALPHA
        assert fit_p_value(points, density, -5, 5, tilt=TILT) < ALPHA

    @given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8), st.floats(-1e3, 1e3), st.booleans())
    def test_one_record_changes_the_utility_by_its_range_at_most(self, values, other, added):
        """Whatever stands in it, under both adjacencies, where the function looks at one record at a time."""
        rows = np.array(values)[:, None]
        changed = np.vstack([rows, [[other]]]) if added else np.vstack([rows[:-1], [[other]]])
        points = np.linspace(-5, 5, 7)[:, None]
        first, second = (self.target()._utility(points, table) for table in (rows, changed))
        assert np.abs(first - second).max() <= 1

    def test_the_number_of_rows_is_needed(self):
        """Under AddRemove it is private, and the target says so."""
        with pytest.raises(IncompatiblePlan, match=r"private under AddRemove\. Use Replace"):
            self.target().at(Fraction(1), None)

    def test_hopeless_work_is_refused(self):
        """A thousand rows leave no acceptance worth the name."""
        with pytest.raises(IncompatiblePlan, match="expected work"):
            sample(self.target(), np.zeros((1000, 1)), budget=Pure(epsilon=1), adjacency=Replace())
        with pytest.raises(IncompatiblePlan, match="expected work has no end"):
            self.target().at(Fraction(1000), 10**6)

    def test_failing_functions_are_the_lowest_utility(self):
        """What raises, or is NaN, on private rows counts as every record at its lower bound, and nothing raises."""

        def moody(points, rows):
            if rows.max() > 5:
                raise RuntimeError("private")
            return log_likelihood(points, rows)

        target = Posterior(log_likelihood=moody, lower=-1, upper=0, prior=Uniform(LINE), example=ROWS)
        found = target._utility(np.zeros((3, 1)), np.full((4, 1), 9.0))
        assert (found == -4).all()
        broken = Posterior(
            log_likelihood=lambda points, rows: np.where(rows.T > 5, np.nan, log_likelihood(points, rows)),
            lower=-1,
            upper=0,
            prior=Uniform(LINE),
            example=ROWS,
        )
        assert broken._utility(np.zeros((3, 1)), np.full((4, 1), 9.0)).tolist() == [-4.0] * 3

    @pytest.mark.parametrize(
        ("changes", "text"),
        [
            ({"lower": 1}, "`lower` must be below"),
            ({"upper": float("nan")}, "`upper`"),
            ({"prior": 3}, "`prior`"),
            ({"log_likelihood": lambda points, _: points[:, 0]}, "one value a point and record"),
            ({"log_likelihood": lambda points, rows: np.full((points.shape[0], rows.shape[0]), np.nan)}, "NaN"),
            ({"log_likelihood": 5}, "must be a function"),
        ],
    )
    def test_bad_declarations_are_refused_by_name(self, changes, text):
        """Before anything is charged."""
        fields = {"log_likelihood": log_likelihood, "lower": -1, "upper": 0, "prior": Uniform(LINE), "example": ROWS}
        with pytest.raises((InvalidArgument, InvalidType), match=text):
            Posterior(**(fields | changes))


class TestSyntheticData(TargetContract):
    """Parameters of a generator by pMSE on public cells."""

    def target(self):
        """Return the target."""
        return SyntheticData(cells=line_cells, n_cells=3, prior=Uniform(LINE))

    def data(self):
        """Return private rows."""
        return np.array([0, 0, 0, 1, 2, 1, 0, 0])

    def neighbour(self):
        """Return a neighbour's rows."""
        return np.array([0, 0, 0, 1, 2, 1, 0, 2])

    def test_the_law(self):
        """Draws fit exp(-n pMSE), not a tilted one."""
        target = self.target()
        counts = target.prepare(self.data())
        points = drawn(target.at(Fraction(1), 8), counts)[:, 0]
        density = lambda x: np.exp(target._utility(x[:, None], counts))  # noqa: E731
        assert fit_p_value(points, density, 0, 1) > ALPHA
        assert fit_p_value(points, density, 0, 1, tilt=TILT) < ALPHA

    @given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(0, 3), st.integers(0, 99))
    def test_n_pmse_changes_by_half_at_most(self, cells, other, seed):
        """Brute force over neighbours, for random cell probabilities, empty cells among them."""
        shares = np.random.default_rng(seed).dirichlet([0.3] * 4, 5)
        target = SyntheticData(
            cells=lambda points: shares[np.arange(points.shape[0]) % 5], n_cells=4, prior=Uniform(LINE)
        )
        first = target._utility(np.zeros((5, 1)), target.prepare(cells))
        second = target._utility(np.zeros((5, 1)), target.prepare([*cells[:-1], other]))
        assert np.abs(first - second).max() <= 0.5 + 1e-12
        assert first.min() >= -len(cells) / 4 - 1e-12

    def test_the_saturated_model_is_what_it_says(self):
        """-n pMSE by the definition: propensity scores of the cells, averaged over both kinds of record."""
        target, counts = self.target(), np.array([5.0, 2.0, 1.0])
        share = line_cells(np.array([[0.3]]))[0]
        synthetic = 8 * share
        scores = counts / (counts + synthetic)
        pmse = ((counts + synthetic) * (scores - 0.5) ** 2).sum() / 16
        assert target._utility(np.array([[0.3]]), counts)[0] == pytest.approx(-8 * pmse)

    def test_only_replace_and_only_cells(self):
        """Another adjacency, and records that are no cells, are refused by name."""
        with pytest.raises(IncompatiblePlan, match="Use Replace"):
            self.target().sensitivity(AddRemove())
        for bad in ([0.5], [-1], [3]):
            with pytest.raises(InvalidData, match="numbers of cells"):
                self.target().prepare(bad)
        with pytest.raises(InvalidArgument, match="3 probabilities"):
            SyntheticData(cells=lambda points: np.ones((points.shape[0], 2)), n_cells=3, prior=Uniform(LINE))


class TestUserTarget(Rows):
    """A utility of one's own, moved into its bounds."""

    def target(self, **changes):
        """Return the target."""
        fields = {
            "utility": utility,
            "base": Uniform(LINE),
            "upper": 0,
            "lower": -4,
            "change": Fraction(2, 5),
            "example": ROWS,
        }
        return UserTarget(**(fields | changes))

    def test_the_law(self):
        """Draws fit exp(scale u) times the base law, not a tilted one."""
        points = drawn(self.target().at(Fraction(1, 2), 10), ROWS)[:, 0]
        density = lambda x: np.exp(utility(x[:, None], ROWS) / 2)  # noqa: E731
        assert fit_p_value(points, density, 0, 1) > ALPHA
        assert fit_p_value(points, density, 0, 1, tilt=TILT) < ALPHA

    def test_an_envelope_that_does_not_dominate_is_refused(self):
        """Found on public test points with public rows, before any charge."""
        with pytest.raises(InvalidArgument, match="does not dominate"):
            self.target(upper=-2)
        with pytest.raises(InvalidArgument, match="does not dominate"):
            self.target(lower=-1)

    def test_a_utility_that_is_nan_is_refused(self):
        """Found on the public example."""
        with pytest.raises(InvalidArgument, match="NaN"):
            self.target(utility=lambda points, _: np.where(points[:, 0] > 0.9, np.nan, -1.0))

    def test_an_acceptance_of_zero_is_refused(self):
        """Whether it is missing, declared, or what is left of a wide range."""
        with pytest.raises(InvalidArgument, match="`lower` or `acceptance`"):
            self.target(lower=None)
        with pytest.raises(IncompatiblePlan, match="above 0"):
            self.target(lower=None, acceptance=lambda *_: 0).at(Fraction(1), 10)
        with pytest.raises(IncompatiblePlan, match="above 0"):
            self.target(lower=None, acceptance=lambda *_: 2).at(Fraction(1), 10)

    def test_an_acceptance_that_the_example_refutes_is_refused(self):
        """A declared bound above what public rows show; a true one is taken."""
        with pytest.raises(IncompatiblePlan, match="Declare a bound that holds"):
            self.target(lower=None, acceptance=lambda *_: "0.99").at(Fraction(1), 10)
        scaled = self.target(acceptance=lambda *_: "0.2").at(Fraction(1), 10)
        assert scaled.acceptance == Fraction(1, 5)
        assert scaled.least_ratio < scaled.acceptance

    def test_the_utility_is_held_within_its_bounds(self):
        """On private rows a violation is clipped in silence, so that acceptance keeps its bound."""
        target = self.target(utility=lambda points, rows: np.full(points.shape[0], -1.0 if rows.max() < 5 else 50.0))
        assert target._below(np.zeros((2, 1)), np.full((3, 1), 9.0)).tolist() == [0.0, 0.0]
        free = self.target(lower=None, acceptance=lambda *_: "0.01", utility=_failing)
        assert free._below(np.zeros((2, 1)), np.full((3, 1), 9.0)).tolist() == [-np.inf, -np.inf]

    @pytest.mark.parametrize(
        ("changes", "text"),
        [
            ({"change": 0}, "`change`"),
            ({"error": -1}, "`error`"),
            ({"upper": float("inf")}, "`upper`"),
            ({"lower": 1}, "`lower` must be below"),
            ({"base": LINE}, "`base`"),
            ({"utility": log_likelihood}, "one number a point"),
            ({"example": [["a"]]}, "`example`"),
        ],
    )
    def test_bad_declarations_are_refused_by_name(self, changes, text):
        """Every field has its range."""
        with pytest.raises((InvalidArgument, InvalidData, InvalidType), match=text):
            self.target(**changes)


def _failing(points, rows):
    if rows.max() > 5:
        raise RuntimeError("private")
    return -np.ones(points.shape[0])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Lipschitz(utility=utility, slopes=1, bounds=LINE, change=1, example=ROWS), "steeper than `slopes`"),
        (lambda: Lipschitz(utility=utility, slopes=0, bounds=LINE, change=1, example=ROWS), "`slopes`"),
        (
            lambda: Lipschitz(utility=utility, slopes=[4, 4], bounds=LINE, change=1, example=ROWS),
            "`slopes` must be one",
        ),
        (lambda: Lipschitz(utility=utility, slopes=4, bounds=None, change=1, example=ROWS), "domain must be bounded"),
        (
            lambda: Lipschitz(utility=utility, slopes=4, bounds=Box(lower=0, upper=1), change=1, example=ROWS),
            "one limit a",
        ),
        (
            lambda: Lipschitz(utility=log_likelihood, slopes=4, bounds=LINE, change=1, example=ROWS),
            "one number a point",
        ),
        (lambda: Normal(center=0, spread=0), "`spread`"),
        (lambda: Normal(center=[], spread=1), "`center`"),
        (lambda: Custom(transform=lambda u: u[:, :1] * np.inf, columns=1), "finite numbers"),
        (lambda: Custom(transform=3, columns=1), "must be a function"),
        (lambda: check_base(LINE, "prior"), "`prior`"),
    ],
)
def test_bad_declarations_are_refused_by_name(make, text):
    """Unbounded domains, violated slopes and unusable laws, before any charge."""
    with pytest.raises((InvalidArgument, InvalidType), match=text):
        make()


def test_a_slope_violated_on_private_rows_leaves_the_bound_on_acceptance():
    """Rises and falls are held within the penalty, and a failing utility is the lowest there is."""
    target = Lipschitz(utility=utility, slopes=4, bounds=LINE, change=1, example=ROWS)
    scaled = target.at(Fraction(1), 10)
    for private in (np.full((10, 1), 1e9), np.full((10, 1), np.nan)):
        proposer = scaled.begin(private)
        points = proposer.propose(Coins.from_seed(1), 500)
        penalties = 4 * np.abs(points.values[:, 0] - 0.5)
        assert (proposer.log_ratio(points) >= -2 * penalties - 1e-12).all()


def test_custom_laws_propose_what_their_function_says():
    """An exponential law by inversion, from two uniform numbers of which one is used."""
    law = Custom(transform=lambda u: -np.log(u[:, :1]), columns=1, width=2)
    points = law.propose(Coins.from_seed(1), 20_000)
    assert law.dimension == 1
    assert law.n_uniforms == 2
    assert scipy.stats.kstest(points[:, 0], "expon").pvalue > ALPHA
    assert Custom(transform=lambda u: u, columns=2).n_uniforms == 2


def test_rows_are_tables_of_numbers():
    """Ragged, textual and three-dimensional data are refused; one column may come flat; no cell is quoted."""
    assert rows_of([1, 2]).shape == (2, 1)
    for bad, text in (([[1], [2, 3]], "rows of one length"), ([["secret"]], "a cell that is not a number")):
        with pytest.raises(InvalidData, match=text) as caught:
            rows_of(bad)
        assert "secret" not in str(caught.value)
    with pytest.raises(InvalidData, match="3 dimensions"):
        rows_of(np.zeros((2, 2, 2)))
    with pytest.raises(InvalidData, match="must have 2 columns"):
        complete_rows(np.zeros((3, 1)), 2)
    with pytest.raises(InvalidData, match="Column 1 of `data` has missing cells"):
        complete_rows([[0, 0], [1, np.inf]], 2)


def test_evaluation_gives_a_few_points_at_a_time_and_holds_failures():
    """Many rows mean few points a call; what fails is NaN, the rest is kept."""
    sizes = []

    def function(points, rows):
        sizes.append(points.shape[0])
        if points[0, 0] > 5:
            raise ValueError("private")
        return points[:, 0]

    found = evaluate(function, np.arange(10.0)[:, None], np.zeros((1 << 19, 1)))
    assert set(sizes) == {2}
    assert np.isnan(found[6:]).all()
    assert found[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert evaluate(lambda *_: np.ones(3), np.zeros((2, 1)), np.zeros((1, 1)), width=2).shape == (2, 2)


def votes(points, rows):
    return (points[:, :1] == rows[None, :, 0]).sum(axis=1)


def test_candidates_have_the_exponential_mechanisms_law():
    """Frequencies fit weights exp(scale u), not tilted ones."""
    target = FiniteCandidates(candidates=[0, 1, 2], utility=votes, change=1, example=[[0]])
    data = target.prepare([0, 0, 0, 1, 1, 2])
    chosen = target.choose(data, Fraction(1, 2), Coins.from_seed(1), 6000)[:, 0].astype(int)
    weights = np.exp([1.5, 1.0, 0.5])
    expected = 6000 * weights / weights.sum()
    observed = np.bincount(chosen, minlength=3)
    assert scipy.stats.chisquare(observed, expected).pvalue > ALPHA
    tilted = expected * np.array([1.1, 1.1, 0.8])
    assert scipy.stats.chisquare(observed, tilted * 6000 / tilted.sum()).pvalue < ALPHA


def test_candidates_sensitivity_counts_rounding():
    """Whole utilities keep their change; steps add what rounding may."""
    fields = {"candidates": [[0.0], [1.0]], "change": "5/2", "example": [[0.0]]}
    assert FiniteCandidates(utility=votes, **fields).sensitivity(Replace()) == 2
    assert FiniteCandidates(utility=votes, **(fields | {"change": "1/2"})).sensitivity(Replace()) == Fraction(1, 2)
    real = FiniteCandidates(utility=lambda points, _: -points[:, 0] * 1.3, step="1/10", **fields)
    assert real.sensitivity(AddRemove()) == 27
    assert sample(real, [[0.0]], budget=Pure(epsilon=9), adjacency=Replace()).value.point.shape == (1,)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"candidates": []}, "`candidates`"),
        ({"candidates": [np.nan]}, "`candidates`"),
        ({"change": -1}, "`change`"),
        ({"step": 0}, "`step`"),
        ({"utility": log_likelihood}, "one number a candidate"),
        ({"utility": lambda points, _: points[:, 0] / 3}, "not whole"),
    ],
)
def test_bad_candidates_are_refused_by_name(changes, text):
    """Before anything is charged."""
    fields = {"candidates": [0, 1], "utility": votes, "change": 1, "example": [[0], [1]]}
    with pytest.raises(InvalidArgument, match=text):
        FiniteCandidates(**(fields | changes))


def test_an_empty_table_runs_under_add_remove():
    """No rows is a table like any other, and nothing says how many there were."""
    target = Lipschitz(
        utility=lambda points, rows: -np.abs(points - rows.T).sum(axis=1),
        slopes=3,
        bounds=LINE,
        change=1,
        example=ROWS[:2],
    )
    ledger = Ledger(total=Pure(epsilon=1), adjacency=AddRemove(), coins=Coins.from_seed(1))
    assert sample(target, np.empty((0, 1)), budget=Pure(epsilon=1), ledger=ledger).value.points.shape == (1, 1)


def test_a_posterior_draw_by_name_is_that_of_its_target():
    """With the same coins the function and the target draw the same point, and the event holds the power."""

    def ledger():
        return Ledger(total=Pure(epsilon=1), adjacency=Replace(), coins=Coins.from_seed(4))

    fields = {"prior": Normal(center=0, spread=1), "lower": -1, "upper": 0, "example": ROWS}
    released = posterior_draw(log_likelihood, ROWS, budget=Pure(epsilon=1), ledger=ledger(), **fields)
    target = Posterior(log_likelihood=log_likelihood, **fields)
    again = sample(target, ROWS, budget=Pure(epsilon=1), ledger=ledger())
    assert released.value.points.tolist() == again.value.points.tolist()
    assert 0.4999 < released.event.scale < 0.5
