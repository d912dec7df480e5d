"""Coins whose probability is given by its logarithm, as a double: exact, whatever the logarithm."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import DiscreetError, InvalidArgument
from discreet.lattice.noise.accuracy import largest_errors
from discreet.numbers.intervals import Arithmetic, Interval, enclose

if TYPE_CHECKING:
    from discreet.privacy.coins import Coins

# Relative error allowed to numpy's exponential; good libraries stay below 2**-52.
_ALLOWED = 2.0**-50
# What a threshold in doubles may be off by, relatively: the exponential, and the word as a double.
_SHADE = 2.0**-49
_N_POINTS = 61


def exp_coins(log_probabilities: np.ndarray, words: np.ndarray, coins: Coins) -> np.ndarray:
    """Return coins that succeed with probability exactly exp(log_probability), the double taken at its word.

    Parameters
    ----------
    log_probabilities : np.ndarray of float64, shape (size,)
        At most 0; minus infinity never succeeds.
    words : np.ndarray of uint64, shape (size,)
        Fresh words of `coins`, one a coin; they may have been drawn before the probabilities were known.
    coins : Coins
        Where further words come from.

    Returns
    -------
    np.ndarray of bool, shape (size,)

    Raises
    ------
    InvalidArgument
        If the shapes differ.

    Notes
    -----
    A word is the beginning of a uniform number, and the coin succeeds where that is below exp(l). One comparison in
    doubles decides, with shades of 2**-49 on either side; with a probability below 2**-47 it does not, and then the
    same word is lengthened and compared with an enclosure of exp(l). The work is the same for all probabilities but
    for that. A logarithm above 0, or NaN, is not an error here: it succeeds always, or never.

    Guarantee
    ---------
    Success has probability exactly exp(l). Proof: docs/proofs/sampling.md

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.privacy.coins import Coins
    >>> coins = Coins.from_seed(1)
    >>> exp_coins(np.array([0.0, -np.inf, -0.5]), coins.words(3), coins).tolist()
    [True, False, True]
    """
    if log_probabilities.shape != words.shape:
        raise InvalidArgument(
            f"`words` must have the shape {log_probabilities.shape} of the probabilities; found {words.shape}."
        )
    if coins.word_bits < 64:
        certain, open_ = log_probabilities >= 0, log_probabilities > -np.inf
        open_ &= ~certain
    else:
        check_exponential()
        with np.errstate(all="ignore"):
            thresholds = np.exp(np.minimum(log_probabilities, 0.0)) * 2.0**64
            places = words.astype(np.float64)
            certain = places + 1.0 < thresholds * (1 - _SHADE)
            open_ = places - 1.0 <= thresholds * (1 + _SHADE)
        certain |= log_probabilities >= 0
        open_ &= ~certain & (log_probabilities > -np.inf)
    for index in np.flatnonzero(open_).tolist():
        certain[index] = _settle(float(log_probabilities[index]), int(words[index]), coins)
    return certain


def _settle(log_probability: float, word: int, coins: Coins) -> bool:
    """Compare the uniform number that begins with `word` with exp(log_probability), from words as long as it takes."""
    bits, uniform, exact = coins.word_bits, word, Fraction(log_probability)
    n_bits = bits
    while True:
        low, high = enclose(partial(_exp, exact), n_bits + 64)
        if Fraction(uniform + 1, 1 << n_bits) <= low:
            return True
        if Fraction(uniform, 1 << n_bits) >= high:
            return False
        uniform = uniform << bits | int(coins.words(1)[0])
        n_bits += bits


def _exp(exponent: Fraction, reals: Arithmetic) -> Interval:
    # Far below the shortest number that words could be compared with, exp is enclosed as if it stood there.
    if exponent < -(1 << 17):
        return reals.between_ends(reals.of(0), reals.exp(reals.of(-(1 << 17))))
    return reals.exp(reals.of(exponent))


@lru_cache(maxsize=1)
def check_exponential() -> None:
    """Compare numpy's exponential with interval arithmetic, once a process.

    Raises
    ------
    DiscreetError
        If its relative error exceeds 2**-50: coins would then have the wrong law.

    Examples
    --------
    >>> check_exponential()
    """
    error = measured_error(_N_POINTS)
    if not error <= _ALLOWED:
        raise DiscreetError(
            f"numpy.exp has a relative error of {error:.1e} on this machine; exact coins need at most {_ALLOWED:.1e}. "
            "Install another build of numpy, or set NPY_DISABLE_CPU_FEATURES to its fastest paths' names."
        )


def measured_error(n_points: int) -> float:
    """Return the largest relative error of numpy's exponential at `n_points` arguments from -2**-40 to -700.

    In arrays of many lengths and places in memory.
    """
    arguments = -700.0 * 2.0 ** (-49 * (np.arange(n_points) + 0.37) / n_points)
    exact = [enclose(partial(_exp, Fraction(argument)), 160) for argument in arguments.tolist()]
    return float((largest_errors(np.exp, arguments, exact) / [float(low) for low, _ in exact]).max())
