"""What components cost together: their exact joint densities on neighbours, against the price."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.privacy.components_events import ComponentsEvent
from discreet.privacy.sampling_events import SamplingEvent

NUMBERS: dict[str, Any] = {
    "scale": "1/4", "sensitivity": 1, "error": 0, "envelope": "data-dependent", "claim": "proved", "acceptance": "0.5",
    "acceptance_high": 1, "partner": "0.5", "policy": "cool-down", "block": 45, "parameter": "1e-6", "slack": 0,
    "wrong": 0, "n_draws": 2, "adjacency": dp.Replace(), "budget": dp.Pure(epsilon=1), "statistic": "components",
    "shape": (2, 3),
}  # fmt: skip


def largest_log_ratio(scale: float, tables: tuple[np.ndarray, np.ndarray], size: int) -> float:
    """Return the largest log-ratio of the joint densities of two components in three dimensions, over a grid.

    The second's normalizer is over the circle perpendicular to the first.
    """
    polar = np.linspace(0, math.pi / 2, size)
    turns = np.linspace(0, 2 * math.pi, 2 * size, endpoint=False)
    sphere = np.array(
        [(math.sin(a) * math.cos(b), math.sin(a) * math.sin(b), math.cos(a)) for a in polar for b in turns]
    )
    area = np.repeat(np.sin(polar), turns.size)
    circle = np.linspace(0, math.pi, size, endpoint=False)
    frames = np.linalg.svd(sphere[:, :, None] * sphere[:, None, :])[0][:, :, 1:]
    seconds = np.einsum("sij,cj->sci", frames, np.column_stack([np.cos(circle), np.sin(circle)]))
    logs = []
    for moments in tables:
        first = scale * np.einsum("si,ij,sj->s", sphere, moments, sphere)
        second = scale * np.einsum("sci,ij,scj->sc", seconds, moments, seconds)
        first -= np.log((area * np.exp(first)).sum() / area.sum())
        logs.append(first[:, None] + second - np.log(np.exp(second).mean(axis=1))[:, None])
    return float(np.abs(logs[0] - logs[1]).max())


@pytest.mark.parametrize("n_rows", [0, 2, 30])
@pytest.mark.parametrize("rows", [(0, 1), (1, 0), (0, 2), (2, 1)])
def test_joint_densities_of_neighbours_keep_the_price(n_rows: int, rows: tuple[int, int]) -> None:
    """Replaced rows along axes, beside many rows along one: at most k + 1 scales, where 2 k are summed up."""
    axes = np.eye(3)
    base = n_rows * np.outer(axes[0], axes[0])
    one, other = (base + np.outer(axes[row], axes[row]) for row in rows)
    scale = 0.25
    assert largest_log_ratio(scale, (one, other), 40) <= 3 * scale + 1e-3


def test_the_bound_is_nearly_reached() -> None:
    """Some neighbours differ by more than k scales, so little is given away."""
    scale = 2.0
    far = 60 * np.diag([1.0, 0.5, 0.0])
    axes = np.eye(3)
    tables = (far + np.outer(axes[0], axes[0]), far + np.outer(axes[2], axes[2]))
    assert largest_log_ratio(scale, tables, 40) > 1.9 * scale


def test_components_together_cost_less_than_one_by_one() -> None:
    """(k + 1 + 2**-12) scale and the clock, in Pure and Approx under Replace."""
    for budget in (dp.Pure(epsilon=1), dp.Approx(epsilon=1, delta="1e-6")):
        event = ComponentsEvent(**{**NUMBERS, "budget": budget})
        expected = Fraction(1, 4) * (3 + Fraction(1, 2**12)) + 2 * event.runtime_epsilon
        assert event.price.epsilon == expected
        assert SamplingEvent(**{**NUMBERS, "budget": dp.Pure(epsilon=2)}).price.epsilon > event.price.epsilon


@pytest.mark.parametrize("budget", [dp.Zcdp(rho=2), dp.Gdp(mu=2)], ids=str)
def test_other_currencies_sum_up(budget: Any) -> None:
    """Bounded ranges compose better one by one."""
    numbers = {**NUMBERS, "budget": budget}
    assert ComponentsEvent(**numbers).price == SamplingEvent(**numbers).price


def test_under_add_remove_nothing_is_gained() -> None:
    """Half the sensitivity, k times."""
    numbers = {**NUMBERS, "adjacency": dp.AddRemove(), "sensitivity": "1/2"}
    assert ComponentsEvent(**numbers).price == SamplingEvent(**numbers).price


def test_an_event_round_trips() -> None:
    """As every event does."""
    from discreet.privacy.events import event_from_json

    event = ComponentsEvent(**NUMBERS)
    assert event_from_json(event.to_json()) == event


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sensitivity": "1/2"}, "sensitivity"),
        ({"adjacency": dp.AddRemove(), "sensitivity": "1/3"}, "sensitivity"),
        ({"shape": (2, 2**20)}, "n_draws"),
        ({"shape": (2,)}, "n_draws"),
        ({"scale": "1/2"}, "budget"),
    ],
)
def test_numbers_without_a_theorem_are_refused(changes: dict[str, Any], words: str) -> None:
    """Too small a sensitivity, too many components, too little budget."""
    with pytest.raises(InvalidArgument, match=words):
        ComponentsEvent(**{**NUMBERS, **changes})
