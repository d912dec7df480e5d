"""The envelope of a Bingham law: its bound on acceptance, and that it dominates whatever rounding does."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, special

from discreet.privacy.coins import Coins
from discreet.privacy.events.sampling import block_length
from discreet.sampling.pca import bingham_envelope
from discreet.sampling.pca.bingham_envelope import (
    Envelope,
    envelope_loss,
    envelope_of,
    least_acceptance,
    log_height,
    solve_b,
)
from discreet.sampling.pca.bingham_proposals import BinghamProposer
from discreet.sampling.pca.second_moments import SecondMoments, UnitGrid, error_of, sum_rows

TIGHT = {2: 0.6577, 3: 0.5231, 5: 0.3965, 10: 0.2758, 20: 0.1934, 50: 0.1217}
EARLIER = {2: 0.270, 3: 0.119, 5: 0.0362, 10: 0.0039}


def earlier_bound(d: int) -> float:
    """Return the bound that was proved by integrating over rays, before the one in use."""
    q = (d - 1) / 2
    kappa = q * special.beta(q, 0.5)

    def minus(logs: np.ndarray) -> float:
        b, c0 = d / (1 + math.exp(logs[0])), math.exp(logs[1])
        height = math.exp(-(d - b) / 2) * (d / b) ** (d / 2)
        inside = integrate.quad(lambda c: math.exp(-c) * (c / c0) ** q, 0, c0)[0]
        rise = lambda c: (d / b) * (1 + 2 * c / b) ** (-d / 2 - 1) * (c / c0) ** q  # noqa: E731
        outside = integrate.quad(rise, c0, np.inf, limit=200)[0]
        below = 1 - (1 + 2 * c0 / b) ** (-d / 2) + kappa * outside
        return -(math.exp(-c0) + inside / kappa) / (height * below)

    return -min(optimize.minimize(minus, start, method="Nelder-Mead").fun for start in ([0.0, 0.0], [0.5, 1.0]))


def acceptance(gaps: np.ndarray) -> float:
    """Return the acceptance probability of a matrix A with these eigenvalues, by inverting a Laplace transform."""
    b = solve_b(gaps)
    weights = 1 / (b + 2 * gaps)
    with mpmath.workdps(25):
        shares = [mpmath.mpf(w) for w in weights / weights.sum()]
        density = mpmath.invertlaplace(
            lambda s: mpmath.fprod((1 + 2 * s * w) ** mpmath.mpf(-0.5) for w in shares), 1, method="talbot"
        )
    half = gaps.size / 2
    return float(density) / (half**half * math.exp(-half) / special.gamma(half))


@pytest.mark.parametrize(("d", "value"), TIGHT.items())
def test_the_bound_on_acceptance_is_the_tabulated_one(d: int, value: float) -> None:
    """The limit of an infinite gap, rounded down."""
    assert round(float(least_acceptance(d)), 4) == value
    with mpmath.workdps(40):
        half, found = mpmath.mpf(d) / 2, least_acceptance(d)
        exact = mpmath.gamma(half) / mpmath.sqrt(mpmath.pi) * (2 * mpmath.e) ** (half - 0.5) * mpmath.mpf(d) ** -half
        assert 0 <= exact - mpmath.mpf(found.numerator) / found.denominator < 2.0**-62


@pytest.mark.parametrize(
    ("d", "blocks"),
    [
        (2, (13, 20, 26)),
        (3, (19, 28, 38)),
        (5, (28, 42, 55)),
        (10, (43, 65, 86)),
        (20, (65, 97, 129)),
        (50, (107, 160, 213)),
    ],
)
def test_blocks_are_as_short_as_the_table_says(d: int, blocks: tuple[int, ...]) -> None:
    """A block of so many proposals fails with a chance of at most 1e-6, 1e-9, 1e-12."""
    found = tuple(block_length(least_acceptance(d), Fraction(1, 10**k)) for k in (6, 9, 12))
    assert found == pytest.approx(blocks, abs=1)


@pytest.mark.parametrize(("d", "value"), EARLIER.items())
def test_the_bound_beats_the_one_over_rays(d: int, value: float) -> None:
    """The earlier proved bound has the values that were tabulated, and is below the one in use."""
    found = earlier_bound(d)
    assert found == pytest.approx(value, rel=0.01)
    assert found < least_acceptance(d)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10**6))
def test_no_matrix_accepts_less(d: int, seed: int) -> None:
    """The theorem, for random spectra from flat to infinitely steep."""
    generator = np.random.default_rng(seed)
    gaps = np.append(0.0, 10 ** generator.uniform(-2, 5, d - 1))
    assert acceptance(gaps) >= float(least_acceptance(d)) * (1 - 1e-7)


def test_the_bound_is_reached_in_the_limit() -> None:
    """With an ever larger gap the acceptance falls to the bound, so nothing better holds for all matrices."""
    assert acceptance(np.array([0.0, 1e7, 1e7])) == pytest.approx(float(least_acceptance(3)), rel=1e-4)


def test_acceptance_falls_with_the_dimension() -> None:
    """The bound of the first component holds for the others, which have fewer dimensions."""
    bounds = [least_acceptance(d) for d in range(1, 60)]
    assert all(more >= less for more, less in itertools.pairwise(bounds))
    assert 1 - bounds[0] < Fraction(1, 2**60)


@given(st.lists(st.floats(0, 1e9), min_size=0, max_size=8))
def test_b_solves_its_equation(others: list[float]) -> None:
    """The sum of the weights is b, which lies between 1 and the dimension."""
    gaps = np.array([0.0, *others])
    b = solve_b(gaps)
    assert 1 <= b <= gaps.size
    assert float((1 / (b + 2 * gaps)).sum()) == pytest.approx(1, abs=1e-12)


def moments_of(d: int, n_rows: int, seed: int, *, steep: float = 1.0) -> SecondMoments:
    """Return the second moments of random rows whose columns shrink by `steep`."""
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(n_rows, d)) * steep ** -np.arange(d)
    return sum_rows(rows, UnitGrid(d, row_norm=2.0))


@pytest.mark.parametrize("d", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1), Fraction(40)])
def test_no_proposal_has_an_acceptance_above_one(d: int, scale: Fraction) -> None:
    """Exactly: the upper limit of the log acceptance is at most 0 at proposals and where the envelope touches."""
    proposer = BinghamProposer(moments_of(d, 500, 3, steep=1.5), scale, error_of(d, d, in_basis=False))
    points = proposer.propose(Coins.from_seed(5), 30)
    for index in range(30):
        image = proposer._image_limits(points, index, 1)
        assert image is not None
        assert proposer._ratio_limits(image, 256)[1] <= 0
    ratio, radius = proposer._ratio(proposer.propose(Coins.from_seed(6), 20_000))
    assert (ratio <= radius).all()


def test_an_envelope_touches_its_target() -> None:
    """The height is no more than it must be: somewhere the acceptance is nearly 1."""
    proposer = BinghamProposer(moments_of(3, 500, 3), Fraction(1), error_of(3, 3, in_basis=False))
    ratio, _ = proposer._ratio(proposer.propose(Coins.from_seed(6), 50_000))
    assert ratio.max() > -1e-3


@pytest.mark.parametrize("d", [2, 5, 30])
@pytest.mark.parametrize("n_rows", [10, 100_000])
def test_rounding_stays_far_below_what_the_public_loss_allows(d: int, n_rows: int) -> None:
    """What is measured of one envelope, against the number that acceptance is lowered by for all."""
    scale, moments = Fraction(2), moments_of(d, n_rows, d, steep=1.3)
    spread = error_of(d, d, in_basis=False)
    found = envelope_of(moments, float(scale), spread)
    top = np.linalg.eigvalsh(moments.doubles())[-1]
    b = solve_b(2.0 * np.maximum(found.peak - np.linalg.eigvalsh(moments.doubles()), 0))
    distance = bingham_envelope._distance(found.factor, moments.doubles(), found.peak, 4.0 / b)
    allowed = float(envelope_loss(d, scale * n_rows, spread))
    assert 1.25 * d * distance + float(scale) * abs(found.peak - top) < allowed / 2
    assert found.height == pytest.approx(log_height(b, d), abs=allowed)


def test_an_envelope_without_eigenvectors_is_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where LAPACK gives up nothing is raised, and the uniform envelope at the number of rows dominates."""

    def give_up(matrix: np.ndarray) -> None:
        raise np.linalg.LinAlgError(f"{matrix.shape}")

    monkeypatch.setattr(np.linalg, "eigh", give_up)
    moments = moments_of(3, 4, 1)
    proposer = BinghamProposer(moments, Fraction(1), error_of(3, 3, in_basis=False))
    assert (proposer._envelope.factor == np.eye(3)).all()
    assert (proposer._envelope.peak, proposer._envelope.height) == (4.0, 0.0)
    points = proposer.propose(Coins.from_seed(1), 2000)
    directions = points.values[proposer.log_ratio(points) == 0]
    assert 10 < len(directions) < 2000


@pytest.mark.parametrize("vectors", [np.zeros((3, 3)), np.ones((3, 3)), np.full((3, 3), np.nan), 9 * np.eye(3)])
def test_wrong_eigenvectors_are_noticed(monkeypatch: pytest.MonkeyPatch, vectors: np.ndarray) -> None:
    """An envelope that would not dominate is never used."""
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: (np.linalg.eigvalsh(matrix), vectors))
    found = envelope_of(moments_of(3, 4, 1), 1.0, 1e-15)
    assert isinstance(found, Envelope)
    assert (found.factor == np.eye(3)).all()


def test_an_empty_table_has_the_uniform_law() -> None:
    """Without rows every direction is accepted."""
    proposer = BinghamProposer(sum_rows(np.empty((0, 4)), UnitGrid(4, row_norm=1.0)), Fraction(1), 1e-15)
    points = proposer.propose(Coins.from_seed(1), 1000)
    assert (proposer.log_ratio(points) == 0).all()


@pytest.mark.parametrize("d", [2, 5, 30])
@pytest.mark.parametrize("steep", [1.0, 1.3, 3.0])
def test_lapack_is_as_accurate_as_the_bound_on_acceptance_takes_it(d: int, steep: float) -> None:
    """Eigenvectors are off by less than half of the share that is allowed them, eigenvalues by less than a quarter."""
    for n_rows, scale in ((1000, 0.01), (1000, 100.0), (50_000, 1.0)):
        matrix = moments_of(d, n_rows, d, steep=steep).doubles()
        values, vectors = np.linalg.eigh(matrix)
        if d <= 5:
            with mpmath.workdps(40):
                exact = max(mpmath.eigsy(mpmath.matrix(matrix.tolist()), eigvals_only=True))
                assert abs(exact - mpmath.mpf(float(values[-1]))) < exact * 2.0**-53 * (d + 8)
        gaps = np.maximum(scale * (values[-1] - values), 0.0)
        b = solve_b(gaps)
        factor = vectors * np.sqrt(b / (b + 2 * gaps))
        product = factor.T @ (np.eye(d) + 2 * scale / b * (values[-1] * np.eye(d) - matrix)) @ factor
        allowed = (2 * d + 12) * 2.0**-53 * (d**1.5 + 2 * (d**0.5 + 1) * scale * n_rows) / 4
        assert math.sqrt(((product - np.eye(d)) ** 2).sum()) < allowed / 2
