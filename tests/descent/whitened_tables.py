"""Small tables on a grid, and what their whitened sums are in Python's own integers."""

import math
from fractions import Fraction

import numpy as np

from discreet.descent.preconditioned.links import link_of
from discreet.descent.preconditioned.rows import gridded, whitened, whole_iterate
from discreet.descent.preconditioned.whitening import whitener
from discreet.lattice.grid import Coding, Layout


class Blocks:
    """Grid rows, given outright."""

    def __init__(self, rows, width):
        self.array = np.array(rows, dtype=float).reshape(-1, width).T

    def blocks(self, layout):
        """Yield them; none is dropped."""
        if self.array.size:
            yield self.array, None


def small_layout(width, *, intercept, bits=4, target=(-1.0, 1.0)):
    """Return a layout of `width` feature columns, the constant counted, and a target."""
    make = Coding.centered if intercept else Coding.uncentered
    codings = [make(-1.0, 1.0, bits)] * (width - intercept) + [make(*target, bits)]
    names = [f"x{j}" for j in range(len(codings) - 1)] + ["y"]
    return Layout(names, codings, intercept=intercept, bits=bits)


def prepared(rows, layout, loss="squared", *, gram=None, std=0.01, n_rows=100, clip=1 << 38, block_rows=None):
    """Return whitened rows of a table, whitened by a public matrix that stands for a release."""
    released = np.eye(layout.width) * n_rows if gram is None else gram
    on_grid = gridded(Blocks(rows, layout.width), layout, block_rows=block_rows)
    matrix = whitener(layout, released, entry_std=std, n_rows=n_rows)
    link, _ = link_of(layout, loss, released, entry_std=std, n_rows=n_rows)
    return whitened(on_grid, matrix, link, clip=clip), matrix


def reference(rows, layout, matrix, link, iterate, residual_unit, clip):
    """Return sums and count by Python's integers, and residuals by the link, one record at a time."""
    whole, worth = whole_iterate(np.asarray(iterate, dtype=float))
    w, p = [int(v) for v in whole], layout.width - 1
    W = [[int(entry) for entry in row] for row in matrix.whole]
    total, count = [0] * p, 0
    for row in rows:
        q = [int(v) for v in row]
        x = [_nearest(Fraction(sum(a * b for a, b in zip(line, q[:p], strict=True)), 1 << matrix.shift)) for line in W]
        margin = Fraction(sum(a * b for a, b in zip(w, x, strict=True))) * Fraction(worth) * Fraction(matrix.unit)
        mean = np.array([float(margin * Fraction(link.per_unit))])
        link.means(mean, np.empty(1, np.intp))
        target = link.targets(np.array([float(q[p])]))
        r = int(np.rint((mean - target) * (1.0 / residual_unit))[0])
        squares = sum(v * v for v in x)
        norm = math.isqrt(squares) + (math.isqrt(squares) ** 2 < squares)
        cap = clip // max(norm, 1)
        count += abs(r) > cap
        r = max(-cap, min(cap, r))
        total = [t + r * v for t, v in zip(total, x, strict=True)]
    return total, count


def _nearest(number):
    """Return the nearest whole number, to even from the middle."""
    return round(number)
