"""Private search, enumerated exactly: what the result gives away together with the sequence of runs that time shows."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy.events.run_laws import LAWS, RunLaw

# Laws of a run: candidates by scores, 0 the best, in 64ths.
Laws = tuple[tuple[Fraction, ...], ...]


def weight(law, k):
    """Return the weight of K, not normed."""
    return (1 - law.stop) ** k / (1 if law.name == "geometric" else k)


def count_weights(law):
    """Return the weight of all counts that a law allows, from sequences of candidates one by one."""
    weights = {}
    for k in range(1, law.most_runs + 1):
        for picks in itertools.product(range(law.n_candidates), repeat=k):
            counts = tuple(picks.count(c) for c in range(law.n_candidates))
            if max(counts) <= law.runs_each:
                share = weight(law, k) / Fraction(law.n_candidates) ** k
                weights[counts] = weights.get(counts, 0) + share
    return weights


def best_of(outputs):
    """Return the best of (score, candidate) pairs: the smallest score, of equal ones the first candidate."""
    return min(outputs)


def even_search(law, runs: Laws):
    """Return the exact law of (result, trace) where every candidate is run equally often, in order."""
    trace = tuple(c for c in range(law.n_candidates) for _ in range(law.runs_each))
    weights = count_weights(law)
    total = sum(weights.values())
    found = {}
    for counts, share in weights.items():
        counted = [c for c in range(law.n_candidates) for _ in range(counts[c])]
        for scores in itertools.product(range(len(runs[0])), repeat=len(counted)):
            chance = share / total * math.prod(runs[c][score] for c, score in zip(counted, scores, strict=True))
            key = (best_of(zip(scores, counted, strict=True)), trace)
            found[key] = found.get(key, 0) + chance
    return found


def drawn_search(law, runs: Laws, traces):
    """Return the exact law of (result, trace) where a run draws its candidate in turn, for some traces."""
    total = sum(weight(law, k) for k in range(1, law.most_runs + 1))
    found = {}
    for trace in traces:
        of_trace = Fraction(1, law.n_candidates**law.most_runs)
        for k in range(1, law.most_runs + 1):
            for scores in itertools.product(range(len(runs[0])), repeat=k):
                chance = math.prod(runs[c][score] for c, score in zip(trace, scores, strict=False))
                key = (best_of(zip(scores, trace, strict=False)), trace)
                found[key] = found.get(key, 0) + of_trace * weight(law, k) / total * chance
    return found


def hockey_stick(one, other, ratio):
    """Return the smallest delta of `one` against `other` at log(ratio); exact."""
    return sum(max(Fraction(0), chance - ratio * other.get(key, 0)) for key, chance in one.items())


def largest_ratio(first: Laws, second: Laws):
    """Return the largest ratio of two laws of a run, in both directions."""
    pairs = [(p, q) for one, other in zip(first, second, strict=True) for p, q in zip(one, other, strict=True)]
    return max(max(p / q, q / p) for p, q in pairs)


def run_laws(n_candidates, n_scores):
    """Return strategies of laws of runs in which every score may happen."""
    law = st.lists(st.integers(1, 20), min_size=n_scores, max_size=n_scores).map(
        lambda parts: tuple(Fraction(part, sum(parts)) for part in parts)
    )
    return st.tuples(*[law] * n_candidates)


SHAPES = [(2, 1, 3), (2, 2, 2), (3, 1, 2), (1, 4, 2), (4, 1, 2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", LAWS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_result_and_trace_together_keep_the_pure_price(shape, name, data):
    """The hockey-stick of (result, sequence of runs) is 0 at (2 + eta) epsilon + log(1/kept), in rationals."""
    n_candidates, runs_each, n_scores = shape
    stop = data.draw(st.sampled_from([Fraction(1, 2), Fraction(1, 5), Fraction(1, 20)]))
    law = RunLaw(name=name, stop=stop, most_runs=runs_each * n_candidates, n_candidates=n_candidates)
    first, second = (data.draw(run_laws(n_candidates, n_scores)) for _ in range(2))
    price = largest_ratio(first, second) ** (2 + law.exponent) / law.kept
    one, other = even_search(law, first), even_search(law, second)
    assert sum(one.values()) == 1
    assert hockey_stick(one, other, price) == 0
    assert hockey_stick(other, one, price) == 0


@pytest.mark.parametrize("name", LAWS)
def test_drawing_candidates_in_turn_breaks_the_price(name):
    """The older mechanism's result and trace together pass its price; equal numbers of runs keep theirs."""
    law = RunLaw(name=name, stop=Fraction(1, 2), most_runs=6)
    law_of_six = RunLaw(name=name, stop=Fraction(1, 2), most_runs=6, n_candidates=6)
    rare, ratio = Fraction(1, 16), Fraction(2)
    # A worse score is twice as likely on one side; the last candidate in turn is seen to have outlived the others.
    first, second = (((1 - p, p),) * 6 for p in (rare * ratio, rare))
    price = ratio ** (2 + law.exponent)
    trace = tuple(range(6))
    one, other = drawn_search(law_of_six, first, [trace]), drawn_search(law_of_six, second, [trace])
    assert hockey_stick(one, other, price / law.kept) > 0
    one, other = even_search(law_of_six, first), even_search(law_of_six, second)
    assert hockey_stick(one, other, price / law_of_six.kept) == 0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", LAWS)
def test_weights_are_those_of_sequences_of_candidates(shape, name):
    """Probabilities of K, `kept` and `factor` are what counting sequences one by one gives."""
    n_candidates, runs_each, _ = shape
    law = RunLaw(name=name, stop=Fraction(1, 3), most_runs=n_candidates * runs_each, n_candidates=n_candidates)
    weights = count_weights(law)
    total = sum(weights.values())
    for k, probability in enumerate(law.probabilities, 1):
        assert probability == sum(w for counts, w in weights.items() if sum(counts) == k) / total
    assert law.kept * law.endless_mean == sum(sum(counts) * w for counts, w in weights.items())
    assert law.factor * total == law.endless_mean
    assert law.mean == sum(sum(counts) * w for counts, w in weights.items()) / total


@settings(max_examples=60, deadline=None)
@given(data=st.data(), shape=st.sampled_from(SHAPES), name=st.sampled_from(LAWS))
def test_the_bound_of_the_derivative_holds(data, shape, name):
    """G_c lies between kept and 1 times the endless series' derivative, at vectors of probabilities."""
    n_candidates, runs_each, _ = shape
    stop = data.draw(st.sampled_from([Fraction(1, 2), Fraction(1, 9)]))
    law = RunLaw(name=name, stop=stop, most_runs=n_candidates * runs_each, n_candidates=n_candidates)
    x = [Fraction(data.draw(st.integers(0, 12)), 12) for _ in range(n_candidates)]
    derivative = sum(
        w * counts[0] * x[0] ** (counts[0] - 1) * math.prod(x[c] ** counts[c] for c in range(1, n_candidates))
        for counts, w in count_weights(law).items()
        if counts[0]
    )
    mean = sum(x) / n_candidates
    endless = (1 - stop) / (1 - (1 - stop) * mean) ** (law.exponent + 1) / n_candidates
    assert law.kept * endless <= derivative <= endless
