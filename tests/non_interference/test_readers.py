"""No record changes how another is read, vanishes, or becomes two: every reader, any records."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from at_night import examples
from non_interference import sources
from non_interference.sources import ARROW, DESIGNS, LINES, PANDAS, codes_of

SECONDS = float(os.environ.get("DISCREET_FUZZ_SECONDS", "600"))
EXAMPLES = examples(20, 60)


@contextmanager
def chunks(size):
    """Read text files in chunks of `size` bytes."""
    with pytest.MonkeyPatch.context() as patch:
        sources.small_chunks(patch, size)
        yield


def check_alone(whole, records, alone):
    """The rows of a source are those of its records, each read alone, or the source is refused."""
    if whole is None:
        return False
    expected = []
    for record in records:
        own = alone(record)
        assert own is not None
        assert len(own) == 1
        expected += own
    # By their texts, so that NaN is equal to itself.
    assert list(map(repr, whole)) == list(map(repr, expected))
    return True


def check_text(lines, name, end, closed, chunk):
    """A file's rows are those of its lines, each read in a file of its own, or the file is refused."""
    with tempfile.TemporaryDirectory() as name_of_folder, chunks(chunk):
        folder = Path(name_of_folder)
        return check_alone(
            codes_of(sources.text_file(folder, name, lines, end=end, closed=closed)),
            sources.without_last_blanks(lines),
            lambda line: codes_of(sources.text_file(folder, name, [line], end=end)),
        )


def check_unquoted(lines, end, chunk):
    """The same where no quote counts and tabs stand between cells."""
    lines = [line.replace(b",", b"\t") for line in lines]
    header = b"a\tc\tf\td\tnote"
    with tempfile.TemporaryDirectory() as name_of_folder, chunks(chunk):
        folder = Path(name_of_folder)
        return check_alone(
            codes_of(sources.text_file(folder, "t.tsv", lines, header=header, end=end), sources.UNQUOTED),
            sources.without_last_blanks(lines),
            lambda line: codes_of(sources.text_file(folder, "t.tsv", [line], header=header, end=end), sources.UNQUOTED),
        )


def check_over_lines(records, end, chunk):
    """Where cells may hold line ends, and all are quoted, a record's cells change its own row alone."""
    with tempfile.TemporaryDirectory() as name_of_folder, chunks(chunk):
        folder = Path(name_of_folder)
        return check_alone(
            codes_of(
                sources.text_file(folder, "t.csv", list(map(sources.quoted, records)), end=end), sources.OVER_LINES
            ),
            records,
            lambda cells: codes_of(
                sources.text_file(folder, "t.csv", [sources.quoted(cells)], end=end), sources.OVER_LINES
            ),
        )


def check_folder(parts):
    """The rows of a folder and of a list of files are those of its files' records."""
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        (folder / "all").mkdir()
        files = [sources.text_file(folder / "all", f"{j}.csv", lines) for j, lines in enumerate(parts)]
        whole = codes_of(folder / "all")
        assert whole == codes_of(files)
        return check_alone(
            whole,
            [line for lines in parts for line in sources.without_last_blanks(lines)],
            lambda line: codes_of(sources.text_file(folder, "t.csv", [line])),
        )


def check_spreadsheet(rows):
    """The rows of a sheet are those of its records."""
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        kept = list(rows)
        while kept and all(cell is None or cell == "" for cell in kept[-1]):
            kept.pop()
        return check_alone(
            codes_of(sources.spreadsheet(folder, rows)), kept, lambda row: codes_of(sources.spreadsheet(folder, [row]))
        )


def check_lines(read, ending, lines, end):
    """The rows of a text of sparse rows, or of labels, are those of its lines."""
    with tempfile.TemporaryDirectory() as name_of_folder:
        path = Path(name_of_folder) / f"t{ending}"

        def rows_of(some):
            path.write_bytes(b"".join(line + end for line in some))
            return read(path)

        records = list(lines)
        while ending == ".svm" and records and not records[-1].strip():
            records.pop()
        return check_alone(rows_of(lines), records, lambda line: rows_of([line]))


def check_one_column(lines, end, closed):
    """In a file of one column every line is a record, a blank one at the end too."""
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        lines = [line.replace(b",", b";") for line in lines]
        return check_alone(
            codes_of(sources.text_file(folder, "t.csv", lines, header=b"a", end=end, closed=closed), DESIGNS["a"]),
            lines if closed or not lines or lines[-1] else lines[:-1],
            lambda line: codes_of(sources.text_file(folder, "t.csv", [line], header=b"a", end=end), DESIGNS["a"]),
        )


def check_column(make, cells, design, slices=None):
    """A column's rows are those of its cells, each in a source of its own of the same type."""
    source = make(cells)
    whole = codes_of(source, design)
    if whole is None:
        return False
    assert len(whole) == len(cells)
    for place, cell in enumerate(cells):
        assert codes_of(make([cell]), design) == [whole[place]]
        if slices is not None:
            assert codes_of(slices(source, place), design) == [whole[place]]
    return True


def check_pandas(kind, name, cells):
    """A pandas column of one type."""
    return check_column(
        lambda some: sources.pandas_frame(name, some, kind),
        cells,
        DESIGNS[name],
        lambda frame, place: frame.iloc[[place]],
    )


def check_arrow(kind, name, cells):
    """An Arrow column of one type: in memory, in a Parquet file, and in a polars frame."""
    with tempfile.TemporaryDirectory() as folder:
        for hold in (
            lambda table: table,
            lambda table: sources.parquet_file(Path(folder), table),
            sources.polars_frame,
        ):
            if not check_column(
                lambda some, hold=hold: hold(sources.arrow_table(name, some, kind)), cells, DESIGNS[name]
            ):
                return False
    return True


def check_array(cells, mask):
    """A NumPy array of numbers, some of them masked."""
    design = DESIGNS["a"]
    array = np.ma.array(np.array(cells, dtype=np.float64)[:, None], mask=np.array(mask[: len(cells)])[:, None])
    whole = codes_of(array, design)
    assert whole is not None
    expected = [
        codes_of(np.array([[np.nan if hidden else cell]]), design)[0] for cell, hidden in zip(cells, mask, strict=False)
    ]
    assert whole == expected
    return True


# A person: an id, how a table holds it, and their numbers.
IDS = st.sampled_from([2**53, 2**53 + 1, 2**53 + 2, 5, 17, -3])
NUMBERS = st.integers(-9, 9)


def id_frames(rows):
    """Return the same rows with ids held in the ways that users' tools leave behind."""
    ids = [one for one, _ in rows]
    numbers = [float(number) for _, number in rows]
    yield pd.DataFrame({"id": pd.Series(ids, dtype="float64"), "a": numbers})  # as pandas does next to a blank
    yield pd.DataFrame({"id": pd.Series(ids, dtype="Int64"), "a": numbers})
    yield pd.DataFrame({"id": pd.Series(list(map(str, ids)), dtype="str"), "a": numbers})
    yield pd.DataFrame({"id": pd.Series(ids, dtype="object"), "a": numbers})
    yield pa.table({"id": pa.array([float(one) for one in ids]), "a": numbers})
    yield pa.table({"id": pa.array(ids, pa.int64()), "a": numbers})


def check_persons(rows):
    """The sum over capped rows is the sum over persons of what each alone would give."""
    read = False
    for place, whole in enumerate(id_frames(rows)):
        found = sources.gram_of_persons(whole)
        if found is None:
            continue
        read = True
        total = np.zeros_like(found)
        for person in sorted({one for one, _ in rows}):
            own = [row for row in rows if row[0] == person]
            total += sources.gram_of_persons(list(id_frames(own))[place])
        assert (found == total).all()
    return read


PROPERTIES = {
    "text": (
        check_text,
        st.tuples(
            st.lists(LINES, max_size=5),
            st.sampled_from(["t.csv", "t.csv.gz"]),
            st.sampled_from([b"\n", b"\r\n"]),
            st.booleans(),
            st.sampled_from([2**22, 96]),
        ),
    ),
    "one column": (
        check_one_column,
        st.tuples(st.lists(LINES, max_size=5), st.sampled_from([b"\n", b"\r\n"]), st.booleans()),
    ),
    "text without quotes": (
        check_unquoted,
        st.tuples(st.lists(LINES, max_size=5), st.sampled_from([b"\n", b"\r\n"]), st.sampled_from([2**22, 128])),
    ),
    "text over lines": (
        check_over_lines,
        st.tuples(
            st.lists(st.tuples(*[sources.WIDE_CELLS] * len(sources.NAMES)), max_size=5),
            st.sampled_from([b"\n", b"\r\n"]),
            st.sampled_from([2**22, 600]),
        ),
    ),
    "folder": (check_folder, st.tuples(st.lists(st.lists(LINES, max_size=3), min_size=1, max_size=3))),
    "spreadsheet": (
        check_spreadsheet,
        st.tuples(st.lists(st.tuples(*[sources.SHEET_CELLS] * len(sources.NAMES)), max_size=4)),
    ),
    "svmlight": (
        check_lines,
        st.tuples(
            st.just(sources.sparse_rows),
            st.just(".svm"),
            st.lists(sources.SPARSE_LINES, max_size=4),
            st.sampled_from([b"\n", b"\r\n"]),
        ),
    ),
    "labels": (
        check_lines,
        st.tuples(
            st.just(sources.labels_in), st.just(".txt"), st.lists(sources.SPARSE_LINES, max_size=4), st.just(b"\n")
        ),
    ),
    "array": (
        check_array,
        st.tuples(st.lists(sources.FLOATS, min_size=1, max_size=6), st.lists(st.booleans(), min_size=6, max_size=6)),
    ),
    "persons": (check_persons, st.tuples(st.lists(st.tuples(IDS, NUMBERS), min_size=1, max_size=7))),
}
for _kind, (_cells, _, _names) in PANDAS.items():
    PROPERTIES[f"pandas {_kind}"] = (
        check_pandas,
        st.tuples(st.just(_kind), st.sampled_from(list(_names)), st.lists(_cells, min_size=1, max_size=5)),
    )
for _kind, (_cells, _, _names) in ARROW.items():
    PROPERTIES[f"arrow {_kind}"] = (
        check_arrow,
        st.tuples(st.just(_kind), st.sampled_from(list(_names)), st.lists(_cells, min_size=1, max_size=5)),
    )


@pytest.mark.parametrize("name", PROPERTIES)
def test_every_record_is_read_as_if_it_stood_alone(name):
    """Whatever the other records hold, a record becomes the row that it becomes by itself, or all is refused."""
    check, strategy = PROPERTIES[name]
    were_read = []

    @given(strategy)
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    def explore(arguments):
        were_read.append(check(*arguments))

    explore()
    # A reader that refused everything would keep the promise, and be of no use.
    assert sum(were_read) > EXAMPLES // 10


def try_anew(check, strategy, *, n_examples):
    """Try new examples of a source."""

    @given(strategy)
    @settings(
        max_examples=n_examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=False,
    )
    def explore(arguments):
        check(*arguments)

    explore()


@pytest.mark.nightly
def test_ten_minutes_of_records():
    """New examples of every source in turn, for ten minutes."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        for check, strategy in PROPERTIES.values():
            try_anew(check, strategy, n_examples=200)


def test_new_examples_are_tried_too():
    """What runs every night can run: an example of every kind of source."""
    seen = []
    for _, strategy in PROPERTIES.values():
        try_anew(lambda *arguments: seen.append(arguments), strategy, n_examples=1)
    assert len(seen) == len(PROPERTIES)
