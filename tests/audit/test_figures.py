"""The picture of a verdict."""

import numpy as np
import pytest

from discreet.audit.distinguish import audit
from discreet.audit.figures import verdict_figure
from discreet.errors import InvalidArgument
from discreet.privacy.budgets import Gdp, Pure
from discreet.privacy.coins import Coins


def verdict(shift, claim, name="m"):
    rng = np.random.default_rng(0)

    def mechanism(data, coins, n_runs):
        return np.rint(1000 * (data + rng.normal(size=n_runs))).astype(np.int64)

    return audit(mechanism, 0, shift, claim, n_runs=2000, coins=Coins.from_seed(0), name=name)


def test_each_verdict_has_a_square_with_claim_and_sight():
    """Five verdicts: two lines of squares, the rest left empty; a conviction is marked."""
    verdicts = [verdict(3, Gdp(mu=1), name="wrong"), *(verdict(1, Pure(epsilon=3)) for _ in range(4))]
    figure = verdict_figure(verdicts)
    assert len(figure.axes) == 8
    first = figure.axes[0]
    assert first.get_title() == "wrong: violated\nconvicted"
    assert "would convict from" in figure.axes[1].get_title()
    labels = [line.get_label() for line in first.lines]
    assert labels == ["claimed: Gdp(mu=1)", "seen", "their upper limits, together", "most telling event's limits"]
    assert first.lines[-1].get_marker() == "x"
    assert figure.axes[1].lines[-1].get_marker() == "o"
    assert not figure.axes[-1].axison


def test_a_claim_without_a_budget_is_drawn_by_its_own_name():
    """A curve is a claim like any other."""
    (axes,) = verdict_figure([verdict(1, Gdp(mu=1).tradeoff())]).axes
    assert axes.lines[0].get_label().startswith("claimed: ")


def test_nothing_cannot_be_drawn():
    """By name."""
    with pytest.raises(InvalidArgument, match="verdicts"):
        verdict_figure([])
