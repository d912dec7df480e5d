"""The K-norm gradient targets by name, the mean among them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidData, InvalidType
from discreet.lattice.bounds import Interval
from discreet.privacy.adjacency import Adjacency, Replace
from discreet.sampling.k_norm.gradient import GradientTarget
from discreet.sampling.k_norm.losses import HuberGradientLoss, LogCoshGradientLoss, LogisticGradientLoss
from discreet.sampling.k_norm.rows import NormedRows
from discreet.sampling.pca.second_moments import UnitGrid, check_cells
from discreet.sampling.quantiles.quantiles import QuantileTarget
from discreet.sampling.targets.displacements import KNormDisplacements
from discreet.sampling.targets.location_envelopes import Location, LocationProposer, PublicGrid
from discreet.sampling.targets.targets import Points, ScaledTarget, Target
from discreet.tables.cells.given_cells import matrix_of_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray


LOSSES = ("log_cosh", "huber")
# Points are published on a grid of so many steps a unit displacement, at least.
_STEPS = 2**12


@dataclass(frozen=True, kw_only=True)
class MeanTarget(Target):
    """A mean: density proportional to ``exp(-scale * |n theta - sum of rows| / row_norm)``, which is l2 K-norm noise.

    Parameters
    ----------
    n_columns : int
        Columns of the rows.
    row_norm : float
        Rows, less `center`, are scaled down to this Euclidean norm.
    center : sequence of float, optional
        A public point; default 0.

    Examples
    --------
    >>> MeanTarget(n_columns=3, row_norm=1.0).sensitivity(Replace())
    Fraction(2, 1)
    """

    n_columns: int
    row_norm: float
    center: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_columns", _checks.integer(self.n_columns, "n_columns", low=1))
        if self.center is not None:
            object.__setattr__(self, "center", tuple(_checks.finite_float(value, "center") for value in self.center))
        object.__setattr__(self, "row_norm", self.grid.row_norm)

    @property
    def grid(self) -> UnitGrid:
        """The public grid of a row."""
        return UnitGrid(self.n_columns, self.row_norm, self.center)

    @property
    def name(self) -> str:
        """What is drawn."""
        return f"K-norm gradient, mean of {self.n_columns} columns, rows of norm at most {self.row_norm!r}"

    @property
    def dimension(self) -> int:
        """How many numbers a mean has."""
        return self.n_columns

    def sensitivity(self, adjacency: Adjacency) -> Fraction:
        """Return 2 under Replace: the sum moves by two rows at most.

        Raises
        ------
        IncompatiblePlan
            Under AddRemove: a record adds ``theta - row``, which has no bound.
        """
        if isinstance(adjacency, Replace):
            return Fraction(adjacency.rows_changed)
        raise IncompatiblePlan(
            "The gradient of a mean has no bounded change under AddRemove(), as theta is not bounded. Declare "
            "Replace() if the number of rows is public, or release sums with noise."
        )

    def normalizer_change(self, adjacency: Adjacency) -> Fraction:
        """Return 0: another data set moves the density and does nothing else."""
        del adjacency
        return Fraction(0)

    def count(self, data: Any) -> int:
        """Return the number of rows."""
        return int(self._matrix(data).shape[0])

    def prepare(self, data: Any) -> NDArray[np.int64]:
        """Return the exact sum of the rows, less the center, in grid units; rows of shape (n_rows, n_columns)."""
        matrix, grid = self._matrix(data), self.grid
        check_cells(matrix, [f"x{j}" for j in range(self.n_columns)], grid)
        total = np.zeros(self.n_columns, np.int64)
        for start in range(0, matrix.shape[0], 1 << 18):
            block = np.array(matrix[start : start + (1 << 18)], dtype=np.float64)
            total += grid.encode(block).sum(axis=0).astype(np.int64)
        return total

    def at(self, scale: Fraction, n_rows: int | None) -> ScaledMean:
        """Return the target at a public scale."""
        if n_rows is None or n_rows < 1:
            raise IncompatiblePlan("A mean needs a public number of rows, at least one. Declare Replace().")
        norm = Fraction(self.row_norm)
        spread = norm / (scale * n_rows)
        step = Fraction(1)
        while step * _STEPS > spread:
            step /= 2
        while step * _STEPS * 2 <= spread:
            step *= 2
        center = [Fraction(value) for value in self.center or (0.0,) * self.n_columns]
        return ScaledMean(
            dimension=self.n_columns,
            acceptance=Fraction(1),
            common_envelope=False,
            floor=-np.inf,
            default=tuple(map(float, center)),
            normalizer_error=Fraction(0),
            center=tuple(center),
            unit=norm / (n_rows * 2**self.grid.bits),
            spread=spread / step,
            step=step,
        )

    def _matrix(self, data: Any) -> NDArray[Any]:
        matrix = matrix_of_numbers(data, "data")
        matrix = matrix[:, None] if matrix.ndim == 1 else matrix
        if matrix.ndim != 2 or matrix.shape[1] != self.n_columns:
            raise InvalidData(
                f"Expected rows of {self.n_columns} columns, a 2D array. Declare `n_columns` as they are."
            )
        return matrix


@dataclass(frozen=True, kw_only=True)
class ScaledMean(ScaledTarget):
    """A mean at one public scale.

    Parameters
    ----------
    center : tuple of Fraction
        The public center.
    unit : Fraction
        What a grid unit of the sum adds to the mean.
    spread : Fraction
        Length of a unit displacement, in steps.
    step : Fraction
        Of the grid of means.
    """

    center: tuple[Fraction, ...]
    unit: Fraction
    spread: Fraction
    step: Fraction

    def begin(self, prepared: NDArray[np.int64]) -> MeanProposer:
        """Return who proposes around the exact mean."""
        center = [(c + int(s) * self.unit) / self.step for c, s in zip(self.center, prepared, strict=True)]
        return MeanProposer(Location(center, self.spread, PublicGrid(self.step, None)), self.dimension)


class MeanProposer(LocationProposer):
    """Proposes the target itself: everything is accepted."""

    def __init__(self, location: Location, dimension: int) -> None:
        super().__init__(KNormDisplacements, dimension)
        self._location = location

    def log_ratio(self, points: Points) -> NDArray[np.float64]:
        """Return 0."""
        return np.zeros(points.values.shape[0])


class KNormGradient:
    """K-norm gradient targets by name, for `sample`.

    Data are rows for a mean, and a pair (X, y) for the regressions. Parameters of a regression are those of rows in
    units of `row_norm`: divided by it they are coefficients.

    Source: Reimherr and Awan 2019, KNG: the K-norm gradient mechanism.

    Examples
    --------
    >>> KNormGradient.linear(n_columns=2, row_norm=3.0, y_bounds=(-1, 1), clip=0.5, ridge=100).name
    'K-norm gradient, log_cosh loss, 2 parameters, ridge 100'
    """

    @staticmethod
    def mean(*, n_columns: int, row_norm: float, center: Any = None) -> MeanTarget:
        """Return the mean of rows within a norm."""
        return MeanTarget(n_columns=n_columns, row_norm=row_norm, center=center)

    @staticmethod
    def quantile(q: Any, *, bounds: Interval, step: Any = None) -> QuantileTarget:
        """Return the quantile of numbers; drawn with fixed work."""
        return QuantileTarget(q=q, bounds=bounds, step=step)

    @staticmethod
    def logistic(*, n_columns: int, row_norm: float, ridge: Any, constant: Any = 0) -> GradientTarget:
        """Return logistic regression on labels 0 and 1, with a constant column of that value where it is not 0."""
        reader = NormedRows(grid=UnitGrid(n_columns, row_norm), bounds=(0.0, 1.0), constant=constant)
        return GradientTarget(loss=LogisticGradientLoss(), reader=reader, ridge=ridge)

    @staticmethod
    def linear(
        *,
        n_columns: int,
        row_norm: float,
        y_bounds: Interval | tuple[float, float],
        clip: float,
        ridge: Any,
        loss: str = "log_cosh",
        constant: Any = 0,
    ) -> GradientTarget:
        """Return linear regression with residuals clipped to `clip`: smoothly ("log_cosh"), or as Huber's ("huber")."""
        kind = LogCoshGradientLoss if _checks.one_of(loss, "loss", LOSSES) == "log_cosh" else HuberGradientLoss
        interval = Interval(*y_bounds) if isinstance(y_bounds, tuple) and len(y_bounds) == 2 else y_bounds
        if not isinstance(interval, Interval):
            raise InvalidType(f"`y_bounds` must be an Interval(lower, upper); found {type(y_bounds).__name__}.")
        bounds = interval.lower, interval.upper
        reader = NormedRows(grid=UnitGrid(n_columns, row_norm), bounds=bounds, constant=constant)
        return GradientTarget(loss=kind(clip=clip), reader=reader, ridge=ridge)
