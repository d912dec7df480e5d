"""Which adjacency a release has, where argument, ledger and schema may each say one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import AdjacencyMismatch, InvalidArgument
from discreet.privacy.adjacency import check_adjacency

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.ledger import Ledger
    from discreet.tables.schema.schema import Schema


def settle_adjacency(adjacency: Adjacency | None, ledger: Ledger | None, schema: Schema | None) -> Adjacency:
    """Return the one adjacency that argument, ledger and schema speak of; refuse silence and contradiction.

    A unit is part of it: where the schema declares one, argument and ledger must name it, and without a schema that
    does, rows cannot be told apart by units.
    """
    said = {
        "adjacency": adjacency if adjacency is None else check_adjacency(adjacency, units=True),
        "ledger": None if ledger is None else ledger.adjacency,
        "schema": None if schema is None else schema.adjacency,
    }
    found = {where: value for where, value in said.items() if value is not None}
    if not found:
        raise InvalidArgument(
            "No adjacency was named: give `adjacency` Replace() (n public) or AddRemove() (n private), "
            "or declare it in the schema."
        )
    if len(set(found.values())) > 1:
        words = ", ".join(f"{where} says {value!r}" for where, value in found.items())
        raise AdjacencyMismatch(f"The adjacency is not one: {words}. Make them agree.")
    neighbours = next(iter(found.values()))
    declared = None if schema is None else schema.unit
    if neighbours.unit != declared:
        where = "no unit is declared" if declared is None else f"the schema declares the unit `{declared}`"
        raise AdjacencyMismatch(
            f"The adjacency is {neighbours!r}, and {where}. A schema with `unit` and `rows_per_unit`, the argument and "
            "the ledger must speak of one unit, or all of none."
        )
    return neighbours
