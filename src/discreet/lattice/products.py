"""Whether matrix products here are plain sums of products: exact for whole numbers below 2**53, as statistics need."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]
    Integers = NDArray[np.int64]

# Rows of the left factor, summed terms, columns of the right one: vectors, narrow blocks of many rows, odd edges of
# every width that a kernel may be unrolled to, and squares beyond a cache's first panels.
_SHAPES = (
    (1, 1, 1),
    (1, 2047, 1),
    (2, 1023, 1),
    (3, 37, 2),
    (5, 1031, 4),
    (7, 2049, 6),
    (9, 3, 17),
    (13, 130, 16),
    (24, 515, 23),
    (25, 300, 25),
    (33, 129, 47),
    (64, 64, 64),
    (67, 129, 41),
    (130, 131, 129),
)
_ODD = 0x9E3779B97F4A7C15


@lru_cache(maxsize=1)
def check_products() -> None:
    """Compare matrix products of whole numbers with integer arithmetic, once a process; it takes milliseconds.

    Raises
    ------
    DiscreetError
        If a product is not exact: sums of private rows could then change by more than their sensitivity.

    Examples
    --------
    >>> check_products()
    """
    wrong = first_wrong_product()
    if wrong is None:
        return
    raise DiscreetError(
        f"{_library()}, the library of numpy's matrix products, does not add up whole numbers below 2**53 exactly on "
        f"this machine: {wrong}. Sums of private rows must be exact. Install another build of numpy, such as the one "
        "of PyPI."
    )


def first_wrong_product() -> str | None:
    """Return the first kind of product, and its shape, that is not exact; None where all are."""
    for rows, terms, columns in _SHAPES:
        # No sum of so many products of so large numbers reaches 2**53, in whatever order.
        most = math.isqrt((2**53 - 1) // terms)
        for same_sign in (False, True):
            left = _numbers(rows, terms, most, 1, same_sign=same_sign)
            right = _numbers(columns, terms, most, 2, same_sign=same_sign)
            with np.errstate(all="ignore"):
                kind = _wrong_kind(left, right)
            if kind is not None:
                return f"{kind} of shape ({rows}, {terms}, {columns})"
    return None


def _wrong_kind(left: Doubles, right: Doubles) -> str | None:
    """Return which product of two matrices of whole numbers is not exact, None where all are."""
    return next((kind for kind, is_exact in _kinds(left, right) if not is_exact), None)


def _kinds(left: Doubles, right: Doubles) -> Iterator[tuple[str, bool]]:
    """Yield the kinds of products that the package calls, and whether each is exact."""
    general, symmetric = np.matmul(left, right.T), np.matmul(left, left.T)
    yield "the matrix product", _is_exact(general, left, right)
    yield "the symmetric product", _is_exact(symmetric, left, left)
    # Both are right, or nobody asks on: all else is compared with them.
    for name, one, other in _layouts(left, right):
        out, vector = np.empty(general.shape), right[0]
        yield f"the matrix product {name}", np.array_equal(np.matmul(one, other.T, out=out), general)
        yield f"the symmetric product {name}", np.array_equal(np.matmul(one, one.T), symmetric)
        yield f"the product with a vector {name}", np.array_equal(np.dot(one, vector), general[:, 0])
        yield f"the vector's product {name}", np.array_equal(np.dot(vector, one.T), general[:, 0])
    yield "the scalar product", np.dot(left[0], right[0]) == general[0, 0]
    yield "the sum of squares", np.array_equal(np.einsum("ij,ij->i", left, left), np.diag(symmetric))


def _layouts(left: Doubles, right: Doubles) -> Iterator[tuple[str, Doubles, Doubles]]:
    """Yield the same matrices as they stand in memory elsewhere: by rows, by columns, within larger arrays."""
    yield "of rows", left, right
    yield "of columns", np.asfortranarray(left), np.asfortranarray(right)
    yield "of parts", _part_of_larger(left), _part_of_larger(right)


def _numbers(rows: int, columns: int, most: int, seed: int, *, same_sign: bool) -> Doubles:
    """Return whole numbers of at most `most` that look random: of both signs, or all close to `most`."""
    places = np.arange(1, rows * columns + 1, dtype=np.uint64) * np.uint64(_ODD) + np.uint64(seed * (_ODD >> 3))
    places ^= places >> np.uint64(29)
    places *= np.uint64(_ODD)
    whole = (places >> np.uint64(33)).astype(np.int64)
    numbers = most - whole % (most // 8 + 1) if same_sign else whole % (2 * most + 1) - most
    return numbers.astype(np.float64).reshape(rows, columns)


def _part_of_larger(matrix: Doubles) -> Doubles:
    """Return the same numbers as a part of a larger array, one column and one row inside."""
    larger = np.zeros((matrix.shape[0] + 2, matrix.shape[1] + 3))
    part = larger[1:-1, 1:-2]
    part[:] = matrix
    return part


def _is_exact(product: Doubles, left: Doubles, right: Doubles) -> bool:
    """Whether a product is that of integers: both are multiplied by one vector, modulo 2**64 (Freivalds)."""
    if not (np.isfinite(product).all() and (np.rint(product) == product).all() and (np.abs(product) < 2.0**53).all()):
        return False
    vector = (np.arange(1, len(right) + 1, dtype=np.uint64) * np.uint64(_ODD) | np.uint64(1)).view(np.int64)
    expected = _times(left, _times(right.T, vector))
    return bool((_times(product, vector) == expected).all())


def _times(matrix: Doubles, vector: Integers) -> Integers:
    """Return a matrix of whole numbers times a vector, in 64-bit integers, which wrap; no library of products."""
    found: Integers = (matrix.astype(np.int64) * vector).sum(axis=1)
    return found


def _library() -> str:
    """Return what numpy says its matrix products come from."""
    try:
        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{blas['name']} {blas['version']}"
    except (KeyError, TypeError):  # another numpy than we know
        return "BLAS"
