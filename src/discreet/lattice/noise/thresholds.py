"""Coins of any probability, exactly: words compared with the certified digits of a public number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.numbers.intervals import enclose

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.numbers.intervals import Arithmetic, Interval
    from discreet.privacy.coins import Coins


class Threshold:
    """A public probability p, as digits in base 2**word_bits, as many as a tie asks for.

    A uniform word u below the first digit means success, above it failure; equal, the next word and the next digit
    decide in the same way. The words together are a uniform real below 1, compared with p: success has
    probability exactly p, and a tie has probability 2**-word_bits.

    Parameters
    ----------
    probability : callable
        Takes interval arithmetic and returns an interval around p, 0 <= p < 1; it narrows with the precision.
    word_bits : int
        Bits of the words that will be compared.

    Guarantee
    ---------
    A digit is given out only when both limits of an outward-rounded interval agree on it.
    Proof: docs/proofs/rounding.md.
    """

    __slots__ = ("_digits", "_probability", "first", "word_bits")

    def __init__(self, probability: Callable[[Arithmetic], Interval], word_bits: int) -> None:
        self._probability = probability
        self.word_bits = word_bits
        self._digits: dict[int, int] = {}
        self.first = self.digit(0)

    def digit(self, index: int) -> int:
        """Return the digit with weight `2**(-word_bits * (index + 1))`."""
        # Two threads may both find a digit; they find the same.
        if index not in self._digits:
            self._digits[index] = self._floor(self.word_bits * (index + 1)) % 2**self.word_bits
        return self._digits[index]

    def _floor(self, bits: int) -> int:
        """Return floor(p * 2**bits), certified."""
        precision = bits + 32
        while True:
            low, high = enclose(self._probability, precision)
            floors = [(limit.numerator << bits) // limit.denominator for limit in (low, high)]
            if floors[0] == floors[1]:
                return floors[0]
            precision *= 2

    def settle(self, coins: Coins, n_equal: int = 0) -> bool:
        """Toss the coin whose first `n_equal` words have tied with their digits; return whether it succeeds."""
        index = n_equal
        while True:
            word, digit = int(coins.words(1)[0]), self.digit(index)
            if word != digit:
                return word < digit
            index += 1
