"""Principal components from declarations and rows to a release, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.bounds import Box
from discreet.models.printed import MOST_SHOWN, Printed, cost_lines
from discreet.privacy.budgets import check_budget
from discreet.privacy.findings import Estimate, Finding
from discreet.privacy.release import Release, release, with_notes
from discreet.sampling.evaluation import refuse_no_rows
from discreet.sampling.pca.components import Components, plan_components
from discreet.sampling.pca.second_moments import UnitGrid, half_diagonal
from discreet.sampling.policies import CoolDown, check_policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.sampling.numeric_rows import NumericTable
    from discreet.sampling.policies import Policy

# So many columns of a component are printed one by one.
_MOST_SHOWN = 50


@dataclass(frozen=True, eq=False, repr=False)
class ComponentRows:
    """Checked rows of which nothing is released yet.

    Parameters
    ----------
    private_matrix : ndarray, shape (n_rows, n_columns)
        The cells.
    names : tuple of str
        Of the columns, for messages.
    box : Box or None
        Their declared bounds.
    given_names : ndarray or None
        The names that the columns have, where they have some.
    notes : tuple of str
        What a release must say of the table.
    """

    private_matrix: NDArray[Any]
    names: tuple[str, ...]
    box: Box | None
    given_names: Any
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ComponentTerms:
    """What is public about components; see :class:`PrivatePCA`.

    Parameters
    ----------
    budget, adjacency, n_components, row_norm, center, scale_to_bounds, runtime
        As for :class:`PrivatePCA`.
    owner : str
        Who draws, for messages.
    """

    budget: Budget
    adjacency: Adjacency
    n_components: int = 1
    row_norm: float | None = None
    center: Any = None
    scale_to_bounds: bool = False
    runtime: Policy | None = None
    owner: str = "PrivatePCA"

    def count(self, n_columns: int) -> int:
        """Return how many components there are."""
        count = _checks.integer(self.n_components, "n_components", low=1)
        if count <= n_columns:
            return count
        raise InvalidArgument(
            f"`n_components` must be at most the number of columns, n_features = {n_columns}; found {count}."
        )

    def grid(self, box: Box | None, n_columns: int) -> UnitGrid:
        """Return the public grid of a row that the declarations describe."""
        if box is None and self.row_norm is None:
            raise InvalidType(
                f"{self.owner} needs `x_bounds`, a Box with the public range of every column, or `row_norm`, "
                "the norm to which every row is scaled down."
            )
        scaled = _checks.boolean(self.scale_to_bounds, "scale_to_bounds")
        if scaled and box is None:
            raise InvalidType("`scale_to_bounds` needs `x_bounds`, whose half-widths are the scale.")
        center = self._center(box, n_columns)
        if box is None:
            return UnitGrid(n_columns, self.row_norm, center)  # type: ignore[arg-type]
        halves = [(high - low) / 2 for low, high in zip(box.lower, box.upper, strict=True)]
        scale = tuple(halves) if scaled else None
        norm = self.row_norm
        if norm is None:
            # From the center to the far corner of the box.
            reach = [max(high - c, c - low) for low, high, c in zip(box.lower, box.upper, center, strict=True)]
            reach = [r / h for r, h in zip(reach, halves, strict=True)] if scaled else reach
            norm = half_diagonal([-abs(r) for r in reach], [abs(r) for r in reach])
        return UnitGrid(n_columns, norm, center, box.lower, box.upper, scale)

    def _center(self, box: Box | None, n_columns: int) -> tuple[float, ...]:
        if self.center is None:
            if box is None:
                return (0.0,) * n_columns
            return tuple((low + high) / 2 for low, high in zip(box.lower, box.upper, strict=True))
        values = self.center if hasattr(self.center, "__iter__") else [self.center] * n_columns
        return tuple(_checks.finite_float(value, "center") for value in values)


@dataclass(frozen=True, eq=False)
class FoundComponents:
    """Released components; public.

    Parameters
    ----------
    grid : UnitGrid
        The public grid of a row.
    released : Release
        Its value is the components, shape (n_components, n_columns).
    names : tuple of str or None
        Of the columns, where they have some.
    """

    grid: UnitGrid
    released: Release[NDArray[np.float64]]
    names: tuple[str, ...] | None

    @property
    def shown_names(self) -> tuple[str, ...]:
        """The names of the columns, x0, x1, ... where they have none."""
        return tuple(f"x{j}" for j in range(self.grid.n_columns)) if self.names is None else self.names

    def summary(self) -> Printed:
        """Return the table that is printed: a line a column, and what the components cost."""
        components, notes = self.released.value, self.released.notes
        shown = list(zip(self.shown_names, components.T, strict=True))[:MOST_SHOWN]
        remarks = cost_lines(self.released.event, self.released.label)
        remarks.append(f"Rows, about the center, have a norm of at most {self.grid.row_norm:g}.")
        if len(shown) < self.grid.n_columns:
            remarks.append(f"The table has the first {MOST_SHOWN} of {self.grid.n_columns} columns.")
        return Printed(
            "Principal components",
            ("", *(f"component {number}" for number in range(1, len(components) + 1))),
            [(name, *(f"{part:.6g}" for part in parts)) for name, parts in shown],
            [*remarks, "Variances along the components are not released.", *(f"Note: {note}." for note in notes)],
        )

    def to_finding(self) -> Finding:
        """Return what the components say to a reader of a report."""
        components, names = self.released.value, self.shown_names
        asked = f"{' '.join(names)} --components {len(components)} --row-norm {self.grid.row_norm:g}"
        estimates = tuple(
            Estimate(name=f"component {number}: {name}", value=float(part))
            for number, component in enumerate(components, start=1)
            for name, part in list(zip(names, component, strict=True))[:_MOST_SHOWN]
        )
        return Finding(
            title="PrivatePCA",
            asked=(("Components", f"{len(components)} of {len(names)} columns"),),
            event=self.released.event,
            label=self.released.label,
            estimates=estimates,
            quality=("Parts of unit vectors. Variances along the components are not released.",),
            declarations=(
                ("row norm", f"rows, about the center, have a Euclidean norm of at most {self.grid.row_norm:g}"),
            ),
            again=(f"discreet sample DATA pca {asked} --schema SCHEMA --ledger LEDGER -o COMPONENTS",),
            notes=self.released.notes,
        )


def rows_of_table(
    table: NumericTable, *, may_be_empty: bool, progress: Callable[[int], None] | None = None
) -> ComponentRows:
    """Return the rows of a table, read; `progress` is called with how far the read has come.

    Raises
    ------
    InvalidData
        What the table says of missing cells, or if it is empty where its size is public.
    """
    lower, upper = table.limits
    matrix = table.private_matrix(progress)
    if not may_be_empty:
        refuse_no_rows(matrix.shape[0])
    names = np.array(table.names, dtype=object)
    return ComponentRows(matrix, table.names, Box(lower=lower, upper=upper), names, table.notes)


def release_components(terms: ComponentTerms, rows: ComponentRows, ledger: Ledger | None) -> FoundComponents:
    """Draw components; charges the ledger once.

    Raises
    ------
    InvalidArgument, InvalidType
        If a declaration is not usable; nothing is spent.
    BudgetExceeded
        If the ledger has too little left.

    Guarantee
    ---------
    That of :class:`PrivatePCA`.
    """
    runtime = CoolDown() if terms.runtime is None else check_policy(terms.runtime)
    grid = terms.grid(rows.box, len(rows.names))
    target = Components(grid=grid, n_components=terms.count(len(rows.names)), names=rows.names)
    adjacency = terms.adjacency
    n_rows = target.count(rows.private_matrix) if adjacency.size_is_public else None
    budget = check_budget(terms.budget)
    plan = plan_components(target, budget=budget, adjacency=adjacency, runtime=runtime, n_rows=n_rows)
    public = rows.private_matrix.shape[0] if adjacency.size_is_public else None
    released = with_notes(release(plan, rows.private_matrix, ledger, n_rows=public), rows.notes)
    return FoundComponents(grid, released, None if rows.given_names is None else tuple(map(str, rows.given_names)))
