"""Exact laws of the samplers, and one test of fit with a stated power."""

import itertools
import math

import mpmath
import numpy as np
import pytest
import scipy.stats

# Draws of the claimed law fall below ALPHA once in a thousand seeds, and the seeds are fixed.
# A scale 10 % off is tested with coarse cells of a tenth of the draws or more, up to 8. The statistic then has a
# noncentrality of 0.005 n to 0.006 n (Laplace) or 0.0067 n to 0.011 n (Gaussian), so the power at level ALPHA is at
# least 0.95 for Laplace with n >= 6,000 (0.995 with 8,000) and 0.98 for Gaussian with n >= 5,000.
ALPHA = 1e-3
FINE, COARSE = 20, 0.1


def laplace_cdf(z, scale):
    z = mpmath.mpf(z) / scale
    return mpmath.exp(z) / 2 if z < 0 else 1 - mpmath.exp(-z) / 2


def gaussian_cdf(z, std):
    return mpmath.ncdf(mpmath.mpf(z) / std)


def gamma_difference_cdf(z, scale, shape):
    """Return P(X - Y <= z) for independent Gammas of whole shape: stages that X still needs when Y is done."""
    if z < 0:
        return 1 - gamma_difference_cdf(-z, scale, shape)
    tail = mpmath.mpf(0)
    for left in range(1, shape + 1):
        weight = mpmath.mpf(math.comb(2 * shape - left - 1, shape - 1)) / mpmath.mpf(2) ** (2 * shape - left)
        tail += weight * mpmath.gammainc(left, mpmath.mpf(z) / scale, regularized=True)
    return 1 - tail


def p_value(released, lower_edge, cdf, least):
    """Return the chi-square p-value of integers whose cell k is [lower_edge(k), lower_edge(k + 1)) of a real law.

    Neighbouring cells are joined until each expects `least` draws; the probabilities are exact to 30 digits.
    """
    low, high = int(released.min()), int(released.max())
    with mpmath.workdps(30):
        edges = [cdf(lower_edge(k)) for k in range(low, high + 2)]
        edges[0], edges[-1] = mpmath.mpf(0), mpmath.mpf(1)
        expected = [float((b - a) * released.size) for a, b in itertools.pairwise(edges)]
    observed = np.bincount(released - low, minlength=high - low + 1).tolist()
    cells = []
    want, have = 0.0, 0
    for e, o in zip(expected, observed, strict=True):
        want, have = want + e, have + o
        if want >= least:
            cells.append([want, have])
            want, have = 0.0, 0
    cells[-1][0] += want
    cells[-1][1] += have
    statistic = sum((o - e) ** 2 / e for e, o in cells)
    return float(scipy.stats.chi2.sf(statistic, len(cells) - 1))


@pytest.fixture
def fits():
    """Return a check: the claimed scale passes, scales 10 % to either side fail."""

    def check(released, lower_edge, cdf, scale, **parameters):
        assert p_value(released, lower_edge, lambda z: cdf(z, scale, **parameters), FINE) > ALPHA
        for factor in (1.1, 1 / 1.1):
            wrong = lambda z, f=factor: cdf(z, scale * f, **parameters)  # noqa: E731
            assert p_value(released, lower_edge, wrong, COARSE * released.size) < ALPHA

    return check


@pytest.fixture
def laws():
    """Return the exact distribution functions by name."""
    return {"laplace": laplace_cdf, "gaussian": gaussian_cdf, "gamma difference": gamma_difference_cdf}


class ScriptedCoins:
    """Coins whose first words are given and whose later words are all `rest`."""

    word_bits = 64
    seeded = True

    def __init__(self, words, rest=0):
        self.left = list(words)
        self.rest = rest

    def words(self, n):
        """Return the next given words, and `rest` where there are none."""
        given, self.left = self.left[:n], self.left[n:]
        return np.array(given + [self.rest] * (n - len(given)), np.uint64)

    def fill(self, out):
        """Overwrite an array with the next words."""
        out[...] = self.words(out.size).reshape(out.shape)


@pytest.fixture
def scripted():
    """Return the class of scripted coins."""
    return ScriptedCoins
