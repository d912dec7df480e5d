"""Keeping the largest entries of a public vector: post-processing of what was released."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def keep_largest(vector: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the vector with all but its `size` largest entries set to 0; of equal ones the first stay.

    This is H_s of Wang and Gu 2019, equation 4.1.

    Examples
    --------
    >>> keep_largest(np.array([1.0, -3.0, 2.0, 2.0]), 2).tolist()
    [0.0, -3.0, 2.0, 0.0]
    """
    sizes = np.abs(vector)
    # Without the zeros, of which a thresholded vector has so many that a partition is slow.
    present = sizes[sizes > 0]
    if present.size <= size:
        return vector.copy()
    edge = np.partition(present, present.size - size)[present.size - size] if size else np.inf
    kept = np.where(sizes > edge, vector, 0.0)
    ties = np.flatnonzero(sizes == edge)[: size - int(np.count_nonzero(kept))]
    kept[ties] = vector[ties]
    return kept
