"""Public laws that proposals come from: uniform on a box, normal, or a user's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.bounds import Box, Interval
from discreet.sampling.evaluation import public_uniforms, uniforms

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.privacy.coins import Coins


class Base(ABC):
    """A public law of points. It need not be exact: whatever it is, it is the same for all data sets."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """How many numbers a point has."""

    @property
    def n_uniforms(self) -> int:
        """How many uniform numbers a point is made of."""
        return self.dimension

    @abstractmethod
    def place(self, uniform: np.ndarray) -> np.ndarray:
        """Return the points that uniform numbers in (0, 1) stand for, shape (size, dimension)."""

    @property
    def default(self) -> tuple[float, ...]:
        """A public point: what uniform numbers of 1/2 stand for."""
        return tuple(self.place(np.full((1, self.n_uniforms), 0.5))[0].tolist())

    def propose(self, coins: Coins, size: int) -> np.ndarray:
        """Return `size` points."""
        return self.place(uniforms(coins, size, self.n_uniforms))

    def test_points(self) -> np.ndarray:
        """Return the same public points every time."""
        return self.place(public_uniforms(self.n_uniforms))


@dataclass(frozen=True)
class Uniform(Base):
    """Uniform on a box.

    Parameters
    ----------
    bounds : Interval or Box
        The box; an Interval is a line. A Box gives both limits a column.

    Examples
    --------
    >>> Uniform(Box(lower=[0, 0], upper=[1, 4])).default
    (0.5, 2.0)
    """

    bounds: Interval | Box

    def __post_init__(self) -> None:
        limits_of(self.bounds)

    @property
    def dimension(self) -> int:
        """How many numbers a point has."""
        return int(limits_of(self.bounds)[0].size)

    def place(self, uniform: np.ndarray) -> np.ndarray:
        """Return points of the box."""
        lower, upper = limits_of(self.bounds)
        points: np.ndarray = lower + (upper - lower) * uniform
        return points


@dataclass(frozen=True, kw_only=True)
class Normal(Base):
    """Independent normal numbers.

    Parameters
    ----------
    center : float or sequence of float
        Their means.
    spread : float
        Their common standard deviation, above 0.

    Examples
    --------
    >>> Normal(center=[0, 3], spread=1).default
    (0.0, 3.0)
    """

    center: Any
    spread: float

    def __post_init__(self) -> None:
        several = np.iterable(self.center) and not isinstance(self.center, (str, bytes))
        values = list(self.center) if several else [self.center]
        if not values:
            raise InvalidArgument("`center` must have at least one number.")
        object.__setattr__(self, "center", tuple(_checks.finite_float(value, "center") for value in values))
        spread = _checks.finite_float(self.spread, "spread")
        if not spread > 0:
            raise InvalidArgument(f"`spread` must be greater than 0; found {spread}.")
        object.__setattr__(self, "spread", spread)

    @property
    def dimension(self) -> int:
        """How many numbers a point has."""
        return len(self.center)

    def place(self, uniform: np.ndarray) -> np.ndarray:
        """Return normal points."""
        from scipy.special import ndtri

        points: np.ndarray = np.asarray(self.center) + self.spread * ndtri(uniform)
        return points


@dataclass(frozen=True, kw_only=True)
class Custom(Base):
    """A law of a user's own, as a function of uniform numbers.

    Parameters
    ----------
    transform : callable
        Takes uniform numbers in (0, 1), shape (size, n_uniforms), and returns points, shape (size, columns), each from
        its own row; knows nothing of private rows.
    columns : int
        How many numbers a point has.
    width : int, optional
        How many uniform numbers a point is made of; as many as it has numbers, unless said otherwise.

    Raises
    ------
    InvalidArgument
        If it returns another shape, or something that is not finite, for public test numbers.
    """

    transform: Callable[[np.ndarray], Any]
    columns: int
    width: int | None = None

    def __post_init__(self) -> None:
        columns = _checks.integer(self.columns, "columns", low=1)
        width = columns if self.width is None else _checks.integer(self.width, "width", low=1)
        object.__setattr__(self, "width", width)
        if not callable(self.transform):
            raise InvalidType(f"`transform` must be a function; found {type(self.transform).__name__}.")
        points = self.test_points()
        if points.shape != (public_uniforms(width).shape[0], columns) or not np.isfinite(points).all():
            raise InvalidArgument(
                f"`transform` must return {columns} finite numbers a point; its shape is {points.shape}."
            )

    @property
    def dimension(self) -> int:
        """How many numbers a point has."""
        return self.columns

    @property
    def n_uniforms(self) -> int:
        """How many uniform numbers a point is made of."""
        return self.columns if self.width is None else self.width

    def place(self, uniform: np.ndarray) -> np.ndarray:
        """Return the user's points."""
        return np.asarray(self.transform(uniform), np.float64)


def check_base(value: Any, name: str) -> Base:
    """Return `value` if it is a public law."""
    if isinstance(value, Base):
        return value
    raise InvalidType(f"`{name}` must be Uniform, Normal or Custom; found {type(value).__name__}.")


def limits_of(bounds: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper limits as arrays, one entry a coordinate.

    Raises
    ------
    InvalidType, InvalidArgument
        If it is no bounded set, or a Box that does not say how many columns it has.
    """
    if isinstance(bounds, Interval):
        return np.array([bounds.lower]), np.array([bounds.upper])
    if not isinstance(bounds, Box):
        raise InvalidType(
            f"`bounds` must be an Interval or a Box: the domain must be bounded; found {type(bounds).__name__}."
        )
    if bounds.broadcasts:
        raise InvalidArgument("`bounds` must have one limit a coordinate. Write Box(lower=[...], upper=[...]).")
    return np.array(bounds.lower), np.array(bounds.upper)
