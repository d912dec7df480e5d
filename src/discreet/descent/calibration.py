"""The plan of one private descent: which selector, how much noise, for which budget."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet import _checks
from discreet.descent.rows import RESIDUAL_BOUND
from discreet.descent.steps import Descent, DescentPlan
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.lattice.noise.accuracy import check_library
from discreet.lattice.noise.gumbel import check_gumbel_scale
from discreet.lattice.noise.scales import check_variance
from discreet.numbers.roots import root_up_to_double
from discreet.privacy.accounting import (
    bun_steinke_rho,
    convert,
    gaussian_mu,
    zcdp_rho,
)
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp, check_budget
from discreet.privacy.events.descent import CHOICE_IN_GDP, GaussianStepsEvent, SelectedStepsEvent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.descent.losses import Loss
    from discreet.lattice.row_grid import RowGrid
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget

# Of the budget of a step that chooses columns, this share pays for the choice when all are chosen at once.
PEELING_SHARE = Fraction(3, 5)
COORDINATE_SHARE = Fraction(1, 2)


def plan_descent(
    grid: RowGrid,
    loss: Loss,
    *,
    budget: Budget,
    adjacency: Adjacency,
    target_bounds: tuple[float, float],
    n_selected: int,
    n_steps: int,
    step_size: float,
    divisor: float,
    selection: str = "auto",
    noise: str = "exact",
    noise_floor: float = 3.0,
    tail_average: bool = True,
    start: NDArray[np.float64] | None = None,
    column_scale: NDArray[np.float64] | None = None,
    shorten_steps: bool = False,
) -> DescentPlan:
    """Return the plan of a descent that costs at most `budget`.

    Parameters
    ----------
    grid : RowGrid
        The public grid of a row.
    loss : Loss
        Which residual, clipped where.
    budget : Approx, Zcdp or Gdp
        What the release may cost; with noise="paper" the nominal budget of the paper's formula.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    target_bounds, n_selected, n_steps, step_size, divisor, noise_floor, tail_average, start, column_scale
        As in `Descent`.
    shorten_steps : bool, default False
        As in `Descent`; the event is the same.
    selection : {"auto", "all", "threshold", "peel", "coordinate"}
        "auto" takes "threshold" where `row_norm**2 < 2 * n_selected * entry_bound**2` and otherwise "peel": both are
        public.
    noise : {"exact", "paper"}
        "paper" takes the variance that is printed for `budget` (Wang and Gu 2019, Theorem 5.2 with Lemma 3.4), which
        belongs to neither adjacency; the plan's event has its true cost as its budget, and `budget` as `nominal`.

    Raises
    ------
    IncompatiblePlan
        If the budget's currency cannot pay for the selection.
    InvalidArgument
        If a setting is out of its range, or the budget too small or too large for 64-bit noise.

    Guarantee
    ---------
    The event's price, computed exactly from its own fields, is at most its budget; with exact noise that is `budget`.
    Proofs: docs/proofs/descent.md, docs/proofs/gumbel.md, docs/proofs/rounding.md.

    Examples
    --------
    >>> from discreet.descent.losses import LogisticLoss
    >>> from discreet.lattice.row_grid import RowGrid
    >>> from discreet.privacy.adjacency import Replace
    >>> from discreet.privacy.budgets import Zcdp
    >>> plan = plan_descent(
    ...     RowGrid(47_000, row_norm=1.0, entry_bound=0.3), LogisticLoss(), budget=Zcdp(rho=1), adjacency=Replace(),
    ...     target_bounds=(0, 1), n_selected=500, n_steps=10, step_size=50.0, divisor=20_000,
    ... )
    >>> plan.settings.selection, plan.event.price
    ('threshold', Gdp.from_squared(2))
    """
    check_budget(budget)
    _checks.one_of(noise, "noise", ("exact", "paper"))
    name = _checks.one_of(selection, "selection", ("auto", "all", "threshold", "peel", "coordinate"))
    if name == "auto":
        name = automatic_selection(grid, n_selected)
    settings = Descent(
        grid=grid,
        loss=loss,
        target_bounds=target_bounds,
        selection=name,
        n_selected=n_selected,
        n_steps=n_steps,
        step_size=step_size,
        divisor=divisor,
        noise_floor=noise_floor,
        tail_average=tail_average,
        start=start,
        column_scale=column_scale,
        shorten_steps=shorten_steps,
    )
    _check_currency(settings, budget, noise)
    refused = False
    event: GaussianStepsEvent | SelectedStepsEvent
    try:
        if name in {"all", "threshold"}:
            event = _gaussian_event(settings, budget, adjacency, noise)
        else:
            event = _selected_event(settings, budget, adjacency)
    except (InvalidArgument, OverflowError):
        refused = True
    if refused:
        raise InvalidArgument(
            f"`budget` {budget!r} is too small, or too large, for {n_steps} steps of 64-bit noise. "
            "Choose one nearer to 1, or fewer steps."
        )
    # A library that is too inaccurate for exact noise is refused before a charge, not after it.
    check_library()
    return DescentPlan(settings, event)


def automatic_selection(grid: RowGrid, n_selected: int) -> str:
    """Return "threshold" or "peel", whichever has less noise at equal cost, by public numbers alone."""
    return "threshold" if grid.norm**2 < 2 * n_selected * grid.entry**2 else "peel"


def _check_currency(settings: Descent, budget: Budget, noise: str) -> None:
    selects = settings.selection in {"peel", "coordinate"}
    if isinstance(budget, Pure) or (isinstance(budget, Approx) and budget.delta == 0):
        raise IncompatiblePlan(
            f"A noisy descent has no pure guarantee; found {budget!r}. "
            "Use Approx(epsilon=..., delta=...) with delta above 0, Zcdp or Gdp."
        )
    if selects and noise == "paper":
        raise IncompatiblePlan(
            f'`noise` "paper" is printed for selection="threshold"; found "{settings.selection}". Use noise="exact".'
        )


def _common(settings: Descent, budget: Budget, adjacency: Adjacency) -> dict[str, Any]:
    grid = settings.grid
    steps = "1 step" if settings.n_steps == 1 else f"{settings.n_steps} steps"
    return {
        "adjacency": adjacency,
        "budget": budget,
        "statistic": f"{steps} along the gradient of the {settings.loss.name} loss, {grid.n_columns} columns",
        "shape": (grid.width,),
        "n_steps": settings.n_steps,
        "selection": settings.selection,
    }


def _gaussian_event(settings: Descent, budget: Any, adjacency: Adjacency, noise: str) -> GaussianStepsEvent:
    sensitivity_squared = settings.grid.l2_squared(RESIDUAL_BOUND, adjacency)
    nominal, promised = "", budget
    if noise == "exact":
        variance = sensitivity_squared * settings.n_steps / _mu_squared(budget)
    else:
        nominal = repr(budget)
        variance = printed_variance(settings.grid, settings.n_steps, budget)
        promised = true_cost(settings.n_steps * sensitivity_squared / variance, budget)
    return GaussianStepsEvent(
        sensitivity_squared=Fraction(sensitivity_squared),
        variance=check_variance(variance, "variance"),
        n_selected=settings.n_selected,
        noise=noise,
        nominal=nominal,
        **_common(settings, promised, adjacency),
    )


def _mu_squared(budget: Any) -> Fraction:
    if isinstance(budget, Gdp):
        return budget.mu_squared
    if isinstance(budget, Zcdp):
        return 2 * budget.rho
    mu: Fraction = gaussian_mu(epsilon=budget.epsilon, delta=budget.delta)
    return mu**2


def printed_variance(grid: RowGrid, n_steps: int, budget: Budget) -> Fraction:
    """Return n**2 times the variance that the paper prints: T G**2 / (n**2 rho), in squared grid units of a sum.

    G is the largest gradient of one record, and rho comes from (epsilon, delta) by the paper's Lemma 3.4.
    """
    if isinstance(budget, Approx):
        rho = bun_steinke_rho(epsilon=budget.epsilon, delta=budget.delta)
    elif isinstance(budget, Gdp):
        rho = budget.mu_squared / 2
    else:
        rho = budget.coordinates[0]
    return n_steps * RESIDUAL_BOUND**2 * grid.norm_squared() / rho


def true_cost(mu_squared: Fraction, nominal: Budget) -> Budget:
    """Return what a release with this exact mu**2 costs, in the currency of the nominal budget, rounded up."""
    price = Gdp.from_squared(mu_squared)
    if not isinstance(nominal, Approx):
        return convert(price, type(nominal))
    cost = convert(price, Approx, delta=nominal.delta)
    # An event compares mu with the largest for its budget, which is rounded down: a hair more epsilon covers that.
    while gaussian_mu(epsilon=cost.coordinates[0], delta=nominal.delta) ** 2 < mu_squared:
        cost = Approx(epsilon=cost.coordinates[0] * (1 + Fraction(1, 2**40)), delta=nominal.delta)
    return cost


def _selected_event(settings: Descent, budget: Any, adjacency: Adjacency) -> SelectedStepsEvent:
    grid, peels = settings.grid, settings.selection == "peel"
    n_chosen = settings.n_selected if peels else 1
    share = PEELING_SHARE if peels else COORDINATE_SHARE
    if isinstance(budget, Gdp):
        # mu**2 of all steps, of which the choices' part counts pi / 2.
        of_step, choice = budget.mu_squared / settings.n_steps, CHOICE_IN_GDP
    else:
        rho = budget.rho if isinstance(budget, Zcdp) else zcdp_rho(epsilon=budget.epsilon, delta=budget.delta)
        of_step, choice = 2 * rho / settings.n_steps, Fraction(1)
    entry = grid.linf(RESIDUAL_BOUND, adjacency)
    values = grid.l2_squared(RESIDUAL_BOUND, adjacency, n_chosen)
    return SelectedStepsEvent(
        entry_sensitivity=Fraction(entry),
        selection_scale=check_gumbel_scale(entry * root_up_to_double(choice * n_chosen / (share * of_step))),
        value_sensitivity_squared=Fraction(values),
        variance=check_variance(values / ((1 - share) * of_step), "variance"),
        n_selected=n_chosen,
        **_common(settings, budget, adjacency),
    )
