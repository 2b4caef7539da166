"""Rows in files: CSV, Parquet and Arrow, one file or several, never all in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import chain

import pyarrow as pa
import pyarrow.parquet as pq

from privclust.data.rows import Block, Part, RowReader, Selection
from privclust.exceptions import DataError, one_sentence
from privclust.reading.csv_files import check_names, has_rows, header, with_delimiter
from privclust.reading.parts import runs
from privclust.reading.pieces import (
    BROKEN,
    ArrowPiece,
    CsvPiece,
    FilesPart,
    ParquetPiece,
    Piece,
    arrow_reader,
    unreadable,
)
from privclust.reading.places import Place, Places
from privclust.schema import Csv

__all__ = ["open_files", "stored_types"]

Choose = Callable[[Sequence[str]], Selection]
# The types of the columns, and the number of rows of each row group if the format has some.
Footer = tuple[pa.Schema, tuple[int, ...] | None]

_STREAM = (
    "A stream stays on this machine; write it to Parquet files where the workers can read them, "
    "or leave the engine."
)
# Stores answer slowly and many at a time.
_OPENED_AT_ONCE = 16


class FileRows(RowReader):
    """The rows of files, one after the other.

    Parameters
    ----------
    places : Places
        The files.
    pieces : sequence of Piece
        What is read of them.
    """

    def __init__(
        self,
        places: Places,
        pieces: Sequence[Piece],
        selection: Selection,
        *,
        n_rows: int | None,
        block_rows: int | None,
        untyped: frozenset[str],
    ) -> None:
        super().__init__(selection, n_rows=n_rows, block_rows=block_rows)
        self._places, self._pieces, self._untyped = places, pieces, untyped

    @property
    def stays_here(self) -> str | None:
        return _STREAM if any(place.is_kept for place in self._places) else None

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
        self._places.close()


def open_files(
    places: Places,
    choose: Choose,
    block_rows: int | None,
    *,
    declared: Sequence[str] | None = None,
    csv: Csv | None = None,
    numbers: Sequence[str] = (),
) -> FileRows:
    """Open files of one format, read one after the other.

    Parameters
    ----------
    places : Places
        The files.
    choose : callable
        Takes the names of the columns and returns those to read.
    block_rows : int or None
        Rows per block.
    declared : sequence of str or None
        Names that the header of a CSV file must hold, the id column included.
    csv : Csv or None
        The dialect of CSV files.
    numbers : sequence of str
        Columns of CSV files that hold numbers, for the decimal mark.
    """
    if places[0].format == "npz":
        raise DataError(
            f"File {places[0].name} is a matrix of counts, not a table of rows; give a .csv, .tsv "
            "or .parquet file."
        )
    if places[0].format == "csv":
        return _open_csv(places, choose, block_rows, declared, csv or Csv(), numbers)
    return _open_typed(places, choose, block_rows)


def _one_choice(places: Places, names: list[list[str]], choose: Choose) -> Selection:
    for place, columns in zip(places, names, strict=True):
        if set(columns) != set(names[0]):
            raise DataError(
                f"File {place.name} has columns other than {places[0].name}; "
                "give files of one layout."
            )
    return choose(names[0])


def _open_csv(
    places: Places,
    choose: Choose,
    block_rows: int | None,
    declared: Sequence[str] | None,
    csv: Csv,
    numbers: Sequence[str],
) -> FileRows:
    stored = [_not_given(place, declared) for place in places]
    dialects = [with_delimiter(place, csv, d) for place, d in zip(places, stored, strict=True)]
    each = list(zip(places, dialects, strict=True))
    headers = [header(*pair) for pair in each]
    if declared is None:
        check_names(places[0], headers[0])
    names = [_with_given(found, place) for found, place in zip(headers, places, strict=True)]
    selection = _one_choice(places, names, choose)
    n_rows = None if any(has_rows(*pair) for pair in each) else 0
    pieces = [CsvPiece(place, selection.read, d, tuple(numbers)) for place, d in each]
    untyped = frozenset(selection.read)
    return FileRows(
        places, pieces, selection, n_rows=n_rows, block_rows=block_rows, untyped=untyped
    )


def _open_typed(places: Places, choose: Choose, block_rows: int | None) -> FileRows:
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
    untyped = frozenset(name for place in places for name, _ in place.partition)
    return FileRows(
        places, pieces, selection, n_rows=n_rows, block_rows=block_rows, untyped=untyped
    )


def stored_types(place: Place) -> pa.Schema:
    """Return names and types of the columns of a Parquet or Arrow file."""
    return _footer(place)[0]


def _footers(places: Places) -> list[Footer]:
    if len(places) == 1:
        return [_footer(places[0])]
    with ThreadPoolExecutor(_OPENED_AT_ONCE) as pool:
        return list(pool.map(_footer, places))


def _footer(place: Place) -> Footer:
    # What is kept of a stream would keep its bytes.
    return _read_footer(place) if place.is_kept else _cached_footer(place)


def _read_footer(place: Place) -> Footer:
    with one_sentence(unreadable(place.name, place.format), *BROKEN):
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


def _not_given(place: Place, declared: Sequence[str] | None) -> Sequence[str] | None:
    """Return the declared columns that the file itself must have."""
    given = dict(place.partition)
    return None if declared is None else [name for name in declared if name not in given]


def _with_given(names: list[str], place: Place) -> list[str]:
    return [*names, *(name for name, _ in place.partition if name not in names)]
