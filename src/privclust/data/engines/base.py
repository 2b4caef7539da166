"""What every engine offers: rows encoded once, and sums of exact statistics over all of them.

A kernel allocates a few megabytes for each piece of rows. Where the allocator returns them to the
system at once, as in Dask workers, faulting them in again costs more than the kernel itself.

A view asks the engine of its fit and knows nothing else about where rows are. Statistics are
integers, so their sum is the same to the bit for every partition, every order and every engine.
"""

from __future__ import annotations

import math
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from privclust.data.rows import PartedSource

# How much memory there is.

_MEMINFO = Path("/proc/meminfo")
# If the system does not report what is free.
_ASSUMED = 2**29


def free_memory() -> int:
    """Return the bytes that new data may take without swapping out others."""
    try:
        for line in _MEMINFO.read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _ASSUMED


# Reused arrays: one of each name in every thread.

_arrays = threading.local()


def scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return an array of this thread with arbitrary content.

    ``name``: the next call with the same name returns the same memory, so a name belongs to one
    place in the code, and nothing of the array may outlive the call that filled it.
    """
    size, key = math.prod(shape), (name, np.dtype(dtype))
    kept: dict[Any, NDArray[Any]] = _arrays.__dict__
    if key not in kept or len(kept[key]) < size:
        kept[key] = np.empty(size, dtype)
    return kept[key][:size].reshape(shape)


class Addable(Protocol):
    """A statistic of some rows: an element of a monoid, added up in the order of the rows."""

    def __add__(self, other: Self, /) -> Self: ...


Total = TypeVar("Total", bound=Addable)


@dataclass(frozen=True)
class CountedSum(Generic[Total]):
    """A statistic of some rows, and their number, counted apart from the statistic."""

    total: Total
    n_rows: int

    def __add__(self, other: CountedSum[Total]) -> CountedSum[Total]:
        return CountedSum(self.total + other.total, self.n_rows + other.n_rows)


@dataclass(frozen=True)
class PerRow:
    """Per-row results; adding concatenates them."""

    parts: tuple[Any, ...]

    def __add__(self, other: PerRow) -> PerRow:
        return PerRow(self.parts + other.parts)


class Encoder(Protocol):
    """Turns a block into pieces of rows, in the compact form in which they are kept.

    A frozen value: it travels to workers, and what it makes of a row depends on that row alone.
    Pieces have a length, the number of their rows, and ``nbytes``.
    """

    def __call__(self, block: Any) -> Sequence[Any]:
        """Return the rows of a block in pieces."""
        ...

    def unpack(self, piece: Any) -> Any:
        """Return a piece as statistics take it, maybe in memory that the next call reuses."""
        ...

    @property
    def row_bytes(self) -> int:
        """The approximate bytes of a kept row."""
        ...


class EncodedRows(ABC):
    """The encoded rows of one fit; they are read when a statistic is first asked for."""

    @abstractmethod
    def sum(self, statistic: Callable[[Any], Total]) -> CountedSum[Total]:
        """Return the sum of a statistic over all pieces, of which there must be at least one.

        ``statistic``: a frozen value, called with unpacked pieces, in any thread or process.
        """

    @abstractmethod
    def each(self, statistic: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield what a statistic gives for some rows at a time, in their order.

        For answers about single rows, which go back to the holder of the rows.
        """

    @abstractmethod
    def close(self) -> None:
        """Release the rows."""


class Engine(ABC):
    """Where the statistics of a fit are added up."""

    @abstractmethod
    def check(self, source: PartedSource) -> None:
        """Raise, before anything is charged, if the engine cannot read this source."""

    @abstractmethod
    def open(self, source: PartedSource, encode: Encoder) -> EncodedRows:
        """Return the rows of a source as an encoder makes them; nothing is read yet."""


_engine: ContextVar[Engine | None] = ContextVar("engine", default=None)

# Called after each block with the rows read in this pass and the rows in all, if known. Both are
# private: they may be shown to the holder of the data, and never stored.
Listener = Callable[[int, int | None], None]
listening_now: ContextVar[Listener | None] = ContextVar("listener", default=None)


def current_engine() -> Engine:
    """Return the engine of this context: that of this machine, unless another was chosen."""
    chosen = _engine.get()
    if chosen is None:
        from privclust.data.engines.local import LocalEngine

        return LocalEngine()
    return chosen


@contextmanager
def use_engine(engine: Engine) -> Iterator[Engine]:
    """Make the fits in this context add up their statistics on this engine."""
    token = _engine.set(engine)
    try:
        yield engine
    finally:
        _engine.reset(token)
