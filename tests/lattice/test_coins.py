"""Random words: uniform, never repeated, refused to copies and, when seeded, to forks."""

import copy
import os
import pickle
import threading

import numpy as np
import pytest

from discreet.errors import DiscreetError, InvalidArgument, InvalidType
from discreet.privacy import coins as coins_module
from discreet.privacy.coins import Coins

ignore_fork_warning = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def in_child(work):
    """Return the bytes that `work` returns in the child of a fork."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover  (leaves by _exit, before coverage can write)
        answer = b"failed"
        try:
            answer = work()
        finally:
            os.write(writing, answer)
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


def test_equal_seeds_give_equal_words():
    """A seeded run is bitwise repeatable, however the words are asked for."""
    whole = Coins.from_seed(3).words(50_000)
    coins = Coins.from_seed(3)
    parts = np.concatenate([coins.words(n) for n in (1, 0, 16_384, 33_615)])
    np.testing.assert_array_equal(whole, parts)
    assert not np.array_equal(whole, Coins.from_seed(4).words(50_000))


def test_words_are_the_key_stream_of_aes_256_in_counter_mode():
    """The first words are the encrypted counter blocks 0 and 1 under the seed's key."""
    import hashlib

    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    key = hashlib.sha256(b"discreet test seed 9").digest()
    blocks = b"".join(i.to_bytes(16, "big") for i in range(2))
    stream = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(blocks)  # noqa: S305  (the definition of CTR)
    assert Coins.from_seed(9).words(4).tobytes() == stream


def test_system_coins_differ_from_each_other():
    """Every object has a key of its own."""
    assert not np.array_equal(Coins.from_system().words(4), Coins.from_system().words(4))


@pytest.mark.parametrize("bits", [1, 4, 63, 64])
def test_words_are_uniform_below_two_to_the_word_bits(bits):
    """The leading bits are fair and no word is too large."""
    words = Coins.from_seed(5, word_bits=bits).words(40_000)
    assert words.dtype == np.uint64
    assert int(words.max()) < 2**bits
    for bit in range(max(0, bits - 4), bits):
        share = float((words >> np.uint64(bit) & np.uint64(1)).mean())
        assert abs(share - 0.5) < 5 * 0.5 / 200


@pytest.mark.parametrize("refused", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_are_refused(refused):
    """Neither copy nor pickle makes a second stream of the same words."""
    with pytest.raises(InvalidType, match="cannot be copied or pickled"):
        refused(Coins.from_system())


def test_the_representation_shows_no_key():
    """Only public facts are printed."""
    assert repr(Coins.from_seed(1, word_bits=4)) == "Coins(seeded=True, word_bits=4)"
    assert repr(Coins.from_system()) == "Coins(seeded=False, word_bits=64)"


@pytest.mark.parametrize("seed", [-1, 0.5, True, "x", None, float("nan")])
def test_bad_seeds_are_refused_by_name(seed):
    """A seed is a whole number of at least 0."""
    with pytest.raises(InvalidArgument, match="`seed`"):
        Coins.from_seed(seed)


@pytest.mark.parametrize("bits", [0, 65, True, "x", 4.0])
def test_bad_word_bits_are_refused_by_name(bits):
    """Words have 1 to 64 bits."""
    with pytest.raises(InvalidArgument, match="`word_bits`"):
        Coins.from_seed(1, word_bits=bits)


def test_fill_takes_contiguous_words_only():
    """A strided or differently typed array would be filled wrongly, so it is refused."""
    coins = Coins.from_seed(1)
    with pytest.raises(InvalidType, match="`out`"):
        coins.fill(np.empty(4))
    with pytest.raises(InvalidType, match="`out`"):
        coins.fill(np.empty(8, np.uint64)[::2])
    coins.fill(np.empty(0, np.uint64))
    np.testing.assert_array_equal(coins.words(3), Coins.from_seed(1).words(3))


@ignore_fork_warning
def test_a_child_never_repeats_a_word_of_its_parent():
    """System coins take a new key in the child; the parent's stream goes on."""
    coins = Coins.from_system()
    before = coins.words(64)
    child = np.frombuffer(in_child(lambda: coins.words(256).tobytes()), np.uint64)
    sibling = np.frombuffer(in_child(lambda: coins.words(256).tobytes()), np.uint64)
    after = coins.words(512)
    seen = np.concatenate([before, child, sibling, after])
    assert child.size == sibling.size == 256
    assert np.unique(seen).size == seen.size


@ignore_fork_warning
def test_seeded_coins_refuse_in_a_child():
    """A test seed would repeat the parent's words, so it raises there, and still works in the parent."""
    coins = Coins.from_seed(1)

    def draw():
        try:
            coins.words(1)
        except DiscreetError as error:
            return str(error).encode()
        return b"drew"

    assert b"child of a forked process" in in_child(draw)
    assert coins.words(1).size == 1
    fresh = in_child(lambda: Coins.from_seed(1).words(2).tobytes())
    assert fresh == Coins.from_seed(1).words(2).tobytes()


@ignore_fork_warning
def test_a_lock_held_by_another_thread_does_not_stop_a_child():
    """A fork in the middle of another thread's draw leaves the child with a free lock."""
    coins = Coins.from_system()
    with coins._lock:
        assert len(in_child(lambda: coins.words(2).tobytes())) == 16


@ignore_fork_warning
def test_a_process_id_alone_is_enough_to_change_the_key(monkeypatch):
    """Where no fork handler ran, another process id still means another key."""
    coins = Coins.from_system()
    stream = coins._encryptor
    monkeypatch.setattr(os, "getpid", lambda: -1)
    coins.words(1)
    assert coins._encryptor is not stream


def test_the_fork_handler_makes_every_owner_a_stranger(monkeypatch):
    """What runs in a child, run here: locks are new, system coins take a new key, seeded ones refuse."""
    monkeypatch.setattr(coins_module, "_forks", coins_module._forks)
    system, seeded = Coins.from_system(), Coins.from_seed(1)
    stream, lock = system._encryptor, system._lock
    coins_module._after_fork_in_child()
    assert system._lock is not lock
    system.words(1)
    assert system._encryptor is not stream
    with pytest.raises(DiscreetError, match="Coins.from_seed"):
        seeded.words(1)


def test_threads_share_one_stream_without_repeats():
    """Every word goes to one thread."""
    coins = Coins.from_system()
    parts = [None] * 8

    def work(i):
        parts[i] = np.concatenate([coins.words(100) for _ in range(50)])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = np.concatenate(parts)
    assert np.unique(together).size == together.size == 40_000
