"""Directions have exactly the Bingham law, by doubles and by words alone, under every policy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, special, stats

import discreet as dp
from discreet.errors import IncompatiblePlan, InvalidData
from discreet.privacy.coins import Coins
from discreet.sampling.mechanisms import plan_draws, sample
from discreet.sampling.pca.bingham import Bingham, scaled_bingham
from discreet.sampling.pca.bingham_proposals import BinghamProposer, Directions
from discreet.sampling.pca.second_moments import SecondMoments, UnitGrid, complement, error_of, sum_rows
from discreet.sampling.policies import BlockRestart, ConstantAcceptance, CoolDown, Plain, Squeeze, Truncated
from discreet.sampling.samplers import Counters

ROWS = np.random.default_rng(5).normal(size=(40, 2)) * [0.6, 0.3]
PLANE = Bingham(n_columns=2, row_norm=1.0)
POLICIES = [
    CoolDown(),
    Truncated(delta="1e-9"),
    BlockRestart(eta="1e-9"),
    ConstantAcceptance(),
    CoolDown(eta="0.05", s="0.2"),
]
APPROX = dp.Approx(epsilon=1, delta="1e-6")


def angles(points: np.ndarray) -> np.ndarray:
    """Return the angle of directions of the plane, modulo a half turn, in [0, 1)."""
    return np.arctan2(points[:, 1], points[:, 0]) / math.pi % 1.0


def plane_law(moments: np.ndarray, scale: float) -> np.ndarray:
    """Return the probabilities of 24 equal arcs of a half turn under exp(scale * v'Mv)."""

    def density(turn: float) -> float:
        v = np.array([math.cos(math.pi * turn), math.sin(math.pi * turn)])
        return math.exp(scale * (v @ moments @ v - np.linalg.eigvalsh(moments)[-1]))

    masses = np.array([integrate.quad(density, k / 24, (k + 1) / 24)[0] for k in range(24)])
    return masses / masses.sum()


def p_value(points: np.ndarray, law: np.ndarray) -> float:
    """Return the chi-square p-value of directions of the plane against the probabilities of arcs."""
    counts = np.bincount((angles(points) * law.size).astype(int), minlength=law.size)
    return float(stats.chisquare(counts, law * counts.sum()).pvalue)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_directions_of_the_plane_have_their_law(policy: object) -> None:
    """For every policy; a law that is 5 % sharper is rejected at the same size."""
    plan = plan_draws(PLANE, budget=dp.Approx(epsilon=100_000, delta="1e-6"), adjacency=dp.Replace(), runtime=policy,
                      n_draws=100_000, n_rows=40)  # fmt: skip
    counters = Counters()
    moments = plan.measure(ROWS)
    points = plan.observe(moments, Coins.from_seed(11), counters).points
    matrix, scale = moments.doubles(), float(plan.event.scale)
    assert p_value(points, plane_law(matrix, scale)) > 1e-3
    assert p_value(points, plane_law(matrix, 1.05 * scale)) < 1e-5
    assert counters.blocks.min() >= 1


def test_the_block_count_is_independent_of_the_direction() -> None:
    """Chi-square of quadrants of the angle against blocks, and blocks fit their closed form."""
    policy = CoolDown(eta="0.2", s="0.5")
    plan = plan_draws(PLANE, budget=dp.Pure(epsilon=40_000), adjacency=dp.Replace(), runtime=policy, n_draws=40_000,
                      n_rows=40)  # fmt: skip
    # The block length is chosen for all draws together; here each shall fail often.
    from dataclasses import replace

    event = replace(plan.event, block=2, budget=dp.Pure(epsilon=10**9))
    counters = Counters()
    moments = plan.measure(ROWS)
    points = replace(plan, event=event).observe(moments, Coins.from_seed(3), counters).points
    blocks = np.minimum(counters.blocks, 4)
    table = np.array([[np.sum((blocks == b) & ((angles(points) * 4).astype(int) == q)) for q in range(4)]
                      for b in range(1, 5)])  # fmt: skip
    assert stats.chi2_contingency(table).pvalue > 1e-3
    p = math.exp(BinghamProposer(moments, plan.event.scale, plan.scaled.spread).log_acceptance())
    miss, s = (1 - p) ** 2, float(plan.event.parameter)
    law = [(1 - s) * s ** (b - 1) * (1 - miss) * sum((miss / s) ** i for i in range(b)) for b in range(1, 4)]
    expected = np.array([*law, 1 - sum(law)]) * 40_000
    assert stats.chisquare(table.sum(axis=1), expected).pvalue > 1e-3


def test_constant_acceptance_has_a_geometric_time_free_of_the_data() -> None:
    """Two tables, one law of the number of proposals: geometric with the policy's probability."""
    plan = plan_draws(PLANE, budget=dp.Approx(epsilon=10_000, delta="1e-6"), adjacency=dp.Replace(),
                      runtime=ConstantAcceptance(), n_draws=10_000, n_rows=40)  # fmt: skip
    p0 = float(plan.event.parameter)
    assert p0 == pytest.approx(0.6577, abs=1e-4)
    for seed, rows in enumerate((ROWS, ROWS[::-1] * [0.1, 3.0])):
        counters = Counters()
        plan.observe(plan.measure(rows), Coins.from_seed(seed), counters)
        counts = np.bincount(np.minimum(counters.blocks, 6), minlength=7)[1:]
        law = np.array([p0 * (1 - p0) ** k for k in range(5)] + [(1 - p0) ** 5])
        assert stats.chisquare(counts, law * 10_000).pvalue > 1e-3


def test_truncated_work_is_the_same_for_neighbours() -> None:
    """Every counter, draw by draw."""
    plan = plan_draws(PLANE, budget=APPROX, adjacency=dp.Replace(), runtime=Truncated(), n_draws=20, n_rows=40)
    seen = []
    for rows in (ROWS, np.vstack([ROWS[:-1], [[1.0, 0.0]]])):
        counters = Counters()
        plan.observe(plan.measure(rows), Coins.from_seed(1), counters)
        seen.append(
            (counters.proposals, counters.evaluations, counters.words, counters.calls, counters.blocks.tolist())
        )
    assert seen[0] == seen[1]


@pytest.mark.parametrize("d", [3, 4])
def test_directions_of_space_have_their_law(d: int) -> None:
    """The utility's mean and spread in more dimensions, against an average over the uniform law; 5 % sharper fails."""
    generator = np.random.default_rng(d)
    moments = sum_rows(generator.normal(size=(60, d)) * 0.5 ** np.arange(d), UnitGrid(d, row_norm=2.0))
    matrix, scale = moments.doubles(), Fraction(3, 2)
    proposer = BinghamProposer(moments, scale, error_of(d, d, in_basis=False))
    points = proposer.propose(Coins.from_seed(d), 200_000)
    directions = points.values[proposer.log_ratio(points) == 0]
    found = np.einsum("ij,jk,ik->i", directions, matrix, directions)
    uniform = generator.normal(size=(1_000_000, d))
    utility = np.einsum("ij,jk,ik->i", uniform, matrix, uniform) / (uniform**2).sum(axis=1)
    for sharper, agrees in ((1.0, True), (1.05, False)):
        weights = np.exp(float(scale) * sharper * (utility - utility.max()))
        mean = np.average(utility, weights=weights)
        effective = weights.sum() ** 2 / (weights**2).sum()
        error = found.std() * math.sqrt(1 / found.size + 1 / effective)
        assert (abs(found.mean() - mean) < 4 * error) == agrees


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_short_words_decide_as_long_ones_would(d: int) -> None:
    """With words of 8 bits everything is decided by lengthened words; the law is the same."""
    generator = np.random.default_rng(d)
    moments = sum_rows(generator.normal(size=(30, d)) * 0.5 ** np.arange(d), UnitGrid(d, row_norm=2.0))
    proposer = BinghamProposer(moments, Fraction(1, 2), error_of(d, d, in_basis=False))
    few, many = (proposer.propose(Coins.from_seed(9, word_bits=bits), n) for bits, n in ((8, 150), (64, 20_000)))
    accepted = [np.mean(proposer.log_ratio(points) == 0) for points in (few, many)]
    assert accepted[0] == pytest.approx(accepted[1], abs=0.15)
    assert stats.ks_2samp(few.values[:, 0], many.values[:, 0]).pvalue > 1e-3
    settled = proposer.settle(few, np.arange(5), Coins.from_seed(1))
    assert np.abs(settled - few.values[:5]).max() <= 2.0**-24


def test_decisions_in_doubles_are_the_exact_ones() -> None:
    """What an error radius lets doubles decide is what the words decide, and the exact ratio is within the radius."""
    moments = sum_rows(np.random.default_rng(1).normal(size=(50_000, 3)), UnitGrid(3, row_norm=2.0))
    proposer = BinghamProposer(moments, Fraction(1), error_of(3, 3, in_basis=False))
    points = proposer.propose(Coins.from_seed(2), 150)
    quick = proposer.log_ratio(points) == 0
    ratio, radius = proposer._ratio(points)
    for index in range(150):
        assert proposer._accepts(points, index) == quick[index]
        limits = proposer._ratio_limits(proposer._image_limits(points, index, 1), 256)
        assert limits[0] - Fraction(radius[index]) <= Fraction(ratio[index]) <= limits[1] + Fraction(radius[index])
    assert np.median(radius) < 2.0**-24


def test_published_entries_are_the_exact_ones_rounded() -> None:
    """Also where doubles cannot tell, and no zero has a sign."""
    moments = sum_rows(np.random.default_rng(1).normal(size=(500, 3)), UnitGrid(3, row_norm=2.0))
    proposer = BinghamProposer(moments, Fraction(1), error_of(3, 3, in_basis=False))
    points = proposer.propose(Coins.from_seed(4), 50)
    settled = proposer.settle(points, np.arange(50), Coins.from_seed(1))
    for index in range(50):
        for column in range(3):
            low, high = proposer._entry_limits(points, index, column, 1)
            assert (
                math.floor(low + Fraction(1, 2)) == math.floor(high + Fraction(1, 2)) == settled[index, column] * 2**24
            )
    points.values[:] = 2.0**-25  # half-way: doubles know nothing
    again = proposer.settle(points, np.arange(50), Coins.from_seed(1))
    assert (again == settled).all()
    assert not np.signbit(np.where(again == 0, again, 1.0)).any()


def test_a_direction_that_doubles_say_little_of_is_refined() -> None:
    """A short vector beside a long left-out entry is taken from intervals."""
    moments = sum_rows(np.eye(3), UnitGrid(3, row_norm=1.0))
    proposer = BinghamProposer(moments, Fraction(1), error_of(3, 3, in_basis=False))
    coins = Coins.from_seed(2)
    points = proposer.propose(coins, 1)
    assert isinstance(points, Directions)
    limits = points.normal_limits(0, 2)
    assert limits is not None
    exact = np.array([float(low) for low, _ in limits])
    assert np.abs(points.normals[0] - exact).max() < 2.0**-42 * np.linalg.norm(exact)


def test_a_public_basis_restricts_the_law() -> None:
    """Within a basis the direction is that of the rows' coordinates."""
    rows = np.random.default_rng(0).normal(size=(200, 3)) * [1.0, 0.5, 0.2]
    moments = sum_rows(rows, UnitGrid(3, row_norm=2.0))
    basis, whole = complement(np.array([[1.0, 0.0, 0.0]]))
    inner = moments.within(whole)
    proposer = BinghamProposer(inner, Fraction(1, 2), error_of(3, 2, in_basis=True))
    points = proposer.propose(Coins.from_seed(1), 60_000)
    directions = points.values[proposer.log_ratio(points) == 0]
    law = plane_law(basis @ moments.doubles() @ basis.T * (1 - 2.0**-12) ** 2, 0.5)
    assert p_value(directions, law) > 1e-3


def test_the_log_acceptance_of_the_plane_is_that_of_its_bessel_function() -> None:
    """Against the average of the acceptance over proposals."""
    moments = sum_rows(ROWS, PLANE.grid)
    for scale in (Fraction(1, 10), Fraction(1), Fraction(20)):
        proposer = BinghamProposer(moments, scale, error_of(2, 2, in_basis=False))
        points = proposer.propose(Coins.from_seed(7), 200_000)
        assert math.exp(proposer.log_acceptance()) == pytest.approx(
            float(np.mean(proposer.log_ratio(points) == 0)), abs=3e-3
        )
    assert special.ive(0, 0.0) == 1.0


def test_a_release_has_its_budget_as_price() -> None:
    """Output and blocks together cost the budget, to the last millionth, and the claim is proved."""
    released = sample(PLANE, ROWS, budget=dp.Pure(epsilon=1), adjacency=dp.Replace())
    event = released.event
    assert Fraction(999_999, 10**6) < event.price.epsilon <= 1
    assert 0 < event.runtime_epsilon <= Fraction(1, 10**6)
    assert (event.claim, event.error, event.policy, event.envelope) == ("proved", 0, "cool-down", "data-dependent")
    assert released.notes == ()
    assert event.block in {26, 27}
    assert np.linalg.norm(released.value.point) == pytest.approx(1, abs=1e-6)
    assert (released.value.point * 2**24 % 1 == 0).all()


def test_adding_a_row_is_cheaper_than_replacing_one() -> None:
    """The same budget buys twice the scale under AddRemove."""
    scales = [
        float(sample(PLANE, ROWS, budget=dp.Pure(epsilon=1), adjacency=adjacency).event.scale)
        for adjacency in (dp.Replace(), dp.AddRemove())
    ]
    assert scales[1] == pytest.approx(2 * scales[0], rel=1e-5)


def test_neighbours_differ_by_no_more_than_the_price() -> None:
    """The exact densities of two neighbouring tables, on a circle of directions."""
    replaced = np.vstack([ROWS[:-1], [[0.0, 1.0]]])
    for adjacency, other, factor in ((dp.Replace(), replaced, 2), (dp.AddRemove(), ROWS[:-1], 1)):
        scale = Fraction(1, 2)
        turns = np.linspace(0, math.pi, 500)
        circle = np.column_stack([np.cos(turns), np.sin(turns)])
        logs = []
        for rows in (ROWS, other):
            matrix = sum_rows(rows, PLANE.grid).doubles()
            utility = float(scale) * np.einsum("ij,jk,ik->i", circle, matrix, circle)
            logs.append(utility - special.logsumexp(utility))
        assert np.abs(logs[0] - logs[1]).max() <= factor * float(scale) + 1e-9
        assert PLANE.sensitivity(adjacency) * 2 == factor


@pytest.mark.parametrize("policy", [Squeeze(), Plain()])
def test_policies_without_a_price_are_refused(policy: object) -> None:
    """Acceptance has no positive lower bound at every point, and may be 1 beside 0.66: no finite price."""
    with pytest.raises(IncompatiblePlan):
        sample(PLANE, ROWS, budget=APPROX, adjacency=dp.Replace(), runtime=policy)


def test_more_than_doubles_hold_is_refused_before_a_charge() -> None:
    """A budget so large that the envelope's rounding would swallow its acceptance."""
    ledger = dp.Ledger(total=dp.Pure(epsilon=10**12), adjacency=dp.Replace())
    with pytest.raises(IncompatiblePlan, match="doubles do not hold the envelope"):
        sample(PLANE, ROWS, budget=dp.Pure(epsilon=10**12), ledger=ledger)
    assert ledger.entries == ()


@pytest.mark.parametrize("rows", [np.zeros((4, 3)), np.zeros(4), np.array([["a", "b"]])])
def test_rows_of_another_shape_are_refused(rows: np.ndarray) -> None:
    """Nothing is charged, and no cell is quoted."""
    with pytest.raises(InvalidData) as caught:
        sample(PLANE, rows, budget=dp.Pure(epsilon=1), adjacency=dp.Replace())
    assert "'a'" not in str(caught.value)


def test_a_missing_cell_is_refused_by_column() -> None:
    """The column's name, not the cell."""
    with pytest.raises(InvalidData, match="Column 'x1' has missing cells"):
        sample(PLANE, np.array([[1.0, np.nan]]), budget=dp.Pure(epsilon=1), adjacency=dp.Replace())


def test_columns_of_objects_are_read_as_numbers() -> None:
    """As for the estimators."""
    target = Bingham(n_columns=2, row_norm=2, center=[1, 1])
    moments = target.prepare(np.array([[1, 2], [3, 1]], dtype=object))
    assert moments.private_sum.tolist() == [[2**32, 0], [0, 2**30]]
    assert target.row_norm == 2.0


def test_bounds_of_several_components_say_so() -> None:
    """A plane within more columns has no normalizer of its own, and products of many columns err more."""
    grid = UnitGrid(2, row_norm=1.0)
    one, two = (scaled_bingham(Fraction(1), grid, 10, n_components=count) for count in (1, 2))
    assert one.normalizer_error is not None
    assert two.normalizer_error is None
    assert one.spread == two.spread
    wide = UnitGrid(65, row_norm=1.0)
    apart = [scaled_bingham(Fraction(1), wide, 10, n_components=count).spread for count in (1, 2)]
    assert apart[0] < apart[1]
    assert isinstance(one.begin(sum_rows(ROWS, grid)), BinghamProposer)
    assert SecondMoments(np.eye(2, dtype=np.int64), 1, 4).unit == 4**4
