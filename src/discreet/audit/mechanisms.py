"""The registry: every mechanism and estimator of the package, each with its worst-case neighbours and its claim.

To add a mechanism, add an `Entry` to the file of its family: a name, a function that plans it for a budget and
returns a `Setup`, and that budget.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.audit.cases.case import Entry

# One line a family: its module, and the tuple of its entries. Pillars are imported when somebody asks.
FAMILIES = {
    "noise": "NOISE",
    "gram": "GRAM",
    "descent": "DESCENT",
    "descent_models": "DESCENT_MODELS",
    "preconditioned": "PRECONDITIONED",
    "sampling": "SAMPLING",
}


def registry() -> dict[str, Entry]:
    """Return all entries by their names, in the order of the pillars.

    Examples
    --------
    >>> registry()["rounded Laplace"].budget
    Pure(epsilon=1)
    """
    entries: dict[str, Entry] = {}
    for module, family in FAMILIES.items():
        for entry in getattr(import_module(f"discreet.audit.cases.{module}"), family):
            entries[entry.name] = entry
    return entries


def entries_named(names: list[str]) -> list[Entry]:
    """Return the entries of these names, or all where there is none; a part of a name takes all that have it.

    Parameters
    ----------
    names : list of str
        Case does not matter.

    Raises
    ------
    InvalidArgument
        If a name belongs to no entry.

    Examples
    --------
    >>> [entry.name for entry in entries_named(["k-norm"])]
    ['l-infinity K-norm', 'l2 K-norm']
    """
    known = registry()
    if not names:
        return list(known.values())
    chosen: dict[str, Entry] = {}
    for name in names:
        found = {key: entry for key, entry in known.items() if name.casefold() in key.casefold()}
        exact = {key: entry for key, entry in found.items() if name.casefold() == key.casefold()}
        if not found:
            raise InvalidArgument(
                f"No mechanism is called {name!r}. Run `discreet audit --list` for their names; a callable of your own "
                "is written module:function."
            )
        chosen |= exact or found
    return list(chosen.values())
