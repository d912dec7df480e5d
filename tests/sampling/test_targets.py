"""The interface of targets: declared numbers are checked, and defaults say nothing."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.privacy.coins import Coins
from discreet.sampling.targets.candidates import FiniteCandidates
from discreet.sampling.targets.targets import ExactTarget, Points, Proposer
from sampling.contract import known_target, rows_like


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"acceptance": Fraction(0)}, "`acceptance`"),
        ({"acceptance": Fraction(3, 2)}, "`acceptance`"),
        ({"acceptance_high": Fraction(1, 100)}, "`acceptance`"),
        ({"claim": "believed"}, "`claim`"),
        ({"error": Fraction(-1)}, "`error`"),
        ({"floor": 0.0}, "`floor`"),
        ({"floor": float("nan")}, "`floor`"),
        ({"default": (0.0, 1.0)}, "`default`"),
        ({"dimension": 0}, "`dimension`"),
    ],
)
def test_unusable_declarations_are_refused_by_name(changes, text):
    """An acceptance bound of 0 most of all: without it no running time is private."""
    with pytest.raises(InvalidArgument, match=text):
        known_target(**changes)


def test_defaults_of_a_proposer():
    """Points are settled as they are, there is no squeeze, and nothing is known of the normalizer."""

    class Fixed(Proposer):
        def propose(self, coins, size):
            return Points(np.arange(size, dtype=float)[:, None])

        def log_ratio(self, points):
            return np.zeros(points.values.shape[0])

    proposer, coins = Fixed(), Coins.from_seed(1)
    points = proposer.propose(coins, 4)
    assert proposer.settle(points, np.array([2]), coins).tolist() == [[2.0]]
    assert proposer.log_squeeze(points) is None
    assert proposer.log_acceptance() == 0.0


def test_an_exact_target_takes_any_scale_unless_it_says_otherwise():
    """The default check refuses nothing."""
    target = FiniteCandidates(
        candidates=[0, 1], utility=lambda points, rows: (points == rows.T).sum(axis=1), change=1, example=rows_like(1)
    )
    assert ExactTarget.check_scale(target, Fraction(1, 10**40)) is None
