"""The local engine: threads over the blocks of a source, on one machine.

Statistics are integers, so the sum over blocks is the same for every order and every number of
threads. NumPy and BLAS release Python's lock, and each thread uses BLAS alone: more BLAS threads
per block would only wait for each other.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Generic, Protocol, Self, TypeVar

from threadpoolctl import ThreadpoolController

from privclust.data.engines.progress import listener
from privclust.data.reading import Block, RowReader

__all__ = ["Summed", "Total", "sum_over", "sum_over_blocks"]


class Addable(Protocol):
    """A statistic of a block: an element of a commutative monoid."""

    def __add__(self, other: Self, /) -> Self: ...


Total = TypeVar("Total", bound=Addable)
Item = TypeVar("Item")


@dataclass(frozen=True)
class Summed(Generic[Total]):
    """A statistic of some rows, and how many they are, counted apart from the statistic."""

    total: Total
    n_rows: int

    def __add__(self, other: Summed[Total]) -> Summed[Total]:
        return Summed(self.total + other.total, self.n_rows + other.n_rows)


def sum_over_blocks(source: RowReader, statistic: Callable[[Block], Total]) -> Summed[Total]:
    """Return the sum of ``statistic`` over all blocks of ``source``."""
    return sum_over(source.blocks(), statistic, lambda block: block.n_rows, source.n_rows)


def sum_over(
    items: Iterable[Item],
    statistic: Callable[[Item], Total],
    n_rows_of: Callable[[Item], int],
    n_rows: int | None,
) -> Summed[Total]:
    """Return the sum of ``statistic`` over all items, of which there must be at least one.

    Parameters
    ----------
    items : iterable
        Parts of the rows.
    statistic : callable
        Called on each item, in several threads; a value that depends on nothing but itself.
    n_rows_of : callable
        Returns the number of rows of an item.
    n_rows : int or None
        The number of rows in all, if known; for the display of progress.
    """

    def counted(item: Item) -> Summed[Total]:
        return Summed(statistic(item), n_rows_of(item))

    parts = _watched(items, n_rows_of, n_rows)
    first = list(islice(parts, 2))
    if len(first) == 1:  # small data: threads would cost more than they bring
        return counted(first[0])
    threads = min(_threads(), 8)
    with (
        _blas().limit(limits=1, user_api="blas"),
        ThreadPoolExecutor(threads, thread_name_prefix="privclust") as pool,
    ):
        # A short queue: parts wait in memory, and reading them should not run far ahead.
        waiting: deque[Future[Summed[Total]]] = deque(pool.submit(counted, part) for part in first)
        total = None
        for part in parts:
            if len(waiting) > threads:
                total = _added(total, waiting.popleft().result())
            waiting.append(pool.submit(counted, part))
        for result in waiting:
            total = _added(total, result.result())
    assert total is not None  # noqa: S101  # a source is never empty
    return total


def _added(total: Summed[Total] | None, part: Summed[Total]) -> Summed[Total]:
    return part if total is None else total + part


def _watched(
    items: Iterable[Item], n_rows_of: Callable[[Item], int], n_rows: int | None
) -> Iterator[Item]:
    tell, done = listener(), 0
    for item in items:
        yield item
        if tell is not None:
            done += n_rows_of(item)
            tell(done, n_rows)


def _threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
