"""What readers hand on: blocks of a few thousand private records, column by column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

# A block's design matrix then stays in a core's cache.
BLOCK_ROWS = 8192


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RecordBlock:
    """Some private records.

    Parameters
    ----------
    n_rows : int
        How many.
    columns : mapping of str to ndarray of shape (n_rows,)
        Numbers and flags (0 and 1) as float64 with NaN for missing; categories as int32 positions of their levels
        with -1 for missing.  Numbers may also hold infinities, which count as missing.
    troubles : mapping of str to str
        For a column with missing cells whose policy is "error", what kind of trouble there is; never a cell.
    where : str or None
        The file of several that the records stand in, for messages.
    """

    n_rows: int
    columns: Mapping[str, NDArray]  # type: ignore[type-arg]
    troubles: Mapping[str, str] = field(default_factory=dict)
    where: str | None = None


class Table(ABC):
    """Private records that are read block by block, in bounded memory.

    Attributes
    ----------
    size_hint : int or None
        How much there is to read, in rows or bytes, for the owner's progress bar.
    position : int
        How much of it has been read.
    reads_once : bool
        Whether `blocks` yields the records only the first time it is called.
    unit : str or None
        The column that says whose a record is, where its blocks hold that.
    notes : tuple of str
        What a release of these records must say, one sentence each.
    """

    size_hint: int | None = None
    position: int = 0
    reads_once: bool = False
    unit: str | None = None
    notes: tuple[str, ...] = ()

    @abstractmethod
    def blocks(self) -> Iterator[RecordBlock]:
        """Yield the records, each exactly once.

        Raises
        ------
        InvalidData
            If the source is broken; names the column or line, never a cell.
        """
