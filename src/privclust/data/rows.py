"""Rows behind the door: blocks of typed columns, and sources that yield them.

A reader makes blocks in which record i is row i; see ``privclust.reading``. Every step here, on
each block or choosing rows, keeps or counts every row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from privclust._typing import AnyArray, Floats, Mask
from privclust.data.columns.kinds import TypedColumn
from privclust.exceptions import DataError, NoRowsError

_BLOCK_ROWS = 65_536
_BLOCK_NUMBERS = 2**22  # 32 MB as float64: wide rows come in shorter blocks
IN_MEMORY = (
    "Data in memory stay on this machine; write them to Parquet files where the workers can read "
    "them, or leave the engine."
)
CHANGED = "The data changed while they were read; start again."
_MISCOUNTED = (
    "The data have a different number of rows than the unit declares; correct n_rows or leave it "
    "out."
)

# A mask: its length, and eight rows to a byte.
Bits = tuple[int, npt.NDArray[np.uint8]]


class Block:
    """A run of rows, as typed columns of one length.

    ``names``: the columns asked for, in that order; an id column may be among them. ``n_rows``:
    number of rows. PRIVATE, like everything in a block.
    """

    def __init__(self, names: Sequence[str], columns: Mapping[str, TypedColumn]) -> None:
        lengths = {len(column) for column in columns.values()}
        if len(lengths) != 1:
            raise DataError("The columns of a block differ in length; give every row all columns.")
        self.names, self.n_rows = tuple(names), lengths.pop()
        self._columns = dict(columns)

    def column(self, name: str) -> TypedColumn:
        """Return one column."""
        return self._columns[name]

    def dense(self, names: Sequence[str]) -> Floats | None:
        """Return columns as one array of numbers, if they are stored so."""
        return None

    def keep(self, mask: Mask) -> Block:
        """Return the rows where ``mask`` is true."""
        return Block(self.names, {n: column.keep(mask) for n, column in self._columns.items()})

    def __len__(self) -> int:
        return self.n_rows


class DenseBlock(Block):
    """A run of rows as one array of numbers, so that all columns are of one kind.

    ``rows``: (n_rows, n_columns).
    """

    def __init__(self, names: Sequence[str], rows: AnyArray) -> None:
        self.names, self.n_rows = tuple(names), len(rows)
        self._rows = rows

    def column(self, name: str) -> TypedColumn:
        values = self._rows[:, self.names.index(name)]
        with np.errstate(over="ignore"):  # a warning would reveal that a long double is too large
            floats = values.astype(np.float64) if values.dtype.kind == "f" else values
        return TypedColumn.of(pa.array(floats))

    def dense(self, names: Sequence[str]) -> Floats:
        """Return columns as the table reads them: each number as the nearest float64.

        The array may be the caller's own memory, and is then marked read-only.
        """
        rows = self._rows
        if tuple(names) != self.names:
            places = {name: place for place, name in enumerate(self.names)}
            rows = rows[:, [places[name] for name in names]]
        with np.errstate(over="ignore"):  # as above
            floats = np.ascontiguousarray(rows, dtype=np.float64)
        if np.may_share_memory(floats, self._rows):
            floats = floats.view()
            floats.flags.writeable = False
        return floats

    def keep(self, mask: Mask) -> DenseBlock:
        return DenseBlock(self.names, self._rows[mask])


@dataclass(frozen=True)
class Selection:
    """Which columns to read: those asked for, in that order, and the id column if there is one."""

    names: tuple[str, ...]
    id_column: str | None = None

    @property
    def read(self) -> tuple[str, ...]:
        """Every column that has to be read."""
        if self.id_column is None or self.id_column in self.names:
            return self.names
        return (*self.names, self.id_column)


class Part(ABC):
    """Some rows of a source, as a frozen value that can be sent elsewhere and read alone."""

    # The number of its rows, if known beforehand. PRIVATE, like that of a source.
    n_rows: int | None
    n_bytes: int  # its approximate size in storage

    @abstractmethod
    def blocks(self) -> Iterator[Any]:
        """Read its rows once, in the order in which they are stored."""


class PartedSource(Protocol):
    """What an engine needs of a source."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if it is known beforehand."""
        ...

    @property
    def stays_here(self) -> str | None:
        """Why no other machine can read the rows, in one sentence; empty if it can."""
        ...

    def blocks(self) -> Iterator[Any]:
        """Read the rows from the beginning."""
        ...

    def parts(self, count: int = 1) -> Sequence[Part]:
        """Return the rows in about ``count`` parts; reads only what is needed to cut them."""
        ...

    def at_close(self, call: Callable[[], object]) -> None:
        """Call ``call`` when the source is closed."""
        ...


class RowSource(ABC):
    """Rows that can be read block by block, as often as needed.

    Opening a source reads column names and types only; rows are first read by :meth:`blocks`.

    ``names``: names of the columns asked for; ``None`` for an unnamed array opened without names.
    ``id_column``: the column that names a person, read with the others. ``block_rows``: rows per
    block, except for the last. ``n_rows``: the number of rows, if the source states it beforehand
    or it is declared; reading any other number is an error. PRIVATE when rows are added or removed
    between neighbours: it may drive a progress display for the holder of the data and must never
    leave.
    """

    def __init__(
        self,
        selection: Selection,
        *,
        named: bool = True,
        n_rows: int | None = None,
        block_rows: int | None = None,
    ) -> None:
        self.selection = selection
        self.names = selection.names if named else None
        self.n_columns = len(selection.names)
        self.id_column = selection.id_column
        self.n_rows = n_rows
        width = max(1, len(selection.read))
        self.block_rows = block_rows or min(_BLOCK_ROWS, max(1, _BLOCK_NUMBERS // width))
        self._miscounted = CHANGED
        self._closed = False
        self._at_close: list[Callable[[], object]] = []

    @abstractmethod
    def _blocks(self) -> Iterator[Block]:
        """Read the rows once, in an order that is the same every time."""

    def blocks(self) -> Iterator[Block]:
        """Read the rows from the beginning; blocks are never empty."""
        if self._closed:
            raise DataError("The data source is closed; open it again to read its rows.")
        seen = 0
        for block in self._blocks():
            if block.n_rows:
                seen += block.n_rows
                yield block
        if not seen:
            raise NoRowsError("The data have no rows; give at least one row.")
        self.check_count(seen)

    def declare_count(self, n_rows: int | None) -> None:
        """Refuse any other number of rows, if one is declared; nothing is read yet."""
        if n_rows is None:
            return
        if self.n_rows not in (None, n_rows):
            raise DataError(_MISCOUNTED)
        self.n_rows, self._miscounted = n_rows, _MISCOUNTED

    def check_count(self, seen: int) -> None:
        """Refuse more or fewer rows than the source states or than is declared."""
        if self.n_rows not in (None, seen):
            raise DataError(self._miscounted)

    @property
    def stays_here(self) -> str | None:
        """Why no other machine can read the rows, in one sentence; empty if it can."""
        return IN_MEMORY

    def parts(self, count: int = 1) -> Sequence[Part]:
        """Return the rows in about ``count`` parts; in one, if the source cannot be cut."""
        return (WholePart(self),)

    def at_close(self, call: Callable[[], object]) -> None:
        """Call ``call`` when the source is closed."""
        self._at_close.append(call)

    def close(self) -> None:
        """Free the source; its rows cannot be read any more."""
        self._closed = True
        while self._at_close:
            self._at_close.pop()()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


@dataclass(frozen=True)
class WholePart(Part):
    """All rows of a source that stays where it is."""

    source: PartedSource

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        """The number of its rows."""
        return self.source.n_rows

    n_bytes = 0

    def blocks(self) -> Iterator[Any]:
        """Read the source; a part may be empty where a source may not."""
        with suppress(NoRowsError):
            yield from self.source.blocks()


@dataclass(frozen=True)
class _SteppedPart(Part):
    """A part with one more step, a frozen value, applied to each block."""

    part: Part
    step: Callable[[Any], Any]

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        """The number of its rows."""
        return self.part.n_rows

    @property
    def n_bytes(self) -> int:  # type: ignore[override]
        """Its approximate size."""
        return self.part.n_bytes

    def blocks(self) -> Iterator[Any]:
        """Read the part."""
        return map(self.step, self.part.blocks())


@dataclass(frozen=True)
class FilteredPart(Part):
    """The rows of a part that were chosen, with one bit for each of them."""

    part: Part
    masks: tuple[Bits, ...]

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        """How many rows were chosen."""
        return sum(int(np.bitwise_count(bits).sum()) for _, bits in self.masks)

    @property
    def n_bytes(self) -> int:  # type: ignore[override]
        """Its approximate size, with the rows that were not chosen."""
        return self.part.n_bytes

    def blocks(self) -> Iterator[Any]:
        """Read the part; a block that does not match the mask is an error."""
        masks = iter(self.masks)
        for block in self.part.blocks():
            length, bits = next(masks, (-1, None))
            if bits is None or block.n_rows != length:
                raise DataError(CHANGED)
            yield block.keep(np.unpackbits(bits, count=length).astype(bool))
        if next(masks, None) is not None:
            raise DataError(CHANGED)


class MappedRows(RowSource):
    """The rows of another source, with one more step applied to each block.

    ``step``: takes a block and returns one; a frozen value without outside state.
    """

    def __init__(self, source: RowSource, step: Callable[[Block], Block]) -> None:
        named, n_rows = source.names is not None, source.n_rows
        super().__init__(source.selection, named=named, n_rows=n_rows, block_rows=source.block_rows)
        self._source, self._step = source, step

    @property
    def stays_here(self) -> str | None:
        return self._source.stays_here

    def parts(self, count: int = 1) -> Sequence[Part]:
        return [_SteppedPart(part, self._step) for part in self._source.parts(count)]

    def at_close(self, call: Callable[[], object]) -> None:
        # The opener closes the inner source, maybe not this wrapper.
        self._source.at_close(call)

    def check_count(self, seen: int) -> None:
        self._source.check_count(seen)

    def _blocks(self) -> Iterator[Block]:
        return map(self._step, self._source.blocks())

    def close(self) -> None:
        super().close()
        self._source.close()
