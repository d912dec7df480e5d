"""Public fixed-point grids: how one cell becomes an integer, and what is known of a whole row of them.

Every cell is moved to its declared bounds and put on a grid of whole numbers,

    q = floor((clip(x) - center) * scale + 0.5)

in IEEE doubles, one rounding an operation, so that every engine computes the same integer.
All statistics of private rows are exact sums of such integers; what one row can change is therefore
an integer too, and `Layout.sensitivity` states it without any rounding to argue about.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.bounds import check_limits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from discreet.privacy.adjacency import Adjacency

DEFAULT_BITS = 16
# Twenty bits leave blocks of at least 2**13 rows below 53 bits, and sums of 2**23 rows below 63.
LARGEST_BITS = 20
# Cells worked on at a time: a piece that stays in the processor's nearer caches through all passes.
PIECE: Final = 16384
_ZEROS = np.zeros(PIECE)

Norm = Literal["nuclear", "l1", "frobenius_squared"]


def check_bits(bits: Any) -> int:
    """Return `bits`, the fineness of a grid of ``2**bits`` steps a half-width, if it is between 1 and 20."""
    return _checks.integer(bits, "bits", low=1, high=LARGEST_BITS)


@dataclass(frozen=True, slots=True)
class Coding:
    """How one number becomes an integer: ``q = floor((clip(x) - center) * scale + 0.5)`` in IEEE doubles.

    Parameters
    ----------
    lower, upper : float
        Declared public limits in the column's own units; cells outside are moved to the nearer one.
    center : float
        The value, in the column's own units, that becomes 0.
    scale : float
        Grid steps a unit of the column.

    Attributes
    ----------
    lowest, highest : int
        What the two limits become, in grid steps.
    largest : int
        The largest ``|q|`` that any cell can take, in grid steps.

    Raises
    ------
    InvalidArgument
        If the limits are not usable, or so close (or so fine a grid was asked) that doubles cannot tell
        neighbouring grid points apart.

    Notes
    -----
    *Guarantee.* Clipping, subtracting, multiplying by a positive number, adding and `floor` are monotone, also
    after IEEE rounding, so `largest` is found by coding the two limits and holds exactly for every cell.
    Proof: docs/proofs/gram.md.

    Examples
    --------
    >>> coding = Coding.centered(0, 100, bits=4)
    >>> coding.largest, coding.encode([-5.0, 0.0, 50.0, 99.0, 1e300]).tolist()
    (16, [-16.0, -16.0, 0.0, 16.0, 16.0])
    """

    lower: float
    upper: float
    center: float
    scale: float
    lowest: int = field(init=False, repr=False)
    highest: int = field(init=False, repr=False)
    largest: int = field(init=False)

    def __post_init__(self) -> None:
        lower, upper = check_limits(self.lower, self.upper, column="a Coding")
        center = _checks.finite_float(self.center, "center")
        scale = _checks.finite_float(self.scale, "scale")
        if not scale > 0.0:
            raise InvalidArgument(f"`scale` must be greater than 0; found {scale!r}.")
        reach = max(abs(lower), abs(upper), abs(center))
        # A grid step of at least four units in the last place keeps decode and encode inverse to each other.
        if not math.ulp(reach) * scale <= 0.25:
            raise InvalidArgument(
                f"Bounds lower = {lower!r}, upper = {upper!r} are too close for a grid of this fineness: doubles of "
                "that size cannot tell its points apart. Subtract a public constant from the column, widen the "
                "bounds, or lower `bits`."
            )
        extremes = [(limit - center) * scale + 0.5 for limit in (lower, upper)]
        if not max(map(abs, extremes)) <= 2.0**LARGEST_BITS + 1:
            raise InvalidArgument(
                f"`scale` must code the bounds within {LARGEST_BITS} bits; found scale = {scale!r} "
                f"for lower = {lower!r}, upper = {upper!r}."
            )
        _checks.set_fields(self, lower=lower, upper=upper, center=center, scale=scale)
        lowest, highest = map(math.floor, extremes)
        _checks.set_fields(self, lowest=lowest, highest=highest, largest=max(abs(lowest), abs(highest)))

    @classmethod
    def centered(cls, lower: float, upper: float, bits: int = DEFAULT_BITS) -> Coding:
        """Return the coding of ``[lower, upper]`` onto ``[-K, K]``, ``K = 2**bits``."""
        steps = 2 ** check_bits(bits)
        low, high = check_limits(lower, upper, column="a Coding")
        center = (low + high) / 2
        return cls(low, high, center, _steps_per_unit(steps, max(high - center, center - low)))

    @classmethod
    def uncentered(cls, lower: float, upper: float, bits: int = DEFAULT_BITS) -> Coding:
        """Return the coding that keeps 0, for models without intercept: the farther limit becomes ``2**bits``."""
        steps = 2 ** check_bits(bits)
        low, high = check_limits(lower, upper, column="a Coding")
        return cls(low, high, 0.0, _steps_per_unit(steps, max(abs(low), abs(high))))

    @classmethod
    def flag(cls, bits: int = DEFAULT_BITS) -> Coding:
        """Return the coding of 0 and 1 as ``-K/2`` and ``K/2``: a quarter of an indicator's squared norm."""
        return cls(0.0, 1.0, 0.5, float(2 ** check_bits(bits)))

    @classmethod
    def dummy(cls, n_dummies: int, /, bits: int = DEFAULT_BITS) -> Coding:
        """Return the coding of 0 and 1 as ``-r`` and ``K - r`` with ``r = round(K / n_dummies)``.

        `n_dummies` is the number of drop-first dummy columns of the category (its levels less the reference).
        A row then has a squared norm of at most ``(1 - 1/n_dummies) * K**2`` over the whole category, up to rounding.
        """
        steps = 2 ** check_bits(bits)
        count = _checks.integer(n_dummies, "n_dummies", low=1)
        return cls(0.0, 1.0, ((2 * steps + count) // (2 * count)) / steps, float(steps))

    @classmethod
    def indicator(cls, bits: int = DEFAULT_BITS) -> Coding:
        """Return the coding of 0 and 1 as 0 and ``K = 2**bits``: for models without intercept."""
        return cls(0.0, 1.0, 0.0, float(2 ** check_bits(bits)))

    def encode(self, values: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the grid points of `values` as whole numbers in float64.

        Parameters
        ----------
        values : array-like of real numbers, any shape
            Cells in the column's own units.
            NaN stays NaN; an infinity is clipped, so whoever counts it as missing looks before.
        out : ndarray of float64, optional
            Where the result is written; may be `values` itself.
        """
        raw = np.asarray(values, dtype=np.float64)
        result = np.empty_like(raw) if out is None else out
        with np.errstate(all="ignore"):
            if raw.ndim != 1:
                return quantize(raw, self.center, self.scale, self.lowest, self.highest, out=result)
            for start in range(0, raw.size, PIECE):
                piece = slice(start, start + PIECE)
                quantize(raw[piece], self.center, self.scale, self.lowest, self.highest, out=result[piece])
        return result

    def decode(self, points: ArrayLike) -> NDArray[np.float64]:
        """Return the values, in the column's own units, that the grid `points` stand for."""
        return np.asarray(self.center + np.asarray(points, dtype=np.float64) / self.scale)

    def to_json(self) -> dict[str, float]:
        """Return the coding as a JSON object; floats are written by their shortest decimal form."""
        return {"lower": self.lower, "upper": self.upper, "center": self.center, "scale": self.scale}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Coding:
        """Return the coding that `to_json` wrote."""
        _check_keys(value, ("lower", "upper", "center", "scale"), "coding")
        return cls(**value)


@dataclass(frozen=True, slots=True, init=False)
class Layout:
    """The public grid of a whole row ``v``: its columns, their codings, and the exact bounds of what a row can be.

    With an intercept, grid column 0 is the constant ``K = 2**bits``.

    Parameters
    ----------
    names : sequence of str
        Names of the columns other than the intercept, in order, distinct.
    codings : sequence of Coding
        One a name.
        Without an intercept every coding must keep 0 at 0, since no constant could undo a center.
    intercept : bool
        Whether grid column 0 is the constant.
    bits : int
        Fineness; ``K = 2**bits``.
    row_norm_squared : int, optional
        Exact bound of ``|v|**2`` in squared grid steps, where the maker knows a better one than the default,
        the sum of the squared entry bounds (for instance because one record has one level of a category).

    Raises
    ------
    InvalidArgument
        If names and codings do not fit together, or `row_norm_squared` is impossible.

    Notes
    -----
    *Guarantee.* `sensitivity` bounds, as an exact integer, what one record changes in the Gram matrix ``sum v v'``.
    Proof: docs/proofs/gram.md.

    Examples
    --------
    >>> layout = Layout(["age"], [Coding.centered(17, 90)], intercept=True)
    >>> layout.width, layout.entry_bounds, layout.row_norm_squared == 2 * 65536**2
    (2, (65536, 65536), True)
    """

    names: tuple[str, ...]
    codings: tuple[Coding, ...]
    intercept: bool
    bits: int
    row_norm_squared: int

    def __init__(
        self,
        names: Sequence[str],
        codings: Sequence[Coding],
        intercept: bool,  # noqa: FBT001  (a field of the declaration; written by keyword)
        bits: int = DEFAULT_BITS,
        row_norm_squared: int | None = None,
    ) -> None:
        object.__setattr__(self, "names", _check_names(names))
        object.__setattr__(self, "codings", _check_codings(codings))
        object.__setattr__(self, "intercept", _checks.boolean(intercept, "intercept"))
        object.__setattr__(self, "bits", check_bits(bits))
        self._check_fit()
        most = sum(bound**2 for bound in self.entry_bounds)
        least = 4**self.bits if self.intercept else 1
        squared = most if row_norm_squared is None else _checks.integer(row_norm_squared, "row_norm_squared", low=1)
        if not least <= squared <= most:
            raise InvalidArgument(
                f"`row_norm_squared` must be between {least} and {most} for these codings; found {squared}."
            )
        object.__setattr__(self, "row_norm_squared", squared)

    def _check_fit(self) -> None:
        if len(self.codings) != len(self.names):
            raise InvalidArgument(
                f"`codings` must have one entry a name; found {len(self.codings)} for {len(self.names)} names."
            )
        if not self.codings:
            raise InvalidArgument("A Layout needs at least one column besides the intercept; found none.")
        if not self.intercept:
            for name, coding in zip(self.names, self.codings, strict=True):
                if coding.center != 0.0:
                    raise InvalidArgument(
                        f"Column {name} is coded around center = {coding.center!r}, which needs an intercept. "
                        "Use Coding.uncentered or Coding.indicator without one."
                    )

    @property
    def width(self) -> int:
        """Number of grid columns, the intercept counted."""
        return len(self.codings) + self.intercept

    @property
    def entry_bounds(self) -> tuple[int, ...]:
        """Largest ``|v_i|`` of every grid column, in grid steps, shape (width,)."""
        constant = (2**self.bits,) if self.intercept else ()
        return constant + tuple(coding.largest for coding in self.codings)

    @property
    def l1_bound(self) -> int:
        """What one record changes in the distinct entries of the Gram matrix, summed: ``(L**2 + sum M_i**2) / 2``."""
        bounds = self.entry_bounds
        return (sum(bounds) ** 2 + sum(bound**2 for bound in bounds)) // 2

    def sensitivity(self, norm: Norm, adjacency: Adjacency) -> int:
        """Return the largest change of the Gram matrix between neighbours, in squared grid steps.

        Parameters
        ----------
        norm : {"nuclear", "l1", "frobenius_squared"}
            Nuclear norm; sum over the distinct entries (each pair ``i <= j`` once); square of the Frobenius norm.
        adjacency : Replace or AddRemove
            Which data sets are neighbours; of a unit, what one of its rows changes.

        Returns
        -------
        int
            Exact; the l1 bound is the same under both adjacencies.

        Notes
        -----
        *Guarantee.* With ``R2 = row_norm_squared`` and entry bounds ``M``: nuclear ``R2`` (AddRemove) or ``2 * R2``
        (Replace); l1 ``(L**2 + sum M_i**2) / 2``, ``L = sum M_i``; Frobenius squared ``R2**2`` or ``2 * R2**2``.
        Proof: docs/proofs/gram.md.

        Examples
        --------
        >>> from discreet.privacy.adjacency import Replace
        >>> Layout(["z"], [Coding.flag(bits=1)], intercept=True, bits=1).sensitivity("nuclear", Replace())
        10
        """
        asked = _checks.one_of(norm, "norm", ("nuclear", "l1", "frobenius_squared"))
        if asked == "l1":
            return self.l1_bound
        # Squared Frobenius norms add up as well: two rows' Gram matrices are at most sqrt(2) R2 apart.
        return adjacency.rows_changed * (self.row_norm_squared if asked == "nuclear" else self.row_norm_squared**2)

    def user_coding(self) -> NDArray[np.float64]:
        """Return the matrix ``A``, shape (width, width), with ``(1, z_1, ...) = A @ (v / K)``.

        ``z`` are the columns in their own units, ``v / K`` the grid row over ``K = 2**bits``.
        Without an intercept the first row and column are absent.
        """
        steps = 2.0**self.bits
        matrix = np.diag([1.0] * self.intercept + [steps / coding.scale for coding in self.codings])
        if self.intercept:
            matrix[1:, 0] = [coding.center for coding in self.codings]
        return matrix

    def to_json(self) -> dict[str, Any]:
        """Return the layout as a JSON object."""
        squared = self.row_norm_squared
        return {
            "names": list(self.names),
            "codings": [coding.to_json() for coding in self.codings],
            "intercept": self.intercept,
            "bits": self.bits,
            "row_norm_squared": squared if squared <= 2**53 else str(squared),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Layout:
        """Return the layout that `to_json` wrote."""
        _check_keys(value, ("names", "codings", "intercept", "bits", "row_norm_squared"), "layout")
        for name in ("names", "codings"):
            if not isinstance(value[name], list):
                raise InvalidArgument(f"`{name}` of a layout in JSON must be a list.")
        squared = value["row_norm_squared"]
        if isinstance(squared, str) and squared.isdecimal() and len(squared) <= 40:
            squared = int(squared)
        return cls(
            names=value["names"],
            codings=[Coding.from_json(coding) for coding in value["codings"]],
            intercept=value["intercept"],
            bits=value["bits"],
            # An absent bound is no default here: a file says everything.
            row_norm_squared=_checks.integer(squared, "row_norm_squared", low=1),
        )


def _steps_per_unit(steps: int, half_width: float) -> float:
    scale = steps / half_width if half_width > 0.0 else math.inf
    if math.isfinite(scale):
        return scale
    raise InvalidArgument(
        "The bounds are too close to each other for a fixed-point grid: one step is not representable. "
        "Declare wider bounds, or measure the column in a smaller unit."
    )


def _check_names(names: Sequence[str]) -> tuple[str, ...]:
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise InvalidType("`names` must be a list or tuple of column names; found something else.")
    if len(set(names)) != len(names):
        raise InvalidArgument("`names` must be distinct; one of them stands twice.")
    return tuple(names)


def _check_codings(codings: Sequence[Coding]) -> tuple[Coding, ...]:
    if not isinstance(codings, (list, tuple)) or not all(isinstance(coding, Coding) for coding in codings):
        raise InvalidType("`codings` must be a list or tuple with a Coding a column; found something else.")
    return tuple(codings)


def _check_keys(value: Mapping[str, Any], keys: tuple[str, ...], what: str) -> None:
    if not isinstance(value, dict) or set(value) != set(keys):
        raise InvalidArgument(f"A {what} in JSON must have exactly the fields {', '.join(keys)}.")


def quantize(
    raw: NDArray[np.float64],
    center: float | NDArray[np.float64],
    scale: float | NDArray[np.float64],
    lowest: float | NDArray[np.float64],
    highest: float | NDArray[np.float64],
    *,
    out: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Write ``floor((clip(raw) - center) * scale + 0.5)`` to `out`, one rounding an operation, and return it.

    The clip comes last, to the codes `lowest` and `highest` of the two limits.
    Every step is monotone also after rounding, so a cell beyond a limit has a code beyond the limit's code,
    and a cell between the limits is not moved: the result is bit for bit that of clipping first,
    and limits that many columns share, such as -K and K, cost one pass less than limits in their own units.
    Infinities on the way (a huge cell times a large scale) are clipped like any other; NaN stays NaN.
    The caller has turned floating-point warnings off, since a private value must not cause one.
    """
    if isinstance(center, float) and center == 0.0:  # taking 0 away changes no double, not even -0
        np.multiply(raw, scale, out=out)
    else:
        np.subtract(raw, center, out=out)
        np.multiply(out, scale, out=out)
    np.add(out, 0.5, out=out)
    np.floor(out, out=out)
    if isinstance(lowest, np.ndarray) or isinstance(highest, np.ndarray):
        # With arrays of limits `clip` is three times slower than these two.
        np.maximum(out, lowest, out=out)
        return np.minimum(out, highest, out=out)
    return np.clip(out, lowest, highest, out=out)


def all_finite(values: NDArray[np.float64]) -> bool:
    """Return whether no cell of `values`, shape (n,), is NaN or infinite, in one cheap pass.

    A finite cell times 0 is 0, anything else times 0 is NaN, and NaN stays in every later sum:
    the inner product with zeros is 0 exactly where all cells are finite, in whatever order it is added.
    """
    with np.errstate(invalid="ignore"):
        for start in range(0, values.size, PIECE):
            piece = values[start : start + PIECE]
            if np.dot(piece, _ZEROS[: piece.size]) != 0.0:  # true for NaN
                return False
    return True
