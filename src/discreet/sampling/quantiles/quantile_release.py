"""`quantile` and `median`: one release, one number, or several in order."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.bounds import Interval
from discreet.privacy.budgets import check_budget
from discreet.privacy.events.sampling import ChoiceEvent, largest_reach
from discreet.privacy.release import Release, release, settle_adjacency, with_notes
from discreet.sampling.evaluation import refuse_no_rows
from discreet.sampling.numeric_rows import NumericTable
from discreet.sampling.quantiles.quantiles import QuantileTarget, Runs, check_quantile, sorted_places, values_of
from discreet.tables.frame_rows import check_schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.coins import Coins
    from discreet.privacy.ledger import Ledger
    from discreet.tables.schema.schema import Schema


@dataclass(frozen=True, eq=False)
class QuantilesPlan:
    """One or several quantiles of the same values, as a plan for the one door.

    Parameters
    ----------
    event : ChoiceEvent
        Its scale is that of distances in ranks over what a record changes of them.
    targets : tuple of QuantileTarget
        One a quantile, on the same grid.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    is_scalar : bool
        Whether the value is one number.
    """

    event: ChoiceEvent
    targets: tuple[QuantileTarget, ...]
    adjacency: Adjacency
    is_scalar: bool

    def measure(self, data: Any) -> NDArray[np.int64]:
        """Return the private values as places on the grid, sorted; records that are dropped are not among them.

        Raises
        ------
        InvalidType, InvalidData
            If the values are not one column of numbers, a cell is missing, or there is no record at all under
            Replace(), where their number is public.
        """
        line = self.targets[0].line
        is_table = isinstance(data, NumericTable)
        cells = data.private_matrix()[:, 0] if is_table else values_of(data)
        if self.adjacency.size_is_public:
            refuse_no_rows(cells.size)
        return sorted_places(line, cells[~np.isnan(cells)] if is_table else cells)

    def draw(self, statistic: NDArray[np.int64], coins: Coins) -> float | NDArray[np.float64]:
        """Return the quantiles, in the order of their numbers."""
        places = []
        for target in self.targets:
            scale = self.event.scale / target.sensitivity(self.adjacency)
            places += Runs(statistic, target.q, target.line.n_points).draw(scale, coins, 1)
        line = self.targets[0].line
        if self.is_scalar:
            return line.value(places[0])
        # Quantiles rise with their numbers: sorting is post-processing, and brings none of them farther away.
        values = np.empty(len(places))
        values[np.argsort([float(target.q) for target in self.targets], kind="stable")] = sorted(
            line.value(place) for place in places
        )
        return values


def plan_quantiles(
    q: Any, *, bounds: Interval, step: Any = None, budget: Budget, adjacency: Adjacency, statistic: str = "values"
) -> QuantilesPlan:
    """Return the plan of one quantile, or of several that share the budget equally.

    Parameters
    ----------
    q : number, text, or sequence of them
        Which quantiles, above 0 and below 1.
    bounds, step
        See `QuantileTarget`.
    budget : Budget
        For all of them.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    statistic : str
        What the values are called in the event.
    """
    is_scalar = isinstance(q, (str, Fraction)) or np.ndim(q) == 0
    numbers = [check_quantile(number) for number in ([q] if is_scalar else q)]
    if not numbers:
        raise InvalidArgument("`q` must name at least one quantile; found an empty sequence.")
    targets = tuple(QuantileTarget(q=number, bounds=bounds, step=step) for number in numbers)
    scale = largest_reach(check_budget(budget), n_draws=len(targets)) / 2
    for target in targets:
        target.check_scale(scale / target.sensitivity(adjacency))
    event = ChoiceEvent(
        scale=scale,
        sensitivity=Fraction(1),
        n_candidates=targets[0].n_candidates,
        n_draws=len(targets),
        adjacency=adjacency,
        budget=budget,
        statistic=f"quantile {', '.join(map(str, numbers))} of {statistic}",
        shape=() if is_scalar else (len(targets),),
    )
    return QuantilesPlan(event, targets, adjacency, is_scalar)


def quantile(
    values: Any,
    q: Any,
    *,
    bounds: Interval | None = None,
    budget: Budget,
    adjacency: Adjacency | None = None,
    ledger: Ledger | None = None,
    step: Any = None,
    schema: Schema | None = None,
    column: str | None = None,
) -> Release[Any]:
    """Release a quantile of private values, or several, in a time that tells nothing.

    Parameters
    ----------
    values : array-like of numbers, shape (n_rows,); or a table, with `schema` and `column`
        The private values. A table is whatever :func:`release_moments` reads: a frame, an Arrow table, a file.
    q : number or text, or a sequence of them
        Which quantile, above 0 and below 1. Several share the budget equally, and come in order.
    bounds : Interval
        The public range of the values, in their own units; cells outside are moved to its ends. With a schema, the
        column's own range unless given.
    budget : Budget
        What the release may cost, all quantiles together.
    adjacency : Replace or AddRemove, optional
        Which data sets are neighbours; taken from the ledger or the schema where one says it. AddRemove pays half as
        much for the same sharpness of a median.
    ledger : Ledger, optional
        Is charged; None opens one in memory whose total is the budget.
    step : number or text, optional
        The answer is ``bounds.lower`` plus a whole number of steps. For values that are multiples of a step, such as
        whole hours, ages or codes, it makes the answer one of them, and far better where many values are equal.
    schema : Schema, optional
        Public facts about a table.
    column : str, optional
        Which column of the table.

    Returns
    -------
    Release
        Its value is a float, or an array of float64 with one number a quantile.

    Raises
    ------
    InvalidArgument, InvalidType
        If a declaration is not usable; nothing is spent.
    InvalidData
        If the values are not one column of numbers, a cell is missing, or there are none under Replace(); nothing is
        spent.
    BudgetExceeded, AdjacencyMismatch
        If the ledger refuses.

    Guarantee
    ---------
    The release keeps `budget`: it is an exact draw of the exponential mechanism, whose work depends on the number of
    rows alone. Proof: docs/proofs/quantiles.md
    Source: Smith 2011; Reimherr and Awan 2019.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> wages = np.random.default_rng(0).normal(50_000, 5_000, size=10_000)
    >>> released = quantile(wages, "1/4", bounds=dp.Interval(0, 200_000), budget=dp.Pure(epsilon=1),
    ...                     adjacency=dp.Replace())
    >>> bool(abs(released.value - np.quantile(wages, 0.25)) < 200), released.cost
    (True, Pure(epsilon=1))
    """
    if schema is None and column is not None:
        raise InvalidArgument("`column` names a column of a `schema`. Give the schema, or leave `column` out.")
    source = values
    if schema is not None:
        source = _table(values, check_schema(schema), column)
        if bounds is None:
            (lower,), (upper,) = source.limits
            bounds = Interval(lower, upper)
    if bounds is None:
        raise InvalidType("quantile needs `bounds`, an Interval(lower, upper) with the public range of the values.")
    relation = settle_adjacency(adjacency, ledger, schema, units=False)
    name = "values" if column is None else f"column {column!r}"
    plan = plan_quantiles(q, bounds=bounds, step=step, budget=budget, adjacency=relation, statistic=name)
    public = len(source) if isinstance(source, np.ndarray) and relation.size_is_public else None
    notes = source.notes if isinstance(source, NumericTable) else ()
    return with_notes(release(plan, source, ledger, n_rows=public), notes)


def _table(source: Any, schema: Schema, column: str | None) -> NumericTable:
    if isinstance(column, str):
        return NumericTable.of(source, schema, [column])
    raise InvalidType("With a `schema`, `column` must name the column whose quantile is asked for.")


def median(
    values: Any,
    *,
    bounds: Interval | None = None,
    budget: Budget,
    adjacency: Adjacency | None = None,
    ledger: Ledger | None = None,
    step: Any = None,
    schema: Schema | None = None,
    column: str | None = None,
) -> Release[Any]:
    """Release the median of private values, in a time that tells nothing: `quantile` with q = 1/2.

    Parameters
    ----------
    values, bounds, budget, adjacency, ledger, step, schema, column
        See `quantile`.

    Guarantee
    ---------
    As `quantile`. Proof: docs/proofs/quantiles.md

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> hours = np.repeat([20, 40, 50], [200, 700, 100])
    >>> median(hours, bounds=dp.Interval(0, 99), step=1, budget=dp.Pure(epsilon=1), adjacency=dp.Replace()).value
    40.0
    """
    return quantile(
        values,
        _HALF,
        bounds=bounds,
        budget=budget,
        adjacency=adjacency,
        ledger=ledger,
        step=step,
        schema=schema,
        column=column,
    )


_HALF = Fraction(1, 2)
