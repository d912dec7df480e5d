"""A draft of a schema from the column names and types of a file; never from its values."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from discreet.errors import InvalidArgument, InvalidData
from discreet.tables.readers.headers import check_names
from discreet.tables.readers.sources import kind_of_file, parts_of
from discreet.tables.readers.text_files import read_header
from discreet.tables.schema.columns import Reading
from discreet.tables.schema.schema_file import toml_key

_HEAD = """\
# A draft: fill in what is empty, from a codebook or the law, never from the rows, and delete what you do not need.
# kind is "number" (with lower and upper), "date" (with lower, upper and format), "category" (with levels) or "flag"
# (0/1, true/false, or the texts of labels).
# missing is "error" (the default), "drop", or { constant = 0 }.
format = 1
adjacency = ""  # "replace" (the number of rows is public) or "add-remove" (it is private)
"""
_NUMBER = 'kind = "number"\n# lower =\n# upper =\n'
_DATE = 'kind = "date"\n# lower = "2000-01-01"\n# upper =\n'
_CATEGORY = 'kind = "category"\nlevels = []\n'
_FLAG = 'kind = "flag"\n'
_UNKNOWN = 'kind = ""\n'
_NULL = ""


def draft_schema(path: str | Path) -> str:
    """Return the text of a schema file to be filled in.

    Parameters
    ----------
    path : path
        A file or a folder of files. Of texts and sheets only the header is read, of others only names and types.

    Returns
    -------
    str
        Not a schema yet: what only a person can declare is left empty, and is refused until it is filled in.

    Raises
    ------
    InvalidData
        If the file has no header, or one that looks like data.
    """
    place = Path(path)
    kinds: dict[str, str] = {}
    for file in parts_of(place) if place.is_dir() else [place]:
        for name, kind in _kinds_of(file).items():
            # Of a column that is all null in a file its type says nothing; where files differ, only a person knows.
            known = kinds.get(name, kind)
            kinds[name] = known if kind in {known, _NULL} else kind if known == _NULL else _UNKNOWN
    texts = {name: _UNKNOWN if kind == _NULL else kind for name, kind in kinds.items()}
    return _HEAD + "".join(f"\n[columns.{toml_key(name)}]\n{kind}" for name, kind in texts.items())


def _kinds_of(file: Path) -> dict[str, str]:
    kind = kind_of_file(file)
    if kind == "text":
        names = read_header(file, Reading()).names
        check_names(names, [], file.name, delimiter=",", strict=True)
        return dict.fromkeys(names, _UNKNOWN)
    if kind == "spreadsheet":
        from discreet.tables.readers.spreadsheets import header_of

        header = header_of(file)
        check_names(header, [], file.name, strict=True)
        return dict.fromkeys(header, _UNKNOWN)
    if kind == "statistics":
        from discreet.tables.readers.statistics_files import columns_of

        return {name: _kind(found) for name, found in columns_of(file).items()}
    if kind is None:
        raise InvalidArgument(f"Cannot tell what kind of file {file.name} is. Its name must end in .csv or .parquet.")
    schema = _arrow_schema(file, kind)
    check_names(schema.names, [], file.name)
    return {field.name: _kind(field.type) for field in schema}


def _arrow_schema(file: Path, kind: str) -> pa.Schema:
    import pyarrow.parquet as pq

    schema = None
    with suppress(pa.ArrowException, OSError):
        schema = pq.read_schema(file) if kind == "Parquet" else pa.ipc.open_file(pa.OSFile(str(file))).schema
    if schema is None:
        raise InvalidData(f"{file.name} cannot be read as {kind}: it is no such file, or it is damaged. Write it anew.")
    return schema


def _kind(found: pa.DataType) -> str:
    if pa.types.is_null(found):
        return _NULL
    if pa.types.is_boolean(found):
        return _FLAG
    if pa.types.is_integer(found) or pa.types.is_floating(found) or pa.types.is_decimal(found):
        return _NUMBER
    if pa.types.is_date(found) or pa.types.is_timestamp(found):
        return _DATE
    return _CATEGORY
