"""Which two data sets are neighbours."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import ClassVar, TypeGuard

from discreet.errors import InvalidArgument, InvalidType

# How an adjacency of units stands in files; of rows it is the bare word, as ever.
_WITH_UNIT = re.compile(r'\A(Replace|AddRemove)\(unit=(".*")\)\Z', re.DOTALL)


@dataclass(frozen=True, slots=True, repr=False)
class _Neighbours:
    """What both adjacencies have in common: whose records differ."""

    word: ClassVar[str]
    # Of how many records the contributions to a sum differ between neighbours; of each unit, where there is one.
    rows_changed: ClassVar[int]

    unit: str | None = None

    def __post_init__(self) -> None:
        if self.unit is not None and (not isinstance(self.unit, str) or not self.unit):
            raise InvalidType(
                "`unit` must be the name of the column that says whose a row is, or None where every row is a record "
                "of its own; found something else."
            )

    @property
    def name(self) -> str:
        """How the adjacency stands in files; `adjacency_from_name` reads it."""
        return self.word if self.unit is None else f"{self.word}(unit={json.dumps(self.unit)})"

    def __repr__(self) -> str:
        return f"{self.word}({'' if self.unit is None else f'unit={self.unit!r}'})"


@dataclass(frozen=True, slots=True, repr=False)
class Replace(_Neighbours):
    """Neighbours differ in the content of one record; the number of records is public.

    Parameters
    ----------
    unit : str, optional
        The column that says whose a row is, where one person has several: neighbours then differ in all rows of one
        unit, and the number of rows is private. None means that every row is a record of its own.

    Examples
    --------
    >>> Replace(), Replace(unit="person")
    (Replace(), Replace(unit='person'))
    """

    word: ClassVar[str] = "Replace"
    rows_changed: ClassVar[int] = 2

    @property
    def size_is_public(self) -> bool:
        """Whether the number of rows is public: it is where every row is a record of its own."""
        return self.unit is None


@dataclass(frozen=True, slots=True, repr=False)
class AddRemove(_Neighbours):
    """Neighbours differ by the presence of one record; the number of records is private.

    Parameters
    ----------
    unit : str, optional
        The column that says whose a row is, where one person has several: neighbours then differ by the presence of
        all rows of one unit. None means that every row is a record of its own.
    """

    word: ClassVar[str] = "AddRemove"
    rows_changed: ClassVar[int] = 1
    size_is_public: ClassVar[bool] = False


Adjacency = Replace | AddRemove


def check_adjacency(adjacency: object, *, name: str = "adjacency", units: bool = False) -> Adjacency:
    """Return `adjacency` if it is one of ours; refuse its absence, its bare class, and units that are not protected.

    Parameters
    ----------
    adjacency : object
        What was given.
    name : str
        How messages call it.
    units : bool
        Whether whoever asks protects units of several rows.

    Raises
    ------
    InvalidType
        If it is none.
    InvalidArgument
        If it is about units where only rows are protected.
    """
    if is_protected(adjacency, units=units):
        return adjacency
    if not isinstance(adjacency, (Replace, AddRemove)):
        raise InvalidType(
            f"`{name}` must be Replace() (one record differs, n public) or AddRemove() (n private); "
            f"found {type(adjacency).__name__}. There is no default: name the neighbours you promise."
        )
    raise InvalidArgument(
        f"`{name}` {adjacency!r} is about units of several rows, and this protects single rows. "
        "Use release_moments, FunctionalLinearRegression or FunctionalLogisticRegression with a schema that "
        f"declares the unit, or {adjacency.word}()."
    )


def is_protected(adjacency: object, *, units: bool) -> TypeGuard[Adjacency]:
    """Return whether a value is an adjacency; of units only where these are protected."""
    return isinstance(adjacency, (Replace, AddRemove)) and (units or adjacency.unit is None)


def adjacency_from_name(text: str) -> Adjacency:
    """Return the adjacency called `text`: "replace" or "add-remove" in any case, or the `name` of one of units."""
    unit = None
    with_unit = _WITH_UNIT.match(text)
    if with_unit is not None:
        text = with_unit[1]
        try:
            unit = json.loads(with_unit[2])
        except ValueError:
            text = ""
    key = text.lower().replace("-", "").replace("_", "")
    if key == "replace":
        return Replace(unit)
    if key == "addremove":
        return AddRemove(unit)
    raise InvalidArgument('`adjacency` must be "replace" or "add-remove"; found another word.')
