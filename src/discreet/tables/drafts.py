"""A draft of a schema from the column names and types of a file; never from its values."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from discreet.errors import InvalidArgument, InvalidData
from discreet.tables.columns import Reading
from discreet.tables.headers import check_names
from discreet.tables.readers import CSV_ENDINGS, PARQUET_ENDINGS
from discreet.tables.schema_file import toml_key
from discreet.tables.text_files import read_header

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


def draft_schema(path: str | Path) -> str:
    """Return the text of a schema file to be filled in.

    Parameters
    ----------
    path : path
        A CSV file, of which only the first line is read, or a Parquet file, of which only the types are.

    Returns
    -------
    str
        Not a schema yet: what only a person can declare is left empty, and is refused until it is filled in.

    Raises
    ------
    InvalidData
        If the file has no header, or one that looks like data.
    """
    file = Path(path)
    ending = file.name.lower()
    if ending.endswith(PARQUET_ENDINGS):
        kinds = _parquet_kinds(file)
    elif ending.endswith(CSV_ENDINGS):
        names = read_header(file, Reading()).names
        check_names(names, [], file.name, delimiter=",", strict=True)
        kinds = dict.fromkeys(names, _UNKNOWN)
    else:
        raise InvalidArgument(f"Cannot tell what kind of file {file.name} is. Its name must end in .csv or .parquet.")
    return _HEAD + "".join(f"\n[columns.{toml_key(name)}]\n{kind}" for name, kind in kinds.items())


def _parquet_kinds(file: Path) -> dict[str, str]:
    import pyarrow.parquet as pq

    schema = None
    with suppress(pa.ArrowException, OSError):
        schema = pq.read_schema(file)
    if schema is None:
        raise InvalidData(
            f"{file.name} cannot be read as Parquet: it is no Parquet file, or it is damaged. Write it anew."
        )
    check_names(schema.names, [], file.name)
    return {field.name: _kind(field.type) for field in schema}


def _kind(found: pa.DataType) -> str:
    if pa.types.is_boolean(found):
        return _FLAG
    if pa.types.is_integer(found) or pa.types.is_floating(found) or pa.types.is_decimal(found):
        return _NUMBER
    if pa.types.is_date(found) or pa.types.is_timestamp(found):
        return _DATE
    return _CATEGORY
