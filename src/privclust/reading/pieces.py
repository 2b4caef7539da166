"""Pieces of files: records of what to read of one file, and the parts that are made of them.

Parquet is cut between row groups, CSV and Arrow files stay whole. A piece compares its file with
what was found at the opening, before it is read and afterwards: rows other than those of an earlier
pass would break both the sums and the promise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from privclust.data.rows import Block, Part
from privclust.exceptions import one_sentence
from privclust.reading.csv_files import csv_batches
from privclust.reading.frames import Batches, resized
from privclust.reading.objects import block_of
from privclust.reading.places import Place
from privclust.schema import Csv

__all__ = [
    "BROKEN",
    "ArrowPiece",
    "CsvPiece",
    "FilesPart",
    "ParquetPiece",
    "Piece",
    "arrow_reader",
    "parquet_batches",
    "unreadable",
]

# A column chunk of a Parquet file is read through a buffer of this size, not as a whole, and not
# ahead of time, so that memory does not grow with the file: 0.2 GB instead of 1.5 GB for 10^7 x 16.
_BUFFER_BYTES = 2**20
_ARROW_FILE = b"ARROW1"
# What a damaged file may raise: a wrong length asks for memory without end, a name may not be text.
BROKEN = (pa.ArrowException, OSError, UnicodeError, MemoryError)
_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Piece:
    """What to read of one file.

    Attributes
    ----------
    place : Place
    read : tuple of str
        The columns.
    """

    place: Place
    read: tuple[str, ...]

    @property
    def n_rows(self) -> int | None:
        """The number of its rows, if it is known beforehand."""
        return None

    @property
    def n_bytes(self) -> int:
        """About its size where it is stored."""
        return 0 if self.place.stamp is None else self.place.stamp[0]

    def split(self) -> Sequence[Piece]:
        """Return smaller pieces, if the file can be cut."""
        return [self]

    def batches(self, size: int) -> Batches:
        """Read the rows, with the columns that the names of folders give."""
        self.place.check_unchanged()
        given = dict(self.place.partition)
        stored = [name for name in self.read if name not in given]
        for batch in self._stored(stored, size):
            yield _with_partition(batch, self.read, given) if given else batch
        self.place.check_unchanged()

    def _stored(self, read: Sequence[str], size: int) -> Batches:
        raise NotImplementedError


@dataclass(frozen=True)
class ParquetPiece(Piece):
    """Row groups of a Parquet file.

    Attributes
    ----------
    groups : tuple of (int, int)
        The number of each row group, and how many rows it has.
    """

    groups: tuple[tuple[int, int], ...]
    share: float = 1.0

    @property
    def n_rows(self) -> int:
        """The number of its rows."""
        return sum(rows for _, rows in self.groups)

    @property
    def n_bytes(self) -> int:
        """About its size where it is stored."""
        return int(super().n_bytes * self.share)

    def split(self) -> Sequence[Piece]:
        """Return a piece for each row group."""
        total = max(1, self.n_rows)
        return [
            replace(self, groups=(group,), share=self.share * group[1] / total)
            for group in self.groups
        ] or [self]

    def span_of(self, column: str) -> tuple[float, float]:
        """Return the least and the largest number of a column, as far as the file tells."""
        with (
            one_sentence(unreadable(self.place.name, "parquet"), *BROKEN),
            pq.ParquetFile(self.place.open()) as parquet,
        ):
            place = parquet.schema_arrow.names.index(column)
            found = [parquet.metadata.row_group(n).column(place) for n, _ in self.groups]
        told = [chunk.statistics for chunk in found if chunk.is_stats_set]
        if len(told) < len(found) or not all(stats.has_min_max for stats in told):
            return -math.inf, math.inf
        return min(float(s.min) for s in told), max(float(s.max) for s in told)

    def _stored(self, read: Sequence[str], size: int) -> Batches:
        chosen = [number for number, _ in self.groups]
        return parquet_batches(self.place.open(), read, size, self.place.name, chosen)


@dataclass(frozen=True)
class ArrowPiece(Piece):
    """A file of Arrow's own format."""

    def _stored(self, read: Sequence[str], size: int) -> Batches:
        with (
            one_sentence(unreadable(self.place.name, "arrow"), *BROKEN),
            arrow_reader(self.place) as reader,
        ):
            count = getattr(reader, "num_record_batches", None)
            batches = reader if count is None else map(reader.get_batch, range(count))
            for batch in batches:
                yield _validated(batch, read)


@dataclass(frozen=True)
class CsvPiece(Piece):
    """A CSV file, in its dialect; ``numbers`` are columns in which the decimal mark counts."""

    dialect: Csv
    numbers: tuple[str, ...]

    def _stored(self, read: Sequence[str], size: int) -> Batches:
        return csv_batches(self.place, self.dialect, read, self.numbers)


@dataclass(frozen=True)
class FilesPart(Part):
    """A run of pieces, whose batches are joined to blocks.

    Attributes
    ----------
    untyped : frozenset of str
        The columns whose text may stand for numbers: those of CSV files, and names of folders.
    """

    pieces: tuple[Piece, ...]
    names: tuple[str, ...]
    block_rows: int
    untyped: frozenset[str]

    @classmethod
    def of(
        cls,
        pieces: Iterable[Piece],
        names: tuple[str, ...],
        block_rows: int,
        untyped: frozenset[str],
    ) -> FilesPart:
        """Return the part, in which row groups of one file are read together."""
        joined = [_joined(list(same)) for _, same in groupby(pieces, lambda piece: piece.place)]
        return cls(tuple(chain.from_iterable(joined)), names, block_rows, untyped)

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        """The number of rows, if all files tell."""
        counts = [piece.n_rows for piece in self.pieces]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    @property
    def n_bytes(self) -> int:  # type: ignore[override]
        """About its size where it is stored."""
        return sum(piece.n_bytes for piece in self.pieces)

    def blocks(self) -> Iterator[Block]:
        """Read the files, one after the other."""
        batches = chain.from_iterable(piece.batches(self.block_rows) for piece in self.pieces)
        for batch in resized(batches, self.block_rows):
            yield block_of(batch, self.names, self.untyped)


def _joined(pieces: list[Piece]) -> list[Piece]:
    first = pieces[0]
    if not isinstance(first, ParquetPiece):
        return pieces
    alike = [piece for piece in pieces if isinstance(piece, ParquetPiece)]
    groups = tuple(chain.from_iterable(piece.groups for piece in alike))
    return [replace(first, groups=groups, share=sum(piece.share for piece in alike))]


def parquet_batches(
    file: Any,
    read: Sequence[str],
    size: int,
    name: str | None = None,
    groups: Sequence[int] | None = None,
) -> Batches:
    """Read columns of a Parquet file, or of some of its row groups, a few rows at a time."""
    with (
        one_sentence(unreadable(name or f"'{file}'", "parquet"), *BROKEN),
        pq.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False) as parquet,
    ):
        for batch in parquet.iter_batches(batch_size=size, columns=list(read), row_groups=groups):
            yield _validated(batch, read)


def arrow_reader(place: Place) -> Any:
    """Return a reader of Arrow's own format, with an index at its end or without."""
    file = pa.input_stream(place.open(), compression=None)
    is_indexed = file.read(len(_ARROW_FILE)) == _ARROW_FILE
    file.seek(0)
    return pa.ipc.open_file(file) if is_indexed else pa.ipc.open_stream(file)


def _folder_value(text: str) -> str | None:
    """Return what the name of a folder gives: text, which may stand for a number."""
    return None if text == _NO_PARTITION else text


def _with_partition(
    batch: pa.RecordBatch, read: Sequence[str], given: dict[str, str]
) -> pa.RecordBatch:
    columns = [
        pa.array([_folder_value(given[name])] * batch.num_rows, pa.large_string())
        if name in given
        else batch.column(name)
        for name in read
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(read))


def _validated(batch: pa.RecordBatch, read: Sequence[str]) -> pa.RecordBatch:
    """Return columns of a batch; Arrow trusts files, and a damaged one must not end the process."""
    chosen = batch.select(list(read))
    chosen.validate(full=True)
    return chosen


def unreadable(name: str, form: str) -> str:
    """Return the sentence about a file that is damaged."""
    return f"File {name} cannot be read as {form.capitalize()}; check that it is complete."
