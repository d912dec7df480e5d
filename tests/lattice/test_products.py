"""Matrix products are checked at the first use: planted kernels that are not plain exact sums are found and named."""

from __future__ import annotations

import time

import numpy as np
import pytest

import discreet as dp
from discreet.errors import DiscreetError
from discreet.lattice import products
from discreet.lattice.gram import GramSum
from discreet.lattice.grid import Coding, Layout

MATMUL, DOT, EINSUM = np.matmul, np.dot, np.einsum


def strassen(left, right, out=None):
    """Multiply halves by Strassen's seven products, whose differences and sums pass 2**53."""
    found = MATMUL(left, right)
    m, k, n = left.shape[0] // 2, left.shape[1] // 2, right.shape[1] // 2
    if min(m, k, n) >= 16 and not any(size % 2 for size in (*left.shape, right.shape[1])):
        a, b, c, d = left[:m, :k], left[:m, k:], left[m:, :k], left[m:, k:]
        e, f, g, h = right[:k, :n], right[:k, n:], right[k:, :n], right[k:, n:]
        p1, p2, p3, p4 = MATMUL(a, f - h), MATMUL(a + b, h), MATMUL(c + d, e), MATMUL(d, g - e)
        p5, p6, p7 = MATMUL(a + d, e + h), MATMUL(b - d, g + h), MATMUL(a - c, e + f)
        found = np.block([[p5 + p4 - p2 + p6, p1 + p2], [p3 + p4, p1 + p5 - p3 - p7]])
    if out is not None:
        out[:] = found
    return found


def short_digits(left, right, out=None):
    """Multiply doubles of 40 digits, as a product of split numbers without their last part does."""

    def cut(x):
        mantissa, exponent = np.frexp(x)
        return np.ldexp(np.rint(mantissa * 2.0**20), exponent - 20)

    return MATMUL(cut(left), cut(right), out=out)


def wrong_at_an_edge(left, right, out=None):
    """Err by one unit in the last column of widths that are 1 above a multiple of 8."""
    found = MATMUL(left, right, out=out)
    if right.shape[1] % 8 == 1 and right.shape[1] > 100:
        found[-1, -1] += 1.0
    return found


def wrong_within_larger(left, right, out=None):
    """Err where a factor is a part of a larger array."""
    found = MATMUL(left, right, out=out)
    if left.base is not None and left.shape[0] > 8 and left.strides[0] > 8 * left.shape[1]:
        found[0, 0] -= 1.0
    return found


def wrong_if_symmetric(left, right, out=None):
    """Err in the product of a matrix with its own transpose."""
    found = MATMUL(left, right, out=out)
    if left.shape[0] > 30 and np.shares_memory(left, right):
        found[1, 0] += 2.0
    return found


def wrong_vector(left, right, out=None):
    """Err in long products with a vector alone."""
    found = DOT(left, right, out=out)
    if np.ndim(found) == 1 and left.shape[-1] > 1000:
        found = found + 1.0
    return found


def single(*arguments, **named):
    """Add up in single precision."""
    return EINSUM(*arguments, dtype=np.float32, casting="unsafe", **named).astype(np.float64)


def single_dot(left, right, out=None):
    """Take scalar products in single precision."""
    if np.ndim(left) == np.ndim(right) == 1:
        return DOT(left.astype(np.float32), right.astype(np.float32)).astype(np.float64)
    return DOT(left, right, out=out)


PLANTED = [
    ("matmul", strassen), ("matmul", short_digits), ("matmul", wrong_at_an_edge), ("matmul", wrong_within_larger),
    ("matmul", wrong_if_symmetric), ("dot", wrong_vector), ("dot", single_dot), ("einsum", single),
]  # fmt: skip


@pytest.mark.parametrize(("name", "planted"), PLANTED, ids=[planted.__name__ for _, planted in PLANTED])
def test_a_planted_kernel_is_found(monkeypatch, name, planted):
    """Whatever is not exact on some of the shapes, layouts and kinds is named."""
    monkeypatch.setattr(np, name, planted)
    assert products.first_wrong_product().startswith("the ")


def test_a_product_that_is_not_finite_is_found(monkeypatch):
    """NaN where a sum should be."""
    monkeypatch.setattr(np, "matmul", lambda *factors, out=None: np.multiply(MATMUL(*factors), np.nan, out=out))
    assert products.first_wrong_product().startswith("the matrix product")


def test_products_are_exact_here_and_the_check_is_fast():
    """No kernel of this machine is wrong; the check takes little of a processor."""
    assert products.first_wrong_product() is None
    start = time.process_time()
    products.first_wrong_product()
    assert time.process_time() - start < 1.0


def sums_of_a_layout():
    """Begin a sum of blocks."""
    return GramSum(Layout(["a"], [Coding.flag(bits=1)], intercept=True, bits=1))


def sparse_descent():
    """Fit a sparse regression."""
    model = dp.SparseLinearRegression(
        budget=dp.Zcdp(rho=1), sparsity=1, row_norm=1, entry_bound=1, adjacency=dp.Replace(), y_bounds=dp.Interval(0, 1)
    )
    return model.fit(np.zeros((9, 2)), np.zeros(9), ledger=LEDGERS[-1])


def components():
    """Draw a principal component."""
    model = dp.PrivatePCA(budget=dp.Zcdp(rho=1), row_norm=1, adjacency=dp.Replace())
    return model.fit(np.zeros((9, 2)), ledger=LEDGERS[-1])


LEDGERS = []


@pytest.mark.parametrize("use", [sums_of_a_layout, sparse_descent, components], ids=lambda use: use.__name__)
def test_a_wrong_library_is_refused_before_a_charge(monkeypatch, use):
    """The error names the library and what to do, whichever room asks for products first; nothing is spent."""
    LEDGERS.append(dp.Ledger(total=dp.Zcdp(rho=1), adjacency=dp.Replace()))
    monkeypatch.setattr(products, "first_wrong_product", lambda: "the matrix product of shape (2, 3, 4)")
    products.check_products.cache_clear()
    try:
        with pytest.raises(DiscreetError, match=r"does not add up whole numbers.*\(2, 3, 4\).*Install another build"):
            use()
    finally:
        products.check_products.cache_clear()
    assert not LEDGERS.pop().entries


def test_the_library_is_named(monkeypatch):
    """By numpy's own word, or as BLAS where numpy has none."""
    assert products._library() != "BLAS"
    monkeypatch.setattr(np, "show_config", lambda **_: {})
    assert products._library() == "BLAS"
