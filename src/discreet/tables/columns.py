"""The former place of `discreet.tables.schema.columns`: its public names work for one version, and warn."""

from __future__ import annotations

from typing import Any

_MOVED = ("Category", "Date", "Flag", "Number")


def __getattr__(name: str) -> Any:
    """Return a declaration of a column, which stood here in 0.1.0; the next version has it in `discreet` alone."""
    if name not in _MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import warnings

    from discreet.tables.schema import columns

    told = f"`{__name__}.{name}` has moved: use `discreet.{name}`."
    warnings.warn(f"{told} The next version has it there alone.", DeprecationWarning, stacklevel=2)
    return getattr(columns, name)
