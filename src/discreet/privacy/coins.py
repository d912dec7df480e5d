"""Random words: the only randomness of discreet, from AES-256 in counter mode.

A sampler asks for uniform words of 64 bits and compares or converts them; it never sees a float that claims to be
uniform.
The key comes from the operating system, or, for tests alone, from a seed.
"""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from typing import Any, NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from discreet import _checks
from discreet.errors import DiscreetError, InvalidType

# Zeros to encrypt: their ciphertext is the key stream. A chunk stays in the cache beside the words it becomes.
_ZEROS = memoryview(bytes(1 << 17))

# Children of forks since this module was imported; a process id alone can come back (namespaces, reuse).
_forks = 0
_live: weakref.WeakSet[Coins] = weakref.WeakSet()


class Coins:
    """Uniform random words that no copy and no forked process repeats.

    Made by `Coins.from_system` or, in tests, by `Coins.from_seed`; a ledger hands them out against a charge.

    Attributes
    ----------
    word_bits : int
        Bits in a word: 64. Test seeds may have fewer, so that ties and refinement happen all the time.
    seeded : bool
        Whether the words come from a test seed; what is drawn with them is not private.

    Raises
    ------
    InvalidType
        On any attempt to copy or pickle: two copies would repeat each other's words.

    Notes
    -----
    Threads may share one object: a lock gives every word to one of them.
    In the child of a fork, system coins take a new key before the first word, and seeded coins refuse.

    Guarantee
    ---------
    The words are uniform and independent as far as AES-256 is a pseudo-random permutation: every theorem that
    rests on them is computational. A paused virtual machine that is resumed twice repeats its words; nothing in a
    program can see that.
    Proof: docs/proofs/rounding.md.

    Examples
    --------
    >>> coins = Coins.from_seed(7)
    >>> words = coins.words(3)
    >>> words.shape, words.dtype.name, coins.seeded
    ((3,), 'uint64', True)
    """

    __slots__ = ("__weakref__", "_encryptor", "_lock", "_owner", "seeded", "word_bits")

    def __init__(self, key: bytes, *, seeded: bool, word_bits: int) -> None:
        self.seeded = seeded
        self.word_bits = word_bits
        self._encryptor = _keystream(key)
        self._lock = threading.Lock()
        self._owner = (os.getpid(), _forks)
        _live.add(self)

    @classmethod
    def from_system(cls) -> Coins:
        """Return coins keyed by the operating system's generator."""
        return cls(os.urandom(32), seeded=False, word_bits=64)

    @classmethod
    def from_seed(cls, seed: int, *, word_bits: int = 64) -> Coins:
        """Return reproducible coins; for tests only, since whoever knows the seed knows the noise.

        Parameters
        ----------
        seed : int
            Any whole number of at least 0.
        word_bits : int, default 64
            Bits in a word, 1 to 64.
        """
        number = _checks.integer(seed, "seed", low=0)
        bits = _checks.integer(word_bits, "word_bits", low=1, high=64)
        return cls(hashlib.sha256(b"discreet test seed %d" % number).digest(), seeded=True, word_bits=bits)

    def words(self, n: int) -> np.ndarray:
        """Return `n` fresh words, uint64 of shape (n,), uniform on [0, 2**word_bits)."""
        out = np.empty(_checks.integer(n, "n", low=0), dtype=np.uint64)
        self.fill(out)
        return out

    def fill(self, out: np.ndarray) -> None:
        """Overwrite the contiguous uint64 array `out` with fresh words; spares a sampler's loop the allocation."""
        if out.dtype != np.uint64 or not out.flags.c_contiguous:
            raise InvalidType(f"`out` must be a contiguous array of uint64; found {out.dtype}.")
        if out.size == 0:
            return
        target = out.reshape(-1).view(np.uint8).data
        with self._lock:
            if self._owner != (os.getpid(), _forks):
                self._change_owner()
            for start in range(0, len(target), len(_ZEROS)):
                piece = target[start : start + len(_ZEROS)]
                self._encryptor.update_into(_ZEROS[: len(piece)], piece)
        if self.word_bits < 64:
            np.right_shift(out, np.uint64(64 - self.word_bits), out=out)

    def _change_owner(self) -> None:
        if self.seeded:
            raise DiscreetError(
                "Coins from a test seed were used in the child of a forked process, where they would repeat their "
                "parent's words. Make new ones there with Coins.from_seed and another seed."
            )
        self._encryptor = _keystream(os.urandom(32))
        self._owner = (os.getpid(), _forks)

    def _refuse_copies(self, *_: Any) -> NoReturn:
        raise InvalidType(
            "Coins cannot be copied or pickled: two copies would repeat each other's words. "
            "Pass the object itself (threads may share it); another process needs coins of its own."
        )

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = __getstate__ = _refuse_copies

    def __repr__(self) -> str:
        return f"Coins(seeded={self.seeded}, word_bits={self.word_bits})"


def _keystream(key: bytes) -> CipherContext:
    # A key is used for one stream only, so that the counter may start at 0.
    return Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()


def _after_fork_in_child() -> None:
    global _forks  # noqa: PLW0603  (a count of this process, read by every Coins)
    _forks += 1
    for coins in list(_live):
        # Another thread of the parent may have held the lock; in the child nobody would ever release it.
        coins._lock = threading.Lock()  # noqa: SLF001


os.register_at_fork(after_in_child=_after_fork_in_child)
