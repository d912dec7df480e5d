"""Residuals: whole numbers, clamped, the same everywhere."""

import math
import warnings

import hypothesis.strategies as st
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings

from discreet.descent.losses import LOSSES, LogisticLoss, PoissonLoss, SquaredLoss, exp, loss_named
from discreet.descent.rows import RESIDUAL_BOUND
from discreet.errors import InvalidArgument

ANY = st.floats(allow_nan=False, allow_infinity=False)


@given(st.sampled_from(LOSSES), st.floats(1e-3, 1e3), ANY, ANY, st.integers(1, RESIDUAL_BOUND))
@settings(max_examples=300, deadline=None)
def test_every_residual_is_a_whole_number_within_its_bound(name, clip, margin, y, bound):
    """Whatever the record, silently."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (residual,) = loss_named(name, clip=clip).residuals(np.array([margin]), np.array([y]), bound).tolist()
    assert residual == int(residual)
    assert abs(residual) <= bound


def test_residuals_are_the_losses_derivatives():
    """Numerically, at a few margins."""
    margins, y = np.linspace(-3, 3, 25), np.full(25, 1.0)
    losses = {
        "squared": lambda z: (z - 1) ** 2 / 2, "huber": lambda z: (z - 1) ** 2 / 2,
        "logistic": lambda z: np.log1p(np.exp(z)) - z, "poisson": lambda z: np.exp(z) - z,
    }  # fmt: skip
    for name, value in losses.items():
        loss = loss_named(name, clip=25.0)
        slope = (value(margins + 1e-5) - value(margins - 1e-5)) / 2e-5
        np.testing.assert_allclose(loss.residuals(margins, y) * loss.unit, slope, atol=loss.unit / 2 + 1e-8)


def test_a_clipped_squared_loss_is_hubers():
    """Beyond the clip the derivative stays where it is."""
    loss = SquaredLoss(clip=0.5)
    values = loss.residuals(np.array([0.2, 9.0, -9.0]), np.zeros(3)) * loss.unit
    np.testing.assert_allclose(values, [0.2, 0.5, -0.5], atol=loss.unit / 2)
    assert loss_named("huber", clip=0.5).residuals(np.array([0.2]), np.zeros(1)) == loss.residuals(
        np.array([0.2]), np.zeros(1)
    )


def test_the_exponential_is_accurate_to_its_last_digits():
    """Within 1e-15 of the exact value, over the whole range and at its ends."""
    z = np.concatenate([np.linspace(-700, 700, 400), np.random.default_rng(0).normal(size=200), [1e300, -1e300]])
    with mpmath.workprec(120):
        exact = [mpmath.exp(max(-700, min(700, mpmath.mpf(x)))) for x in z.tolist()]
        errors = [abs(mpmath.mpf(found) / true - 1) for found, true in zip(exp(z).tolist(), exact, strict=True)]
    assert max(errors) < 1e-15


def test_the_exponential_does_not_depend_on_its_neighbors():
    """A vector unit's tail and head give the same digits."""
    z = np.random.default_rng(1).normal(size=67) * 5
    assert exp(z).tolist() == [exp(z[k : k + 1])[0] for k in range(67)]


def test_the_logistic_mean_is_symmetric():
    """Of z and -z the means add up to 1, near the ends, too."""
    loss, z = LogisticLoss(), np.array([0.0, 1e-9, 0.3, 5.0, 40.0, 800.0])
    np.testing.assert_allclose(loss._mean(z) + loss._mean(-z), 1.0, rtol=1e-15)
    assert (loss.residuals(np.zeros(2), np.array([0.0, 1.0])) * loss.unit).tolist() == [0.5, -0.5]


@given(st.sampled_from(LOSSES), st.floats(1e-2, 1e2), st.floats(0, 30), st.floats(-1, 1), st.sampled_from([0, 0.4, 1]))
@settings(max_examples=300, deadline=None)
def test_the_bound_at_an_iterate_holds_for_every_record_there(name, clip, reach, share, y):
    """No margin within reach has a larger residual; the worst record comes within two units of the bound."""
    loss = loss_named(name, clip=clip)
    bound = loss.bound_at(reach, (0, 1))
    assert 1 <= bound <= RESIDUAL_BOUND
    (residual,) = np.abs(loss.residuals(np.array([share * reach]), np.array([float(y)])))
    assert residual <= bound
    worst = np.abs(loss.residuals(np.array([reach, -reach]), np.array([0.0, 1.0])))
    assert worst.max() >= bound - 2


def test_bounds_at_zero_are_the_textbooks():
    """Half for the logistic loss; the largest target for the squared one; at least one unit."""
    assert LogisticLoss().bound_at(0.0, (0, 1)) == RESIDUAL_BOUND // 2
    assert SquaredLoss(clip=8.0).bound_at(0.0, (-1, 2)) == RESIDUAL_BOUND // 4
    assert SquaredLoss(clip=1.0).bound_at(0.0, (0, 0)) == 1
    assert PoissonLoss(clip=1e90).bound_at(1e9, (0, 5)) == RESIDUAL_BOUND


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "1", True, 1e200])
def test_bad_clips_and_names_are_refused(bad):
    """A clip is a public number above 0."""
    with pytest.raises(InvalidArgument, match="`clip`"):
        LogisticLoss(clip=bad)
    with pytest.raises(InvalidArgument, match="`loss`"):
        loss_named("absolute", clip=1.0)
