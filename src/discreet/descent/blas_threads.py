"""One thread of BLAS for many small products, whose own threads would wait for each other; ours work on blocks."""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

T = TypeVar("T")
S = TypeVar("S")

# More threads than this wait for memory.
_MOST_THREADS = 8


@contextmanager
def one_thread() -> Iterator[int]:
    """Hold BLAS to one thread meanwhile, in the whole process, and tell how many it had, at most 8.

    No result depends on it.
    """
    controller = _controller().select(user_api="blas")
    had = max((library.num_threads for library in controller.lib_controllers), default=1)
    with controller.limit(limits=1):
        yield min(had, _MOST_THREADS)


@lru_cache(maxsize=1)
def _controller() -> Any:
    import threadpoolctl  # comes with scikit-learn

    return threadpoolctl.ThreadpoolController()


def shared_out(items: Sequence[S], threads: int, function: Callable[[Sequence[S]], T]) -> list[T]:
    """Return what a function makes of a thread's share of some items, for every thread; fewer for few items.

    Examples
    --------
    >>> shared_out(list(range(20)), 2, sum)
    [90, 100]
    """
    n = max(1, min(threads, len(items) // 8))
    shares = [items[k::n] for k in range(n)]
    if n == 1:
        return [function(shares[0])]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(function, shares))
