"""What components cost together: their exact joint densities on neighbours, against the price."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import IncompatiblePlan, InvalidArgument
from discreet.privacy.curves.tradeoff import two_sided_delta
from discreet.privacy.events.components import ComponentsEvent
from discreet.privacy.events.event import event_from_json
from discreet.privacy.events.sampling import SamplingEvent, plain_curve, plain_time

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


@pytest.mark.parametrize(
    "changes",
    [
        {"envelope": "common"},
        {"policy": "squeeze", "slack": "1/2", "parameter": "1/4", "envelope": "common"},
    ],
    ids=["common envelope", "squeeze"],
)
def test_clocks_without_a_joint_theorem_are_refused(changes: dict[str, Any]) -> None:
    """Where a count is not independent of its draw, directions are priced one by one."""
    with pytest.raises(InvalidArgument, match="no proved price of directions together"):
        ComponentsEvent(**{**NUMBERS, **changes})


# What version 0.1 wrote for two and three components under Plain.
OLDER = {
    "kind": "principal-components", "adjacency": "Replace", "step_bits": 0, "shape": [2, 3],
    "budget": {"currency": "Approx", "epsilon": "20", "delta": "1/1000"}, "statistic": "components",
    "scale": "155449821140375/105561706201088", "sensitivity": "1", "error": "0", "envelope": "data-dependent",
    "claim": "proved", "acceptance": "294498025211149/562949953421312", "acceptance_high": "1",
    "partner": "294498025211149/562949953421312", "policy": "plain", "block": "1", "parameter": "1/10",
    "slack": "0", "wrong": "0", "n_draws": "2",
}  # fmt: skip


def test_a_stored_joint_price_under_plain_is_read_and_proved() -> None:
    """What version 0.1 wrote keeps its price; with a scale beyond the proved one it would not be read."""
    event = event_from_json(OLDER)
    assert event.price == event.budget == dp.Approx(epsilon=20, delta="1/1000")
    assert event_from_json(event.to_json()) == event
    with pytest.raises(InvalidArgument, match="costs Approx"):
        event_from_json(OLDER | {"scale": "3"})


def test_the_joint_price_under_plain_has_the_weights_of_all_outputs_together() -> None:
    """It is above the number of version 0.1, which weighed as if each output were alone, and below no weight at all."""
    event = event_from_json(OLDER)
    assert isinstance(event, ComponentsEvent)
    older = 2 * plain_curve(event).upper_delta(Fraction(10))
    unweighted = 2 * two_sided_delta(plain_time(event), (20 - 4 * event.change) / 2)
    assert older < event.plain_delta < unweighted
    plain = {"policy": "plain", "parameter": "1/10", "block": 1, "budget": dp.Approx(epsilon=20, delta="1e-2")}
    single = {**NUMBERS, **plain, "n_draws": 1, "shape": (1, 3)}
    assert ComponentsEvent(**single).plain_delta == SamplingEvent(**single).plain_delta


@pytest.mark.parametrize("budget", [dp.Approx(epsilon=20, delta="1e-3"), dp.Approx(epsilon=60, delta="1e-2")], ids=str)
@pytest.mark.parametrize("n_components", [2, 3])
def test_components_under_plain_are_priced_one_by_one(budget: Any, n_components: int) -> None:
    """The plan's event adds up single draws, each with a curve of its own; under other policies it is the joint one."""
    rows = np.random.default_rng(0).normal(size=(50, 4))
    common = {"budget": budget, "row_norm": 3, "adjacency": dp.Replace(), "n_components": n_components}
    try:
        plain = dp.PrivatePCA(**common, runtime=dp.sampling.Plain(thin="1/10")).fit(rows).release_.event
    except IncompatiblePlan:
        assert n_components == 3
        assert budget.epsilon == 20
    else:
        assert type(plain) is SamplingEvent
        assert plain.n_draws == n_components
        each = budget.epsilon / n_components
        assert n_components * plain_curve(plain).upper_delta(each) <= budget.delta
        # The curve is that of a whole draw: its output moves by twice the scale, not by a share of what is joint.
        assert plain.change == plain.scale
    assert isinstance(dp.PrivatePCA(**common).fit(rows).release_.event, ComponentsEvent)


def test_the_joint_bound_under_plain_holds_where_times_depend_on_outputs() -> None:
    """Two outputs and two times, enumerated: the proved delta of bingham.md bounds the exact one."""
    ratio, spread = math.exp(0.4), (0.30, 0.22)
    worst = 0.0
    times = np.arange(0, 120)
    # The second time's probability is chosen by the first output and the first time.
    for x in (0.6, 1.0, 1.6):
        exact = 0.0
        for first in (0, 1):
            p, q = (ratio / (1 + ratio), 1 / (1 + ratio))[:: 1 - 2 * first]
            one, two = (spread, spread[::-1]) if first else (spread[::-1], spread)
            g = [np.outer(s * (1 - s) ** times, t * (1 - t) ** times) for s, t in zip(one, two, strict=True)]
            exact += np.maximum(p * g[0] - math.exp(x) * q * g[1], 0).sum()
        geometric = [s * (1 - s) ** times for s in spread]

        def delta(y, laws=geometric):
            return max(np.maximum(a - math.exp(y) * b, 0).sum() for a, b in (laws, laws[::-1]))

        proved = 2 * (ratio * delta((x - 0.4) / 2) + delta((x + 0.4) / 2)) / (1 + ratio)
        assert exact <= proved
        worst = max(worst, exact / proved)
    assert worst > 0.05
