"""How many examples are tried by day and by night."""

import at_night


def test_more_examples_are_tried_by_night(monkeypatch):
    """Which it is, the setting of `make nightly` says."""
    monkeypatch.setattr(at_night, "AT_NIGHT", False)
    assert at_night.examples(3, 60) == 3
    monkeypatch.setattr(at_night, "AT_NIGHT", True)
    assert at_night.examples(3, 60) == 60
