"""Rounded Laplace noise: exactly the law of floor(Z + 1/2) for a real Laplace Z, by comparisons alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.lattice.noise import scales
from discreet.lattice.noise.thresholds import Threshold

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.numbers.intervals import Arithmetic, Interval
    from discreet.privacy.coins import Coins

# Draws that are made together, and rows of words made at a time: both stay in a core's second-level cache.
_BLOCK = 1 << 14
_ROWS = 8


def rounded_laplace(statistic: np.ndarray, *, scale: Fraction, coins: Coins, step_bits: int = 0) -> np.ndarray:
    """Return an exact statistic plus Laplace noise, rounded to the nearest grid point.

    Parameters
    ----------
    statistic : np.ndarray of int64, any shape
        The exact statistic in grid units.
    scale : Fraction
        Scale b of the noise in grid units: density proportional to exp(-|z| / b). Between 2**-500 and 2**59.
    coins : Coins
        Where the random words come from.
    step_bits : int, default 0
        The release is in steps of 2**step_bits grid units.

    Returns
    -------
    np.ndarray of int64, the statistic's shape
        `floor((S + floor(Z + 1/2)) / 2**step_bits + 1/2)`. Sums wrap around modulo 2**64 and never raise.

    Raises
    ------
    InvalidArgument
        If `scale` or `step_bits` is out of its range; nothing is drawn.
    InvalidType
        If `statistic` is not an int64 array.

    Notes
    -----
    ``|Z| = B * (1 + G)`` with B a Bernoulli(exp(-1/(2b))) and P(G >= k) = exp(-k/b). The binary digits of G are
    independent, digit i a Bernoulli(1/(1 + exp(2**i/b))); each is one word against one public threshold. Digits
    i < I are drawn, 2**I >= 45 b, and one coin of probability exp(-2**I/b) says whether there is more: without it
    the support would be bounded and the guarantee not pure. Every draw uses I + 3 words; only a tie, or that last
    coin (both of probability about 2**-64), uses more.

    Guarantee
    ---------
    A release is a function of S + Z, Z real Laplace, so the Laplace mechanism's theorem holds word for word: with
    l1 sensitivity D it is (D/b)-differentially private. The law is exact: there is no error radius, since words are
    compared with certified digits and a tie is decided by further words.
    Proof: docs/proofs/rounding.md.
    Source: Dwork, McSherry, Nissim and Smith 2006, Calibrating noise to sensitivity in private data analysis.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from discreet.privacy.coins import Coins
    >>> rounded_laplace(np.array([100, 200]), scale=Fraction(1, 1000), coins=Coins.from_seed(1)).tolist()
    [100, 200]
    """
    exact_scale = scales.check_scale(scale, "scale")
    shift = scales.check_step_bits(step_bits)
    flat = scales.check_statistic(statistic).reshape(-1)
    law = _law(exact_scale, coins.word_bits)
    released = np.empty(flat.size, dtype=np.int64)
    space = _Workspace(law, min(_BLOCK, flat.size))
    for start in range(0, flat.size, _BLOCK):
        out = released[start : start + _BLOCK]
        if out.size < space.length:
            space = _Workspace(law, out.size)
        _draw(law, coins, space, out)
        out += flat[start : start + _BLOCK]
        if shift:
            out += 1 << (shift - 1)
            out >>= shift
    return released.reshape(statistic.shape)


def symmetric_laplace(statistic: np.ndarray, *, scale: Fraction, coins: Coins, step_bits: int = 0) -> np.ndarray:
    """Return a symmetric statistic plus Laplace noise, each distinct entry drawn once.

    Parameters
    ----------
    statistic : np.ndarray of int64, shape (D, D)
        The exact symmetric statistic in grid units; its upper triangle is read.
    scale, coins, step_bits
        As in `rounded_laplace`.

    Returns
    -------
    np.ndarray of int64, shape (D, D)
        Symmetric, in steps of 2**step_bits grid units.

    Raises
    ------
    InvalidArgument
        If `scale` or `step_bits` is out of its range, or the statistic is no square matrix.

    Guarantee
    ---------
    As `rounded_laplace` for the vector of distinct entries; the lower triangle is a copy.
    Proof: docs/proofs/rounding.md.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from discreet.privacy.coins import Coins
    >>> release = symmetric_laplace(np.zeros((3, 3), np.int64), scale=Fraction(50), coins=Coins.from_seed(1))
    >>> bool((release == release.T).all())
    True
    """
    square = scales.check_square(statistic)
    rows, columns = np.triu_indices(square.shape[0])
    entries = rounded_laplace(square[rows, columns], scale=scale, coins=coins, step_bits=step_bits)
    released = np.empty_like(square)
    released[rows, columns] = entries
    released[columns, rows] = entries
    return released


@dataclass(frozen=True)
class _Law:
    """The public thresholds of one scale: digits of G in order, then B, the sign, and whether there is more."""

    n_digits: int
    thresholds: tuple[Threshold, ...]

    @property
    def n_octets(self) -> int:
        """Bytes that hold the drawn digits of G."""
        return -(-self.n_digits // 8)

    def place(self, index: int) -> int:
        """Return the row of outcomes of a threshold: digits where `_join_digits` wants them, the rest at the end."""
        if index >= self.n_digits:
            return 8 * self.n_octets + index - self.n_digits
        octet, weight = divmod(index, 8)
        return octet + self.n_octets * (4 * (weight & 1) + (weight & 2) + weight // 4)


@lru_cache(maxsize=64)
def _law(scale: Fraction, word_bits: int) -> _Law:
    # 45 > 64 log 2: the coin for more digits succeeds about as rarely as a word ties; short words, as rarely as theirs.
    reach = 45 * scale * word_bits / 64
    n_digits = min(max(0, (math.ceil(reach) - 1).bit_length()), 64)
    probabilities: list[Callable[[Arithmetic], Interval]] = [
        partial(_digit_probability, Fraction(2**i) / scale) for i in range(n_digits)
    ]
    probabilities += [
        partial(_exp_of_minus, 1 / (2 * scale)),
        _one_half,
        # Digits above 63 vanish modulo 2**64, and the sums wrap around there.
        partial(_exp_of_minus, Fraction(2**n_digits) / scale) if n_digits < 64 else _never,
    ]
    return _Law(n_digits, tuple(Threshold(probability, word_bits) for probability in probabilities))


def _digit_probability(exponent: Fraction, reals: Arithmetic) -> Interval:
    return 1 / (1 + reals.exp(reals.of(exponent)))


def _exp_of_minus(exponent: Fraction, reals: Arithmetic) -> Interval:
    return reals.exp(-reals.of(exponent))


def _one_half(reals: Arithmetic) -> Interval:
    return reals.of(Fraction(1, 2))


def _never(reals: Arithmetic) -> Interval:
    return reals.of(0)


class _Workspace:
    """Arrays of one block, used again by the next."""

    def __init__(self, law: _Law, length: int) -> None:
        self.length = length
        self.words = np.empty((_ROWS, length), np.uint64)
        # A byte an outcome, draws padded to whole words; rows of digits that are not drawn stay False.
        self.outcomes = np.zeros((8 * law.n_octets + 3, -(-length // 8) * 8), np.bool_)
        self.ties = np.empty((len(law.thresholds), length), np.bool_)
        self.wide = np.empty(length, np.int64)


def _draw(law: _Law, coins: Coins, space: _Workspace, out: np.ndarray) -> None:
    """Overwrite `out` with rounded Laplace draws: the same operations whatever the words are, ties excepted."""
    _toss(law, coins, space)
    _join_digits(law, space, out)
    above, negative, more = space.outcomes[-3:, : space.length]
    if more.any():
        for column in np.flatnonzero(more):
            _add_high_digits(law, coins, out[column : column + 1])
    out += 1
    # B and the sign are one factor, -1, 0 or 1.
    factor = above.view(np.int8)
    factor -= 2 * (above & negative).view(np.int8)
    np.copyto(space.wide, factor)
    out *= space.wide


def _toss(law: _Law, coins: Coins, space: _Workspace) -> None:
    """Compare one word a draw with every threshold; settle the ties, in the order of thresholds and draws."""
    for start in range(0, len(law.thresholds), _ROWS):
        words = space.words[: len(law.thresholds) - start]
        coins.fill(words)
        for index, row in enumerate(words, start):
            first = np.uint64(law.thresholds[index].first)
            np.less(row, first, out=space.outcomes[law.place(index), : space.length])
            np.equal(row, first, out=space.ties[index])
    if space.ties.any():
        for index, column in np.argwhere(space.ties):
            space.outcomes[law.place(index), column] = law.thresholds[index].settle(coins, n_equal=1)


def _join_digits(law: _Law, space: _Workspace, out: np.ndarray) -> None:
    """Write the integers whose binary digits are the rows of outcomes, eight draws to a machine word."""
    out.fill(0)
    if not law.n_digits:
        return
    # The upper half of the rows is shifted onto the lower one, three times: bytes of one, two, four, eight digits,
    # and no carry leaves a byte. `_Law.place` put every digit where it arrives at its own weight.
    digits = space.outcomes[: 8 * law.n_octets].view(np.uint64)
    for width in (1, 2, 4):
        low, high = np.split(digits, 2)
        np.left_shift(high, np.uint64(width), out=high)
        np.bitwise_or(low, high, out=low)
        digits = low
    for index, octets in enumerate(digits.view(np.uint8)):
        np.copyto(space.wide, octets[: out.size])
        np.left_shift(space.wide, 8 * index, out=space.wide)
        np.bitwise_or(out, space.wide, out=out)


def _add_high_digits(law: _Law, coins: Coins, number: np.ndarray) -> None:
    """Add 2**I * (1 + H), H the successes of the last coin before its first failure; modulo 2**64."""
    successes = 1
    while law.thresholds[-1].settle(coins):
        successes += 1
    number.view(np.uint64)[:] += np.uint64((successes << law.n_digits) % 2**64)
