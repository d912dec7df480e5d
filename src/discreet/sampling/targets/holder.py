"""Utilities that a user declares on a box with a public modulus, and the discretized exponential mechanism.

Proof: docs/proofs/holder.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.noise.race import race
from discreet.sampling.evaluation import (
    check_below,
    evaluate,
    public_uniforms,
)
from discreet.sampling.grids import ROUNDING, Cells, GridTarget, Heights, Modulus, check_grid
from discreet.sampling.targets.bases import limits_of
from discreet.sampling.targets.own_utilities import OwnUtility
from discreet.sampling.targets.targets import BELIEVED, FLOOR, ExactTarget

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.lattice.bounds import Box, Interval
    from discreet.lattice.noise.box_muller import Limits
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.coins import Coins


@dataclass(frozen=True, kw_only=True, eq=False)
class LogHoelder(OwnUtility, GridTarget):
    """A utility on a box of at most three dimensions with ``|u(x) - u(y)| <= constant * distance**exponent``.

    Distances are in parts of the box: the largest difference of a coordinate over its side.

    Parameters
    ----------
    utility : callable
        Takes points, shape (size, dimension), and rows, shape (n_rows, n_columns); returns one number a point. A
        number that is not finite counts as the lowest there is, which no modulus allows: it must be finite for every
        data set.
    bounds : Interval or Box
        Where points lie; a Box has both limits for every coordinate.
    constant : number
        The modulus' constant, for every data set. It may grow with the number of rows, which is then public.
    exponent : number, default 1
        In (0, 1]; 1 is a Lipschitz bound.
    change : number
        The most by which the utility of a point changes when a record is added, removed or replaced.
    error : number, default 0
        By how much an evaluation may be off; 0 if the bounds hold for what is computed.
    example : array-like
        Public rows with the columns of the data, on which the declaration is tried.
    per_side : int, optional
        Cells a side of the grid; None takes the least work that is known.

    Raises
    ------
    InvalidArgument
        If the box has too many dimensions, or the declaration is violated at public test points.

    Guarantee
    ---------
    Drawn by :func:`sample` the density is proportional to ``exp(scale * u)``, exactly, on a public grid of 2**30
    points a cell and side, where it is more than exp(-700) of the largest at a center. Proposals are accepted with
    probability at least ``exp(-2 scale H r**s)`` whatever the data. Privacy holds as far as `constant`, `exponent`,
    `change` and `error` are true. Proof: docs/proofs/holder.md
    Source: Awan and Rao 2023 have a sampler for log-Hoelder densities; this one is a reconstruction.

    Examples
    --------
    >>> from discreet.lattice.bounds import Interval
    >>> from discreet.privacy.adjacency import Replace
    >>> from discreet.privacy.budgets import Pure
    >>> from discreet.sampling.mechanisms import sample
    >>> def utility(points, rows):
    ...     return -np.sqrt(np.abs(points - rows.T)).sum(axis=1)
    >>> target = LogHoelder(utility=utility, bounds=Interval(0, 1), constant=50, exponent="1/2", change=1,
    ...                     example=np.zeros((50, 1)))
    >>> drawn = sample(target, np.full(50, 0.25), budget=Pure(epsilon=1), adjacency=Replace())
    >>> drawn.value.point.shape
    (1,)
    """

    bounds: Interval | Box
    constant: Any
    exponent: Any = Fraction(1)
    error: Any = 0
    per_side: int | None = None

    def __post_init__(self) -> None:
        check_grid(self.bounds, self.per_side, "LogHoelder")
        _checks.check_fields(self, _checks.exact_positive, "constant", "exponent")
        if not self.exponent <= 1:
            raise InvalidArgument(
                f"`exponent` must satisfy 0 < exponent <= 1; found {self.exponent}. Beyond 1 only constants qualify."
            )
        _checks.check_fields(self, _checks.exact_nonnegative, "error")
        self._read_change()
        self._check_on_example()

    def _check_on_example(self) -> None:
        parts = public_uniforms(self.dimension)
        # Far and near pairs: a modulus is violated at short distances as often as at long ones.
        near = parts[::-1] + (parts - parts[::-1]) * 2.0 ** -(np.arange(parts.shape[0]) % 40)[:, None]
        lower, upper = limits_of(self.bounds)
        pairs = np.vstack([parts, parts[::-1], near])
        values = self._tried(lower + (upper - lower) * pairs)
        one, other, nearby = np.split(values, 3)
        for rises, distances in (
            (one - other, np.abs(parts - parts[::-1]).max(axis=1)),
            (nearby - other, np.abs(near - parts[::-1]).max(axis=1)),
        ):
            allowed = float(self.constant) * distances ** float(self.exponent) + 2 * float(self.error)
            check_below(np.abs(rises), allowed, "`utility` changes more than `constant` and `exponent` allow")

    @property
    def name(self) -> str:
        """What is drawn."""
        return f"log-Hoelder utility in {self.dimension} dimensions"

    @property
    def notes(self) -> tuple[str, ...]:
        """Change and modulus are believed."""
        return (BELIEVED.format("sensitivity and modulus"),)

    def modulus(self, n_rows: int | None) -> Modulus:
        """Return the declared modulus."""
        del n_rows  # it holds for every data set
        return Modulus(constant=self.constant, exponent=self.exponent, error=self.error)

    def evaluate(self, prepared: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the user's function, NaN where it fails."""
        return evaluate(self.utility, points, prepared)


@dataclass(frozen=True, kw_only=True, eq=False)
class Discretized(ExactTarget):
    """The discretized exponential mechanism: one cell by the utility at its center, then a uniform point within it.

    The competitor of rejection from the same grid: its work is fixed and smaller, and its density is off by factors
    of at most ``exp(+-2 scale H r**s)``. It needs no modulus for privacy, only for accuracy.

    Parameters
    ----------
    target : GridTarget
        Where the utility comes from.
    per_side : int
        Cells a side.
    n_rows : int or None
        The public number of rows, if the target's modulus needs it; only its evaluation error is used.

    Guarantee
    ---------
    The exponential mechanism over cells, exactly. Proof: docs/proofs/holder.md
    Source: McSherry and Talwar 2007.

    Examples
    --------
    >>> from discreet.lattice.bounds import Interval
    >>> from discreet.privacy.adjacency import Replace
    >>> from discreet.privacy.budgets import Pure
    >>> from discreet.sampling.mechanisms import sample
    >>> def utility(points, rows):
    ...     return -np.abs(points - rows.T).sum(axis=1)
    >>> smooth = LogHoelder(utility=utility, bounds=Interval(0, 1), constant=400, change=1, example=np.zeros((400, 1)))
    >>> target = Discretized(target=smooth, per_side=100)
    >>> drawn = sample(target, np.full(400, 0.25), budget=Pure(epsilon=1), adjacency=Replace())
    >>> bool(abs(drawn.value.point[0] - 0.25) < 0.2)
    True
    """

    target: GridTarget
    per_side: int
    n_rows: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.target, GridTarget):
            raise InvalidType(f"`target` must be a target with a grid; found {type(self.target).__name__}.")
        if self.per_side is None:
            raise InvalidArgument("`per_side` must say how many cells a side the grid has.")
        check_grid(self.target.bounds, self.per_side, "Discretized")
        if self.n_rows is not None:
            _checks.check_fields(self, _checks.whole, "n_rows", low=1)

    @property
    def name(self) -> str:
        """What is drawn."""
        return f"{self.target.name}, discretized to {self.per_side} cells a side"

    @property
    def dimension(self) -> int:
        """Sides of the box."""
        return self.target.dimension

    @property
    def n_candidates(self) -> int:
        """How many cells there are."""
        return int(self.per_side**self.dimension)

    def sensitivity(self, adjacency: Adjacency) -> Fraction:
        """Return the target's, and twice its evaluation error."""
        return self.target.sensitivity(adjacency) + 2 * self.target.modulus(self.n_rows).error

    @property
    def notes(self) -> tuple[str, ...]:
        """The target's."""
        return self.target.notes

    def count(self, data: Any) -> int:
        """Return the number of rows."""
        return self.target.count(data)

    def prepare(self, data: Any) -> Any:
        """Return the target's prepared rows."""
        return self.target.prepare(data)

    def choose(self, prepared: Any, scale: Fraction, coins: Coins, n_draws: int) -> NDArray[np.float64]:
        """Return `n_draws` independent points."""
        cells = Cells(self.target.bounds, self.per_side)
        words = coins.words(n_draws * self.dimension).reshape(n_draws, self.dimension)
        with np.errstate(all="ignore"):
            values = self.target.evaluate(prepared, cells.centers())
            heights = Heights(values, scale)
            chosen = race(
                heights.of(values),
                radius=float(ROUNDING),
                largest=-FLOOR,
                limits=partial(_limits, values, heights.top, scale),
                size=n_draws,
                coins=coins,
            )
        return cells.within(chosen, words, coins.word_bits)


def _limits(values: NDArray[np.float64], top: float, scale: Fraction, index: int, level: int) -> Limits:
    """Return the exact log weight of a cell, whatever the level."""
    del level
    value = float(values[index])
    height = Fraction(FLOOR)
    if np.isfinite(value):
        height = max(scale * (Fraction(value) - Fraction(top)), height)
    return height, height
