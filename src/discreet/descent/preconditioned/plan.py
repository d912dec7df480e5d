"""Preconditioned descent: a small private Gram matrix whitens the rows, then a few clipped noisy steps find the model.

A Gram matrix must pay for the worst row's outer product, a clipped gradient only for residual times row, which is
small once a model fits. Plain descent crawls where columns are collinear and then needs many steps, each of which is
paid for; in whitened coordinates a few do. See docs/proofs/preconditioned.md for the guarantee.

How it is used::

    settings = Settings(n_rows=..., gram_share=0.15, clip=2.0, n_steps=12, step_size=0.8)
    plan = preconditioned_plan(layout, "squared", budget=budget, adjacency=adjacency, settings=settings)
    released = release(plan, rows, ledger)  # ArrayRows, or TableRows(table, design, may_be_empty=...)
    released.value.coef, released.value.intercept  # of a PreconditionedFit, in the user's units
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.descent.blas_threads import one_thread
from discreet.descent.preconditioned.links import LOSSES, check_target, link_of
from discreet.descent.preconditioned.rows import GriddedRows, clip_bits, gridded, whitened
from discreet.descent.preconditioned.settings import Settings
from discreet.descent.preconditioned.whitened_steps import step_stds, tail_weights, walk
from discreet.descent.preconditioned.whitening import gram_solution, whitener
from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidType
from discreet.lattice.noise.accuracy import check_library
from discreet.lattice.noise.l2_norm import check_l2_rate
from discreet.lattice.noise.scales import check_scale, check_theta, check_variance
from discreet.lattice.noise.steps import step_bits_for
from discreet.lattice.noise.symmetric_gaussian import symmetric_gaussian
from discreet.lattice.noise.wishart import wishart_difference
from discreet.privacy.accounting import gaussian_mu
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp, check_budget
from discreet.privacy.events.preconditioned import PreconditionedEvent, steps_in_all

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.descent.preconditioned.links import Link
    from discreet.descent.preconditioned.rows import WhitenedRows
    from discreet.descent.preconditioned.whitening import Whitener
    from discreet.lattice.grid import Layout
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.coins import Coins
    from discreet.tables.rows import PrivateRows


@dataclass(frozen=True, eq=False)
class PreconditionedFit:
    """What a preconditioned descent released: public from now on.

    Parameters
    ----------
    coef : ndarray of float64, shape (n_features,)
        In the units of the columns and, for "squared", of the target; for log-odds or the logarithm of a count
        otherwise.
    intercept : float
        0 where the model has none.
    gram : ndarray of float64, shape (layout.width, layout.width)
        The noisy Gram matrix of rows over 2**bits, the target last.
    gram_std : float
        Standard deviation of its noise off the diagonal; sqrt(2) times that on it.
    whitener : Whitener
        What the rows were whitened with.
    step_size : float
        That was taken in whitened coordinates, along the gradient of the mean loss.
    step_stds : tuple of float
        Standard deviation of the noise on an entry of each step's sum, in units of residual times whitened row.
    weights : tuple of float
        What the iterate after every step counts in the result; 1 in all.
    clips : tuple of float
        The clip of every step, in the same units.
    layout : Layout
        The public grid of a row.
    settings : Settings
        How it was found.
    """

    coef: NDArray[np.float64]
    intercept: float
    gram: NDArray[np.float64]
    gram_std: float
    whitener: Whitener
    step_size: float
    step_stds: tuple[float, ...]
    weights: tuple[float, ...]
    clips: tuple[float, ...]
    layout: Layout
    link: Link
    settings: Settings

    def noise_covariance(self, curvature: float = 1.0) -> NDArray[np.float64]:
        """Return the covariance that the steps' noise alone gives (intercept, coef): from public numbers.

        Parameters
        ----------
        curvature : float, default 1
            The mean second derivative of the loss by the margin: 1 for "squared", p (1 - p) or less for "logistic",
            the mean count over its bound for "poisson".

        Returns
        -------
        ndarray of float64, shape (p, p)
            The intercept first where the model has one; in the units of `coef`.

        Notes
        -----
        Exact for a quadratic loss whose Hessian is `curvature` times the released Gram matrix and no row of which is
        clipped: the iterate then follows v <- (1 - eta H) v - eta (gradient + noise) / N, and every eigenvector of the
        Gram matrix on its own. The law of the rows, and what clipping adds, are not in it.
        """
        kept = np.clip(self.whitener.eigenvalues / np.maximum(self.whitener.eigenvalues, self.whitener.floor), 0.0, 1.0)
        decay = 1.0 - self.step_size * curvature * kept
        variances, reached = np.zeros_like(decay), np.zeros_like(decay)
        # A step's noise is in its own iterate, and what is left of it in those that follow.
        for weight, std in zip(reversed(self.weights), reversed(self.step_stds), strict=True):
            reached = weight + decay * reached
            variances += (reached * std) ** 2
        factor = self.step_size / self.settings.n_rows
        root = self.whitener.matrix @ self.whitener.vectors * (np.sqrt(variances) * factor)
        to_user = self._to_user() @ root
        return np.asarray(to_user @ to_user.T)

    def _to_user(self) -> NDArray[np.float64]:
        """Return the matrix that turns the slopes of a margin into (intercept, coef), up to a shift."""
        scale = self.link.to_user(np.ones(1), 0.0)[0][0]
        return np.asarray(margin_coding(self.layout) * scale)


def margin_coding(layout: Layout) -> NDArray[np.float64]:
    """Return the matrix that turns parameters of grid rows over 2**bits into those of rows in the user's units."""
    return np.asarray(np.linalg.inv(layout.user_coding()[:-1, :-1]).T)


# Log odds near an even chance are twice the least squares of labels -1 and 1.
_SCALES = {"squared": 1.0, "logistic": 2.0}


@dataclass(frozen=True)
class PreconditionedPlan:
    """What one preconditioned descent will do; priced without data. Made by `preconditioned_plan`.

    Parameters
    ----------
    layout : Layout
        The public grid of a row, the target last.
    settings : Settings
        The public settings.
    event : PreconditionedEvent
        The noise and its price.
    """

    layout: Layout
    settings: Settings
    event: PreconditionedEvent

    def measure(self, data: PrivateRows) -> GriddedRows:
        """Return the rows on the grid and their Gram matrix: 4 bytes a cell are kept.

        Raises
        ------
        InvalidData
            What the source says of missing cells.
        """
        with one_thread():
            return gridded(data, self.layout)

    def draw(self, statistic: GriddedRows, coins: Coins) -> PreconditionedFit:
        """Return the release; total, whatever the private values are. 8 bytes a cell are used meanwhile."""
        layout, event, settings = self.layout, self.event, self.settings
        gram, std = _noisy_gram(statistic.private_gram, event, layout, coins)
        public = whitener(layout, gram, entry_std=std, n_rows=settings.n_rows)
        link, mean = link_of(layout, event.loss, gram, entry_std=std, n_rows=self._n_counted(gram))
        step_size = settings.step_size / mean
        start = None
        if settings.warm_start and event.loss in _SCALES:
            start = gram_solution(public, gram, n_rows=settings.n_rows, scale=_SCALES[event.loss])
        with one_thread() as threads:
            private_rows = self._whitened(statistic, public, link, threads=threads)
            path = walk(private_rows, event, settings, coins, step_size=step_size, start=start, threads=threads)
        parameters = margin_coding(layout) @ (public.matrix @ path.mean)
        first = int(layout.intercept)
        coef, intercept = link.to_user(parameters[first:], float(parameters[0]) if first else 0.0)
        return PreconditionedFit(
            coef=coef,
            intercept=intercept if first else 0.0,
            gram=gram,
            gram_std=std,
            whitener=public,
            step_size=step_size,
            step_stds=step_stds(event, path.clips),
            weights=tuple(tail_weights(event, settings.first_averaged)),
            clips=path.clips,
            layout=layout,
            link=link,
            settings=settings,
        )

    def _n_counted(self, gram: NDArray[np.float64]) -> int:  # noqa: ARG002  (rows with weights read it)
        """Return over how many rows the mean of a count is taken; public."""
        return self.settings.n_rows

    def _whitened(self, rows: GriddedRows, public: Whitener, link: Link, *, threads: int) -> WhitenedRows:
        return whitened(rows, public, link, clip=self.event.clip, threads=threads)


def _noisy_gram(
    private_gram: NDArray[np.int64], event: PreconditionedEvent, layout: Layout, coins: Coins
) -> tuple[NDArray[np.float64], float]:
    """Return the Gram matrix of rows over 2**bits under noise, and the noise's standard deviation off the diagonal."""
    if event.law == "gaussian":
        std = math.sqrt(event.gram_noise / 2)
        bits = step_bits_for(std)
        noisy = symmetric_gaussian(private_gram, diagonal_variance=event.gram_noise, coins=coins, step_bits=bits)
    else:
        std = math.sqrt((layout.width + 1) / 2) / float(event.gram_noise)
        bits = step_bits_for(std)
        noisy = wishart_difference(private_gram, theta=event.gram_noise, coins=coins, step_bits=bits)
    return np.ldexp(noisy.astype(np.float64), bits - 2 * layout.bits), math.ldexp(std, -2 * layout.bits)


def preconditioned_plan(
    layout: Layout,
    loss: str,
    *,
    budget: Budget,
    adjacency: Adjacency,
    settings: Settings,
    statistic: str | None = None,
) -> PreconditionedPlan:
    """Return the plan of a preconditioned descent that costs at most `budget`.

    Parameters
    ----------
    layout : Layout
        The public grid of a row, the target last: of `tables.arrays.array_layout` or of a `Design` made for one
        formula. Any target grid serves "logistic": its lower bound is label 0, its upper one label 1. The bounds of a
        count begin at 0.
    loss : {"squared", "logistic", "poisson"}
        What is minimized.
    budget : Pure, Approx, Zcdp or Gdp
        What the release may cost. Pure takes Wishart, l2 and Laplace noise, the others Gaussian noise.
    adjacency : Replace or AddRemove
        Which data sets are neighbours.
    settings : Settings
        The public settings.
    statistic : str or None
        What is released, in words.

    Raises
    ------
    IncompatiblePlan
        If a budget in Approx has no delta, or the target's bounds are not the loss's.
    InvalidArgument
        If a setting is out of its range, or the budget too small or too large for 64-bit noise.

    Guarantee
    ---------
    The event's price is exactly the budget in mu or epsilon (that of Approx: the largest mu on its curve, rounded
    down): the shares f, q and the rest of mu**2 (of epsilon) go to the Gram matrix, the counts and the sums, each of
    which costs `step_growth` times what the one before it does. Proof: docs/proofs/preconditioned.md

    Examples
    --------
    >>> from discreet.lattice.grid import Coding, Layout
    >>> from discreet.privacy.adjacency import Replace
    >>> from discreet.privacy.budgets import Zcdp
    >>> layout = Layout(["a", "y"], [Coding.centered(-1, 1)] * 2, intercept=True)
    >>> plan = preconditioned_plan(layout, "squared", budget=Zcdp(rho=0.1), adjacency=Replace(), settings=Settings(
    ...     n_rows=10_000, gram_share=0.15, clip=2.0, n_steps=12, step_size=0.8))
    >>> plan.event.price
    Gdp.from_squared(1/5)
    """
    check_budget(budget)
    if not isinstance(settings, Settings):
        raise InvalidType(f"`settings` must be Settings(...); found {type(settings).__name__}.")
    check_target(layout, _checks.one_of(loss, "loss", LOSSES))
    if isinstance(budget, Approx) and budget.delta == 0:
        raise IncompatiblePlan(
            f"A preconditioned descent has Gaussian noise under {budget!r}, which needs a delta above 0. "
            "Use Pure(epsilon=...)."
        )
    refused = False
    try:
        event = _event(layout, loss, settings, {"budget": budget, "adjacency": adjacency, "statistic": statistic})
    except (InvalidArgument, OverflowError):
        refused = True
    if refused:
        raise InvalidArgument(
            f"`budget` {budget!r} is too small, or too large, for {settings.n_steps} steps of 64-bit noise on "
            f"{layout.width} columns. Choose one nearer to 1, or fewer steps."
        )
    # A library that is too inaccurate for exact noise is refused before a charge, not after it.
    check_library()
    return PreconditionedPlan(layout, settings, event)


def _event(layout: Layout, loss: str, settings: Settings, asked: dict[str, Any]) -> PreconditionedEvent:
    budget, n_steps, p = asked["budget"], settings.n_steps, layout.width - 1
    clip = 1 << clip_bits(settings.n_rows)
    total = budget.epsilon if isinstance(budget, Pure) else _mu_squared(budget)
    of_gram, of_counts = settings.gram_share * total, settings.count_share * total
    of_sums = total - of_gram - of_counts
    of_first = of_sums / steps_in_all(settings.step_growth, n_steps)
    last = settings.step_growth ** (n_steps - 1)  # what the last step costs, over the first
    changed = asked["adjacency"].rows_changed
    if isinstance(budget, Pure):
        nuclear = layout.sensitivity("nuclear", asked["adjacency"])
        gram_noise = check_theta(of_gram / nuclear, layout.width)
        step_noise = of_first / (changed * clip)
        for rate in {step_noise, step_noise * last}:
            check_l2_rate(rate, p)
        count_noise = check_scale(n_steps / of_counts, "scale") if of_counts else Fraction(0)
    else:
        frobenius_squared = layout.sensitivity("frobenius_squared", asked["adjacency"])
        gram_noise = check_variance(frobenius_squared / of_gram, "variance")
        check_variance(gram_noise / 2, "variance")
        step_noise = check_variance((changed * clip) ** 2 / of_first, "variance")
        check_variance(step_noise / last, "variance")
        count_noise = check_variance(n_steps / of_counts, "variance") if of_counts else Fraction(0)
    steps = "1 step" if n_steps == 1 else f"{n_steps} steps"
    words = f"Gram matrix, and {steps} along the gradient of the {loss} loss, {p} parameters"
    return PreconditionedEvent(
        adjacency=asked["adjacency"],
        budget=budget,
        statistic=words if asked["statistic"] is None else asked["statistic"],
        shape=(p,),
        law="pure" if isinstance(budget, Pure) else "gaussian",
        loss=loss,
        row_norm_squared=layout.row_norm_squared,
        gram_noise=gram_noise,
        n_steps=n_steps,
        clip=clip,
        step_noise=step_noise,
        count_noise=count_noise,
        step_growth=settings.step_growth,
    )


def _mu_squared(budget: Any) -> Fraction:
    if isinstance(budget, Gdp):
        return budget.mu_squared
    if isinstance(budget, Zcdp):
        return 2 * budget.rho
    mu: Fraction = gaussian_mu(epsilon=budget.epsilon, delta=budget.delta)
    return mu**2
