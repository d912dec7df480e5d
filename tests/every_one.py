"""One test over many cases that names every case that fails, not the first one alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def for_every(cases: Iterable[Any], check: Callable[[Any], Any]) -> None:
    """Check every case, and fail with all that were wrong.

    Parameters
    ----------
    cases : iterable
        What `check` takes; how it is printed names it.
    check : callable
        Raises where a case is wrong.
    """
    wrong = []
    for case in cases:
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  (whatever it is, it is listed)
            wrong.append(f"{case!r}: {type(error).__name__}: {error}")
    if wrong:
        pytest.fail("\n\n".join(wrong), pytrace=False)
