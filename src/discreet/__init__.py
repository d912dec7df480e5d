"""Differentially private regressions and statistics from private tables.

The public names are listed once, in __init__.pyi, and imported when they are used: `import discreet` costs nothing.
"""

from __future__ import annotations

from typing import Any

import lazy_loader

_value, _, _listed = lazy_loader.attach_stub(__name__, __file__)
# Rooms with public names of their own: they can be reached from here, and are no names of the top.
_ROOMS = {"audit", "errors", "functional", "privacy", "sampling"}
# Names that stood here in 0.1.0, by the room where they stand now. The next version has them no more.
_MOVED = {
    "errors": (
        "AdjacencyMismatch ClassLabelsWarning IncompatiblePlan LargeDeltaWarning LedgerUnusable NoLedgerWarning "
        "NoSoundConversion"
    ),
    "functional": "Forecast LogisticObjective QuadraticObjective SquaredObjective",
    "privacy": "Coins PiecewiseLinear TradeoffFunction compose_plan geometric_runtime",
    "sampling": (
        "BlockRestart ConstantAcceptance CoolDown Custom Discretized Draw FiniteCandidates GaussianBase "
        "KNormGradient Lipschitz LogConcave LogHoelder Normal Plain Posterior Squeeze StronglyConcave "
        "SyntheticData Truncated Uniform UserTarget posterior_draw sample"
    ),
}
__all__ = sorted({*_listed, "__version__"} - _ROOMS)  # noqa: PLE0605  (the list is the stub's)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("discreet")
    for room, names in _MOVED.items():
        if name in names.split():
            import warnings
            from importlib import import_module

            told = f"`discreet.{name}` has moved: use `discreet.{room}.{name}`. The next version has it there alone."
            warnings.warn(told, DeprecationWarning, stacklevel=2)
            return getattr(import_module(f"discreet.{room}"), name)
    return _value(name)


def __dir__() -> list[str]:
    return __all__
