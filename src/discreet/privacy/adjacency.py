"""Which two data sets are neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.errors import InvalidArgument, InvalidType


@dataclass(frozen=True, slots=True)
class Replace:
    """Neighbours differ in the content of one record; the number of records is public."""

    name: ClassVar[str] = "Replace"
    size_is_public: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class AddRemove:
    """Neighbours differ by the presence of one record; the number of records is private."""

    name: ClassVar[str] = "AddRemove"
    size_is_public: ClassVar[bool] = False


Adjacency = Replace | AddRemove


def check_adjacency(adjacency: object, *, name: str = "adjacency") -> Adjacency:
    """Return `adjacency` if it is one of ours; refuse its absence and its bare class."""
    if isinstance(adjacency, (Replace, AddRemove)):
        return adjacency
    raise InvalidType(
        f"`{name}` must be Replace() (one record differs, n public) or AddRemove() (n private); "
        f"found {type(adjacency).__name__}. There is no default: name the neighbours you promise."
    )


def adjacency_from_name(text: str) -> Adjacency:
    """Return the adjacency called `text`: "replace" or "add-remove", in any case."""
    key = text.lower().replace("-", "").replace("_", "")
    if key == "replace":
        return Replace()
    if key == "addremove":
        return AddRemove()
    raise InvalidArgument('`adjacency` must be "replace" or "add-remove"; found another word.')
