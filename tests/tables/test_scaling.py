"""BoundsScaler: scaling by what is declared, and nothing else."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import discreet as dp

BOX = dp.Box(lower=[0, 17, -5], upper=[10, 90, 5])


def test_sem_07_it_learns_nothing_from_the_rows():
    """SEM-07: two tables of the same shape leave the same scaler."""
    rng = np.random.default_rng(0)
    fitted = [vars(dp.BoundsScaler(x_bounds=BOX).fit(rng.normal(size=(n, 3)))) for n in (5, 5000)]
    assert repr(fitted[0]) == repr(fitted[1])


def test_sem_07_bounds_after_scaling_are_as_declared():
    """SEM-07: the bounds become ((l - m) / s, (u - m) / s)."""
    scaler = dp.BoundsScaler(x_bounds=BOX, center=[1, 2, 3], scale=2)
    assert scaler.scaled_bounds() == dp.Box(lower=[-0.5, 7.5, -4], upper=[4.5, 44, 1])
    assert scaler.fit(np.zeros((2, 3))).scaled_bounds_ == scaler.scaled_bounds()
    assert dp.BoundsScaler(x_bounds=BOX).scaled_bounds() == dp.Box(lower=[-1] * 3, upper=[1] * 3)


def test_a_scalar_box_stays_one():
    """Where nothing differs between columns the width may be left open."""
    scaler = dp.BoundsScaler(x_bounds=dp.Box(lower=0, upper=10))
    assert scaler.scaled_bounds().broadcasts
    np.testing.assert_array_equal(scaler.fit_transform([[0.0, 5.0, 10.0]]), [[-1, 0, 1]])
    several = dp.BoundsScaler(x_bounds=dp.Box(lower=0, upper=10), center=[0, 1])
    assert several.scaled_bounds() == dp.Box(lower=[0, -0.2], upper=[2, 1.8])


def test_dummies_of_a_category_are_left_alone():
    """One-hot blocks keep 0 and 1, and stay declared."""
    box = dp.Box(lower=[0, 0, 0], upper=[10, 1, 1], one_hot=[slice(1, 3)])
    scaler = dp.BoundsScaler(x_bounds=box, scale=5).fit(np.zeros((1, 3)))
    np.testing.assert_array_equal(scaler.transform([[10.0, 0.0, 1.0]]), [[1, 0, 1]])
    assert scaler.scaled_bounds_ == dp.Box(lower=[-1, 0, 0], upper=[1, 1, 1], one_hot=[slice(1, 3)])


@given(
    low=st.floats(-1e6, 1e6), width=st.floats(1e-3, 1e6), share=st.floats(0, 1),
    center=st.none() | st.floats(-1e6, 1e6), scale=st.none() | st.floats(1e-3, 1e6),
)  # fmt: skip
def test_a_cell_within_its_bounds_is_within_the_scaled_ones(low, width, share, center, scale):
    """Rounding is monotone, so no cell leaves its bounds by being scaled."""
    high = low + width
    cell = min(max(low + share * width, low), high)
    scaler = dp.BoundsScaler(x_bounds=dp.Box(lower=[low], upper=[high]), center=center, scale=scale)
    scaled = scaler.fit([[cell]]).transform([[cell]])[0, 0]
    assert scaler.scaled_bounds_.lower[0] <= scaled <= scaler.scaled_bounds_.upper[0]


def test_missing_cells_stay_missing_and_there_is_a_way_back():
    """NaN and infinities are the model's to see; inverse_transform undoes."""
    scaler = dp.BoundsScaler(x_bounds=BOX).fit(np.zeros((1, 3)))
    scaled = scaler.transform([[np.nan, np.inf, 0.0]])
    assert np.isnan(scaled[0, 0])
    assert np.isinf(scaled[0, 1])
    X = np.random.default_rng(0).uniform(-5, 90, size=(20, 3))
    np.testing.assert_allclose(scaler.inverse_transform(scaler.transform(X)), X, rtol=1e-13)


def test_names_are_kept():
    """A frame's names come out as they went in."""
    frame = pd.DataFrame({"a": [1.0], "b": [2.0], "c": [3.0]})
    scaler = dp.BoundsScaler(x_bounds=BOX).fit(frame)
    assert list(scaler.get_feature_names_out()) == ["a", "b", "c"]
    assert not hasattr(scaler.fit(frame.to_numpy()), "feature_names_in_")
    assert clone(scaler).x_bounds == BOX


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x_bounds": (0, 1)}, "`x_bounds` must be a Box"),
        ({"scale": 0}, "`scale` must be greater than 0"),
        ({"scale": [1, 2]}, "`scale` must be one number or one a column"),
        ({"center": float("nan")}, "`center` must be finite"),
        ({"x_bounds": dp.Box(lower=0, upper=1)}, None),
        ({"x_bounds": dp.Box(lower=[0, 0], upper=1)}, "declares 2 columns"),
    ],
)
def test_declarations_are_checked_at_fit(changes, message):
    """Each is refused by name."""
    scaler = dp.BoundsScaler(**{"x_bounds": BOX, **changes})
    if message is None:
        scaler.fit(np.zeros((1, 3)))
        return
    with pytest.raises(dp.InvalidArgument, match=message):
        scaler.fit(np.zeros((1, 3)))


def test_a_scalar_box_with_blocks_has_no_bounds_before_a_fit():
    """Its width is not known yet, and the message says what to do."""
    scaler = dp.BoundsScaler(x_bounds=dp.Box(lower=0, upper=1, one_hot=[slice(0, 2)]))
    with pytest.raises(dp.InvalidArgument, match="width"):
        scaler.scaled_bounds()
    with pytest.raises(TypeError, match="Box"):
        dp.BoundsScaler(x_bounds=None).scaled_bounds()


def test_no_error_quotes_a_cell():
    """A text among the cells is refused without being shown."""
    with pytest.raises(dp.InvalidData) as caught:
        dp.BoundsScaler(x_bounds=BOX).fit(np.array([["secret-987", 1.0, 2.0]], dtype=object))
    assert "987" not in str(caught.value)
