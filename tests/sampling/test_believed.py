"""What is believed of a user's own function: said in the release, on the pages, and called enforced nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import discreet as dp
from discreet.sampling.mechanisms import sample
from discreet.sampling.targets.bases import Uniform
from discreet.sampling.targets.common_envelopes import Posterior, SyntheticData
from discreet.sampling.targets.concave import StronglyConcave
from discreet.sampling.targets.log_concave import LogConcave
from discreet.sampling.targets.user_targets import UserTarget
from sampling.own_targets import PURE, TARGETS, distances

ROOT = Path(__file__).parents[2]
LINE = dp.Box(lower=[-50], upper=[50])


def centred(points, rows):
    """Return log-likelihoods of records less their mean: one record moves all."""
    return -np.abs(points - (rows - rows.mean()).T)


def test_centring_passes_the_declared_change():
    """A declared 2 is moved to 75 by one record of 150, though every value is within its bounds."""
    target = Posterior(log_likelihood=centred, lower=-2, upper=0, prior=Uniform(LINE), example=[[0.5]])
    rows = np.zeros((150, 1))
    other = rows.copy()
    other[0] = 150.0
    points = np.array([[0.0], [-1.0]])
    change = np.abs(target._utility(points, rows) - target._utility(points, other)).max()
    assert target.sensitivity(dp.Replace()) == 2
    assert change >= 75
    assert (target._utility(points, other) >= -2 * 150).all()


def test_a_function_of_single_records_keeps_the_declared_change():
    """The same likelihood without the mean stays within it."""
    target = Posterior(log_likelihood=distances, lower=-2, upper=0, prior=Uniform(LINE), example=[[0.5]])
    rows = np.zeros((150, 1))
    other = rows.copy()
    other[0] = 150.0
    points = np.linspace(-50, 50, 40)[:, None]
    assert np.abs(target._utility(points, rows) - target._utility(points, other)).max() <= 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("posterior", "depends on that record and the point alone is believed"),
        ("synthetic", "depend on the point alone is believed"),
        ("user", "sensitivity of the user's utility: declared and believed, not enforced"),
        ("lipschitz", "sensitivity and slopes of the user's utility: declared and believed"),
        ("candidates", "sensitivity of the user's utility: declared and believed"),
        ("holder", "sensitivity and modulus of the user's utility: declared and believed"),
        ("discretized", "sensitivity and modulus of the user's utility: declared and believed"),
    ],
)
def test_a_release_says_what_is_believed(name, words):
    """In its notes, whichever target a function of one's own is in."""
    released = sample(TARGETS[name], [[0.0], [1.0]], budget=PURE, adjacency=dp.Replace())
    assert any(words in note for note in released.notes)


@pytest.mark.parametrize("name", ["quantile", "mean", "direction"])
def test_what_is_ours_needs_no_belief(name):
    """Targets without a function of the user have no such note."""
    released = sample(TARGETS[name], [[0.0], [1.0]], budget=PURE, adjacency=dp.Replace())
    assert not any("believed" in note for note in released.notes)


def test_no_page_calls_a_function_of_ones_own_enforced():
    """Docstrings name what is believed; promised.md lists every target with a function under *not promised*."""
    for target in (Posterior, UserTarget, SyntheticData):
        assert "believed" in target.__doc__
        assert not re.search(r"(sensitivity|change).{0,40}(is|are) enforced", target.__doc__)
    assert "believed" in dp.sampling.posterior_draw.__doc__
    promised = (ROOT / "docs" / "promised.md").read_text(encoding="utf-8")
    line = next(line for line in promised.split("## What is not promised")[1].split("- **") if "Your own" in line)
    for target in (Posterior, UserTarget, SyntheticData, StronglyConcave, LogConcave):
        assert f"`{target.__name__}`" in line
    assert "keeps state defeats every check" in line
