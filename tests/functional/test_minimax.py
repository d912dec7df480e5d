"""The parabola in the place of the logistic loss, and the exchange it is compared with, against the printed table."""

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.errors import InvalidArgument
from discreet.functional import parabola
from functional.exchange import loss, minimax, slope, taylor

# radius, degree: coefficients, error of the loss, error of the sigmoid; as printed.
PRINTED = [
    (1, 2, (0.6937, 0.1201), 0.00059, 0.0092),
    (1, 4, (0.69316, 0.12483, -0.00473), 0.00001, 0.0003),
    (2, 2, (0.7005, 0.1084), 0.0074, 0.053),
    (2, 4, (0.69356, 0.12298, -0.00369), 0.0004, 0.0068),
    (4, 2, (0.7525, 0.0828), 0.0593, 0.180),
    (4, 4, (0.70229, 0.11145, -0.00186), 0.0091, 0.067),
    (8, 2, (0.9554, 0.0517), 0.262, 0.327),
]
PRINTED_TAYLOR = [
    (1, 2, 0.0049, 0.0189),
    (1, 4, 0.00032, 0.0019),
    (2, 2, 0.0662, 0.119),
    (2, 4, 0.0171, 0.047),
    (4, 2, 0.675, 0.518),
    (4, 4, 0.658, 0.815),
    (8, 2, 4.69, 1.50),
]
PRINTED_SLOPE = [(1, 0.1178, 0.0046), (2, 0.1020, 0.0273), (4, 0.0727, 0.0996), (8, 0.0441, 0.206)]


def digits_agree(value, printed):
    """Whether a value rounds to what is printed, to the digits that are printed."""
    digits = len(f"{printed:.10f}".rstrip("0").partition(".")[2])
    return abs(value - printed) <= 0.5000001 * 10**-digits


@pytest.mark.parametrize(("radius", "degree", "coefficients", "value_error", "slope_error"), PRINTED)
def test_minimax_polynomials_are_the_printed_ones(radius, degree, coefficients, value_error, slope_error):
    """Coefficients and both errors agree to the printed digits."""
    found = minimax(radius, degree=degree)
    assert len(found.coefficients) == len(coefficients)
    assert all(digits_agree(*pair) for pair in zip(found.coefficients, coefficients, strict=True))
    assert digits_agree(found.value_error, value_error)
    assert digits_agree(found.slope_error, slope_error)


@pytest.mark.parametrize(("radius", "degree", "value_error", "slope_error"), PRINTED_TAYLOR)
def test_taylor_polynomials_have_the_printed_errors(radius, degree, value_error, slope_error):
    """The errors of log 2 + z**2/8 - z**4/192 agree to the printed digits."""
    found = taylor(radius, degree=degree)
    assert found.coefficients == (float(np.log(2)), 1 / 8, -1 / 192)[: degree // 2 + 1]
    assert digits_agree(found.value_error, value_error)
    assert digits_agree(found.slope_error, slope_error)


@pytest.mark.parametrize(("radius", "curvature", "error"), PRINTED_SLOPE)
def test_minimax_on_the_slope_is_the_printed_one(radius, curvature, error):
    """The curvature and the sigmoid's error agree to the printed digits."""
    found = minimax(radius, of="slope")
    assert digits_agree(found.curvature, curvature)
    assert digits_agree(found.slope_error, error)


@pytest.mark.parametrize("of", ["value", "slope"])
@pytest.mark.parametrize("degree", [2, 4])
@pytest.mark.parametrize("radius", [0.1, 0.7, 3.0, 11.0, 100.0])
def test_no_other_polynomial_is_nearer(radius, degree, of):
    """A linear programme over a grid of its own finds no smaller largest error."""
    found = minimax(radius, degree=degree, of=of)
    grid = radius * np.linspace(0, 1, 700)
    if of == "value":
        powers, values, error = [2 * k for k in range(degree // 2 + 1)], loss(grid), found.value_error
        ours = sum(c * grid ** (2 * k) for k, c in enumerate(found.coefficients))
    else:
        powers, values, error = [2 * k - 1 for k in range(1, degree // 2 + 1)], slope(grid), found.slope_error
        ours = sum(2 * k * c * grid ** (2 * k - 1) for k, c in enumerate(found.coefficients) if k)
    # In units of our error, what a correction could make of it: the programme's own tolerance is 1e-7.
    rest = (values - ours) / error
    basis = np.stack([(grid / radius) ** power for power in powers], axis=1)
    ones = np.ones((grid.size, 1))
    best = linprog(
        [0.0] * len(powers) + [1.0],
        A_ub=np.vstack([np.hstack([basis, -ones]), np.hstack([-basis, -ones])]),
        b_ub=np.concatenate([rest, -rest]),
        bounds=[(None, None)] * len(powers) + [(0, None)],
    ).fun
    assert np.abs(rest).max() <= 1 + 1e-6
    assert best >= 1 - 1e-3


def test_loss_and_slope_do_not_overflow():
    """Far out the loss is half the size and the slope a half."""
    far = np.array([-1e6, 1e6])
    np.testing.assert_allclose(loss(far), np.abs(far) / 2)
    np.testing.assert_allclose(slope(far), [-0.5, 0.5])
    z = np.linspace(-5, 5, 101)
    np.testing.assert_allclose(loss(z) + z / 2, np.log1p(np.exp(z)), rtol=1e-13)


@pytest.mark.parametrize("radius", [0.1, 0.3, 1, 2, 4, 8, 30, 100])
def test_the_closed_form_is_what_the_exchange_finds(radius):
    """Coefficients and both errors, to what a grid of 8,192 points and its rounding leave."""
    found, oracle = parabola.minimax(radius), minimax(radius)
    assert found.coefficients == pytest.approx(oracle.coefficients, rel=1e-7)
    assert found.value_error == pytest.approx(oracle.value_error, rel=1e-6, abs=1e-14)
    assert found.slope_error == pytest.approx(oracle.slope_error, rel=1e-6)


@pytest.mark.parametrize("radius", [0.1, 1, 2, 4, 8, 100])
def test_taylors_parabola_has_the_errors_of_a_grid(radius):
    """At 0 it has the loss's value and curvature; the errors are those at the end of the interval."""
    found, oracle = parabola.taylor(radius), taylor(radius)
    assert found.coefficients == oracle.coefficients
    assert found.value_error == pytest.approx(oracle.value_error, rel=1e-6, abs=1e-14)
    assert found.slope_error == pytest.approx(oracle.slope_error, rel=1e-6)


def test_the_parabola_errs_equally_at_both_ends_and_between():
    """Chebyshev's criterion: the same size with alternating signs at 0, where it touches, and at the radius."""
    found = parabola.minimax(4)
    z = np.linspace(0, 4, 100_001)
    errors = loss(z) - found.coefficients[0] - found.curvature * z**2
    assert errors[0] == pytest.approx(-found.value_error, rel=1e-12)
    assert errors[-1] == pytest.approx(-found.value_error, rel=1e-12)
    assert errors.max() == pytest.approx(found.value_error, rel=1e-8)


@pytest.mark.parametrize("make", [parabola.minimax, parabola.taylor])
@pytest.mark.parametrize("radius", [0.0, 0.09, 100.1, 1e9])
def test_a_useless_radius_is_refused(radius, make):
    """The message says what the radius is."""
    with pytest.raises(InvalidArgument, match="largest"):
        make(radius)
