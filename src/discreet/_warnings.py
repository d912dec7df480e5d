"""Warnings that point at the caller's line, however deep in the package they arise."""

from __future__ import annotations

import sys
import warnings

_PACKAGE = __name__.partition(".")[0]


def warn(message: str, category: type[Warning]) -> None:
    """Give a warning at the innermost line outside of this package.

    Parameters
    ----------
    message : str
        What was found and what to do.
    category : subclass of Warning
        By which it is filtered, one a cause.
    """
    frame, level = sys._getframe(1), 2  # noqa: SLF001  (as `warnings` itself counts)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
