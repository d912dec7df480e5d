"""PrivatePCA: what it releases, what it keeps, what it refuses; components one after the other."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

import discreet as dp
from discreet.errors import (
    IncompatiblePlan,
    InvalidArgument,
    InvalidData,
    InvalidFormula,
    InvalidType,
)
from discreet.estimators.pca import PrivatePCA
from discreet.privacy.coins import Coins
from discreet.sampling.draw_files import dumps_quantiles
from discreet.sampling.pca.components import Components, plan_components
from discreet.sampling.pca.second_moments import UnitGrid
from discreet.sampling.policies import CoolDown, Truncated
from discreet.sampling.quantiles.quantile_release import quantile

X = np.random.default_rng(0).normal(size=(4000, 4)) * [3.0, 1.5, 0.7, 0.2]


def pca(**changes: Any) -> PrivatePCA:
    """Return a model of the rows above."""
    return PrivatePCA(**{"budget": dp.Pure(epsilon=2), "adjacency": dp.Replace(), "row_norm": 8.0, **changes})


def seeded(seed: int, budget: Any = None, adjacency: Any = None) -> dp.Ledger:
    """Return a ledger whose coins repeat."""
    return dp.Ledger(
        total=budget or dp.Pure(epsilon=2), adjacency=adjacency or dp.Replace(), coins=Coins.from_seed(seed)
    )


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("adjacency", [dp.Replace(), dp.AddRemove()], ids=str)
def test_components_are_orthonormal_and_close(count: int, adjacency: Any) -> None:
    """As scikit-learn's on many rows, up to a sign that is settled by the largest entry."""
    model = pca(n_components=count, adjacency=adjacency, budget=dp.Pure(epsilon=20)).fit(X)
    assert model.components_.shape == (count, 4)
    assert np.abs(model.components_ @ model.components_.T - np.eye(count)).max() < 1e-12
    assert (model.components_[range(count), np.abs(model.components_).argmax(axis=1)] > 0).all()
    best = PCA(count).fit(X).components_
    assert (np.abs((best * model.components_).sum(axis=1)) > 0.98).all()


def test_all_components_cost_one_less_draw() -> None:
    """What is perpendicular to all others is known up to its sign."""
    assert pca(n_components=4).fit(X).release_.event.n_draws == 3
    assert pca(n_components=3).fit(X).release_.event.n_draws == 3
    assert pca(n_components=1).fit(X[:, :1]).components_.tolist() == [[1.0]]


@pytest.mark.parametrize(
    "budget", [dp.Pure(epsilon=1), dp.Zcdp(rho="1/8"), dp.Gdp(mu="1/2"), dp.Approx(epsilon=1, delta="1e-6")], ids=str
)
def test_the_price_is_the_budget(budget: Any) -> None:
    """Of all components and their running time together, to a millionth."""
    ledger = dp.Ledger(total=budget, adjacency=dp.Replace(), composition="sum" if budget.coordinates[1:] else "auto")
    model = pca(budget=budget, n_components=2).fit(X, ledger=ledger)
    event = model.release_.event
    assert event.n_draws == 2
    assert model.release_.cost == budget
    assert len(ledger.entries) == 1
    spent, given = (float(value.coordinates[0]) for value in (event.price, budget))
    assert given * (1 - 5e-6) < spent <= given


def test_nothing_of_the_rows_is_left_on_a_model() -> None:
    """Two neighbours, equal coins: after the release and what is made of it are set aside, the same attributes."""
    other = X.copy()
    other[0] = [0.0, 8.0, 0.0, 0.0]
    left = []
    for rows in (X, other):
        model = pca(n_components=2).fit(rows, ledger=seeded(1))
        kept = {k: v for k, v in vars(model).items() if k not in {"release_", "components_"}}
        left.append(repr(sorted((k, str(v)) for k, v in kept.items())))
        assert model.release_.value is model.components_
    assert left[0] == left[1]


def test_equal_coins_give_equal_components() -> None:
    """And whatever the order of the rows."""
    one, other = (pca(n_components=2).fit(rows, ledger=seeded(3)).components_ for rows in (X, X[::-1]))
    assert (one == other).all()


def test_work_is_fixed_by_public_numbers() -> None:
    """Counters of truncated components are the same for neighbours, component by component."""
    target = Components(grid=UnitGrid(4, row_norm=8.0), n_components=3, names=("a", "b", "c", "d"))
    plan = plan_components(
        target, budget=dp.Approx(epsilon=1, delta="1e-6"), adjacency=dp.Replace(), runtime=Truncated(), n_rows=4000
    )
    seen = []
    for rows in (X, np.vstack([X[1:], [[8.0, 0, 0, 0]]])):
        counters: list[Any] = []
        plan.observe(plan.measure(rows), Coins.from_seed(1), counters)
        seen.append([(c.proposals, c.evaluations, c.words, c.calls, c.blocks.tolist()) for c in counters])
    assert seen[0] == seen[1]
    assert len(seen[0]) == 3


def test_a_truncated_default_is_still_an_orthonormal_answer() -> None:
    """Where no block is accepted each component is the public default of its law."""
    target = Components(grid=UnitGrid(3, row_norm=8.0), n_components=2, names=("a", "b", "c"))
    plan = plan_components(
        target,
        budget=dp.Approx(epsilon=1, delta="0.9"),
        adjacency=dp.Replace(),
        runtime=Truncated(delta="0.9"),
        n_rows=40,
    )
    moments = plan.measure(X[:40, :3])
    for seed in range(8):
        found = plan.draw(moments, Coins.from_seed(seed))
        assert np.abs(found @ found.T - np.eye(2)).max() < 1e-12


def test_the_second_component_has_the_law_of_what_is_left() -> None:
    """Given the first, the angle in the plane perpendicular to it."""
    rows = X[:50, :3] / 8
    target = Components(grid=UnitGrid(3, row_norm=1.0), n_components=2, names=("a", "b", "c"))
    plan = plan_components(target, budget=dp.Pure(epsilon=40), adjacency=dp.Replace(), runtime=CoolDown(), n_rows=50)
    moments = plan.measure(rows)
    coins, scale = Coins.from_seed(6), float(plan.event.scale)
    matrix, places = moments.doubles(), []
    for _ in range(600):
        first, second = plan.draw(moments, coins)
        basis = np.linalg.svd(np.eye(3) - np.outer(first, first))[0][:, :2].T
        turns = np.linspace(0, math.pi, 2001)
        circle = np.column_stack([np.cos(turns), np.sin(turns)]) @ basis
        weights = np.exp(scale * np.einsum("ij,jk,ik->i", circle, matrix, circle))
        law = np.cumsum(weights) / weights.sum()
        places.append(np.interp(math.atan2(*(basis @ second)[::-1]) % math.pi, turns, law))
    assert stats.kstest(places, "uniform").pvalue > 1e-3


def test_transform_and_its_inverse_agree() -> None:
    """Coordinates about the public center, in units of the scale."""
    model = pca(
        n_components=4, x_bounds=dp.Box(lower=[-9, -4, -2, 0], upper=9), row_norm=None, scale_to_bounds=True
    ).fit(X)
    assert model.center_.tolist() == [0.0, 2.5, 3.5, 4.5]
    assert model.scale_.tolist() == [9.0, 6.5, 5.5, 4.5]
    assert model.row_norm_ == pytest.approx(2.0)
    assert np.abs(model.inverse_transform(model.transform(X)) - X).max() < 1e-9
    with pytest.raises(InvalidData, match="4 columns, one a component"):
        model.inverse_transform(X[:, :2])


def test_names_and_frames_as_scikit_learn_has_them() -> None:
    """`get_feature_names_out`, `set_output`, pipelines, clones."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = pca(n_components=2).set_output(transform="pandas")
    out = model.fit_transform(frame)
    assert list(out.columns) == ["privatepca0", "privatepca1"]
    assert model.get_feature_names_out().tolist() == ["privatepca0", "privatepca1"]
    assert model.feature_names_in_.tolist() == list("abcd")
    assert "(a, b, c, d)" in model.release_.event.statistic
    chain = make_pipeline(dp.BoundsScaler(x_bounds=dp.Box(lower=-9, upper=9)), clone(pca(row_norm=2.0)))
    assert chain.fit_transform(X).shape == (4000, 1)


def test_a_schema_declares_a_frame() -> None:
    """Numbers and flags by name, clipped; a dropped record contributes nothing, a constant stands in."""
    schema = dp.Schema({
        "a": dp.Number(-9, 9), "flag": dp.Flag(), "b": dp.Number(-9, 9, missing="drop"),
        "c": dp.Number(-1, 1, missing=0.5), "kind": dp.Category(["x", "y"]),
    })  # fmt: skip
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "flag": (X[:, 3] > 0).astype(int)})
    frame.loc[3, "b"] = np.nan
    frame.loc[4, "c"] = np.nan
    model = PrivatePCA(budget=dp.Pure(epsilon=50), adjacency=dp.Replace(), schema=schema).fit(frame)
    assert abs(model.components_[0, 0]) > 0.95
    assert model.center_.tolist() == [0.0, 0.0, 0.0, 0.5]
    assert model.row_norm_ == pytest.approx(math.sqrt(81 + 81 + 1 + 0.25))
    with pytest.raises(InvalidArgument, match="'kind' is a category"):
        PrivatePCA(budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), schema=schema).fit(frame.assign(kind="x"))
    with pytest.raises(InvalidFormula, match="'other'"):
        PrivatePCA(budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), schema=schema).fit(frame.assign(other=1.0))
    with pytest.raises(InvalidData, match="column names|columns have names"):
        PrivatePCA(budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), schema=schema).fit(X)
    with pytest.raises(InvalidArgument, match="not both"):
        PrivatePCA(
            budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), schema=schema, x_bounds=dp.Box(lower=0, upper=1)
        ).fit(frame)
    frame.loc[0, "a"] = np.nan
    with pytest.raises(InvalidData, match="a"):
        PrivatePCA(budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), schema=schema).fit(frame)
    with pytest.raises(InvalidData, match="0 sample"):
        PrivatePCA(budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), schema=schema).fit(frame.iloc[:0])


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"row_norm": None}, InvalidType, "needs `x_bounds`"),
        ({"row_norm": -1.0}, InvalidArgument, "row_norm"),
        ({"row_norm": float("nan")}, InvalidArgument, "row_norm"),
        ({"n_components": 5}, InvalidArgument, "n_features = 4"),
        ({"n_components": 0}, InvalidArgument, "n_components"),
        ({"n_components": 1.5}, InvalidType, "n_components"),
        ({"x_bounds": dp.Interval(0, 1)}, InvalidType, "x_bounds"),
        ({"x_bounds": dp.Box(lower=[0, 0], upper=[1, 1])}, InvalidArgument, "declares 2 columns"),
        ({"scale_to_bounds": True}, InvalidType, "scale_to_bounds"),
        ({"center": [0.0]}, InvalidArgument, "center"),
        ({"center": "middle"}, InvalidType, "center"),
        ({"runtime": "fast"}, InvalidType, "runtime"),
        ({"budget": 1.0}, InvalidType, "budget"),
        ({"adjacency": "replace"}, InvalidType, "adjacency"),
        ({"runtime": Truncated()}, IncompatiblePlan, "delta"),
    ],
)
def test_unusable_declarations_are_refused_before_a_charge(changes: dict[str, Any], error: Any, words: str) -> None:
    """Each names what is wrong; the ledger has paid nothing."""
    ledger = seeded(0)
    with pytest.raises(error, match=words):
        pca(**changes).fit(X, ledger=ledger)
    assert ledger.entries == ()


@pytest.mark.parametrize("name", ["whiten", "svd_solver", "random_state", "epsilon", "data_norm", "nonsense"])
def test_arguments_it_lacks_are_refused_by_name(name: str) -> None:
    """With what to do instead."""
    with pytest.raises(InvalidType, match=name):
        pca(**{name: 1})


def test_private_rows_that_are_missing_are_named_by_column() -> None:
    """NaN, sparse rows, too few."""
    rows = X.copy()
    rows[7, 2] = np.inf
    with pytest.raises(InvalidData, match="Column 'x2'"):
        pca().fit(rows)
    with pytest.raises(InvalidData, match="0 sample"):
        pca().fit(X[:0])
    assert pca(adjacency=dp.AddRemove()).fit(X[:0]).components_.shape == (1, 4)


def test_more_captured_where_a_row_is_added_than_where_one_is_replaced() -> None:
    """AddRemove has half the sensitivity; over many seeds less is lost."""

    def lost(adjacency: Any) -> float:
        best = np.linalg.eigvalsh(X[:300].T @ X[:300])[-1]
        found = []
        for seed in range(60):
            model = pca(adjacency=adjacency, budget=dp.Pure(epsilon=1)).fit(
                X[:300], ledger=seeded(seed, dp.Pure(epsilon=1), adjacency)
            )
            found.append(1 - float(((X[:300] @ model.components_[0]) ** 2).sum() / best))
        return float(np.mean(found))

    assert lost(dp.AddRemove()) < 0.75 * lost(dp.Replace())


def test_the_scale_is_what_is_left_after_the_clock() -> None:
    """Half of epsilon under Replace, less the running time's millionth."""
    event = pca(budget=dp.Pure(epsilon=1)).fit(X).release_.event
    assert event.scale == (1 - event.runtime_epsilon) / 2 or abs(event.scale - Fraction(1, 2)) < Fraction(1, 10**6)


def test_a_table_is_read_by_its_schema_and_progress_is_told() -> None:
    """The columns of the schema that are no categories, and how far the read has come."""
    schema = dp.Schema({"a": dp.Number(-9, 9), "b": dp.Number(-9, 9), "kind": dp.Category(["x", "y"])})
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(kind="x")
    told: list[int] = []
    model = PrivatePCA(budget=dp.Pure(epsilon=50), adjacency=dp.AddRemove(), schema=schema)
    model.fit_table(frame, progress=told.append)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert told
    kinds = dp.Schema({"kind": dp.Category(["x", "y"])})
    with pytest.raises(InvalidArgument, match="no numbers or flags"):
        PrivatePCA(budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), schema=kinds).fit_table(frame)


def test_more_rows_than_the_sums_hold_are_refused() -> None:
    """Before anything is charged; a schema's table passes no other check of it."""
    target = Components(grid=UnitGrid(1, row_norm=1.0), n_components=1, names=("a",))
    with pytest.raises(InvalidData, match="at most 2147483647 rows"):
        target.prepare(np.broadcast_to(np.zeros((1, 1)), (2**31, 1)))


def test_components_are_priced_together_where_that_is_cheaper() -> None:
    """In Pure under Replace the scale is epsilon / (k + 1), not epsilon / 2 k; blocks stay those of the sharper law."""
    event = pca(budget=dp.Pure(epsilon=1), n_components=3).fit(X).release_.event
    assert event.kind == "principal-components"
    assert float(event.scale) == pytest.approx(1 / 4, rel=1e-3)
    for budget, adjacency in ((dp.Zcdp(rho=1), dp.Replace()), (dp.Pure(epsilon=1), dp.AddRemove())):
        apart = pca(budget=budget, adjacency=adjacency, n_components=3).fit(X).release_.event
        assert apart.kind == "rejection-sampling"


def test_very_many_components_are_priced_one_by_one() -> None:
    """Where rounded components are not known to be perpendicular enough."""
    target = Components(grid=UnitGrid(300, row_norm=1.0), n_components=60, names=("a",) * 300)
    plan = plan_components(target, budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), runtime=CoolDown(), n_rows=10)
    assert plan.event.kind == "rejection-sampling"


def test_components_are_saved_and_loaded(tmp_path):
    """The file says the same of new rows, bit for bit, and is written again as it was."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    pca = PrivatePCA(budget=dp.Gdp(mu=4), adjacency=dp.AddRemove(), n_components=2, row_norm=5, center=[0, 1, 0, 0])
    pca.fit(frame).save(tmp_path / "pca.json")
    again = PrivatePCA.load(tmp_path / "pca.json")
    np.testing.assert_array_equal(again.transform(frame), pca.transform(frame))
    assert again.feature_names_in_.tolist() == list("abcd")
    assert (again.release_.cost, again.release_.label) == (pca.release_.cost, pca.release_.label)
    assert again.dumps() == pca.dumps() == (tmp_path / "pca.json").read_text()


def test_a_file_of_quantiles_holds_no_components(tmp_path):
    """It is refused by name; what is no file of ours is, too."""
    released = quantile(X[:, 0], q=[0.5], bounds=dp.Interval(-9, 9), budget=dp.Pure(epsilon=1), adjacency=dp.Replace())
    (tmp_path / "q.json").write_text(dumps_quantiles(released, "a", [Fraction(1, 2)]))
    with pytest.raises(InvalidData, match=r"q\.json' must hold a 'components'"):
        PrivatePCA.load(tmp_path / "q.json")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(InvalidData, match=r"other\.json"):
        PrivatePCA.load(tmp_path / "other.json")
