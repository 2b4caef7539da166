"""Matrices of counts in files, in parts of rows: pieces in ``.npz`` files, and sorted triples.

A part knows its rows of the matrix. Entries are read from it as counts of the unit, each
by itself, so a matrix in parts has exactly the counts that it would have in one piece.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from privclust._lazy import parsing
from privclust._typing import Floats
from privclust.data.columns.counts import as_counts
from privclust.data.matrix.rows import MatrixRows, MatrixSource, row_pieces
from privclust.data.rows import Part
from privclust.exceptions import as_one_sentence
from privclust.reading.files import FilesPart, ParquetPiece, runs
from privclust.reading.locations import FileLocation
from privclust.reading.matrices import matrix_of_triples, triples_of
from privclust.reading.matrix_files import npz_shape, read_npz
from privclust.unit.matrix import MatrixUnit

Shape = tuple[int, int]


@dataclass(frozen=True)
class _NpzPart(Part):
    """Consecutive ``.npz`` files, each with the number of its first row and of its rows."""

    files: tuple[tuple[FileLocation, int, int], ...]
    unit: MatrixUnit

    @property
    def start(self) -> int:
        """The number of its first row."""
        return self.files[0][1]

    @property
    def stop(self) -> int:
        """The number of the row after its last."""
        return self.files[-1][1] + self.files[-1][2]

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return self.stop - self.start

    @property
    def n_bytes(self) -> int:  # type: ignore[override]
        """Its approximate size in storage."""
        return sum(_size(place) for place, _, _ in self.files)

    def blocks(self) -> Iterator[MatrixRows]:
        """Read the files, one after the other."""
        for place, start, _ in self.files:
            place.check_unchanged()
            counts = as_counts(_npz_at(place), self.unit)
            place.check_unchanged()
            yield from row_pieces(counts, start)


class NpzMatrix(MatrixSource):
    """A matrix in ``.npz`` files, each with the rows that follow those of the one before."""

    def __init__(
        self, places: Sequence[FileLocation], shapes: Sequence[Shape], unit: MatrixUnit
    ) -> None:
        super().__init__()
        starts = np.concatenate([[0], np.cumsum([rows for rows, _ in shapes])])
        self.shape = int(starts[-1]), shapes[0][1]
        each = zip(places, starts, shapes, strict=False)
        files = [(place, int(start), rows) for place, start, (rows, _) in each]
        # A matrix without rows is read too: the unit decides whether it may have none.
        self._files = [file for file in files if file[2]] or files[:1]
        self._unit = unit

    @property
    def n_bytes(self) -> int:
        """Its approximate size in storage."""
        return sum(_size(place) for place, _, _ in self._files)

    def parts(self, count: int = 1) -> Sequence[Part]:
        """Return runs of files."""
        cut = runs(self._files, count, lambda file: _size(file[0]))
        return [_NpzPart(run, self._unit) for run in cut]


@dataclass(frozen=True)
class _TriplesPart(Part):
    """The triples of some consecutive rows, in the row groups that may have one of them."""

    files: FilesPart
    start: int
    stop: int
    bounds: tuple[float, float]
    n_columns: int
    unit: MatrixUnit

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows of the matrix."""
        return self.stop - self.start

    @property
    def n_bytes(self) -> int:  # type: ignore[override]
        """Its approximate size in storage."""
        return self.files.n_bytes

    def blocks(self) -> Iterator[MatrixRows]:
        """Read the triples and make rows of them."""
        found = [self._within(triples_of(block, self.unit)) for block in self.files.blocks()]
        triples = np.concatenate([np.empty((0, 3)), *found])
        triples[:, 0] -= self.start
        matrix = matrix_of_triples(triples, (self.n_rows, self.n_columns))
        return row_pieces(as_counts(matrix, self.unit), self.start)

    def _within(self, triples: Floats) -> Floats:
        rows, (low, high) = triples[:, 0], self.bounds
        # What is not a number is in no other part, and is refused with the rest.
        return np.asarray(triples[~((rows < low) | (rows >= high))])


class TriplesMatrix(MatrixSource):
    """A matrix as triples (row, column, count) in Parquet files that are sorted by row."""

    def __init__(self, files: FilesPart, shape: Shape, unit: MatrixUnit) -> None:
        super().__init__()
        self.shape, self._files, self._unit = shape, files, unit
        self._spans: list[tuple[ParquetPiece, float, float]] | None = None

    @property
    def n_bytes(self) -> int:
        """Its approximate size in storage."""
        return self._files.n_bytes

    def parts(self, count: int = 1) -> Sequence[Part]:
        """Return runs of rows that begin where a row group does."""
        if self._spans is None:
            self._spans = [span for piece in self._files.pieces for span in _spans_of(piece)]
        if not self._spans:
            return [self._part(0, self.shape[0])]
        starts = [span[1] for span in self._spans]
        if any(a > b for a, b in pairwise(starts)):  # not sorted by row, so it cannot be cut
            return [self._part(0, self.shape[0])]
        cut = runs(self._spans, count, lambda span: span[0].n_bytes)
        borders = sorted({_inside(run[0][1], self.shape[0]) for run in cut[1:]} - {0})
        return [self._part(a, b) for a, b in pairwise([0, *borders, self.shape[0]])]

    def _part(self, start: int, stop: int) -> _TriplesPart:
        """Return some rows; the first and the last part also meet rows outside of the shape."""
        bounds = (
            -np.inf if start == 0 else float(start),
            np.inf if stop == self.shape[0] else float(stop),
        )
        spans = self._spans or []
        pieces = [p for p, first, last in spans if first < bounds[1] and last >= bounds[0]]
        files = FilesPart.of(pieces, self._files.names, self._files.block_rows, frozenset())
        return _TriplesPart(files, start, stop, bounds, self.shape[1], self._unit)


def _inside(border: float, n_rows: int) -> int:
    return int(np.clip(border, 0, n_rows - 1))


def _spans_of(piece: Any) -> Iterator[tuple[ParquetPiece, float, float]]:
    """Yield each row group with its smallest and its largest row number."""
    for group in piece.split():
        yield group, *group.span_of("row")


def _size(place: FileLocation) -> int:
    return 0 if place.stamp is None else place.stamp[0]


def npz_shape_at(place: FileLocation) -> Shape:
    """Return the shape that a file declares, wherever it is."""
    if isinstance(place.file, Path):
        return npz_shape(place.file)
    with as_one_sentence(_no_npz(place), Exception), parsing, np.load(_bytes_at(place)) as stored:
        n_rows, n_columns = (int(length) for length in stored["shape"])
        return n_rows, n_columns


def _npz_at(place: FileLocation) -> Any:
    if isinstance(place.file, Path):
        return read_npz(place.file)
    with as_one_sentence(_no_npz(place), Exception), parsing:
        return sparse.load_npz(_bytes_at(place))


def _bytes_at(place: FileLocation) -> io.BytesIO:
    with place.open() as file:
        return io.BytesIO(file.read())


def _no_npz(place: FileLocation) -> str:
    return f"{place.name} is not a sparse matrix; save one with scipy.sparse.save_npz."
