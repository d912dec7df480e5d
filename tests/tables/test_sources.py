"""Folders, lists of files and data sets: every part is read by its own types, and their order decides nothing."""

import datetime as dt
import gzip
import itertools
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.errors import InvalidArgument, InvalidData, InvalidType
from discreet.estimators.front_door import LinearRegression
from discreet.privacy.coins import Coins
from discreet.tables.design import Design
from discreet.tables.readers.tables import open_table
from discreet.tables.schema.columns import Category, Date, Flag, Number, Reading
from discreet.tables.schema.drafts import draft_schema
from discreet.tables.schema.inspection import _CountingReader, count_cells
from discreet.tables.schema.schema import Schema
from tables.tabular import assert_silent, gram_of, parquet, rows_of, write

SCHEMA = Schema({
    "age": Number(0, 100, missing="drop"), "kind": Category(["a", "b", "01"], missing="drop"), "y": Number(0, 10),
})  # fmt: skip
DESIGN = Design.for_formula("y ~ age + kind", SCHEMA)
PARTS = [
    {"age": [None, None], "kind": ["a", None], "y": [1.0, 2.0]},
    {"age": [30.5, None], "kind": ["b", "01"], "y": [3.0, 10.0]},
    {"age": [40, 50], "kind": ["a", "a"], "y": [4, 5]},
    {"age": ["60", "x"], "kind": ["zz", "b"], "y": [6.0, 7.0]},
]


def parquet_parts(folder, order=(0, 1, 2, 3)):
    """Write parts whose columns have other types in each: all null, doubles, whole numbers, texts."""
    folder.mkdir()
    return [parquet(folder / f"part-{place}.parquet", **PARTS[number]) for place, number in enumerate(order)]


def all_rows():
    """Return the grid rows of the parts, each read alone from memory."""
    return np.concatenate([rows_of(pa.table(part), DESIGN) for part in PARTS], axis=1)


def test_dst_10_a_first_part_that_is_all_null_decides_no_type(tmp_path):
    """DST-10: a folder, a list, a tuple of texts and an Arrow data set give the rows of every part, in order."""
    paths = parquet_parts(tmp_path / "t.parquet")
    wanted = all_rows()
    sources = {
        "folder": tmp_path / "t.parquet",
        "text": str(tmp_path / "t.parquet"),
        "list": paths,
        "tuple": tuple(map(str, paths)),
        "data set": ds.dataset(tmp_path / "t.parquet", schema=pa.schema({"age": pa.null(), "kind": "str", "y": "f8"})),
    }
    for kind, source in sources.items():
        assert np.array_equal(rows_of(source, DESIGN), wanted), kind


def test_dst_10_the_order_of_files_decides_nothing(tmp_path):
    """DST-10: whatever part comes first, the Gram matrix is the same."""
    wanted = all_rows()
    for place, order in enumerate(itertools.permutations(range(4))):
        folder = tmp_path / str(place)
        paths = parquet_parts(folder, order)
        assert np.array_equal(gram_of(folder, DESIGN), (wanted @ wanted.T).astype(np.int64))
        assert np.array_equal(gram_of(paths[::-1], DESIGN), gram_of(ds.dataset(paths), DESIGN))


@pytest.mark.parametrize("change", ["delete", "replace", "add"])
def test_a_record_of_one_part_moves_no_record_of_another(tmp_path, change):
    """Deleting, adding or replacing a record of a part does so to one row, also where its column's type turns."""
    parquet_parts(tmp_path / "t")
    rows = rows_of(tmp_path / "t", DESIGN)
    part = {name: list(values) for name, values in PARTS[1].items()}
    if change == "delete":
        part, wanted = {name: values[1:] for name, values in part.items()}, np.delete(rows, 2, axis=1)
    elif change == "replace":
        part |= {"age": [None, None], "kind": [None, "01"]}
        wanted = rows.copy()
        wanted[:, 2] = 0
    else:
        part = {name: [None, *values] if name != "y" else [0.0, *values] for name, values in part.items()}
        wanted = np.insert(rows, 2, 0, axis=1)
    parquet(tmp_path / "t" / "part-1.parquet", **part)
    assert np.array_equal(rows_of(tmp_path / "t", DESIGN), wanted)


def csv_parts(folder, **changes):
    folder.mkdir()
    texts = {
        "p1.csv": "x,y\n1,2\n3,4\n",
        "p2.csv": "x,y\n,2\n3,\n",
        "p3.csv": "y,x\n1,9\n",
        "p4.csv.gz": "x,y\n5,5\n",
    } | changes
    for name, text in texts.items():
        if text is not None:
            content = text.encode()
            (folder / name).write_bytes(gzip.compress(content) if name.lower().endswith(".gz") else content)
    return folder


def numbers(missing):
    return Schema({"x": Number(0, 10, missing=missing), "y": Number(0, 10, missing="drop")})


def cells_of(source, schema):
    blocks = list(open_table(source, schema).blocks())
    return {name: np.concatenate([block.columns[name] for block in blocks]).tolist() for name in schema.columns}


def test_dst_04_a_folder_of_csv_parts_is_one_table(tmp_path):
    """DST-04: blanks in one part follow the policy, columns are found by name, hidden and marker files do not count."""
    folder = csv_parts(tmp_path / "t", **{"_SUCCESS": "", ".p1.csv.crc": "", "p4.csv.gz": None})
    (folder / ".hidden").mkdir()
    found = cells_of(folder, numbers("drop"))
    assert str(found) == "{'x': [1.0, 3.0, nan, 3.0, 9.0], 'y': [2.0, 4.0, 2.0, nan, 1.0]}"


def test_dst_04_a_text_in_a_part_names_column_and_file_and_no_cell(tmp_path):
    """DST-04: under "error" the trouble names the part; a blank does, too; under "drop" it is a missing cell."""
    folder = csv_parts(tmp_path / "t", **{"p3.csv": "x,y\nsecret,1\n", "p2.csv": None, "p4.csv.gz": None})
    design = Design.for_formula("y ~ x", numbers("error"))
    with pytest.raises(InvalidData, match=r"Column `x` in p3\.csv: a cell is a text") as caught:
        rows_of(folder, design)
    assert_silent(caught.value, "secret")
    write(folder / "p3.csv", "x,y\n,1\n")
    with pytest.raises(InvalidData, match=r"Column `x` in p3\.csv: a cell is blank"):
        rows_of(folder, design)
    assert rows_of(folder, Design.for_formula("y ~ x", numbers("drop")))[:, -1].tolist() == [0, 0, 0]
    parquet(tmp_path / "q.parquet", x=[b"1"], y=[1.0])
    parquet(tmp_path / "p.parquet", x=[1], y=[1.0])
    with pytest.raises(InvalidData, match=r"^q\.parquet: Column `x`.*binary") as caught:
        rows_of([tmp_path / "p.parquet", tmp_path / "q.parquet"], design)
    assert_silent(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("p2.csv", "x,y,z\n1,2,3\n", r"first line of p2\.csv names 3 columns, and not the 2 of p1\.csv"),
        ("p2.csv", "1,2\n3,4\n", r"p2\.csv.*looks like data"),
        ("p2.csv", "x\n1\n", r"'y' is not in p2\.csv"),
        ("p2.csv", "", r"p2\.csv is empty"),
        ("p2.csv", "x,y\n1,2,3\n", r"Line 2 of p2\.csv has 3 fields"),
    ],
)
def test_a_text_part_with_another_header_is_refused_by_its_file(tmp_path, name, text, match):
    """A header that differs, lacks or is none is an error that names the file, and never a record."""
    folder = csv_parts(tmp_path / "t", **{name: text, "p4.csv.gz": None})
    with pytest.raises(InvalidData, match=match) as caught:
        rows_of(folder, Design.for_formula("y ~ x", numbers("drop")))
    assert caught.value.__context__ is None


def test_what_a_folder_must_not_hold(tmp_path):
    """Subfolders, other files, several kinds and no files are refused by name, and say what to do."""
    schema = numbers("drop")
    folder = csv_parts(tmp_path / "t", **{"p4.csv.gz": None})
    (folder / "year=2020").mkdir()
    with pytest.raises(InvalidArgument, match=r"t holds the folder year=2020.*hive"):
        open_table(folder, schema)
    (folder / "year=2020").rmdir()
    (folder / "notes.docx").write_bytes(b"")
    with pytest.raises(InvalidArgument, match=r"t holds notes\.docx"):
        open_table(folder, schema)
    (folder / "notes.docx").unlink()
    parquet(folder / "q.parquet", x=[1], y=[1])
    with pytest.raises(InvalidArgument, match=r"one kind; found .*p3\.csv and q\.parquet"):
        open_table(folder, schema)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidArgument, match="empty holds no"):
        open_table(tmp_path / "empty", schema)


def test_what_a_list_of_files_must_not_hold(tmp_path):
    """No file, a folder, a file that stands twice under two names, and other things are refused."""
    schema = numbers("drop")
    folder = csv_parts(tmp_path / "t", **{"p4.csv.gz": None})
    with pytest.raises(InvalidArgument, match="empty"):
        open_table([], schema)
    with pytest.raises(InvalidArgument, match="t in the list of files is a folder"):
        open_table([folder], schema)
    (tmp_path / "other.csv").symlink_to(folder / "p1.csv")
    with pytest.raises(InvalidArgument, match=r"other\.csv stands twice"):
        open_table([folder / "p1.csv", tmp_path / "other.csv"], schema)
    with pytest.raises(InvalidArgument, match=r"gone\.csv"):
        open_table([folder / "p1.csv", folder / "gone.csv"], schema)
    with pytest.raises(InvalidType, match="list"):
        open_table([folder / "p1.csv", 3], schema)


def test_dst_10_folders_and_lists_are_sources_of_releases_and_fits(tmp_path):
    """DST-10: release_moments, fit_table, predict and units take a folder or a list as they take one file."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, 300), "who": np.arange(300) // 2})
    frame["y"] = frame["x"] / 2
    folder = tmp_path / "t"
    folder.mkdir()
    for place in range(3):
        frame[place * 100 : place * 100 + 100].to_csv(folder / f"{place}.csv", index=False)
    frame.to_csv(tmp_path / "one.csv", index=False)
    schema, budget = numbers("error"), dp.Gdp(mu=1)
    by_unit = Schema(dict(schema.columns), unit="who", rows_per_unit=1)

    def ledger(unit=None):
        adjacency = dp.Replace() if unit is None else dp.Replace(unit=unit)
        return dp.Ledger(total=budget, adjacency=adjacency, coins=Coins.from_seed(1))

    found = []
    for source in (tmp_path / "one.csv", folder, [folder / "2.csv", folder / "0.csv", folder / "1.csv"]):
        moments = dp.release_moments(source, schema, budget=budget, ledger=ledger())
        persons = dp.release_moments(source, by_unit, budget=budget, ledger=ledger("who"))
        model = LinearRegression(budget=budget, adjacency=dp.Replace(), schema=schema, method="moments")
        model.fit_table(source, "y ~ x", ledger=ledger())
        found.append((moments.dumps(), persons.dumps(), model.coef_.tolist()))
        assert model.predict(source).shape == (300,)
    assert found[0] == found[1] == found[2]


def test_progress_over_parts_is_told_in_all(tmp_path):
    """The owner's bar knows the sum of the parts and ends there; parts without a length have none."""
    paths = parquet_parts(tmp_path / "t")
    table = open_table(tmp_path / "t", SCHEMA)
    assert table.size_hint == 8
    positions = [table.position for _ in table.blocks()]
    assert positions == [2, 4, 6, 8]
    pa.feather.write_feather(pa.table(PARTS[1]), tmp_path / "a.feather")
    table = open_table([tmp_path / "a.feather"], SCHEMA)
    assert table.size_hint is None
    assert [table.position for _ in table.blocks()] == [2]
    assert paths


def test_a_part_is_open_only_while_it_is_read(tmp_path):
    """Two passes read the same rows, and a file of a folder that goes away in between is refused by name."""
    parquet_parts(tmp_path / "t")
    table = open_table(tmp_path / "t", SCHEMA)
    first = [block.columns["y"].tolist() for block in table.blocks()]
    assert [block.columns["y"].tolist() for block in table.blocks()] == first
    (tmp_path / "t" / "part-2.parquet").unlink()
    with pytest.raises(InvalidArgument, match=r"part-2\.parquet"):
        list(table.blocks())


def test_dst_10_a_data_set_of_folders_reads_what_their_names_say(tmp_path):
    """DST-10: hive partitions are cells of their records; a column that a file lacks is missing there."""
    for year, part in (("2020", {"x": pa.nulls(2)}), ("2021", {"x": [1.5, 2.0]}), ("2022", {"z": [1.0]})):
        (tmp_path / f"year={year}").mkdir()
        parquet(tmp_path / f"year={year}" / "p.parquet", **part)
    schema = Schema({"x": Number(0, 10, missing="drop"), "year": Number(2000, 2030)})
    dataset = ds.dataset(tmp_path, partitioning="hive")
    found = cells_of(dataset, schema)
    assert np.isnan(found["x"]).tolist() == [True, True, False, False, True]
    assert found["year"] == [2020.0, 2020.0, 2021.0, 2021.0, 2022.0]


def test_a_data_set_that_was_filtered_is_read_by_its_one_schema(tmp_path):
    """A filter shows no files; what does not fit the data set's schema is refused without a cell."""
    parquet(tmp_path / "a.parquet", x=[1.0, 2.0])
    parquet(tmp_path / "b.parquet", x=[3.0])
    schema = Schema({"x": Number(0, 10)})
    assert cells_of(ds.dataset(tmp_path).filter(ds.field("x") > 1), schema) == {"x": [2.0, 3.0]}
    parquet(tmp_path / "b.parquet", x=["secret"])
    with pytest.raises(InvalidData, match="the Arrow data set cannot be read") as caught:
        cells_of(ds.dataset(tmp_path).filter(ds.field("x") > 1), schema)
    assert_silent(caught.value, "secret")


@pytest.mark.parametrize("name", ["a.csv", "a.json"])
def test_a_data_set_of_texts_is_refused_for_its_types_are_guessed(tmp_path, name):
    """Arrow would read 01 as 1 or not, as other cells have it: the schema decides instead."""
    write(tmp_path / name, "x\n01\n" if name.endswith("csv") else '{"x": 1}\n')
    dataset = ds.dataset(tmp_path, format=name[2:])
    schema = Schema({"x": Category(["01", "1"])})
    for source in (dataset, dataset.filter(ds.field("x") == 1)):
        with pytest.raises(InvalidType, match="guesses"):
            open_table(source, schema)
    if name.endswith("csv"):
        assert cells_of([tmp_path / name], schema) == {"x": [0]}


def test_ing_06_a_file_of_a_data_set_with_a_doubled_column_is_refused_by_name(tmp_path):
    """ING-06: two columns of one name in a part are never one of them."""
    parquet(tmp_path / "a.parquet", x=[1.0])
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"]), tmp_path / "b.parquet")
    schema = Schema({"x": Number(0, 10)})
    with pytest.raises(InvalidData, match=r"'x' stands more than once in b\.parquet"):
        cells_of(ds.dataset(tmp_path, schema=pa.schema({"x": "f8"})), schema)
    with pytest.raises(InvalidData, match=r"'x' stands more than once in b\.parquet"):
        open_table(tmp_path, schema)


WRITERS = [
    {"use_dictionary": True},
    {"use_dictionary": False},
    {"use_dictionary": True, "dictionary_pagesize_limit": 64},
    {"use_dictionary": False, "column_encoding": {"kind": "DELTA_BYTE_ARRAY", "age": "BYTE_STREAM_SPLIT"}},
    {"use_dictionary": False, "column_encoding": {"kind": "DELTA_LENGTH_BYTE_ARRAY"}},
    {"write_statistics": False, "data_page_version": "2.0", "compression": "zstd"},
    {"row_group_size": 7},
]


@pytest.mark.parametrize("how", WRITERS, ids=range(len(WRITERS)))
def test_how_a_parquet_file_is_written_changes_no_row(tmp_path, how):
    """Pages, dictionaries, statistics, encodings and row groups are never read as values."""
    rng = np.random.default_rng(3)
    table = pa.table({
        "age": rng.uniform(0, 100, 500), "kind": rng.choice(["a", "b", "01", "other" * 9], 500), "y": np.ones(500),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "t.parquet", **how)
    assert np.array_equal(rows_of(tmp_path / "t.parquet", DESIGN), rows_of(table, DESIGN))


def test_a_level_that_only_the_dictionary_of_a_file_has_is_no_cell(tmp_path):
    """Entries that no record uses, also odd ones, change nothing."""
    codes = pa.array([0, 2, None, 0], pa.int8())
    for entries in (["a", "zz", "01"], ["a", "\u0130", "01"], ["a", "", "01"]):
        kind = pa.DictionaryArray.from_arrays(codes, pa.array(entries))
        parquet(tmp_path / "t.parquet", age=[1.0] * 4, kind=kind, y=[1.0] * 4)
        assert cells_of(tmp_path / "t.parquet", SCHEMA)["kind"] == [0, 2, -1, 0]


def test_nested_columns_are_no_cells_and_dots_in_names_are_letters(tmp_path):
    """A column called a.b is read though there is a nested a; the nested one is refused by name and type."""
    path = parquet(tmp_path / "t.parquet", a=[{"b": 1}, {"b": 2}], **{"a.b": [3.0, 4.0]})
    schema = Schema({"a.b": Number(0, 10), "a": Number(0, 10)})
    for source in (path, ds.dataset(path)):
        (block,) = open_table(source, schema, ["a.b"]).blocks()
        assert block.columns["a.b"].tolist() == [3.0, 4.0]
        with pytest.raises(InvalidData, match="`a`.*struct"):
            list(open_table(source, schema, ["a"]).blocks())


def test_days_of_old_96_bit_times_do_not_wrap_around(tmp_path):
    """What Spark and Impala write of the year 9999 is not the year 1816."""
    days = pa.array([dt.datetime(9999, 12, 31), dt.datetime(2020, 1, 2), None], pa.timestamp("us"))
    pq.write_table(pa.table({"d": days}), tmp_path / "t.parquet", use_deprecated_int96_timestamps=True)
    schema = Schema({"d": Date("2020-01-01", "2020-12-31", missing="drop")})
    assert rows_of(tmp_path / "t.parquet", Design.for_terms("d", schema))[1].tolist() == [65536, -65177, 0]


def test_arrow_files_are_read_and_damaged_ones_refused(tmp_path):
    """Feather and Arrow files hold their own types; broken bytes raise our error and nothing of theirs."""
    table = pa.table(PARTS[1])
    pa.feather.write_feather(table, tmp_path / "a.Feather")
    with pa.ipc.new_file(str(tmp_path / "b.arrow"), table.schema) as file:
        file.write_table(table)
    for name in ("a.Feather", "b.arrow"):
        assert np.array_equal(rows_of(tmp_path / name, DESIGN), rows_of(table, DESIGN))
        assert 'kind = "number"' in draft_schema(tmp_path / name)
    (tmp_path / "c.arrow").write_bytes(b"secret")
    with pytest.raises(InvalidData, match=r"c\.arrow") as caught:
        open_table(tmp_path / "c.arrow", SCHEMA)
    assert_silent(caught.value, "secret")
    texts = pa.StringArray.from_buffers(
        2, pa.py_buffer(np.array([0, 999, 3], np.int32).tobytes()), pa.py_buffer(b"abc")
    )
    bad = pa.table({"age": [1.0, 1.0], "kind": texts, "y": [1.0, 1.0]})
    with pa.ipc.new_file(str(tmp_path / "d.arrow"), bad.schema) as file:
        file.write_table(bad)
    with pytest.raises(InvalidData, match=r"d\.arrow cannot be read") as caught:
        list(open_table(tmp_path / "d.arrow", SCHEMA).blocks())
    assert_silent(caught.value)


@pytest.mark.parametrize("name", ["X.CSV", "x.Csv.gz", "x.CSV.GZ", "X.TXT.Gz", "X.Tsv", "X.PARQUET", "x.Pq"])
def test_fr_17_the_case_of_an_ending_does_not_matter(tmp_path, name):
    """FR-17: a gzip file is one in any case, and so is every other kind of file."""
    content = b"x,y\n1,2\n3,4\n"
    if name.lower().endswith((".parquet", ".pq")):
        parquet(tmp_path / name, x=[1, 3], y=[2, 4])
    else:
        (tmp_path / name).write_bytes(gzip.compress(content) if name.lower().endswith(".gz") else content)
    schema = numbers("error")
    assert cells_of(tmp_path / name, schema) == {"x": [1.0, 3.0], "y": [2.0, 4.0]}
    assert cells_of([tmp_path / name], schema) == {"x": [1.0, 3.0], "y": [2.0, 4.0]}


def test_a_draft_of_a_folder_takes_the_types_that_its_parts_agree_on(tmp_path):
    """A part that is all null says nothing of a type; where parts differ only a person knows."""
    parquet_parts(tmp_path / "t")
    draft = draft_schema(tmp_path / "t")
    assert '[columns.age]\nkind = ""' in draft
    assert '[columns.y]\nkind = "number"' in draft
    (tmp_path / "t" / "part-3.parquet").unlink()
    assert '[columns.age]\nkind = "number"' in draft_schema(tmp_path / "t")
    shutil.rmtree(tmp_path / "t")
    parquet_parts(tmp_path / "t", (0,))
    assert '[columns.age]\nkind = ""' in draft_schema(tmp_path / "t")
    csv_parts(tmp_path / "c")
    assert draft_schema(tmp_path / "c").count('kind = ""') == 2


def test_the_owners_look_counts_the_cells_of_all_parts(tmp_path):
    """Counts are sums over the files of a folder."""
    parquet_parts(tmp_path / "t")
    counts = {count.name: count for count in count_cells(tmp_path / "t", SCHEMA)}
    assert (counts["age"].n_cells, counts["age"].n_blank, counts["age"].n_unread) == (8, 3, 1)
    assert counts["kind"].unused == set()


def test_a_flag_of_parts_is_read_by_each_parts_type(tmp_path):
    """Booleans in one file, whole numbers in another and texts in a third are the same flag."""
    for place, values in enumerate(([True, None], [1, 0], ["true", "no"])):
        parquet(tmp_path / f"{place}.parquet", f=values)
    found = cells_of(tmp_path, Schema({"f": Flag(missing="drop", labels={"no": 0})}))
    assert str(found["f"]) == "[1.0, nan, 1.0, 0.0, 1.0, 0.0]"


def test_the_example_of_the_page_on_sources_runs(capsys):
    """What docs/sources.md shows is what happens."""
    page = Path(__file__).parents[2] / "docs" / "sources.md"
    (block,) = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    exec(compile(block, page.name, "exec"), {})  # noqa: S102  (our own page)
    assert capsys.readouterr().out == "1000\n('age',)\n"


def test_a_cell_that_is_read_by_two_ways_counts_once():
    """The owner's look counts cells, not the steps of reading them."""
    reader = _CountingReader("x", Number(0, 1), Reading())
    reader._counted(reader.from_arrow, pa.array([1.0, None]), lambda cells: cells.null_count)
    assert (reader.counts.n_cells, reader.counts.n_blank) == (2, 1)


def test_a_folder_that_may_not_be_listed_is_refused(tmp_path, monkeypatch):
    """The message is ours and names the folder."""

    def refuse(self):
        raise PermissionError

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(InvalidArgument, match=f"list the folder {tmp_path.name}") as caught:
        open_table(tmp_path, SCHEMA)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", ["file", "stream", "data set"])
def test_broken_bytes_of_arrow_are_refused_wherever_they_come_from(kind, tmp_path):
    """Offsets and places outside of what is there are not followed: files, streams and data sets are checked."""
    places = pa.DictionaryArray.from_arrays(pa.array([0, 7], pa.int32()), pa.array(["u", "v"]), safe=False)
    offsets = pa.py_buffer(np.array([0, 2**30, 1], np.int32).tobytes())
    texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"u")])
    schema = Schema({"c": Category(["u", "v"], missing="u")})
    for broken in (places, texts):
        table = pa.table({"c": broken})
        path = tmp_path / "t.arrow"
        with (pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file)(str(path), table.schema) as writer:
            writer.write_table(table)
        source = {
            "file": lambda path=path: path,
            "stream": lambda path=path: pa.ipc.open_stream(path.read_bytes()),
            "data set": lambda path=path: ds.dataset(path, format="ipc"),
        }[kind]()
        with pytest.raises(InvalidData, match="cannot be read"):
            list(open_table(source, schema).blocks())
