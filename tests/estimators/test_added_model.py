"""The model that CONTRIBUTING.md adds is a whole estimator."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

import discreet as dp
from discreet.errors import InvalidData

GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"


@pytest.fixture(scope="module")
def code():
    """Return the example of the guide, as it stands there."""
    section = GUIDE.read_text(encoding="utf-8").partition("## How to add a model")[2]
    return re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)[1]


@pytest.fixture(scope="module")
def huber(code):
    names = {"__name__": "guide"}
    exec(compile(code, str(GUIDE), "exec"), names)  # noqa: S102  (the guide's own text)
    return names["HuberRegression"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (5000, 2))
    return X, np.clip(1 + X @ [1.0, -2.0] + 0.3 * rng.standard_t(2, 5000), -5, 7)


COMMON = {"budget": dp.Gdp(mu=5), "adjacency": dp.Replace(), "y_bounds": dp.Interval(-5, 7)}


def test_the_example_is_short(code):
    """At most sixty lines."""
    assert len(code.splitlines()) <= 60


@pytest.mark.parametrize("bounds", [{"x_bounds": dp.Box(lower=-1, upper=1)}, {"row_norm": 1.5}], ids=list)
def test_it_fits_and_is_saved_and_read(huber, rows, bounds, tmp_path):
    """Within bounds and within a norm it finds the slopes, and its file gives the same predictions."""
    X, y = rows
    model = clone(huber(**COMMON, **bounds)).fit(X, y)
    np.testing.assert_allclose([model.intercept_, *model.coef_], [1, 1, -2], atol=0.15)
    assert model.score(X, y) > 0.5
    assert "Huber regression" in str(model.summary())
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(huber.load(tmp_path / "model.json").predict(X), model.predict(X))
    with pytest.raises(InvalidData, match="Huber"):
        dp.LinearRegression.load(tmp_path / "model.json")


def test_it_takes_sparse_rows_tables_and_private_numbers_of_rows(huber, rows):
    """What the base gives, it has: sparse rows, formulas under a schema, AddRemove."""
    X, y = rows
    declared = COMMON | {"adjacency": dp.AddRemove(), "expected_rows": 5000}
    model = huber(row_norm=1.5, **declared).fit(scipy.sparse.csr_array(X), y)
    assert model.n_rows_ == 5000
    pandas = pytest.importorskip("pandas")
    schema = dp.Schema({"a": dp.Number(-1, 1), "b": dp.Number(-1, 1), "y": dp.Number(-5, 7)})
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    found = huber(budget=dp.Gdp(mu=5), adjacency=dp.Replace(), schema=schema).fit_table(frame, "y ~ a + b")
    np.testing.assert_allclose(found.coef_, [1, -2], atol=0.15)
    with pytest.raises(TypeError, match="alpha"):
        huber(alpha=1, **COMMON)
