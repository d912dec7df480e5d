"""Dates and times of every unit, from the year -2**63 on: the day they fall on, and what they say as a text.

Days are clipped far outside of the dates that can be declared; nothing wraps around.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DAY_SECONDS = 86_400
_TICKS_A_DAY = {"h": 24, "m": 1440, "s": _DAY_SECONDS}
_TICKS_A_DAY |= {unit: _DAY_SECONDS * 1000**power for power, unit in enumerate(("ms", "us", "ns", "ps", "fs", "as"), 1)}
_DAYS_A_TICK = {"D": 1, "W": 7}
_YEARS_A_TICK = {"Y": 12, "M": 1}  # in months
# Beyond all declared dates, which lie between the years 1 and 9999.
_FAR_DAYS = 10**7
_FAR_MONTHS = 12 * 30_000
_INT64 = 2**63
_EPOCH = date(1970, 1, 1).toordinal()
_LAST = date.max.toordinal()


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Points in time as whole numbers of a unit since 1970.

    Parameters
    ----------
    ticks : ndarray of int64, shape (n,)
        The numbers.
    known : ndarray of bool, shape (n,)
        False where the cell is missing.
    unit : str
        In NumPy's letters, such as "D" or "ns".
    step : int
        How many units a tick is.
    zone : str, optional
        The zone whose calendar days are meant; the ticks are then those of Greenwich.
    """

    ticks: NDArray[np.int64]
    known: NDArray[np.bool_]
    unit: str
    step: int = 1
    zone: str | None = None

    @classmethod
    def of_arrow(cls, array: Any) -> Moments:
        """Return the cells of an Arrow array of dates or timestamps."""
        kind = array.type
        known = array.is_valid().to_numpy(zero_copy_only=False)
        whole = array.cast(pa.int32()) if pa.types.is_date32(kind) else array
        ticks = whole.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        if pa.types.is_timestamp(kind):
            return cls(ticks, known, kind.unit, zone=kind.tz)
        return cls(ticks, known, "D" if pa.types.is_date32(kind) else "ms")

    @classmethod
    def of_numpy(cls, array: NDArray[Any]) -> Moments:
        """Return the cells of a NumPy array of dates; without a unit they say nothing."""
        unit, step = np.datetime_data(array.dtype)
        known = ~np.isnat(array)
        ticks = array.astype(array.dtype.newbyteorder("=")).view(np.int64)
        return cls(ticks, known & (unit != "generic"), "D" if unit == "generic" else unit, step)

    def distinct(self) -> tuple[Moments, NDArray[np.int64]]:
        """Return every tick once, and at which of them each cell is; a missing one is the last."""
        ticks, places = np.unique(self.ticks, return_inverse=True)
        there = np.ones(len(ticks), dtype=np.bool_)
        return replace(self, ticks=ticks, known=there), np.where(self.known, places, len(ticks))

    def days(self) -> NDArray[np.float64]:
        """Return the calendar days since 1970-01-01, NaN for missing."""
        if self.unit in _YEARS_A_TICK:
            days = self._days_of_months()
        elif self.unit in _DAYS_A_TICK:
            days = self._scaled(_DAYS_A_TICK[self.unit], _FAR_DAYS)
        else:
            days = self._days_of_times(_TICKS_A_DAY[self.unit])
        return np.where(self.known, np.clip(days, -_FAR_DAYS, _FAR_DAYS).astype(np.float64), np.nan)

    def _scaled(self, factor: int, far: int) -> NDArray[np.int64]:
        """Return the ticks in another unit, clipped, in which none of the factors makes an integer wrap around."""
        most = far // (factor * self.step) + 1
        return np.asarray(np.clip(self.ticks, -most, most) * np.int64(factor * self.step))

    def _days_of_months(self) -> NDArray[np.int64]:
        months = np.clip(self._scaled(_YEARS_A_TICK[self.unit], _FAR_MONTHS), -_FAR_MONTHS, _FAR_MONTHS)
        return np.asarray(months.view("datetime64[M]").astype("datetime64[D]").view(np.int64))

    def _days_of_times(self, ticks_a_day: int) -> NDArray[np.int64]:
        if self.zone is not None:
            return _local_days(self.ticks // (ticks_a_day // _DAY_SECONDS), self.zone)
        if self.step == 1 and ticks_a_day < _INT64:
            return self.ticks // ticks_a_day
        # Rare units are counted in Python's integers.
        days = self.ticks.astype(object) * self.step // ticks_a_day
        return np.asarray(np.clip(days, -_FAR_DAYS, _FAR_DAYS).astype(np.int64))

    def texts(self) -> list[str | None]:
        """Return what the cells say: a day where it begins, else day and time; None for missing.

        A moment in a zone is given in UTC, for the clocks of a zone show some hours twice.
        """
        ticks, unit, step = self.ticks, self.unit, self.step
        known = self.known
        if unit in _YEARS_A_TICK:
            known = known & (np.abs(self.days()) < _FAR_DAYS / 2)
            ticks, unit, step = self._days_of_months(), "D", 1
        step *= _DAYS_A_TICK.get(unit, 1)
        a_day = _TICKS_A_DAY.get(unit, 1)
        return [
            _text(tick * step, a_day, zoned=self.zone is not None) if there else None
            for tick, there in zip(ticks.tolist(), known.tolist(), strict=True)
        ]


def _local_days(seconds: NDArray[np.int64], zone: str) -> NDArray[np.int64]:
    far = _FAR_DAYS // 4 * _DAY_SECONDS
    there = pa.array(np.clip(seconds, -far, far)).cast(pa.timestamp("s", zone))
    local = pc.local_timestamp(there).cast(pa.int64()).to_numpy(zero_copy_only=False)
    return np.asarray(local // _DAY_SECONDS)


def _text(ticks: int, ticks_a_day: int, *, zoned: bool) -> str:
    day, rest = divmod(ticks, ticks_a_day)
    said = date.fromordinal(day + _EPOCH).isoformat() if 0 < day + _EPOCH <= _LAST else f"day {day}"
    if rest == 0 and not zoned:
        return said
    seconds, part = divmod(rest * _DAY_SECONDS, ticks_a_day)
    fraction = f".{part * 10**18 // ticks_a_day:018d}".rstrip("0").rstrip(".")
    return f"{said} {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}" + "+00:00" * zoned


def knows_zone(zone: str) -> bool:
    """Whether Arrow can tell the calendar days of a zone."""
    try:
        _local_days(np.zeros(1, np.int64), zone)
    except pa.ArrowException:
        return False
    return True


def day_of(cell: Any) -> float:
    """Return the calendar day of a Python or NumPy date since 1970-01-01, NaN where it has none."""
    if isinstance(cell, np.datetime64):
        return float(Moments.of_numpy(np.array([cell])).days()[0])
    try:
        return float(cell.toordinal() - _EPOCH) if cell == cell else np.nan  # noqa: PLR0124  (no time is not itself)
    except Exception:  # noqa: BLE001  (whatever the object raises, the cell is missing)
        return np.nan


def text_of_moment(cell: Any) -> str | None:
    """Return what a Python or NumPy date says, as `Moments.texts` does, or None."""
    if isinstance(cell, np.datetime64):
        return Moments.of_numpy(np.array([cell])).texts()[0]
    try:
        return _text_of_python(cell) if cell == cell else None  # noqa: PLR0124
    except Exception:  # noqa: BLE001
        return None


def _text_of_python(cell: date) -> str:
    day = cell.toordinal() - _EPOCH
    if not isinstance(cell, datetime):
        return _text(day, 1, zoned=False)
    seconds = day * _DAY_SECONDS + cell.hour * 3600 + cell.minute * 60 + cell.second
    # pandas' moments have parts of a microsecond.
    nanoseconds = (seconds * 10**6 + cell.microsecond) * 1000 + int(getattr(cell, "nanosecond", 0))
    offset = cell.utcoffset()
    if offset is not None:
        nanoseconds -= ((offset.days * _DAY_SECONDS + offset.seconds) * 10**6 + offset.microseconds) * 1000
    return _text(nanoseconds, _TICKS_A_DAY["ns"], zoned=offset is not None)
