"""The local engine: threads over the blocks of a source, on one machine.

NumPy and BLAS release Python's lock, and each thread uses BLAS with one thread: more per block
would only wait for each other. A fit asks many questions, each a pass over all rows, and reading
and encoding them can cost more than the question itself. So the encoded rows of the first pass are
kept up to a limit; the rest is read again in every pass.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, reduce
from itertools import islice
from operator import add
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from privclust.data.engines.base import (
    CountedSum,
    EncodedRows,
    Encoder,
    Engine,
    Total,
    free_memory,
    listening_now,
)
from privclust.data.rows import PartedSource

# Of the memory that is free when rows are first read.
_KEPT_SHARE = 0.5
_MOST_THREADS = 8

Item = TypeVar("Item")
Pieces = Sequence[Any]


class LocalEngine(Engine):
    """Threads of this process.

    ``kept_bytes``: how much memory the kept rows of a fit may take; by default half of what is
    free. No answer depends on it.
    """

    def __init__(self, kept_bytes: int | None = None) -> None:
        self._kept_bytes = kept_bytes

    def check(self, source: PartedSource) -> None:
        """Accept any source: its rows need not travel."""

    def open(self, source: PartedSource, encode: Encoder) -> LocalRows:
        """Return the rows of a source as an encoder makes them; nothing is read yet."""
        return LocalRows(source, encode, self._kept_bytes)


class LocalRows(EncodedRows):
    """Encoded rows of a source, kept in memory as far as the limit allows."""

    def __init__(self, source: PartedSource, encode: Encoder, kept_bytes: int | None) -> None:
        self._source, self._encode, self._kept_bytes = source, encode, kept_bytes
        self._shelf: _Shelf | None = None

    def sum(self, statistic: Callable[[Any], Total]) -> CountedSum[Total]:
        """Return the sum of a statistic over all rows, a piece at a time."""
        if self._shelf is None or not self._shelf.complete:
            return self._read(statistic)

        def of_pieces(pieces: Pieces) -> CountedSum[Total]:
            return total_of(pieces, self._encode, statistic)

        return sum_in_threads(self._shelf.in_order(), of_pieces, self._source.n_rows)

    def _read(self, statistic: Callable[[Any], Total]) -> CountedSum[Total]:
        """Add up while reading; the first pass fills the cache."""
        shelf = None
        if self._shelf is None:
            shelf = _Shelf(self._room())

        def of_block(numbered: tuple[int, Any]) -> CountedSum[Total]:
            number, block = numbered
            pieces = self._encode(block)
            if shelf is not None:
                shelf.put(number, pieces)
            return total_of(pieces, self._encode, statistic)

        blocks = enumerate(self._source.blocks())
        total = sum_in_threads(blocks, of_block, self._source.n_rows)
        if shelf is not None:
            self._shelf = shelf
        return total

    def each(self, statistic: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield what a statistic gives for each piece; rows are read once, and not kept."""
        for block in self._source.blocks():
            for piece in self._encode(block):
                yield statistic(self._encode.unpack(piece))

    def _room(self) -> int:
        return int(_KEPT_SHARE * free_memory()) if self._kept_bytes is None else self._kept_bytes

    def close(self) -> None:
        """Release the rows."""
        self._shelf = None


class _Shelf:
    """A cache of pieces of rows, up to the memory allowed."""

    def __init__(self, room: int) -> None:
        self.complete = True
        self._kept: dict[int, Pieces] = {}
        self._room = room
        self._lock = Lock()

    def put(self, number: int, pieces: Pieces) -> None:
        """Keep the pieces of a block, if there is room for them."""
        with self._lock:
            self._room -= sum(piece.nbytes for piece in pieces)
            self.complete = self.complete and self._room >= 0
            if self.complete:
                self._kept[number] = pieces
            else:
                self._kept.clear()

    def in_order(self) -> list[Pieces]:
        """Return what is kept in the order of reading: threads may have added it in any order."""
        return [self._kept[number] for number in sorted(self._kept)]


def total_of(
    pieces: Pieces, encode: Encoder, statistic: Callable[[Any], Total]
) -> CountedSum[Total]:
    """Return the sum of a statistic over some pieces of rows."""
    total = reduce(add, (statistic(encode.unpack(piece)) for piece in pieces))
    return CountedSum(total, sum(map(len, pieces)))


def sum_in_threads(
    items: Iterable[Item], of_item: Callable[[Item], CountedSum[Total]], n_rows: int | None
) -> CountedSum[Total]:
    """Return the sum over all items, of which there must be at least one, in their order.

    ``of_item``: called on each item, in several threads; a frozen value without outside state.
    ``n_rows``: the number of rows in all, if known; for the display of progress.
    """
    tell, total = listening_now.get(), None
    for part in _in_threads(items, of_item):
        total = part if total is None else total + part
        if tell is not None:
            tell(total.n_rows, n_rows)
    assert total is not None  # noqa: S101  # a source is never empty
    return total


def _in_threads(
    items: Iterable[Item], of_item: Callable[[Item], CountedSum[Total]]
) -> Iterator[CountedSum[Total]]:
    """Yield what is made of each item, in their order."""
    waiting_items = iter(items)
    first = list(islice(waiting_items, 2))
    if len(first) == 1:  # small data: threads would cost more than they save
        yield of_item(first[0])
        return
    threads = min(_threads(), _MOST_THREADS)
    with (
        one_blas_thread(),
        ThreadPoolExecutor(threads, thread_name_prefix="privclust") as pool,
    ):
        # A short queue: items wait in memory, and reading them should not run far ahead.
        waiting: deque[Future[CountedSum[Total]]] = deque(
            pool.submit(of_item, item) for item in first
        )
        for item in waiting_items:
            if len(waiting) > threads:
                yield waiting.popleft().result()
            waiting.append(pool.submit(of_item, item))
        while waiting:
            yield waiting.popleft().result()


def _threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def one_blas_thread() -> Any:
    """Return a context in which every thread uses BLAS alone."""
    return _blas().limit(limits=1, user_api="blas")


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
