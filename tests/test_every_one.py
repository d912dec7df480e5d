"""Tests over many cases fail if one of them does."""

import pytest

from every_one import for_every


def test_every_case_that_fails_is_named():
    """Assertions, errors, and errors that did not come; the others are checked all the same."""
    seen = []

    def check(case):
        seen.append(case)
        if case == "no error":
            with pytest.raises(ValueError, match="never"):
                pass
        assert case != "wrong"
        return {"fine": 1, "also fine": 2}[case]

    with pytest.raises(pytest.fail.Exception) as caught:
        for_every(["fine", "wrong", "no error", "unknown", "also fine"], check)
    assert seen == ["fine", "wrong", "no error", "unknown", "also fine"]
    for name in ("wrong", "no error", "unknown"):
        assert f"'{name}'" in str(caught.value)
    assert "fine'" not in str(caught.value)
    for_every(["fine", "also fine"], check)
