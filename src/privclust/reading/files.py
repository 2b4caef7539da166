"""Rows in files: CSV, Parquet and Arrow, in parts and never all in memory.

Parquet is cut between row groups, CSV and Arrow files stay whole. A piece compares its file with
what was found at the opening, before it is read and afterwards: rows other than those of an earlier
pass would break both the sums and the promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, groupby, pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from privclust.data.rows import Block, Part, RowSource, Selection
from privclust.exceptions import DataError, as_one_sentence
from privclust.reading.csv_files import check_names, csv_batches, has_rows, header, with_delimiter
from privclust.reading.excel_files import excel_batches, excel_header, has_excel_rows
from privclust.reading.frames import Batches, rebatch
from privclust.reading.locations import FileLocation, FileLocations
from privclust.reading.objects import block_of
from privclust.schema.dialect import Csv

# Cutting a source into parts of about the same size.

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


# Pieces of files: records of what to read of one file, and the parts that are made of them.

# A column chunk of a Parquet file is read through a buffer of this size, not whole, and not
# ahead of time, so that memory does not grow with the file: 0.2 GB instead of 1.5 GB for 10^7 x 16.
_BUFFER_BYTES = 2**20
_ARROW_FILE = b"ARROW1"
# What a damaged file may raise: a wrong length asks for endless memory, a name may not be text.
BROKEN = (pa.ArrowException, OSError, UnicodeError, MemoryError)
_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Piece:
    """What to read of one file."""

    place: FileLocation
    read: tuple[str, ...]  # the columns

    @property
    def n_rows(self) -> int | None:
        """The number of its rows, if it is known beforehand."""
        return None

    @property
    def n_bytes(self) -> int:
        """Its approximate size in storage."""
        return 0 if self.place.stamp is None else self.place.stamp[0]

    def split(self) -> Sequence[Piece]:
        """Return smaller pieces, if the file can be cut."""
        return [self]

    def batches(self, size: int) -> Batches:
        """Read the rows, with the columns given by folder names."""
        self.place.check_unchanged()
        given = dict(self.place.partition)
        stored = [name for name in self.read if name not in given]
        for batch in self._read_stored(stored, size):
            yield _with_partition(batch, self.read, given) if given else batch
        self.place.check_unchanged()

    def _read_stored(self, read: Sequence[str], size: int) -> Batches:
        raise NotImplementedError


@dataclass(frozen=True)
class ParquetPiece(Piece):
    """Row groups of a Parquet file."""

    groups: tuple[tuple[int, int], ...]  # the number of each row group, and how many rows it has
    share: float = 1.0

    @property
    def n_rows(self) -> int:
        """The number of its rows."""
        return sum(rows for _, rows in self.groups)

    @property
    def n_bytes(self) -> int:
        """Its approximate size in storage."""
        return int(super().n_bytes * self.share)

    def split(self) -> Sequence[Piece]:
        """Return a piece for each row group."""
        total = max(1, self.n_rows)
        return [
            replace(self, groups=(group,), share=self.share * group[1] / total)
            for group in self.groups
        ] or [self]

    def span_of(self, column: str) -> tuple[float, float]:
        """Return the least and the largest number of a column, if the file states them."""
        with (
            as_one_sentence(unreadable(self.place.name, "parquet"), *BROKEN),
            pq.ParquetFile(self.place.open()) as parquet,
        ):
            place = parquet.schema_arrow.names.index(column)
            found = [parquet.metadata.row_group(n).column(place) for n, _ in self.groups]
        statistics = [chunk.statistics for chunk in found if chunk.is_stats_set]
        if len(statistics) < len(found) or not all(stats.has_min_max for stats in statistics):
            return -math.inf, math.inf
        return min(float(s.min) for s in statistics), max(float(s.max) for s in statistics)

    def _read_stored(self, read: Sequence[str], size: int) -> Batches:
        chosen = [number for number, _ in self.groups]
        return parquet_batches(self.place.open(), read, size, self.place.name, chosen)


@dataclass(frozen=True)
class ArrowPiece(Piece):
    """A file of Arrow's own format."""

    def _read_stored(self, read: Sequence[str], size: int) -> Batches:
        with (
            as_one_sentence(unreadable(self.place.name, "arrow"), *BROKEN),
            arrow_reader(self.place) as reader,
        ):
            count = getattr(reader, "num_record_batches", None)
            batches = reader if count is None else map(reader.get_batch, range(count))
            for batch in batches:
                yield _validate_batch(batch, read)


@dataclass(frozen=True)
class CsvPiece(Piece):
    """A CSV file, in its dialect."""

    dialect: Csv

    def _read_stored(self, read: Sequence[str], size: int) -> Batches:
        return csv_batches(self.place, self.dialect, read)


@dataclass(frozen=True)
class ExcelPiece(Piece):
    """The first sheet of a workbook."""

    def _read_stored(self, read: Sequence[str], size: int) -> Batches:
        return excel_batches(self.place, read, size)


@dataclass(frozen=True)
class FilesPart(Part):
    """A run of pieces, whose batches are joined to blocks."""

    pieces: tuple[Piece, ...]
    names: tuple[str, ...]
    block_rows: int
    # The columns whose text may represent numbers: those of CSV files, and folder names.
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
        joined = [
            _join_batches(list(same)) for _, same in groupby(pieces, lambda piece: piece.place)
        ]
        return cls(tuple(chain.from_iterable(joined)), names, block_rows, untyped)

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        """The number of rows, if all files state it."""
        counts = [piece.n_rows for piece in self.pieces]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    @property
    def n_bytes(self) -> int:  # type: ignore[override]
        """Its approximate size in storage."""
        return sum(piece.n_bytes for piece in self.pieces)

    def blocks(self) -> Iterator[Block]:
        """Read the files, one after the other."""
        batches = chain.from_iterable(piece.batches(self.block_rows) for piece in self.pieces)
        for batch in rebatch(batches, self.block_rows):
            yield block_of(batch, self.names, self.untyped)


def _join_batches(pieces: list[Piece]) -> list[Piece]:
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
        as_one_sentence(unreadable(name or f"'{file}'", "parquet"), *BROKEN),
        pq.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False) as parquet,
    ):
        for batch in parquet.iter_batches(batch_size=size, columns=list(read), row_groups=groups):
            yield _validate_batch(batch, read)


def arrow_reader(place: FileLocation) -> Any:
    """Return a reader of Arrow's own format, with an index at its end or without."""
    file = pa.input_stream(place.open(), compression=None)
    is_indexed = file.read(len(_ARROW_FILE)) == _ARROW_FILE
    file.seek(0)
    return pa.ipc.open_file(file) if is_indexed else pa.ipc.open_stream(file)


def _folder_value(text: str) -> str | None:
    """Return the value of a folder name: text, which may represent a number."""
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


def _validate_batch(batch: pa.RecordBatch, read: Sequence[str]) -> pa.RecordBatch:
    """Return columns of a batch; Arrow trusts files, and a damaged one must not end the process."""
    chosen = batch.select(list(read))
    chosen.validate(full=True)
    return chosen


def unreadable(name: str, form: str) -> str:
    """Return the sentence about a file that is damaged."""
    return f"File {name} cannot be read as {form.capitalize()}; check that it is complete."


Choose = Callable[[Sequence[str]], Selection]
# The types of the columns, and the number of rows of each row group if the format has some.
Footer = tuple[pa.Schema, tuple[int, ...] | None]

_STREAM = (
    "A stream stays on this machine; write it to Parquet files where the workers can read them, "
    "or leave the engine."
)
# Stores answer slowly, but many requests at a time.
_OPENED_AT_ONCE = 16


class FileRows(RowSource):
    """The rows of files, one after the other."""

    def __init__(
        self,
        places: FileLocations,
        pieces: Sequence[Piece],
        selection: Selection,
        *,
        n_rows: int | None,
        block_rows: int | None,
        untyped: frozenset[str],
    ) -> None:
        super().__init__(selection, n_rows=n_rows, block_rows=block_rows)
        self._to_points, self._pieces, self._untyped = places, pieces, untyped

    @property
    def stays_here(self) -> str | None:
        return _STREAM if any(place.is_kept for place in self._to_points) else None

    def parts(self, count: int = 1) -> Sequence[Part]:
        pieces = self._pieces
        if count > 1:
            pieces = list(chain.from_iterable(piece.split() for piece in pieces))
        of, names = FilesPart.of, self.selection.names
        cut = runs(pieces, count, lambda piece: piece.n_bytes)
        return [of(run, names, self.block_rows, self._untyped) for run in cut]

    def whole(self) -> FilesPart:
        """Return all files as one part."""
        names = self.selection.names
        return FilesPart.of(self._pieces, names, self.block_rows, self._untyped)

    def _blocks(self) -> Iterator[Block]:
        return self.whole().blocks()

    def close(self) -> None:
        super().close()
        self._to_points.close()


def open_files(
    places: FileLocations,
    choose: Choose,
    block_rows: int | None,
    *,
    declared: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    csv: Csv | None = None,
) -> FileRows:
    """Open files of one format, read one after the other.

    ``choose``: takes the names of the columns and returns those to read. ``declared``: names that
    the header of a CSV file must hold, the id column included.
    """
    if places[0].format == "npz":
        raise DataError(
            f"File {places[0].name} is a matrix of counts, not a table of rows; give a .csv, .tsv "
            "or .parquet file."
        )
    if places[0].format == "csv":
        return _open_csv(places, choose, block_rows, declared, ignore, csv or Csv())
    if places[0].format == "excel":
        return _open_excel(places, choose, block_rows, declared, ignore)
    return _open_typed(places, choose, block_rows)


def _one_choice(places: FileLocations, names: list[list[str]], choose: Choose) -> Selection:
    for place, columns in zip(places, names, strict=True):
        if set(columns) != set(names[0]):
            raise DataError(
                f"File {place.name} has columns other than {places[0].name}; "
                "give files of one layout."
            )
    return choose(names[0])


def _open_csv(
    places: FileLocations,
    choose: Choose,
    block_rows: int | None,
    declared: Sequence[str] | None,
    ignore: Sequence[str],
    csv: Csv,
) -> FileRows:
    stored = [_undeclared_options(place, declared) for place in places]
    dialects = [with_delimiter(place, csv, d) for place, d in zip(places, stored, strict=True)]
    each = list(zip(places, dialects, strict=True))
    headers = [header(*pair) for pair in each]
    names = _column_names(places, headers, declared, ignore)
    selection = _one_choice(places, names, choose)
    n_rows = None if any(has_rows(*pair) for pair in each) else 0
    pieces = [CsvPiece(place, selection.read, d) for place, d in each]
    untyped = frozenset(selection.read)
    return FileRows(
        places, pieces, selection, n_rows=n_rows, block_rows=block_rows, untyped=untyped
    )


def _open_excel(
    places: FileLocations,
    choose: Choose,
    block_rows: int | None,
    declared: Sequence[str] | None,
    ignore: Sequence[str],
) -> FileRows:
    headers = [excel_header(place) for place in places]
    names = _column_names(places, headers, declared, ignore)
    selection = _one_choice(places, names, choose)
    n_rows = None if any(has_excel_rows(place) for place in places) else 0
    pieces = [ExcelPiece(place, selection.read) for place in places]
    untyped = _folder_columns(places)
    return FileRows(
        places, pieces, selection, n_rows=n_rows, block_rows=block_rows, untyped=untyped
    )


def _column_names(
    places: FileLocations,
    headers: list[list[str]],
    declared: Sequence[str] | None,
    ignore: Sequence[str],
) -> list[list[str]]:
    """Return the columns of files without types, with those that the names of folders give."""
    if declared is None:
        check_names(places[0], [name for name in headers[0] if name not in ignore])
    return [_apply_declared(found, place) for found, place in zip(headers, places, strict=True)]


def _folder_columns(places: FileLocations) -> frozenset[str]:
    """Return the columns that the names of folders give."""
    return frozenset(name for place in places for name, _ in place.partition)


def _open_typed(places: FileLocations, choose: Choose, block_rows: int | None) -> FileRows:
    """Open files that know the types of their columns."""
    footers = _footers(places)
    selection = _one_choice(places, [list(types.names) for types, _ in footers], choose)
    pieces: list[Piece] = []
    for place, (_, groups) in zip(places, footers, strict=True):
        if groups is None:
            pieces.append(ArrowPiece(place, selection.read))
        else:
            pieces.append(ParquetPiece(place, selection.read, tuple(enumerate(groups))))
    known = [sum(groups) for _, groups in footers if groups is not None]
    n_rows = sum(known) if len(known) == len(footers) else None
    untyped = _folder_columns(places)
    return FileRows(
        places, pieces, selection, n_rows=n_rows, block_rows=block_rows, untyped=untyped
    )


def stored_types(place: FileLocation) -> pa.Schema:
    """Return names and types of the columns of a Parquet or Arrow file."""
    return _footer(place)[0]


def _footers(places: FileLocations) -> list[Footer]:
    if len(places) == 1:
        return [_footer(places[0])]
    with ThreadPoolExecutor(_OPENED_AT_ONCE) as pool:
        return list(pool.map(_footer, places))


def _footer(place: FileLocation) -> Footer:
    # A cached stream would keep its bytes.
    return _read_footer(place) if place.is_kept else _cached_footer(place)


def _read_footer(place: FileLocation) -> Footer:
    with as_one_sentence(unreadable(place.name, place.format), *BROKEN):
        if place.format == "parquet":
            with pq.ParquetFile(place.open()) as parquet:
                layout = parquet.metadata
                groups = tuple(layout.row_group(i).num_rows for i in range(layout.num_row_groups))
                stored = parquet.schema_arrow
        else:
            groups = None
            with arrow_reader(place) as reader:
                stored = reader.schema
        given = {name: pa.large_string() for name, _ in place.partition}
        types = {**dict(zip(stored.names, stored.types, strict=True)), **given}
        if len(types) < len(stored.names) + len(given):  # a repeated name is reported later
            return pa.schema([*zip(stored.names, stored.types, strict=True)]), groups
        return pa.schema([*types.items()]), groups


_cached_footer = lru_cache(maxsize=2**14)(_read_footer)


def _undeclared_options(
    place: FileLocation, declared: Sequence[str] | None
) -> Sequence[str] | None:
    """Return the declared columns that the file itself must have."""
    given = dict(place.partition)
    return None if declared is None else [name for name in declared if name not in given]


def _apply_declared(names: list[str], place: FileLocation) -> list[str]:
    return [*names, *(name for name, _ in place.partition if name not in names)]
