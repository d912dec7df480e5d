"""Laws of the secret number of runs that count in a private search, one candidate's runs bounded like another's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from discreet import _checks
from discreet.errors import InvalidArgument

LAWS = ("geometric", "logarithmic")
# Weights are exact rationals, whose digits grow with the number of runs.
MOST_RUNS = 2000
_LEAST_STOP = Fraction(1, 1000)
# What part of the mean is kept, where nothing else is asked for.
_KEPT = 0.97


@dataclass(frozen=True, kw_only=True)
class RunLaw:
    """The public law of the secret number of runs that count.

    K has weights ``(1 - stop)**k`` or ``(1 - stop)**k / k``, and each of the K runs is of a candidate chosen at random,
    given that no candidate is chosen more than ``most_runs / n_candidates`` times.

    Parameters
    ----------
    name : {"geometric", "logarithmic"}
        Whether the weights are (1 - stop)**k, or (1 - stop)**k / k.
    stop : Fraction
        In [1/1000, 1).
    most_runs : int
        How many runs are made, 1 to 2000: the largest K.
    n_candidates : int, default 1
        Among how many candidates they are shared equally; 1 for a bound on their number alone.

    Examples
    --------
    >>> law = RunLaw(name="geometric", stop=Fraction(1, 2), most_runs=2)
    >>> law.probabilities
    (Fraction(2, 3), Fraction(1, 3))
    >>> RunLaw(name="geometric", stop=Fraction(1, 2), most_runs=2, n_candidates=2).probabilities
    (Fraction(4, 5), Fraction(1, 5))
    """

    name: str
    stop: Fraction
    most_runs: int
    n_candidates: int = 1

    def __post_init__(self) -> None:
        _checks.one_of(self.name, "law", LAWS)
        stop = _checks.exact(self.stop, "stop")
        if not _LEAST_STOP <= stop < 1:
            raise InvalidArgument(f"`stop` must be in [{_LEAST_STOP}, 1); found {stop}.")
        object.__setattr__(self, "stop", stop)
        object.__setattr__(self, "n_candidates", _checks.integer(self.n_candidates, "n_candidates", low=1))
        object.__setattr__(self, "most_runs", _checks.integer(self.most_runs, "most_runs", low=1, high=MOST_RUNS))
        if self.most_runs % self.n_candidates:
            raise InvalidArgument(
                f"`most_runs` must be a multiple of `n_candidates`, {self.n_candidates}; found {self.most_runs}."
            )

    @property
    def runs_each(self) -> int:
        """How many runs a candidate has."""
        return self.most_runs // self.n_candidates

    @property
    def exponent(self) -> int:
        """Eta of the negative binomial law: 1 for geometric, 0 for logarithmic."""
        return 1 if self.name == "geometric" else 0

    @property
    def whole_weights(self) -> tuple[int, ...]:
        """Weights of K = 1, 2, ..., as whole numbers of one unit; exact."""
        return _whole_weights(self)[0]

    @property
    def probabilities(self) -> tuple[Fraction, ...]:
        """Probabilities of K = 1, 2, ...; exact."""
        total = sum(self.whole_weights)
        return tuple(Fraction(weight, total) for weight in self.whole_weights)

    @property
    def mean(self) -> Fraction:
        """The expected number of runs that count."""
        return Fraction(_size_biased(self), sum(self.whole_weights))

    @property
    def endless_mean(self) -> Fraction:
        """The sum of k times weight over all k and all choices, also those that are ruled out."""
        return (1 - self.stop) / self.stop ** (self.exponent + 1)

    @property
    def kept(self) -> Fraction:
        """The part of `endless_mean` that comes from what is not ruled out."""
        return _kept(self)

    @property
    def factor(self) -> Fraction:
        """What multiplies delta: the mean of K, were nothing ruled out, over the weight of what is not."""
        return _factor(self)


def _size_biased(law: RunLaw) -> int:
    return sum(k * weight for k, weight in enumerate(law.whole_weights, 1))


@lru_cache(maxsize=64)
def _kept(law: RunLaw) -> Fraction:
    return Fraction(_size_biased(law), _whole_weights(law)[1]) / law.endless_mean


@lru_cache(maxsize=64)
def _factor(law: RunLaw) -> Fraction:
    weights, unit = _whole_weights(law)
    return law.endless_mean / Fraction(sum(weights), unit)


@lru_cache(maxsize=64)
def _whole_weights(law: RunLaw) -> tuple[tuple[int, ...], int]:
    """Return the weights of K, times a unit that is returned beside them."""
    most, rest = law.most_runs, 1 - law.stop
    of_words = _words(law.n_candidates, law.runs_each)
    top, bottom = rest.numerator, rest.denominator * law.n_candidates
    divided = 1 if law.exponent else math.lcm(*range(1, most + 1))
    weights = tuple(
        of_words[k] * top**k * bottom ** (most - k) * (divided if law.exponent else divided // k)
        for k in range(1, most + 1)
    )
    return weights, divided * bottom**most


def _words(letters: int, most_each: int) -> list[int]:
    """Return how many words of length 0, 1, ... there are in which no letter stands more than `most_each` times.

    Their exponential generating function p is E**letters, E = 1 + t + ... + t**m / m!, m = `most_each`. So
    ``p' E = letters E' p``, and ``p' = letters (p - t**m / m! E**(letters - 1))``: the shorter way is taken.

    Examples
    --------
    >>> _words(2, 2), _words(3, 1)
    ([1, 2, 4, 6, 6], [1, 3, 6, 6])
    """
    words = [1]
    if letters <= most_each:
        for size in range(1, letters + 1):
            fewer, words = words, [1]
            for k in range(size * most_each):
                full = math.comb(k, most_each) * fewer[k - most_each] if k >= most_each else 0
                words.append(size * (words[k] - full))
        return words
    for k in range(letters * most_each):
        following, choose = 0, 1
        for j in range(min(most_each, k) + 1):
            if j < most_each:
                following += letters * choose * words[k - j]
            if j > 0:
                following -= choose * words[k + 1 - j]
            choose = choose * (k - j) // (j + 1)
        words.append(following)
    return words


def law_of_mean(name: str, mean_runs: int, most_runs: int | None = None, *, n_candidates: int = 1) -> RunLaw:
    """Return the law whose mean, were nothing ruled out, is about `mean_runs`.

    Parameters
    ----------
    name : {"geometric", "logarithmic"}
        Which law.
    mean_runs : int
        2 to 200.
    most_runs : int or None
        How many runs there may be; as many are made as every candidate can have equally. None for the fewest that
        keep 97 % of the mean.
    n_candidates : int, default 1
        How many candidates there are, at most 2000.

    Raises
    ------
    InvalidArgument
        If a number is out of range, or there are more candidates than runs.

    Examples
    --------
    >>> law_of_mean("geometric", 10).most_runs, law_of_mean("logarithmic", 10).most_runs
    (51, 129)
    >>> law_of_mean("geometric", 10, n_candidates=4).most_runs, law_of_mean("geometric", 10, n_candidates=50).most_runs
    (68, 200)
    """
    mean = _checks.integer(mean_runs, "mean_runs", low=2, high=200)
    stop = _stop_of_mean(_checks.one_of(name, "law", LAWS), mean)
    size = _checks.integer(n_candidates, "n_candidates", low=1)
    most = MOST_RUNS if most_runs is None else _checks.integer(most_runs, "most_runs", low=1, high=MOST_RUNS)
    if size > most:
        raise InvalidArgument(
            f"`most_runs` must be at least the number of candidates, {size}, and at most {MOST_RUNS}: every candidate "
            "is run equally often, so that times tell nothing. Try fewer candidates, or raise it."
        )
    low, high = (1 if most_runs is None else most // size), most // size
    while low < high:
        middle = (low + high) // 2
        if _kept_share(name, float(stop), size, middle) >= _KEPT:
            high = middle
        else:
            low = middle + 1
    return RunLaw(name=name, stop=stop, most_runs=low * size, n_candidates=size)


def _stop_of_mean(name: str, mean: int) -> Fraction:
    if name == "geometric":
        return Fraction(1, mean)
    low, high = 1e-3, 0.999
    for _ in range(60):
        middle = (low + high) / 2
        if (1 - middle) / (middle * -math.log(middle)) > mean:
            low = middle
        else:
            high = middle
    return max(_LEAST_STOP, Fraction(round(1000 * high), 1000))


def _kept_share(name: str, stop: float, n_candidates: int, runs_each: int) -> float:
    """Return `RunLaw.kept` in doubles: section 4 of the proof page has it as a mean over a gamma law."""
    import numpy as np
    from scipy.special import pdtr

    points = (np.arange(4000) + 0.5) / 100
    weights = np.exp(-points) * (points if name == "geometric" else 1.0)
    means = points / stop * (1 - stop) / n_candidates
    inside = pdtr(runs_each - 1, means) * pdtr(runs_each, means) ** (n_candidates - 1)
    return float((weights * inside).sum() / weights.sum())
