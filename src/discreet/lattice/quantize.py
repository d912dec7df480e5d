"""The two inner loops over private cells: quantise them, and see whether all are finite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Cells worked on at a time: a piece that stays in the processor's nearer caches through all passes.
PIECE: Final = 16384
_ZEROS = np.zeros(PIECE)


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
