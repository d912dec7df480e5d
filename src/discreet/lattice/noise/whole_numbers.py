"""Uniform whole numbers below any public or private bound, exactly, with work that does not depend on the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.privacy.coins import Coins


def below(bound: int, word: int, coins: Coins) -> int:
    """Return ``floor(U * bound)``, U the uniform real number that begins with `word`: uniform on 0, ..., bound - 1.

    Parameters
    ----------
    bound : int
        At least 1.
    word : int
        A fresh word of `coins`; it may have been drawn before the bound was known.
    coins : Coins
        Where further words come from.

    Notes
    -----
    One word decides unless U may lie on either side of a multiple of 1 / bound, which has a probability of at most
    bound / 2**64; then it is lengthened. Nothing is drawn again.

    Guarantee
    ---------
    Every value has probability exactly 1 / bound. Proof: docs/proofs/quantiles.md

    Examples
    --------
    >>> from discreet.privacy.coins import Coins
    >>> below(10, 2**63, Coins.from_seed(1))
    5
    """
    uniform, n_bits = word, coins.word_bits
    while True:
        low = uniform * bound >> n_bits
        # The largest number that begins so is below (uniform + 1) / 2**n_bits, which it does not reach.
        if ((uniform + 1) * bound - 1) >> n_bits == low:
            return low
        uniform = uniform << coins.word_bits | int(coins.words(1)[0])
        n_bits += coins.word_bits
