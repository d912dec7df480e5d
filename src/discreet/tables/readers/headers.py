"""Checks of a source's column names: all that are needed are there, and none stands twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import InvalidData
from discreet.tables.formula import near

if TYPE_CHECKING:
    from collections.abc import Sequence

_DELIMITERS = {"\t": "a tab", ";": "a semicolon", "|": "a bar", ",": "a comma"}


def check_names(
    names: Sequence[str], needed: Sequence[str], where: str, *, delimiter: str | None = None, strict: bool = False
) -> None:
    """Refuse a source that lacks a needed column, or has two of one name.

    Parameters
    ----------
    names : sequence of str
        The source's column names, in order.
    needed : sequence of str
        Names that are read.
    where : str
        The source as messages call it.
    delimiter : str, optional
        What a text file was cut by, to recognize a file that is cut by something else.
    strict : bool
        Whether names that look like data are refused even if no needed one is absent.

    Raises
    ------
    InvalidData
        Names the column; near matches are quoted so that blanks and capitals show.
        What looks like a record, because a file has no header, is never quoted.
    """
    absent = [name for name in needed if name not in set(names)]
    if (absent or strict) and any(map(_is_like_data, names)):
        lacking = f"Column {absent[0]!r} is not in {where}, whose" if absent else f"In {where} the"
        raise InvalidData(
            f"{lacking} first line looks like data: it has blanks or numbers where names are expected. "
            "Give the file a first line with the names of its columns."
        )
    if absent and delimiter is not None and len(names) == 1:
        for other, called in _DELIMITERS.items():
            if other != delimiter and other in names[0]:
                raise InvalidData(
                    f"Column {absent[0]!r} is not in {where}, which has one column only: the likely delimiter is "
                    f"{called}. Declare delimiter = {_toml(other)} under [reading] in the schema."
                )
    twice = (
        next((name for name in names if list(names).count(name) > 1), None) if len(set(names)) < len(names) else None
    )
    if twice is not None:
        places = [str(place) for place, name in enumerate(names, 1) if name == twice]
        raise InvalidData(
            f"Column {twice!r} stands more than once in {where}: at positions {' and '.join(places)}. "
            "Rename or remove all but one."
        )
    if absent:
        raise InvalidData(
            f"Column {absent[0]!r} is not in {where}.{near(absent[0], names)} "
            "Correct the name in the formula and schema, or in the file."
        )


def _is_like_data(name: str) -> bool:
    plain = name.strip().lstrip("$€£+-").replace(",", "").replace(".", "", 1).rstrip("%")
    return not plain or plain[0].isdigit() or plain.casefold() in {"nan", "na", "null", "inf", "true", "false", "?"}


def _toml(delimiter: str) -> str:
    return '"\\t"' if delimiter == "\t" else f'"{delimiter}"'
