"""Every mechanism with its worst neighbors, one file a family."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """Return `AuditCase`, which stood here in 0.1.0; the next version has it in `discreet.audit` alone."""
    if name != "AuditCase":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import warnings

    from discreet.audit.cases.case import AuditCase

    told = "`discreet.audit.cases.AuditCase` has moved: use `discreet.audit.AuditCase`."
    warnings.warn(f"{told} The next version has it there alone.", DeprecationWarning, stacklevel=2)
    return AuditCase
