"""Scores: what each of them sees, and that a text of an event says what it is."""

import numpy as np
import pytest

from discreet.audit.events import Event, choose_events
from discreet.audit.scores import Bins, CellRatio, Coordinate, Fineness, Kinds, Plain, Residues, Rows, Values
from discreet.audit.training import candidate_scores, log_ratios
from discreet.privacy.budgets import Pure

ALONE = Coordinate(0, alone=True)


def column(*numbers):
    return np.array(numbers, dtype=np.float64)[:, np.newaxis]


def test_the_last_digit_of_a_double_is_found():
    """1 is an odd multiple of 1, 0.75 of a quarter, 6 of 2; zero and NaN have no digit."""
    numbers = np.array([1.0, -0.75, 6.0, 0.1, 5e-324, 0.0, np.nan, np.inf])
    cells = Fineness()(numbers)
    names = [Fineness().name(int(cell)) for cell in cells]
    assert names[:3] == ["an odd multiple of 2**0", "an odd multiple of 2**-2", "an odd multiple of 2**1"]
    assert names[3:5] == ["an odd multiple of 2**-55", "an odd multiple of 2**-1074"]
    assert set(names[5:]) == {"a number without digits"}


@pytest.mark.parametrize("power", range(-1074, 1024, 97))
def test_every_power_of_two_divides_itself(power):
    """Over the whole range of doubles."""
    assert Fineness().name(int(Fineness()(np.array([2.0**power]))[0])) == f"an odd multiple of 2**{power}"


def test_cells_say_what_they_hold():
    """Intervals, values, remainders and kinds."""
    assert Bins(np.array([1.0, 2.0]))(np.array([1.0, 1.5, 3.0])).tolist() == [0, 1, 2]
    assert [Bins(np.array([1.0, 2.0])).name(cell) for cell in range(3)] == ["(-inf, 1]", "(1, 2]", "(2, inf)"]
    assert Values(np.array([3, 7]))(np.array([7, 5, 3, 99])).tolist() == [1, 2, 0, 2]
    assert [Values(np.array([3, 7])).name(cell) for cell in (1, 2)] == ["7", "another value"]
    assert Residues(8)(np.array([-1, 9])).tolist() == [7, 1]
    assert Residues(8).name(7) == "7 modulo 8"
    kinds = Kinds()(np.array([1.0, np.nan, np.inf, -np.inf]))
    assert [Kinds().name(int(kind)) for kind in kinds] == ["finite", "NaN", "inf", "-inf"]


def test_an_event_is_read_as_what_it_is():
    """An inequality, a short list of cells, or what it leaves out."""
    assert str(Event(Plain(ALONE, 1), 2.5)) == "output > 2.5"
    assert str(Event(Plain(Coordinate(3, alone=False), -1), 2.5)) == "output[3] < -2.5"
    values = Values(np.array([3, 7, 9]))
    score = CellRatio(ALONE, values, np.array([1.0, -1.0, 2.0, 0.5, 0.0]))
    assert str(Event(score, 1.5)) == "output is 9"
    assert str(Event(score, 0.0)) == "output is not 7"
    assert "anything that was seen" in str(Event(score, 5.0))
    many = CellRatio(ALONE, Residues(20), np.append(np.repeat([1.0, -1.0], 10), 0.0))
    assert "more cells" in str(Event(many, 0.0))
    rows = Rows({b"a": 1.0, b"b": -1.0})
    assert str(Event(rows, 0.0)) == "the whole output is one of 1"


def test_an_event_counts_its_errors():
    """False alarms on the first, misses on the second; NaN is in no event of an inequality."""
    event = Event(Plain(ALONE, 1), 1.0)
    assert event.errors(column(0, 2, np.nan), column(5, 0, 0)) == (1, 2)
    assert Event(Plain(ALONE, -1), -10.0).holds(column(np.nan, 0)).tolist() == [False, True]


def test_unseen_cells_say_nothing():
    """Their ratio is 0, and so is that of cells beyond all that was seen."""
    ratios = log_ratios(np.array([0, 0, 3]), np.array([0, 3, 3]))
    assert ratios[1] == ratios[2] == ratios[-1] == 0
    assert ratios[0] < 0 < ratios[3]
    score = CellRatio(ALONE, Residues(100), ratios)
    assert score(np.array([[0], [50]])).tolist() == [ratios[0], 0.0]


def test_few_different_outputs_are_told_apart_whole():
    """And an output that was never seen is neither."""
    first, second = np.tile([[0, 0], [1, 1]], (100, 1)), np.tile([[0, 1], [1, 0]], (100, 1))
    (rows,) = [score for score in candidate_scores(first, second) if isinstance(score, Rows)]
    assert np.sign(rows(np.array([[0, 0], [0, 1], [5, 5]]))).tolist() == [-1, 1, 0]
    many = np.random.default_rng(0).normal(size=(200, 2))
    assert not any(isinstance(score, Rows) for score in candidate_scores(many, many + 1))


def test_wide_outputs_have_one_classifier_and_two_columns():
    """A hundred columns: no squares, and only the columns that differ most."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 400, 100))
    second[:, 42] += 3
    scores = candidate_scores(first, second)
    views = {str(score.view) for score in scores}
    assert "output[42]" in views
    assert sum("classifier" in view for view in views) == 1
    assert len(views) == 3


def test_the_chosen_events_are_of_runs_that_judge_nothing():
    """At most one a purpose, the one against the curve first."""
    rng = np.random.default_rng(0)
    first, second = rng.laplace(size=(2, 4000, 1))
    events = choose_events(first, second + 2, Pure(epsilon=1).tradeoff(), delta=0.0, n_judges=4000, error=1e-6)
    assert len(events) == 4
    false, missed = events[0].errors(first, second + 2)
    assert false + missed < 0.8 * 4000
