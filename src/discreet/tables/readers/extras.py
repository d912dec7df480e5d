"""Libraries that come with an extra: imported when they are needed, and asked for by name where they are not there."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Any

from discreet.errors import InvalidArgument


def needed_for(file: str, module: str) -> Any:
    """Return a module of the extra `files`.

    Raises
    ------
    InvalidArgument
        If it is not installed; says how to install it.
    """
    found = None
    with suppress(ImportError):
        found = import_module(module)
    if found is None:
        raise InvalidArgument(
            f"Reading {file} needs the package {module.replace('_', '-')}, which is not installed. "
            'Install it with: pip install "discreet[files]".'
        )
    return found
