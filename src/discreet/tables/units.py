"""Rows of units: whose a row is, and which of a unit's rows contribute where it has more than the cap.

A cap needs two passes: the first remembers 24 bytes a row, the second reads the rows again and leaves out those above
the cap. Which rows stay is a function of the rows alone, whatever their order, the blocks or the file's format.

Proof: docs/proofs/gram.md.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidArgument, InvalidData
from discreet.tables.cells.cell_reader import ALL_KINDS, CellReader, distinct_of
from discreet.tables.cells.python_cells import any_ambiguous, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from discreet.tables.cells.cell_reader import Cells
    from discreet.tables.cells.moments import Moments
    from discreet.tables.schema.columns import Reading
    from discreet.tables.schema.schema import Schema

# A unit's key: a digest of what its cells say, so that neither messages nor memory hold a name. Two units that shared
# one would share a cap: as unlikely as a broken cipher.
KEY = np.dtype([("high", np.uint64), ("low", np.uint64)])
_NOBODY = bytes(KEY.itemsize)
_WHOLE = re.compile(r"-?[0-9]+\.0+\Z")
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

PROTECTED_BY = "release_moments, FunctionalLinearRegression, FunctionalLogisticRegression and `discreet fit`"


def refuse_unit(schema: Schema, who: str) -> None:
    """Refuse a schema that declares a unit where single rows are protected.

    Raises
    ------
    InvalidArgument
        Names `who` refuses, and who does not.
    """
    if schema.unit is not None:
        raise InvalidArgument(
            f"{who} protects single rows, and the schema declares the unit `{schema.unit}` of up to "
            f"{schema.rows_per_unit} rows. Use one of {PROTECTED_BY}, or give one row per unit and take `unit` out of "
            "the schema."
        )


class UnitReader(CellReader):
    """Reads the cells that say whose a row is, as keys; an array of zeros stands for nobody.

    Cells are compared as texts: a whole number, in whatever type, is its digits, blanks at the ends do not count, and
    a cell that is empty, null, not finite or a missing token is nobody's.

    Parameters
    ----------
    name : str
        The column.
    reading : Reading
        How texts are read.

    Notes
    -----
    A float from which on several whole numbers are one, such as 2**53, may stand for several units; a column that holds
    one is refused.
    """

    __slots__ = ("_tokens",)

    def __init__(self, name: str, reading: Reading) -> None:
        super().__init__(name, ALL_KINDS, tells=True)
        self._tokens = frozenset(_without_zeros(token.strip()) for token in reading.missing_tokens)

    def refusal(self, kind: Any) -> InvalidData:
        """Return the error for a column of a type that names nobody."""
        return InvalidData(
            f"Column `{self.name}` is the unit; its type is {kind}. Convert it to a text or a whole number."
        )

    def nothing(self) -> NDArray[Any]:
        """Return one missing cell, shape (1,)."""
        return np.zeros(1, KEY)

    def _of_texts(self, texts: Any) -> Cells:
        distinct = texts.dictionary_encode()
        keys = self._keys([cell and cell.strip() for cell in distinct.dictionary.to_pylist()])
        return _at(keys, distinct.indices), None

    def _of_values(self, kind: str, array: Any) -> NDArray[Any]:
        distinct = distinct_of(array)
        return _at(self._of_objects(kind, distinct.dictionary.to_pylist()), distinct.indices)

    def _of_moments(self, moments: Moments) -> NDArray[Any]:
        distinct, places = moments.distinct()
        return np.append(self._keys(distinct.texts()), self.nothing())[places]

    def _of_objects(self, kind: str, cells: list[Any]) -> NDArray[Any]:
        if any_ambiguous(kind, cells):
            raise InvalidData(
                f"Column `{self.name}` is the unit and holds floats so large that several whole numbers are the same "
                "float, which pandas makes of whole numbers next to a blank. Read it as text or as Int64."
            )
        return self._keys([text_of(kind, cell) for cell in cells])

    def _keys(self, texts: list[str | None]) -> NDArray[Any]:
        return np.frombuffer(b"".join(map(self._key, texts)), dtype=KEY)

    def _key(self, text: str | None) -> bytes:
        text = _without_zeros(text) if text else None
        if text is None or text in self._tokens:
            return _NOBODY
        return blake2b(text.encode(), digest_size=KEY.itemsize).digest()


def _at(keys: NDArray[Any], indices: Any) -> NDArray[Any]:
    """Return the keys at some places; a null is nobody's."""
    places = indices.fill_null(len(keys)).to_numpy(zero_copy_only=False)
    return np.append(keys, np.zeros(1, KEY))[places]  # type: ignore[no-any-return]


def _without_zeros(text: str) -> str:
    """Return 17.0, which programs write of a whole number next to missing cells, as 17."""
    return text.partition(".")[0] if _WHOLE.match(text) else text


class RowCap:
    """Which rows of a table contribute where at most some of every unit may; for one release.

    First every block is shown to `see`, in order; after `settle` every block is shown to `kept`, in the same order.

    Parameters
    ----------
    rows_per_unit : int
        How many rows of a unit contribute at most.

    Notes
    -----
    *Guarantee.* Of every unit at most `rows_per_unit` rows are kept, of nobody none. Which of a unit's rows stay
    depends on that unit's rows alone, and not on their order, but where two different rows have one 64-bit hash.
    Proof: docs/proofs/gram.md.
    """

    def __init__(self, rows_per_unit: int) -> None:
        self._most = rows_per_unit
        self._private_keys: list[NDArray[Any]] = []
        self._private_hashes: list[NDArray[np.uint64]] = []
        self._private_keep = np.empty(0, dtype=np.bool_)
        self._position = 0

    def see(self, keys: NDArray[Any], rows: NDArray[np.float64], dropped: NDArray[np.bool_] | None) -> None:
        """Take note of a block.

        Parameters
        ----------
        keys : ndarray of KEY, shape (n,)
            Whose the rows are.
        rows : ndarray of float64, shape (width, n)
            The grid rows, whole numbers.
        dropped : ndarray of bool, shape (n,), or None
            Which rows contribute nothing anyway.
        """
        mine, hashes = _noted(keys, rows, dropped)
        self._private_keys.append(mine)
        self._private_hashes.append(hashes)

    def settle(self) -> None:
        """Choose the rows that stay, after the last block."""
        self._private_keys = [np.concatenate([np.empty(0, KEY), *self._private_keys])]
        self._private_hashes = [np.concatenate([np.empty(0, np.uint64), *self._private_hashes])]
        self._private_keep = chosen(self._private_keys[0], self._private_hashes[0], self._most)

    def kept(
        self, keys: NDArray[Any], rows: NDArray[np.float64], dropped: NDArray[np.bool_] | None
    ) -> NDArray[np.bool_]:
        """Return which rows of a block contribute, shape (n,).

        Raises
        ------
        InvalidData
            If the block is not the one that was seen: the source changed in between.
        """
        mine, hashes = _noted(keys, rows, dropped)
        window = slice(self._position, self._position + len(mine))
        self._position = window.stop
        seen = self._private_keys[0][window]
        if len(seen) != len(mine) or (seen != mine).any() or (self._private_hashes[0][window] != hashes).any():
            raise InvalidData(CHANGED)
        return self._private_keep[window]

    def finish(self) -> None:
        """Refuse a source that ended sooner than when it was seen.

        Raises
        ------
        InvalidData
            If it did.
        """
        if self._position != len(self._private_keep):
            raise InvalidData(CHANGED)


CHANGED = (
    "The records changed while they were read, or came in another order: a cap of rows per unit needs two equal "
    "passes. Read a file or a table that nothing else writes."
)


def _noted(
    keys: NDArray[Any], rows: NDArray[np.float64], dropped: NDArray[np.bool_] | None
) -> tuple[NDArray[Any], NDArray[np.uint64]]:
    mine = keys if dropped is None else np.where(dropped, np.zeros(1, KEY), keys)
    return mine, row_hashes(mine, rows)


def row_hashes(keys: NDArray[Any], rows: Iterable[NDArray[np.float64]]) -> NDArray[np.uint64]:
    """Return a hash of whose a row is and what is in it, uint64 of shape (n,): the same in every version."""
    hashes = _mixed(keys["high"] ^ _mixed(keys["low"] + _GOLDEN))
    for column in rows:
        hashes = _mixed((hashes ^ column.astype(np.int64).view(np.uint64)) + _GOLDEN)
    return hashes


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return words through the finalizer of SplitMix64, a permutation of 64 bits."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def chosen(keys: NDArray[Any], hashes: NDArray[np.uint64], most: int) -> NDArray[np.bool_]:
    """Return which rows are among the `most` of their unit, bool of shape (n,).

    The rows of a unit are ranked by their hash and, where several are equal, by their number among these: a choice that
    is as good as a random one, and does not prefer what many rows have in common.
    """
    keep = np.zeros(len(keys), dtype=np.bool_)
    somebody = np.flatnonzero((keys["high"] != 0) | (keys["low"] != 0))
    high, low, own = keys["high"][somebody], keys["low"][somebody], hashes[somebody]
    order = np.lexsort((own, low, high))
    numbers = _ranks(high[order], low[order], own[order]).astype(np.uint64)
    own[order] = _mixed(own[order] + numbers * _GOLDEN)
    order = np.lexsort((own, low, high))
    keep[somebody[order]] = _ranks(high[order], low[order]) < most
    return keep


def _ranks(*sorted_columns: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the place of every row within its run of equal rows, from 0."""
    n = len(sorted_columns[0])
    places = np.arange(n)
    begins = np.zeros(n, dtype=np.bool_)
    begins[:1] = True
    for column in sorted_columns:
        begins[1:] |= column[1:] != column[:-1]
    return np.asarray(places - np.maximum.accumulate(np.where(begins, places, 0)))
