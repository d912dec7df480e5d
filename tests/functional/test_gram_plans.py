"""Plans of Gram releases: half-widths, the paper's modes and their true price, and the noise that every law draws."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
import neighbours
from discreet.functional.gram import (
    GramPlan,
    PrivateGram,
    gram_of,
    noise_scale,
    noise_variances,
    plan_gram,
)
from discreet.functional.half_widths import gram_half_widths, half_widths_of, n_noisy
from discreet.functional.paper_modes import coefficient_sensitivity, entry_scales, printed_sensitivity
from discreet.lattice.grid import Coding, Layout
from discreet.privacy.events.event import event_from_json

ADJACENCIES = (dp.AddRemove(), dp.Replace())
PURE = ("wishart", "laplace", "l_inf", "paper", "paper_code")
LAYOUTS = {
    "box": neighbours.box_layout(3, intercept=False, bits=1),
    "box with intercept": neighbours.box_layout(3, intercept=True, bits=1),
    "uneven": Layout(["a", "b"], [Coding(-3.0, 5.0, 0.0, 0.5), Coding.indicator(1)], intercept=False, bits=1),
    "uneven with intercept": Layout(["a", "b"], [Coding.centered(0, 9, 1), Coding.dummy(3, 2)], intercept=True, bits=1),
    "one-sided": Layout(["a", "b"], [Coding(2.0, 5.0, 0.0, 1.0), Coding.flag(1)], intercept=True, bits=1),
}


def plan(layout, mechanism, *, adjacency=None, budget=None, size_is_public=None, loss="squared"):
    neighbours_are = adjacency or dp.Replace()
    return plan_gram(
        layout,
        budget=budget or (dp.Gdp(mu=1) if mechanism == "gaussian" else dp.Pure(epsilon=1)),
        adjacency=neighbours_are,
        mechanism=mechanism,
        size_is_public=neighbours_are.size_is_public if size_is_public is None else size_is_public,
        statistic=gram_of(layout),
        loss=loss,
    )


def grid_rows(layout):
    """Every row of integers between the codings' limits."""
    constant = [(2**layout.bits,)] * layout.intercept
    ranges = [range(coding.lowest, coding.highest + 1) for coding in layout.codings]
    return np.array(list(itertools.product(*constant, *ranges)))


def changes(layout, adjacency, *, every_row_counts):
    """Return what every pair of neighbouring rows changes, shape (n, D, D)."""
    rows = grid_rows(layout)
    products = rows[:, :, None] * rows[:, None, :]
    if isinstance(adjacency, dp.AddRemove):
        return products
    if not every_row_counts:
        products = np.concatenate([products, np.zeros_like(products[:1])])
    first, second = np.triu_indices(len(products), k=1)
    return products[first] - products[second]


# --- half-widths


@pytest.mark.parametrize("every_row_counts", [True, False])
@pytest.mark.parametrize("adjacency", ADJACENCIES, ids=lambda a: a.name)
@pytest.mark.parametrize("name", LAYOUTS)
def test_half_widths_are_the_largest_changes_of_a_whole_small_grid(name, adjacency, every_row_counts):
    """Every entry changes by at most its half-width, and some pair of rows attains it: no smaller one is true."""
    layout = LAYOUTS[name]
    widths = np.array(gram_half_widths(layout, adjacency, every_row_counts=every_row_counts))
    attained = np.abs(changes(layout, adjacency, every_row_counts=every_row_counts)).max(axis=0)
    assert (attained <= widths).all()
    # Without an intercept an absent row is allowed for, though no record may be it.
    if layout.intercept or name == "box" or not every_row_counts:
        np.testing.assert_array_equal(attained, widths)
    np.testing.assert_array_equal(widths, widths.T)


def test_half_widths_of_a_box_are_those_of_the_formula():
    """M_i M_j under AddRemove; M_i**2 and 2 M_i M_j under Replace, but 0 in a public corner."""
    layout = neighbours.box_layout(3, intercept=True, bits=4)
    square = 16**2
    assert gram_half_widths(layout, dp.AddRemove(), every_row_counts=False) == [[square] * 3] * 3
    two = 2 * square
    expected = [[0, two, two], [two, square, two], [two, two, square]]
    assert gram_half_widths(layout, dp.Replace(), every_row_counts=True) == expected
    expected[0][0] = square
    assert gram_half_widths(layout, dp.Replace(), every_row_counts=False) == expected


def test_dummies_cost_less_than_their_bounds_say():
    """A dummy reaches from -K/k to K - K/k: its interval is K wide, not twice its largest size."""
    layout = Layout(["d"], [Coding.dummy(8, 4)], intercept=True, bits=4)
    widths = gram_half_widths(layout, dp.Replace(), every_row_counts=True)
    assert widths[0][1] == 16 * 16
    assert 2 * layout.entry_bounds[0] * layout.entry_bounds[1] == 2 * 16 * 14


@pytest.mark.parametrize("size_is_public", [True, False])
@pytest.mark.parametrize("name", LAYOUTS)
def test_an_event_says_which_half_widths_were_used(name, size_is_public):
    """The dimension tells whether the corner was counted, so a saved release can be read for ever."""
    layout = LAYOUTS[name]
    made = plan(layout, "l_inf", size_is_public=size_is_public)
    widths = gram_half_widths(layout, dp.Replace(), every_row_counts=size_is_public)
    assert half_widths_of(event_from_json(made.event.to_json()), layout) == widths
    entries = layout.width * (layout.width + 1) // 2
    assert made.event.dimension == n_noisy(widths) == entries - (layout.intercept and size_is_public)
    assert made.event.half_width == max(map(max, widths))
    assert made.event.price == dp.Pure(epsilon=1)


def test_a_public_corner_is_released_as_it_is():
    """Where every row counts the corner is n K**2 on all neighbours, and has no noise."""
    layout = neighbours.box_layout(3, intercept=True, bits=8)
    exact = PrivateGram(np.full((3, 3), 10 * 2**16), 10)
    for seed in range(5):
        made = plan(layout, "l_inf", budget=dp.Pure(epsilon=100))
        noisy = made.draw(exact, dp.privacy.Coins.from_seed(seed))
        assert noisy.entries[0, 0] * 2**noisy.step_bits == 10 * 2**16
        assert noisy.entries[0, 1] * 2**noisy.step_bits != 10 * 2**16
    assert noise_variances(made.event, layout)[0, 0] == 0.0


# --- the paper's modes


def ordered_coefficients(products, loss, target):
    """Return the ordered coefficients of the objective of every record, from its products v_i v_j."""
    factors = np.ones(products.shape[1], dtype=int)
    if loss == "logistic":
        factors[target] = 2
    return products * np.outer(factors, factors)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("adjacency", ADJACENCIES, ids=lambda a: a.name)
@pytest.mark.parametrize("name", LAYOUTS)
def test_the_true_sensitivity_holds_on_a_whole_small_grid(name, adjacency, loss):
    """No pair of rows changes the ordered coefficients by more than f (sum g M)**2; under AddRemove one attains it."""
    layout = LAYOUTS[name]
    overall = Fraction(1) if loss == "squared" else Fraction(1, 8)
    moved = ordered_coefficients(changes(layout, adjacency, every_row_counts=False), loss, layout.width - 1)
    largest = overall * int(np.abs(moved).sum(axis=(1, 2)).max())
    declared = coefficient_sensitivity(layout, loss=loss, target=layout.width - 1)
    assert largest <= declared
    if isinstance(adjacency, dp.AddRemove) or name == "box":
        assert largest == declared


@pytest.mark.parametrize("width", [2, 3, 4])
def test_replacing_a_row_attains_the_same_sensitivity_with_an_intercept(width):
    """v = (1, ..., 1) against rows whose sum is 0: half-way on the grid where the number of columns is odd."""
    layout = neighbours.box_layout(width, intercept=True, bits=1)
    moved = changes(layout, dp.Replace(), every_row_counts=True)
    assert np.abs(moved).sum(axis=(1, 2)).max() == coefficient_sensitivity(layout, loss="squared", target=width - 1)


@pytest.mark.parametrize("d", [1, 2, 5, 14])
def test_true_prices_of_the_paper_modes(d):
    """Half of what is asked for the paper's constant, little more for the program's, a quarter or so for logistic."""
    layout = neighbours.box_layout(d + 1, intercept=True)
    for adjacency in ADJACENCIES:
        price = lambda mechanism, loss, a=adjacency: plan(layout, mechanism, adjacency=a, loss=loss).event.price.epsilon  # noqa: E731
        assert price("paper", "squared") == Fraction(1, 2)
        assert price("paper_code", "squared") == Fraction((d + 1) ** 2, 2 * d**2 + 4 * d)
        logistic = Fraction((d + 2) ** 2, 8) / (Fraction(d**2, 4) + 3 * d)
        assert price("paper", "logistic") == price("paper_code", "logistic") == logistic < Fraction(1, 2)


def test_the_budget_stays_what_was_asked():
    """The ledger is charged what was asked for; the event shows what it costs."""
    event = plan(neighbours.box_layout(4, intercept=True), "paper", budget=dp.Pure(epsilon="4/5")).event
    assert event.budget == event.cost_in(dp.Pure) == dp.Pure(epsilon="4/5")
    assert event.price == dp.Pure(epsilon="2/5")


def test_printed_constants():
    """The constants of the paper and of its program, d counting the constant's column."""
    for d, paper, program, logistic in [(5, 72, 70, "21.25"), (8, 162, 160, "40"), (11, 288, 286, "63.25")]:
        assert printed_sensitivity(d, loss="squared", form="merged") == paper
        assert printed_sensitivity(d, loss="squared", form="averaged") == program
        for form in ("merged", "averaged"):
            assert printed_sensitivity(d, loss="logistic", form=form) == Fraction(logistic)
    for wrong in ({"loss": "poisson", "form": "merged"}, {"loss": "squared", "form": "printed"}):
        with pytest.raises(dp.InvalidArgument):
            printed_sensitivity(3, **wrong)


def test_the_noise_of_the_program_has_its_published_spread():
    """Off the diagonal Delta/eps, on it sqrt(2) Delta/eps, on products with the target Delta/(sqrt(2) eps)."""
    layout = neighbours.box_layout(5, intercept=True, bits=16)
    event = plan(layout, "paper_code").event
    std = np.sqrt(noise_variances(event, layout)) / 4.0**16
    delta = 2 * 4**2 + 4 * 4
    assert std[0, 1] == pytest.approx(delta)
    assert std[2, 2] == std[4, 4] == pytest.approx(math.sqrt(2) * delta)
    assert std[1, 4] == pytest.approx(delta / math.sqrt(2))
    merged = plan(layout, "paper").event
    std = np.sqrt(noise_variances(merged, layout)) / 4.0**16
    assert std[2, 2] == pytest.approx(math.sqrt(2) * 2 * 25)
    assert std[0, 1] == std[1, 4] == pytest.approx(25 * math.sqrt(2))


def test_the_logistic_noise_is_the_printed_one_in_units_of_the_gram():
    """Coefficients x_j**2/8, x_j x_l/4 and x_j y/2: the noise on the Gram is 8, 4 and 2 times Delta/eps."""
    layout = neighbours.box_layout(4, intercept=True, bits=16)
    delta = (Fraction(9, 4) + 9) * 4**16
    scales, of_two = entry_scales(plan(layout, "paper", loss="logistic").event)
    assert not of_two.any()
    assert (scales[0, 0], scales[0, 1], scales[1, 3], scales[3, 3]) == (8 * delta, 4 * delta, 2 * delta, 2 * delta)
    scales, of_two = entry_scales(plan(layout, "paper_code", loss="logistic").event)
    assert (scales[0, 0], scales[0, 1], scales[1, 3]) == (8 * delta, 8 * delta, 2 * delta)
    assert of_two.sum() == 6
    assert not of_two[3].any()


# --- every law


# The paper's modes alone draw other noise for another loss.
OFTEN = {
    *((mechanism, adjacency, "squared") for mechanism in (*PURE, "gaussian") for adjacency in ADJACENCIES),
    *((mechanism, dp.Replace(), "logistic") for mechanism in ("paper", "paper_code")),
} - {(mechanism, dp.Replace(), "squared") for mechanism in ("paper", "paper_code")}


@pytest.mark.parametrize(
    ("adjacency", "mechanism", "loss"),
    [
        pytest.param(
            adjacency,
            mechanism,
            loss,
            id=f"{adjacency.name}-{mechanism}-{loss}",
            marks=() if (mechanism, adjacency, loss) in OFTEN else pytest.mark.nightly,
        )
        for adjacency, mechanism, loss in itertools.product(ADJACENCIES, [*PURE, "gaussian"], ["squared", "logistic"])
    ],
)
def test_the_noise_has_the_variances_that_are_said(adjacency, mechanism, loss):
    """The second moment of every entry fits the formula, and one of a scale 10 % off does not."""
    layout = neighbours.box_layout(3, intercept=True, bits=16)
    made = plan(layout, mechanism, adjacency=adjacency, loss=loss)
    coins, n = dp.privacy.Coins.from_seed(81), 1200
    exact = PrivateGram(np.full((3, 3), 5 * 4**16), 5)
    released = np.array([made.draw(exact, coins).entries for _ in range(n)]) * 2.0**made.event.step_bits
    noise = (released - 5.0 * 4**16)[:, *np.triu_indices(3)]
    variances = noise_variances(made.event, layout)[np.triu_indices(3)]
    public = variances == 0
    assert (noise[:, public] == 0).all()
    squares = noise[:, ~public] ** 2 / variances[~public]
    spread = squares.std(axis=0) / math.sqrt(n)
    assert (np.abs(squares.mean(axis=0) - 1) < 4.5 * spread).all()
    # All entries together: 20 % more or less is out of the question.
    together = squares.mean(axis=1)
    assert abs(together.mean() - 1) < 4.5 * together.std() / math.sqrt(n) < 0.19
    assert (np.abs(np.corrcoef(noise[:, ~public].T) - np.eye((~public).sum())) < 5 / math.sqrt(n)).all()
    assert noise_scale(made.event) ** 2 == pytest.approx(noise_variances(made.event, layout)[0, 1])


@pytest.mark.parametrize("mechanism", ["paper", "paper_code"])
def test_the_released_entries_are_whole_steps_around_the_statistic(mechanism):
    """With noise far below the grid the statistic comes out: the mean of two draws keeps its unit."""
    layout = neighbours.box_layout(3, intercept=True, bits=16)
    exact = np.arange(9).reshape(3, 3) * 1000
    exact += exact.T
    made = plan(layout, mechanism, budget=dp.Pure(epsilon=10**14))
    noisy = made.draw(PrivateGram(exact, 5), dp.privacy.Coins.from_seed(82))
    assert noisy.step_bits == 0
    np.testing.assert_array_equal(noisy.entries, exact)


@pytest.mark.parametrize("mechanism", PURE)
def test_pure_laws_refuse_other_budgets(mechanism):
    """Laplace-like noise is for Pure budgets, and the message says so."""
    with pytest.raises(dp.errors.IncompatiblePlan, match=mechanism):
        plan(LAYOUTS["box"], mechanism, budget=dp.Gdp(mu=1))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**40), Fraction(10**200)])
@pytest.mark.parametrize("mechanism", PURE)
def test_budgets_without_noise_are_refused(mechanism, epsilon):
    """Noise that no 64-bit release can hold is refused before anything is charged."""
    with pytest.raises(dp.InvalidArgument, match="`budget`"):
        plan(neighbours.box_layout(3, intercept=True), mechanism, budget=dp.Pure(epsilon=epsilon))


def test_an_unknown_loss_is_refused():
    """The paper printed constants for two losses."""
    with pytest.raises(dp.InvalidArgument, match="`loss`"):
        plan(LAYOUTS["box"], "paper", loss="poisson")


@pytest.mark.parametrize("mechanism", PURE)
def test_events_of_plans_survive_a_file(mechanism):
    """A stored event is the event, for every law."""
    made = plan(neighbours.box_layout(3, intercept=True), mechanism)
    assert isinstance(made, GramPlan)
    assert event_from_json(made.event.to_json()) == made.event


@pytest.mark.parametrize("mechanism", [*PURE, "gaussian"])
@pytest.mark.parametrize("may_drop", [True, False])
def test_a_saved_release_of_every_law_is_read_again(tmp_path, mechanism, may_drop):
    """The file holds all that the noise's variances need, whether the number of rows was public or not."""
    import pandas as pd

    frame = pd.DataFrame({"age": np.arange(60) % 50 + 20.0, "job": ["a", "b", "c"] * 20, "income": np.arange(60.0)})
    schema = dp.Schema(
        {
            "age": dp.Number(18, 90, missing="drop" if may_drop else "error"),
            "job": dp.Category(["a", "b", "c"]),
            "income": dp.Number(0, 100),
        },
        adjacency=dp.Replace(),
    )
    budget = dp.Gdp(mu=1) if mechanism == "gaussian" else dp.Pure(epsilon=1)
    moments = dp.release_moments(frame, schema, budget=budget, mechanism=mechanism)
    moments.save(tmp_path / "moments.json")
    read = dp.Moments.load(tmp_path / "moments.json")
    assert read.release.event == moments.release.event
    np.testing.assert_array_equal(read.gram(), moments.gram())
    variances = noise_variances(read.release.event, read.layout)
    np.testing.assert_array_equal(variances, noise_variances(moments.release.event, moments.layout))
    assert (variances[1:, 1:] > 0).all()
    assert (variances[0, 0] == 0) == (mechanism == "l_inf" and not may_drop)
    assert moments.cost == budget
