"""Rows and losses of K-norm gradient targets: bounds, sums, bad input."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import DiscreetError, InvalidArgument, InvalidData
from discreet.privacy.adjacency import Replace
from discreet.sampling.k_norm import losses as gradient_losses
from discreet.sampling.k_norm.gradient import GradientTarget
from discreet.sampling.k_norm.losses import (
    TANH_ERROR,
    HuberGradientLoss,
    LogCoshGradientLoss,
    LogisticGradientLoss,
    check_tanh,
    measured_tanh_error,
)
from discreet.sampling.k_norm.rows import BoundedRows, GradientSum, NormedRows
from discreet.sampling.k_norm.targets import KNormGradient
from discreet.sampling.pca.second_moments import UnitGrid

TARGET = KNormGradient.logistic(n_columns=2, row_norm=1.0, ridge=6)


def test_unusable_declarations_are_refused_by_name():
    """A clip, a constant, a loss that does not exist."""
    with pytest.raises(InvalidArgument, match="`clip`"):
        HuberGradientLoss(clip=0.0)
    with pytest.raises(InvalidArgument, match="`constant`"):
        KNormGradient.logistic(n_columns=1, row_norm=1.0, ridge=1, constant="1/3")
    with pytest.raises(InvalidArgument, match="`loss`"):
        KNormGradient.linear(n_columns=1, row_norm=1.0, y_bounds=(0, 1), clip=1.0, ridge=1, loss="absolute")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (np.zeros((3, 2)), "pair of arrays"),
        ((np.zeros(3), np.zeros(3)), "rows and columns"),
        ((np.zeros((3, 2)), np.zeros(2)), "inconsistent"),
        ((np.zeros((3, 1)), np.zeros(3)), "2 columns"),
        ((np.array([[0.0, np.nan]]), np.zeros(1)), "x1"),
        ((np.zeros((1, 2)), np.array([np.inf])), "Column 'y'"),
    ],
)
def test_bad_rows_are_refused_without_a_cell(data, text):
    """Shapes and missing cells are refused by name."""
    with pytest.raises(InvalidData, match=text):
        TARGET.prepare(data)


def test_objects_are_read_as_numbers():
    """Tables of Python numbers are welcome, for means too."""
    rows = TARGET.prepare((np.array([[1, 0], [0, 2]], dtype=object), [0, 1]))
    assert rows.private_matrix.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert TARGET.count((np.zeros((4, 2)), np.zeros(4))) == 4
    mean = KNormGradient.mean(n_columns=1, row_norm=1.0)
    assert mean.prepare(np.array([[1], [-1], [1]], dtype=object)).tolist() == [2**16]
    with pytest.raises(InvalidData, match="2D array"):
        mean.prepare(np.zeros((2, 3)))


def test_gradients_do_not_depend_on_how_points_are_cut():
    """Sums over many blocks of rows agree with the plain formula, and points in another company."""
    rng = np.random.default_rng(11)
    X, y = rng.uniform(-0.5, 0.5, (20_000, 2)), rng.integers(0, 2, 20_000).astype(float)
    total = GradientSum(BoundedRows(X, y), LogisticGradientLoss(), 3.0)
    points = rng.normal(size=(70, 2))
    found = total(points)
    plain = (1 / (1 + np.exp(-points @ X.T)) - y) @ X + 3.0 * points
    assert np.allclose(found, plain, rtol=1e-10)
    assert (total(points[:64]) == total(np.concatenate([points[:32], -points[32:64]]))[:, :]).all(axis=1)[:32].all()


def test_losses_know_their_constants():
    """Slope, curvature and bend bound the derivatives, by differences on a fine grid."""
    axis = np.linspace(-9, 9, 36_001)
    step = axis[1] - axis[0]
    for loss in (LogisticGradientLoss(), LogCoshGradientLoss(clip=0.7), HuberGradientLoss(clip=0.7)):
        for y in (0.0, 1.0):
            first = loss.derivatives(axis[None, :].copy().T, np.array([y]))[:, 0]
            second = np.diff(first) / step
            assert np.abs(first).max() <= float(loss.slope)
            assert second.min() >= -1e-12
            assert second.max() <= float(loss.curvature) * (1 + 1e-9)
            if loss.bend is not None:
                third = np.abs(np.diff(second)) / step
                assert (third <= float(loss.bend) * (second[1:] + second[:-1]) / 2 * (1 + 1e-3) + 1e-7).all()
    assert LogisticGradientLoss().at_zero((0, 1)) >= Fraction(np.log(2))
    assert HuberGradientLoss(clip=2.0).at_zero((-1, 1)) == Fraction(1, 2)
    assert HuberGradientLoss(clip=0.25).at_zero((-1, 1)) == Fraction(1, 4)
    assert not HuberGradientLoss(clip=1.0).uses_tanh


def test_tanh_is_checked(monkeypatch):
    """numpy's tanh keeps what is allowed for, and a worse one is refused."""
    assert measured_tanh_error(200) < TANH_ERROR / 2
    check_tanh.cache_clear()
    monkeypatch.setattr(gradient_losses, "measured_tanh_error", lambda _: 1e-10)
    with pytest.raises(DiscreetError, match="tanh"):
        check_tanh()
    check_tanh.cache_clear()


def test_a_public_constant_column_is_a_column():
    """The constant of an intercept counts in the norm, and stands last in every row."""
    reader = NormedRows(grid=UnitGrid(1, 1.0), bounds=(0.0, 1.0), constant=Fraction(1, 2))
    target = GradientTarget(loss=LogisticGradientLoss(), reader=reader, ridge=1)
    assert target.dimension == 2
    assert target.sensitivity(Replace()) ** 2 >= 4 * Fraction(5, 4)
    assert reader.read((np.array([[0.5]]), np.array([2.0]))).private_y.tolist() == [1.0]
