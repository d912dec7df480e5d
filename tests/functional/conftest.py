"""Data and declarations that the tests of the first pillar share."""

import numpy as np
import pytest

import discreet as dp


@pytest.fixture
def rows():
    """Rows of a known linear law, within declared bounds."""
    rng = np.random.default_rng(7)
    X = rng.uniform(0.0, 10.0, size=(4000, 3))
    y = 2.0 + X @ [1.0, -0.5, 0.25] + rng.normal(scale=0.5, size=4000)
    return X, y


@pytest.fixture
def declarations():
    """Bounds that hold the rows, and the usual adjacency."""
    return {"x_bounds": dp.Box(lower=0, upper=10), "y_bounds": dp.Interval(-20, 20), "adjacency": dp.Replace()}
