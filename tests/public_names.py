"""Every public name of the package, by where it stands: the top, and the rooms with public names of their own."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import discreet as dp

ROOMS = ("audit", "functional", "privacy", "sampling")
AT_THE_TOP: dict[str, Any] = {name: getattr(dp, name) for name in dp.__all__}
IN_ROOMS: dict[str, dict[str, Any]] = {
    room: {name: getattr(import_module(f"discreet.{room}"), name) for name in import_module(f"discreet.{room}").__all__}
    for room in ROOMS
}
PUBLIC: dict[str, Any] = AT_THE_TOP | {name: value for names in IN_ROOMS.values() for name, value in names.items()}
