"""Who is paired with whom: frames by their labels, arrays by position."""

from __future__ import annotations

from typing import Any

from discreet.errors import InvalidData


def check_pairing(X: Any, y: Any = None, sample_weight: Any = None) -> None:
    """Refuse rows, targets and weights whose indexes disagree; what has no index is paired by position.

    Parameters
    ----------
    X, y, sample_weight : array-like, frame or series
        As the user gave them, `y` and `sample_weight` possibly absent. Those of unequal lengths are left to the check
        of lengths.

    Raises
    ------
    InvalidData
        If two of them have labels that are not the same, or not in the same order; names the later argument.
    """
    first = None
    for name, given in (("X", X), ("y", y), ("sample_weight", sample_weight)):
        index = _index_of(given)
        if index is None:
            continue
        if first is None:
            first = name, index
        elif len(index) == len(first[1]) and not _equal(index, first[1]):
            raise InvalidData(
                f"`{name}` has another index than `{first[0]}`: other labels, or the same in another order. "
                f"Give {name}.loc[{first[0]}.index], or {name}.to_numpy() if row i belongs to row i."
            )


def _index_of(given: Any) -> Any:
    """Return the labels of a frame or series of pandas and its like, or None."""
    index = getattr(given, "index", None)
    return index if hasattr(index, "equals") and hasattr(index, "__len__") else None


def _equal(index: Any, other: Any) -> bool:
    try:
        return bool(index.equals(other))
    except Exception:  # noqa: BLE001  (labels that cannot be compared are not the same)
        return False
