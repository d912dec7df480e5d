"""SEM-01: persons who stand on several rows; whose a row is, the cap, and what the guarantee then speaks of."""

import copy
import inspect
import itertools
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.cli.main import main
from discreet.errors import AdjacencyMismatch, IncompatiblePlan, InvalidArgument, InvalidData, InvalidType
from discreet.estimators.front_door import LinearRegression, LogisticRegression, PoissonRegression
from discreet.estimators.k_norm import KNormGradientLogisticRegression
from discreet.estimators.pca import PrivatePCA
from discreet.estimators.quantile import KNormGradientQuantileRegression
from discreet.functional.gram import plan_gram
from discreet.functional.moments import release_design
from discreet.privacy.adjacency import adjacency_from_name
from discreet.privacy.curves.products import group_curve
from discreet.privacy.events.event import event_from_json
from discreet.privacy.events.noise import GaussianEvent
from discreet.report.page import report_html
from discreet.sampling.quantiles.quantile_release import median
from discreet.tables import blocks, units
from discreet.tables.design import Design
from discreet.tables.readers import arrow_tables, frames
from discreet.tables.readers.tables import open_rows, open_table
from discreet.tables.rows import TableRows
from discreet.tables.schema.columns import Reading
from tables.tabular import assert_silent

COLUMNS = {"x": dp.Number(0, 8), "y": dp.Number(-4, 4, missing="drop"), "c": dp.Category(["a", "b", "z"])}
HUGE = dp.Gdp(mu=10**12)
M = 3
FIRST_ROW = [64424509440, 6442450944, -2147483648, 10737418240, -23622320128]


def schema_of(most=M, adjacency=None, columns=None):
    """Return a schema of persons."""
    adjacency = dp.Replace() if adjacency is None else adjacency
    return dp.Schema(columns or COLUMNS, adjacency=adjacency, unit="person", rows_per_unit=most)


def table_of(n=400, n_persons=60, seed=0):
    """Return rows of persons, some of whom have more than the cap; cells that every source can hold."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "person": rng.integers(1, n_persons + 1, n),
            "x": rng.integers(0, 9, n).astype(float),
            "y": rng.integers(-4, 5, n).astype(float),
            "c": rng.choice(["a", "b", "z"], n),
        }
    )


def statistic(source, schema=None, terms="x + y + C(c)"):
    """Return the exact Gram matrix of the contributing rows."""
    design = Design.for_terms(terms, schema or schema_of())
    rows = TableRows(open_rows(source, design.schema, design.columns_needed), design, may_be_empty=True)
    return rows.private_gram(design.layout)


def n_contributing(gram):
    """Return the number of rows in a Gram matrix with an intercept."""
    return gram[0, 0] >> 32


# The reference values


def test_sem_01_a_guarantee_for_rows_is_this_one_for_persons_of_three_rows():
    """SEM-01: epsilon, mu times 3, rho times 9, delta times 1 + e + e**2."""
    assert group_curve(dp.Pure(epsilon=1).tradeoff(), size=M).epsilon(Fraction(0)) == pytest.approx(3, rel=1e-9)
    assert group_curve(dp.Gdp(mu=1).tradeoff(), size=M).mu_squared == 9
    assert group_curve(dp.Zcdp(rho="1/2").tradeoff(), size=M).rho == Fraction(9, 2)
    curve = group_curve(dp.Approx(epsilon=1, delta="1e-6").tradeoff(), size=M)
    assert float(curve.delta(3)) == pytest.approx(1.1107338e-5, rel=1e-6)


@pytest.mark.parametrize("adjacency", [dp.Replace, dp.AddRemove])
@pytest.mark.parametrize(
    ("mechanism", "for_rows", "for_persons"),
    [
        ("wishart", dp.Pure(epsilon=1), dp.Pure(epsilon=3)),
        ("laplace", dp.Pure(epsilon=1), dp.Pure(epsilon=3)),
        ("l_inf", dp.Pure(epsilon=1), dp.Pure(epsilon=3)),
        ("gaussian", dp.Zcdp(rho="1/2"), dp.Zcdp(rho="9/2")),
        ("gaussian", dp.Gdp(mu=1), dp.Gdp(mu=3)),
    ],
)
def test_sem_01_noise_for_a_budget_of_rows_costs_the_reference_value_of_persons(
    adjacency, mechanism, for_rows, for_persons
):
    """SEM-01: the same noise, priced for rows and for persons of at most three of them."""
    layout = Design.for_terms("x + y + C(c)", schema_of()).layout
    shared = {"mechanism": mechanism, "size_is_public": False, "statistic": "Gram matrix"}
    row = plan_gram(layout, budget=for_rows, adjacency=adjacency(), **shared).event
    whole = plan_gram(layout, budget=for_persons, adjacency=adjacency("person"), rows_per_unit=M, **shared).event
    for name in ("theta", "scale", "rate", "variance"):
        assert getattr(row, name, None) == getattr(whole, name, None)
    assert whole.price.coordinates == pytest.approx(whole.price.coordinates)
    assert whole.price <= (whole.budget if isinstance(whole.price, type(whole.budget)) else dp.Gdp(mu=3))
    # One row of noise too little is caught by the event itself.
    with pytest.raises(InvalidArgument, match="costs"):
        event_from_json(whole.to_json() | {"rows_per_unit": M + 1, **_raised(whole.to_json())})


def _raised(document):
    """Return what a fourth row would do to the sensitivity of an event."""
    if "sensitivity_squared" in document:
        return {"sensitivity_squared": str(Fraction(document["sensitivity_squared"]) * 16 / 9)}
    return {"sensitivity": str(Fraction(document["sensitivity"]) * 4 / 3)} if "sensitivity" in document else {}


# Sensitivity, by brute force


@pytest.mark.parametrize("adjacency", [dp.Replace("person"), dp.AddRemove("person")])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), most=st.integers(1, 4), n_own=st.integers(1, 9), n_new=st.integers(0, 9))
def test_sem_01_a_person_changes_at_most_m_times_what_a_row_changes(adjacency, seed, most, n_own, n_new):
    """SEM-01: nuclear, L1 and Frobenius norms of the change, for any rows of one person among others."""
    rng = np.random.default_rng(seed)
    schema = schema_of(most)
    layout = Design.for_terms("x + y + C(c)", schema).layout
    others = table_of(30, 6, seed)
    own, new = ({"x": 8 * rng.integers(0, 2, n), "y": 8.0 * rng.integers(0, 2, n) - 4} for n in (n_own, n_new))
    own, new = ({"person": 99, "c": rng.choice(["a", "b", "z"], len(rows["x"])), **rows} for rows in (own, new))
    first, second = pd.DataFrame(own), pd.DataFrame(new)
    if isinstance(adjacency, dp.AddRemove):
        second = second[:0]
    change = statistic(pd.concat([others, first]), schema) - statistic(pd.concat([others, second]), schema)
    change = change.astype(float)
    row = type(adjacency)()
    assert np.abs(np.linalg.eigvalsh(change)).sum() <= most * layout.sensitivity("nuclear", row) * (1 + 1e-12)
    assert np.abs(change[np.triu_indices(layout.width)]).sum() <= most * layout.sensitivity("l1", row)
    assert (change**2).sum() <= most**2 * layout.sensitivity("frobenius_squared", row)


def test_sem_01_a_person_can_change_m_times_what_a_row_changes():
    """SEM-01: the bound is attained, so that less noise would be too little."""
    schema = schema_of(M, columns={"x": dp.Number(0, 8), "y": dp.Number(-4, 4)})
    layout = Design.for_terms("x + y", schema).layout
    rows = pd.DataFrame({"person": ["p"] * 7, "x": [8.0] * 7, "y": [4.0] * 7})
    change = statistic(rows, schema, "x + y") - statistic(rows[:0], schema, "x + y")
    assert np.abs(np.linalg.eigvalsh(change.astype(float))).sum() == pytest.approx(
        M * layout.sensitivity("nuclear", dp.AddRemove())
    )
    assert change[np.triu_indices(3)].sum() == M * layout.sensitivity("l1", dp.AddRemove())


# What stays


def test_sem_01_every_person_contributes_at_most_m_rows():
    """SEM-01: the count of contributing rows is the sum of what each person may contribute."""
    frame = table_of()
    for most in (1, 2, 5, 100):
        expected = np.minimum(frame.groupby("person").size(), most).sum()
        assert n_contributing(statistic(frame, schema_of(most))) == expected


def test_sem_01_below_the_cap_nothing_changes():
    """SEM-01: where nobody has more rows than the cap, the statistic is that of all rows."""
    frame = table_of()
    free = dp.Schema(COLUMNS)
    assert (statistic(frame, schema_of(1000)) == statistic(frame, free)).all()


def test_sem_01_one_person_does_not_touch_the_rows_of_another():
    """SEM-01: what the others contribute is theirs alone: statistics of disjoint persons add up."""
    frame = table_of()
    parts = [statistic(frame[frame.person % 2 == k]) for k in (0, 1)]
    assert (statistic(frame) == sum(parts)).all()


def test_sem_01_a_row_without_a_person_contributes_nothing():
    """SEM-01: blank, null, NaN and missing tokens are nobody, not one more person."""
    frame = table_of()
    reading = Reading(missing_tokens=("-9",))
    schema = dp.Schema(COLUMNS, reading=reading, unit="person", rows_per_unit=M)
    for nobody in (None, "", "  ", np.nan, "-9", pd.NA, pd.NaT, -9):
        lost = frame.copy()
        lost["person"] = lost["person"].astype(object)
        lost.loc[frame.person <= 10, "person"] = nobody
        assert (statistic(lost, schema) == statistic(frame[frame.person > 10], schema)).all()
    everybody_lost = frame.assign(person=None)
    assert not statistic(everybody_lost, schema).any()


def test_sem_01_a_dropped_row_does_not_use_up_the_cap():
    """SEM-01, SEM-08: a record that its policy drops is as if it were not there."""
    frame = table_of()
    broken = frame.assign(y=np.nan)
    assert (statistic(pd.concat([broken, frame])) == statistic(frame)).all()


def test_sem_01_the_choice_is_as_good_as_random():
    """SEM-01: rows that many have in common are not preferred, nor are equal rows counted as one."""
    columns = {"flag": dp.Flag(), "y": dp.Number(0, 1)}
    persons = np.repeat(np.arange(400), 10)
    for share in (1, 3, 5):
        frame = pd.DataFrame({"person": persons, "flag": np.tile(np.arange(10) < share, 400).astype(int), "y": 1})
        schema = schema_of(2, columns=columns)
        design = Design.for_terms("flag", schema)
        steps = 2**design.layout.bits
        gram = statistic(frame, schema, "flag")
        ones = (gram[0, 1] / steps**2 + n_contributing(gram) / 2) / n_contributing(gram)
        # 800 rows stay; four standard deviations.
        assert abs(ones - share / 10) < 4 * np.sqrt(share * (10 - share) / 100 / 800)


# Bitwise the same


def test_sem_01_the_order_of_the_rows_is_nothing():
    """SEM-01: any order, bitwise the same statistics."""
    frame = table_of()
    expected = statistic(frame)
    for seed in range(5):
        assert (statistic(frame.sample(frac=1, random_state=seed)) == expected).all()
    assert (statistic(frame.sort_values(["x", "y"])) == expected).all()


@pytest.mark.parametrize("rows", [1, 7, 399, 400, 10_000])
def test_sem_01_the_size_of_blocks_is_nothing(monkeypatch, tmp_path, rows):
    """SEM-01: bitwise the same statistics however the records are cut."""
    frame = table_of()
    expected = statistic(frame)
    for module in (arrow_tables, blocks, frames):
        monkeypatch.setattr(module, "BLOCK_ROWS", rows)
    monkeypatch.setattr(arrow_tables, "BATCH_ROWS", max(rows, 5))
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, pa.Table.from_pandas(frame), tmp_path / "t.parquet"):
        assert (statistic(source) == expected).all()


def _sources(tmp_path, frame):
    """Return one table in every kind of source, the person in every type."""
    text = frame.assign(person=frame.person.astype(str))
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    person = arrow.column_names.index("person")

    def cast(kind):
        return arrow.set_column(person, "person", arrow.column("person").cast(kind))

    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.assign(person=frame.person.astype(float)).to_csv(tmp_path / "float.csv", index=False)
    frame.to_csv(tmp_path / "t.csv.gz", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    pq.write_table(cast(pa.string()), tmp_path / "text.parquet")
    return {
        "pandas": frame,
        "floats": frame.assign(person=frame.person.astype(float)),
        "text": text,
        "objects": frame.assign(person=frame.person.astype(object)),
        "categories": text.assign(person=text.person.astype("category")),
        "nullable": frame.assign(person=frame.person.astype("Int64")),
        "polars": pl.from_pandas(frame),
        "arrow": arrow,
        "batch": arrow.combine_chunks().to_batches()[0],
        "int8": cast(pa.int8()),
        "decimal": cast(pa.decimal128(21, 2)),
        "dictionary": arrow.set_column(person, "person", cast(pa.string()).column(person).dictionary_encode()),
        "run ends": arrow.set_column(
            person, "person", pa.chunked_array([pa.compute.run_end_encode(arrow.column(person).combine_chunks())])
        ),
        "view": cast(pa.string_view()) if hasattr(pa, "string_view") else arrow,
        "csv": tmp_path / "t.csv",
        "csv of floats": str(tmp_path / "float.csv"),
        "gzip": tmp_path / "t.csv.gz",
        "parquet": tmp_path / "t.parquet",
        "parquet of texts": tmp_path / "text.parquet",
        "data set": pyarrow.dataset.dataset(arrow),
    }


def test_sem_01_every_source_and_type_gives_the_same(tmp_path):
    """SEM-01: files and frames, persons as numbers and as texts: bitwise the same statistics."""
    frame = table_of(n_persons=60)
    expected = statistic(frame)
    for name, source in _sources(tmp_path, frame).items():
        assert (statistic(source) == expected).all(), name


def test_sem_01_which_rows_stay_is_fixed_for_ever():
    """SEM-01: the hash does not change between versions; this matrix is of the first."""
    gram = statistic(table_of(40, 5))
    assert gram[0].tolist() == FIRST_ROW


def test_cells_that_are_texts_are_compared_as_written():
    """Leading zeros and letters count, blanks at the ends do not."""
    reader = units.UnitReader("person", Reading())
    cells = ["01", "1", " 1 ", 1, 1.0, "1.0", "1.50", 1.5, True, np.True_, 2**80, "B", "b"]
    keys, trouble = reader.from_objects(cells)
    assert trouble is None
    same = [np.flatnonzero(keys == key).tolist() for key in keys]
    assert same == [[0], *[[1, 2, 3, 4, 5]] * 5, [6], [7], [8, 9], [8, 9], [10], [11], [12]]


def test_cells_that_say_nothing_are_nobody():
    """Infinities, nulls and objects that cannot be read; a text "nan" is a name."""

    class Silent:
        def __str__(self):
            raise ValueError("secret")

    reader = units.UnitReader("person", Reading())
    keys, _ = reader.from_objects([np.inf, None, np.nan, Silent(), np.datetime64("NaT"), "nan"])
    assert (keys["high"] != 0).tolist() == [False] * 5 + [True]
    nulls, _ = reader.from_arrow(pa.nulls(2))
    assert not nulls["low"].any()
    dates, _ = reader.from_numpy(np.array(["2020-01-01", "NaT", "2020-01-01"], dtype="M8[D]"))
    assert (dates["high"] != 0).tolist() == [True, False, True]
    texts, _ = reader.from_numpy(np.array(["a", "", "a"]))
    assert texts[0] == texts[2] != texts[1]


@pytest.mark.parametrize("kind", [pa.binary(), pa.list_(pa.int64())])
def test_a_type_that_names_nobody_is_refused(kind):
    """The message names the column and the type."""
    reader = units.UnitReader("person", Reading())
    with pytest.raises(InvalidData, match="`person` is the unit; its type is"):
        reader.from_arrow(pa.array([None], kind))
    with pytest.raises(InvalidData, match="`person` is the unit; its type is complex"):
        reader.from_numpy(np.array([1j]))


# Sources that do not fit


def test_sem_01_a_stream_that_is_read_once_is_refused_by_name():
    """SEM-01: a cap takes two passes."""
    arrow = pa.Table.from_pandas(table_of())
    with pytest.raises(InvalidArgument, match="Arrow stream can be read only once"):
        dp.release_moments(arrow.to_reader(), schema_of(), budget=HUGE)


@pytest.mark.parametrize("change", ["order", "cells", "person", "fewer", "more"])
def test_a_table_that_changes_between_the_passes_is_refused(change):
    """Without a second, equal pass the cap would not hold; nothing is spent and no cell is quoted."""
    frame = table_of()
    other = {
        "order": frame[::-1],
        "cells": frame.assign(x=8 - frame.x),
        "person": frame.assign(person=7),
        "fewer": frame[:-1],
        "more": pd.concat([frame, frame[:1]]),
    }[change]
    design = Design.for_terms("x + y", schema_of())
    first, second = (open_rows(f, design.schema, design.columns_needed) for f in (frame, other))
    passes = iter([first, second])
    table = open_rows(frame, design.schema, design.columns_needed)
    table.blocks = lambda: next(passes).blocks()
    with pytest.raises(InvalidData, match="two equal passes") as caught:
        release_design(table, design, budget=HUGE)
    assert_silent(caught.value)


def test_a_table_without_the_column_is_refused_by_its_name():
    """The unit is looked for like any column."""
    with pytest.raises(InvalidData, match="person"):
        dp.release_moments(table_of().drop(columns="person"), schema_of(), budget=HUGE)


def test_no_cell_of_the_unit_is_said_or_kept():
    """Errors, files and fitted models hold no person."""
    secret = "Zaphod-31337"  # noqa: S105
    frame = table_of().assign(person=secret, x=None)
    with pytest.raises(InvalidData, match="`x`") as caught:
        dp.release_moments(frame, schema_of(), budget=HUGE)
    assert_silent(caught.value, secret)
    frame = table_of().assign(person=secret)
    moments = dp.release_moments(frame, schema_of(), budget=HUGE)
    model = dp.FunctionalLinearRegression(budget=HUGE, adjacency=dp.Replace("person"), schema=schema_of())
    model.fit(frame[["person", "x"]], frame["y"])
    assert secret not in moments.dumps()
    assert secret not in repr(vars(model))


# Who refuses


@pytest.mark.parametrize("mechanism", ["paper", "paper_code"])
def test_the_papers_modes_know_single_rows_only(mechanism):
    """Their printed constants are those of rows."""
    with pytest.raises(IncompatiblePlan, match="person"):
        dp.release_moments(table_of(), schema_of(), budget=dp.Pure(epsilon=1), mechanism=mechanism)


REFUSING = {
    "KNormGradientLogisticRegression": lambda f: KNormGradientLogisticRegression(
        budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), schema=schema_of(), ridge=1
    ).fit(f[["x"]], pd.Series((f.y > 0).astype(int), name="label")),
    "KNormGradientQuantileRegression": lambda f: KNormGradientQuantileRegression(
        budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), schema=schema_of()
    ).fit(f[["x"]], f["y"]),
    "A draw of quantiles or of principal components": lambda f: median(
        f, budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), schema=schema_of(), column="x"
    ),
    "principal components": lambda f: PrivatePCA(
        budget=dp.Pure(epsilon=1), adjacency=dp.Replace(), schema=schema_of()
    ).fit(f[["x", "y"]]),
}


@pytest.mark.parametrize("who", REFUSING)
def test_sem_01_whoever_protects_single_rows_refuses_a_schema_of_persons(who):
    """SEM-01: never protected less than the schema says; the message says who refuses and who does not."""
    with pytest.raises(InvalidArgument, match=f"{who}.*`person`.*release_moments"):
        REFUSING[who](table_of())


FRONT = {
    LinearRegression: ("y", "y ~ x"),
    LogisticRegression: ("label", "label ~ x"),
    PoissonRegression: ("y", "y ~ x"),
}


@pytest.mark.parametrize("said", [dp.Replace(), dp.Replace("person"), dp.AddRemove()], ids=repr)
@pytest.mark.parametrize("front", FRONT, ids=lambda front: front.__name__)
def test_sem_01_the_front_door_refuses_a_schema_of_persons(front, said):
    """SEM-01: by its name, whatever adjacency is named, with who protects persons; for frames and for formulas."""
    target, formula = FRONT[front]
    frame = table_of().assign(label="no")
    ledger = dp.Ledger(total=HUGE, adjacency=dp.Replace())
    schema = dp.Schema({**COLUMNS, "label": dp.Category(["no", "yes"])}, unit="person", rows_per_unit=3)
    model = front(budget=HUGE, adjacency=said, schema=schema)
    message = f"^{front.__name__} protects single rows.*`person` of up to 3 rows.*Use one of release_moments.*or give"
    with pytest.raises(InvalidArgument, match=message):
        model.fit(frame[["x"]], frame[target], ledger=ledger)
    with pytest.raises(InvalidArgument, match=message):
        model.fit_table(frame, formula, ledger=ledger)
    assert not ledger.entries


SPARSE = [
    dp.SparseLinearRegression,
    dp.SparseLogisticRegression,
    dp.FrankWolfeLinearRegression,
    dp.FrankWolfeLogisticRegression,
    dp.TwoStageLinearRegression,
    dp.TwoStageLogisticRegression,
    dp.PerturbedLogisticRegression,
]


@pytest.mark.parametrize("model", SPARSE, ids=lambda model: model.__name__)
def test_sem_01_a_sparse_model_takes_no_persons_and_says_who_does(model):
    """SEM-01: a schema with a unit is refused; the message names the model, and who protects persons."""
    needed = {"sparsity": 1, "radius": 1.0, "y_bounds": dp.Interval(0, 1), "classes": (0, 1)}
    declared = {name: value for name, value in needed.items() if name in inspect.signature(model).parameters}
    made = model(budget=HUGE, adjacency=dp.Replace(), schema=schema_of(), **declared)
    with pytest.raises(InvalidArgument, match=rf"{model.__name__}.*Functional"):
        made.fit(table_of(), np.zeros(400))


def test_sem_01_whoever_protects_single_rows_refuses_an_adjacency_of_persons():
    """SEM-01: sparse models, draws, and arrays without a schema."""
    persons = {"budget": dp.Approx(epsilon=1, delta="1e-6"), "adjacency": dp.Replace("person")}
    X, y = np.zeros((5, 1)), np.zeros(5)
    with pytest.raises(InvalidArgument, match="is about units"):
        dp.SparseLinearRegression(sparsity=1, row_norm=1, y_bounds=dp.Interval(0, 1), **persons).fit(X, y)
    with pytest.raises(InvalidArgument, match="is about units"):
        median([1.0], bounds=dp.Interval(0, 9), budget=dp.Pure(epsilon=1), adjacency=dp.Replace("person"))
    bounded = {"x_bounds": dp.Box(lower=0, upper=1), "y_bounds": dp.Interval(0, 1), "adjacency": dp.Replace("person")}
    with pytest.raises(InvalidArgument, match="is about units"):
        LinearRegression(budget=HUGE, **bounded).fit(X, y)
    with pytest.raises(AdjacencyMismatch, match="no unit is declared"):
        dp.FunctionalLinearRegression(budget=HUGE, **bounded).fit(X, y)


def test_a_reader_of_records_refuses_a_schema_of_persons():
    """What opens a table without asking whose a record is cannot read it."""
    with pytest.raises(InvalidArgument, match="protects single rows"):
        open_table(table_of(), schema_of())
    design = Design.for_terms("x", schema_of())
    table = open_table(table_of(), dp.Schema(COLUMNS), ["x"])
    with pytest.raises(InvalidArgument, match="Open it with"):
        TableRows(table, design, may_be_empty=True)


def test_a_plan_refuses_rows_that_are_capped_otherwise():
    """The event's cap is that of the rows, or nothing is measured."""
    design = Design.for_terms("x", schema_of(4))
    rows = TableRows(open_rows(table_of(), design.schema, ["x"]), design, may_be_empty=True)
    plan = plan_gram(
        design.layout, budget=HUGE, adjacency=dp.Replace("person"), size_is_public=False, statistic="", rows_per_unit=3
    )
    with pytest.raises(InvalidArgument, match="at most 3 rows of one unit 'person'.*at most 4"):
        plan.measure(rows)
    with pytest.raises(InvalidArgument, match="at most 3"):
        plan.measure(SimpleNamespace())
    with pytest.raises(InvalidArgument, match="Give `rows_per_unit`"):
        plan_gram(design.layout, budget=HUGE, adjacency=dp.Replace("person"), size_is_public=False, statistic="")


# One unit throughout


def test_sem_01_a_ledger_of_rows_refuses_persons_and_the_other_way_round():
    """SEM-01: the adjacency names the unit, and two adjacencies do not compose."""
    rows, persons = (dp.Ledger(total=dp.Gdp(mu=1), adjacency=a) for a in (dp.Replace(), dp.Replace("person")))
    frame, free = table_of(), dp.Schema(COLUMNS)
    with pytest.raises(AdjacencyMismatch, match="person"):
        dp.release_moments(frame, schema_of(), budget=dp.Gdp(mu=1), ledger=rows)
    with pytest.raises(AdjacencyMismatch, match="person"):
        dp.release_moments(frame, free, budget=dp.Gdp(mu=1), ledger=persons)
    with pytest.raises(AdjacencyMismatch, match="person"):
        dp.release_moments(frame, schema_of(), budget=dp.Gdp(mu=1), adjacency=dp.Replace())
    with pytest.raises(AdjacencyMismatch, match="household"):
        dp.release_moments(frame, schema_of(), budget=dp.Gdp(mu=1), adjacency=dp.Replace("household"))
    event = dp.release_moments(frame, schema_of(), budget=dp.Gdp(mu="1/2"), ledger=persons).release.event
    with pytest.raises(AdjacencyMismatch, match=r"Replace\(unit='person'\) and that of the ledger Replace\(\)"):
        rows.charge(event)
    assert persons.left.mu_squared == Fraction(3, 4)
    assert rows.left == dp.Gdp(mu=1)


def test_sem_01_the_number_of_rows_is_private_under_replace_too():
    """SEM-01: not in the release, and an empty table runs."""
    moments = dp.release_moments(table_of(), schema_of(), budget=HUGE)
    assert moments.release.value.n_rows is None
    empty = dp.release_moments(table_of()[:0], schema_of(), budget=dp.Gdp(mu=1))
    assert np.isfinite(empty.gram()).all()


def test_an_adjacency_stands_in_files_as_a_text(tmp_path):
    """Any name of a column survives; a file of rows has the bare word, as ever."""
    several = (dp.Replace(), dp.AddRemove(), dp.Replace('a"b\n)é'), dp.AddRemove("person"), dp.Replace("person"))
    assert len(set(several)) == len(several)
    for number, adjacency in enumerate(several):
        assert adjacency_from_name(adjacency.name) == adjacency == copy.deepcopy(adjacency)
        path = tmp_path / f"{number}.ledger"
        dp.Ledger.open(path, total=dp.Gdp(mu=1), adjacency=adjacency)
        assert dp.Ledger.open(path).adjacency == adjacency
        assert dp.Ledger.open(path).to_json()["adjacency"] == adjacency.name
    assert dp.Replace().name == "Replace"
    assert repr(dp.AddRemove("p")) == "AddRemove(unit='p')"
    for text in ('Replace(unit="a)', 'Replace(unit="")', 'Remove(unit="a")', r'Replace(unit="\x")'):
        with pytest.raises((InvalidArgument, InvalidType)):
            adjacency_from_name(text)
    for unit in ("", 3, b"person"):
        with pytest.raises(InvalidType, match="`unit`"):
            dp.Replace(unit)


def test_an_event_says_unit_and_cap_and_an_old_one_stays_readable():
    """JSON keeps both; an event of rows has the fields it always had."""
    common = {"budget": dp.Gdp(mu=1), "statistic": "a sum", "shape": (), "sensitivity_squared": 9, "variance": 9}
    of_rows = GaussianEvent(adjacency=dp.Replace(), **common)
    of_persons = GaussianEvent(adjacency=dp.Replace("person"), rows_per_unit=3, **common)
    assert "rows_per_unit" not in of_rows.to_json()
    assert of_persons.to_json()["rows_per_unit"] == 3
    for event in (of_rows, of_persons):
        assert event_from_json(event.to_json()) == event
    with pytest.raises(InvalidArgument, match="names no unit"):
        GaussianEvent(adjacency=dp.Replace(), rows_per_unit=3, **common)
    for bad in (0, -1, 1.5, "3", True):
        with pytest.raises((InvalidArgument, InvalidType), match="rows_per_unit"):
            GaussianEvent(adjacency=dp.Replace("person"), rows_per_unit=bad, **common)


# Schemas


def test_a_schema_of_persons_round_trips(tmp_path):
    """TOML and JSON keep unit and cap, and the adjacency speaks of the unit."""
    schema = schema_of()
    path = tmp_path / "s.toml"
    text = schema.to_toml(path)
    assert 'unit = "person"\nrows_per_unit = 3\n' in text
    assert dp.Schema.from_toml(path) == schema == dp.Schema.from_json(schema.to_json())
    assert schema.adjacency == dp.Replace("person")
    assert schema.restricted_to(["x"]).unit == "person"
    assert schema.with_columns({"w": dp.Flag()}).rows_per_unit == 3
    assert dp.Schema.from_bounds({"x": dp.Interval(0, 1)}, over=schema).adjacency == dp.Replace("person")
    assert schema != dp.Schema(COLUMNS, adjacency=dp.Replace())


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"unit": "person"}, "`rows_per_unit` is missing"),
        ({"rows_per_unit": 3}, "`unit` is missing"),
        ({"unit": "x", "rows_per_unit": 3}, "`x` is the `unit`"),
        ({"unit": "", "rows_per_unit": 3}, "`unit`"),
        ({"unit": 7, "rows_per_unit": 3}, "`unit`"),
        ({"unit": "person", "rows_per_unit": 0}, "`rows_per_unit`"),
        ({"unit": "person", "rows_per_unit": 1001}, "`rows_per_unit`"),
        ({"unit": "person", "rows_per_unit": True}, "`rows_per_unit`"),
        ({"adjacency": dp.Replace("person")}, "names a unit, and the schema declares none"),
        ({"adjacency": dp.Replace("p"), "unit": "person", "rows_per_unit": 3}, "declares `person`"),
    ],
)
def test_a_schema_with_half_a_unit_is_refused(declared, message):
    """Each message says what is missing or wrong."""
    with pytest.raises((InvalidArgument, InvalidType), match=message):
        dp.Schema(COLUMNS, **declared)


def test_a_schema_without_an_adjacency_takes_one_of_its_unit():
    """Whoever asks must name the unit as the schema does."""
    schema = dp.Schema(COLUMNS, unit="person", rows_per_unit=2)
    found = dp.release_moments(table_of(), schema, budget=HUGE, adjacency=dp.AddRemove("person"))
    assert found.release.adjacency == dp.AddRemove("person")
    with pytest.raises(AdjacencyMismatch, match="declares the unit `person`"):
        dp.release_moments(table_of(), schema, budget=HUGE, adjacency=dp.AddRemove())


# Estimators, results, pages


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas])
def test_sem_01_the_estimators_protect_persons(kind):
    """SEM-01: the unit stands in X, is no feature, and is not needed to predict."""
    frame = table_of()
    X, y = kind(frame[["person", "x", "c"]]), frame["y"]
    model = dp.FunctionalLinearRegression(budget=HUGE, adjacency=dp.Replace("person"), schema=schema_of()).fit(X, y)
    expected = dp.release_moments(frame, schema_of(), terms="x + C(c) + y", budget=HUGE).regress("y ~ x + C(c)")
    assert model.coef_ == pytest.approx(expected.coef_, rel=1e-5)
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["x", "c"]
    assert model.predict(kind(frame[["c", "x"]])) == pytest.approx(model.predict(X))
    assert model.release_.event.rows_per_unit == M
    labels = pd.Series((frame.y > 0).map({True: "a", False: "b"}), name="label")
    classifier = dp.FunctionalLogisticRegression(
        budget=HUGE, adjacency=dp.AddRemove("person"), schema=schema_of(adjacency=dp.AddRemove()), classes=["a", "b"]
    ).fit(X, labels)
    assert classifier.release_.adjacency == dp.AddRemove("person")
    with pytest.raises(InvalidArgument, match="`person` is the `unit`"):
        model.set_params(y_bounds=dp.Interval(0, 60)).fit(kind(frame[["x"]]), frame["person"].astype(float))


def test_sem_01_moments_of_persons_are_saved_and_loaded(tmp_path):
    """SEM-01: unit, cap and predictions survive; a prediction asks for no person."""
    frame = table_of()
    moments = dp.release_moments(frame, schema_of(), budget=HUGE)
    moments.save(tmp_path / "m.json")
    loaded = dp.Moments.load(tmp_path / "m.json")
    assert loaded.release.event == moments.release.event
    assert loaded.design.schema == moments.design.schema
    result = loaded.regress("y ~ x")
    assert np.isfinite(result.predict(frame[["x"]])).all()


def test_sem_01_report_and_summary_state_unit_and_cap(tmp_path, capsys):
    """SEM-01: on the page, in the printed table, and by `discreet show` and `discreet ledger`."""
    ledger = dp.Ledger.open(tmp_path / "l", total=dp.Gdp(mu=2), adjacency=dp.Replace("person"))
    moments = dp.release_moments(table_of(), schema_of(), budget=dp.Gdp(mu=1), ledger=ledger)
    result = moments.regress("y ~ x")
    said = "one `person` with all of its rows, of which at most 3 contribute"
    assert said in str(result.summary())
    page = report_html([result, moments], ledger)
    assert page.count(said) == 2
    assert "neighbours differ in all rows of one `person`" in page
    moments.save(tmp_path / "m.json")
    assert main(["show", str(tmp_path / "m.json")]) == 0
    assert said in capsys.readouterr().out
    assert main(["ledger", str(tmp_path / "l")]) == 0
    shown = capsys.readouterr().out
    assert "Replace(unit='person')" in shown
    assert "all other `person`" in shown
    assert main(["ledger", "--json", str(tmp_path / "l")]) == 0
    assert '"rows_per_unit": 3' in capsys.readouterr().out
    removed = dp.release_moments(table_of(), schema_of(1, dp.AddRemove()), budget=dp.Gdp(mu=1))
    assert "at most 1 contributes" in report_html(removed)


def test_sem_01_the_sampling_error_counts_rows_that_err_alike():
    """SEM-01: at most m rows err as one, so the sampling part of the variance is m times that of single rows."""
    frame = table_of(4000, 4000)
    found = {m: dp.release_moments(frame, schema_of(m), budget=HUGE).regress("y ~ x").uncertainty for m in (20, 40)}
    sampling = {m: one.covariance - one.noise_covariance for m, one in found.items()}
    assert sampling[40] == pytest.approx(2 * sampling[20], rel=0.05)
    plan = {m: dp.forecast("y ~ x", schema_of(m), n_rows=4000, budget=HUGE).best.sampling_parts["x"] for m in (1, 9)}
    assert plan[9] == pytest.approx(3 * plan[1])


def test_intervals_hold_where_the_rows_of_a_person_err_as_one():
    """With all errors of a person equal, intervals of 95 % cover in at least 95 of 100, those of single rows do not."""
    rng = np.random.default_rng(5)
    columns = {"x": dp.Number(-1, 1), "y": dp.Number(-9, 9)}
    covered = {"persons": 0, "rows": 0}
    for _ in range(60):
        x, errors = np.repeat(rng.uniform(-1, 1, 150), 8), np.repeat(rng.normal(size=150), 8)
        frame = pd.DataFrame({"person": np.repeat(np.arange(150), 8), "x": x, "y": x + errors})
        schemas = {"persons": schema_of(8, columns=columns), "rows": dp.Schema(columns, adjacency=dp.Replace())}
        for name, schema in schemas.items():
            lower, upper = dp.release_moments(frame, schema, budget=HUGE).regress("y ~ x").conf_int()["x"]
            covered[name] += lower <= 1 <= upper
    assert covered["persons"] >= 54
    assert covered["rows"] <= 45


def test_sem_01_the_command_protects_persons(tmp_path, capsys):
    """SEM-01: fit, release and plan with a schema file; --adjacency takes the schema's unit."""
    table_of().to_csv(tmp_path / "t.csv", index=False)
    dp.Schema(COLUMNS, unit="person", rows_per_unit=3).to_toml(tmp_path / "s.toml")
    at = [str(tmp_path / "t.csv"), "--schema", str(tmp_path / "s.toml"), "--adjacency", "replace", "--epsilon", "1"]
    book = ["--ledger", str(tmp_path / "l"), "--total-epsilon", "3"]
    assert main(["fit", at[0], "y ~ x", *at[1:], *book, "--no-output"]) == 0
    assert "at most 3 contribute" in capsys.readouterr().out
    assert main(["release", *at, "--terms", "x + y", "-o", str(tmp_path / "m.json"), *book[:2]]) == 0
    assert dp.Ledger.open(tmp_path / "l").adjacency == dp.Replace("person")
    assert main(["plan", "y ~ x", "--rows", "500", *at[1:]]) == 0
    assert main(["plan", "c ~ x", "--rows", "500", "--loss", "logistic", *at[1:]]) == 1
    assert "--loss logistic protects single rows" in capsys.readouterr().err
    assert main(["sample", at[0], "median", "x", *at[1:], "--no-ledger"]) != 0
    assert "protects single rows" in capsys.readouterr().err


def test_the_owners_bar_moves_through_both_passes():
    """Progress never goes back and ends at the whole."""
    seen = []
    design = Design.for_terms("x", schema_of())
    table = open_rows(table_of(), design.schema, design.columns_needed)
    TableRows(table, design, may_be_empty=True, progress=seen.append).private_gram(design.layout)
    assert all(a <= b for a, b in itertools.pairwise(seen))
    assert seen[-1] == table.size_hint
