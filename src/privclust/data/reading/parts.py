"""Sources in parts: records of where some of the rows are, which can travel and be read alone.

A part is a frozen value that can be pickled. It holds no row, but says how to read some: which
files or row groups, which columns, and what is done to every block on the way. The parts of a
source, one after the other, are its rows in their order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from privclust.exceptions import DataError, NoRowsError

__all__ = ["IN_MEMORY", "ChosenPart", "Part", "Parted", "SteppedPart", "WholePart", "runs"]

IN_MEMORY = (
    "Data in memory stay on this machine; write them to Parquet files where the workers can read "
    "them, or leave the engine."
)
CHANGED = "The data changed while they were read; start again."

# A mask: its length, and eight rows to a byte.
Bits = tuple[int, npt.NDArray[np.uint8]]


class Part(ABC):
    """Some consecutive rows of a source.

    Attributes
    ----------
    n_rows : int or None
        The number of its rows, if it is known beforehand. PRIVATE, like that of a source.
    n_bytes : int
        About its size where it is stored.
    """

    n_rows: int | None
    n_bytes: int

    @abstractmethod
    def blocks(self) -> Iterator[Any]:
        """Read its rows once, in the order in which they are stored."""


class Parted(Protocol):
    """What an engine needs of a source."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if it is known beforehand."""
        ...

    @property
    def stays_here(self) -> str | None:
        """Why no other machine can read the rows, in one sentence, or nothing if it can."""
        ...

    def blocks(self) -> Iterator[Any]:
        """Read the rows from the beginning."""
        ...

    def parts(self, count: int = 1) -> Sequence[Part]:
        """Return the rows in about this many parts; only what decides a cut is read."""
        ...

    def at_close(self, call: Callable[[], object]) -> None:
        """Have something done when the source is closed."""
        ...


@dataclass(frozen=True)
class WholePart(Part):
    """All rows of a source that stays where it is."""

    source: Any

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        """The number of its rows."""
        found: int | None = self.source.n_rows
        return found

    n_bytes = 0

    def blocks(self) -> Iterator[Any]:
        """Read the source; a part may be empty where a source may not."""
        with suppress(NoRowsError):
            yield from self.source.blocks()


@dataclass(frozen=True)
class SteppedPart(Part):
    """A part whose blocks take one more step, a frozen value, each by itself."""

    part: Part
    step: Callable[[Any], Any]

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        """The number of its rows."""
        return self.part.n_rows

    @property
    def n_bytes(self) -> int:  # type: ignore[override]
        """About its size."""
        return self.part.n_bytes

    def blocks(self) -> Iterator[Any]:
        """Read the part."""
        return map(self.step, self.part.blocks())


@dataclass(frozen=True)
class ChosenPart(Part):
    """The rows of a part that were chosen, with one bit for each of them."""

    part: Part
    masks: tuple[Bits, ...]

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        """How many rows were chosen."""
        return sum(int(np.bitwise_count(bits).sum()) for _, bits in self.masks)

    @property
    def n_bytes(self) -> int:  # type: ignore[override]
        """About its size, with the rows that were not chosen."""
        return self.part.n_bytes

    def blocks(self) -> Iterator[Any]:
        """Read the part; a block that is not the one of the mask is an error."""
        masks = iter(self.masks)
        for block in self.part.blocks():
            length, bits = next(masks, (-1, None))
            if bits is None or block.n_rows != length:
                raise DataError(CHANGED)
            yield block.keep(np.unpackbits(bits, count=length).astype(bool))
        if next(masks, None) is not None:
            raise DataError(CHANGED)


Sized = TypeVar("Sized")


def runs(
    pieces: Sequence[Sized], count: int, size: Callable[[Sized], int]
) -> list[tuple[Sized, ...]]:
    """Return consecutive pieces in about ``count`` runs of about equal size, none of them empty."""
    sizes = np.array([max(1, size(piece)) for piece in pieces], np.float64)
    # A piece belongs to the run in which its middle lies.
    middles = np.cumsum(sizes) - sizes / 2
    numbers = np.floor(middles * (max(1, count) / sizes.sum())).astype(np.int64)
    starts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(pieces)]
    return [tuple(pieces[a:b]) for a, b in pairwise(starts)]
