"""Matrices of counts, opened under a privacy unit, in memory or in parts of rows.

Opening reads only shapes and types, so it may precede the charge to a ledger; entries are read
and checked afterwards. Errors never quote one.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from privclust.data.engines.base import current_engine
from privclust.data.matrix.rows import MatrixSource, MemoryMatrix
from privclust.exceptions import DataError
from privclust.opening.rows import PublicFacts
from privclust.reading.files import FileRows
from privclust.reading.locations import FileLocation, FileLocations, resolve_locations
from privclust.reading.matrices import MatrixReader
from privclust.reading.matrix_files import check_memory
from privclust.reading.matrix_parts import NpzMatrix, TriplesMatrix, npz_shape_at
from privclust.unit.matrix import MatrixUnit

# The source of a matrix of counts: in memory, or read in parts of rows.

SourceShape = tuple[int, int]


def npz_pieces(data: Any) -> FileLocations | None:
    """Return the ``.npz`` files that a folder, a pattern, a list or a URI names, if any."""
    if isinstance(data, (str, os.PathLike)):
        # One file is a matrix by itself, and so is a missing one.
        path = Path(data)
        if path.is_file() or not (
            "://" in str(data) or path.is_dir() or set("*[") & set(str(data))
        ):
            return None
    elif not isinstance(data, (list, tuple)):
        return None
    found = resolve_locations(data)
    return found if isinstance(found, FileLocations) and found[0].format == "npz" else None


def source_of_npz(
    places: FileLocations, shape: SourceShape | None, unit: MatrixUnit
) -> MatrixSource:
    """Return the matrix whose rows are in these files, one file after the other."""
    shapes = [npz_shape_at(place) for place in places]
    for place, (_, columns) in zip(places, shapes, strict=True):
        if columns != shapes[0][1]:
            raise DataError(
                f"File {place.name} has columns other than {places[0].name}; give pieces of one "
                "matrix."
            )
    source = NpzMatrix(places, shapes, unit)
    check_memory(source.shape)
    if shape is not None and shape[1] != source.shape[1]:
        raise DataError(
            f"The matrix has {source.shape[1]} columns where {shape[1]} were declared; "
            "correct the shape."
        )
    return source


def source_of_triples(reader: MatrixReader, unit: MatrixUnit) -> MatrixSource | None:
    """Return the matrix of triples in Parquet files; others are read as a whole."""
    triples = reader.triples
    if not isinstance(triples, FileRows) or triples.stays_here is not None or not reader.shape:
        return None
    files = triples.whole()
    return TriplesMatrix(files, reader.shape, unit) if _is_parquet(files.pieces[0].place) else None


def _is_parquet(place: FileLocation) -> bool:
    return place.format == "parquet"


Shape = tuple[int, int]


def open_matrix(data: Any, *, unit: MatrixUnit, shape: Shape | None = None) -> OpenedMatrix:
    """Open a matrix of non-negative counts.

    ``data``: a SciPy sparse matrix of any format; a dense array or nested list; the path of an
    ``.npz`` file (as SciPy saves one, or with the arrays data, indices, indptr and shape), of an
    ``.mtx`` file, or of a wide table as CSV or Parquet, with a line for each row of the matrix and
    a name for each column. With ``shape``, also the path of such a file, or a data frame, with the
    columns row, column and count, numbered from zero; an empty one is the matrix of zeros. Counts
    above 2^31 - 1 count as that. A folder, a pattern or a list of ``.npz`` files is a matrix in
    pieces of rows, one after the other; triples in Parquet files that are sorted by row are read in
    such pieces too. ``shape``: the public shape, which triples need, because it is never taken from
    the entries.
    """
    pieces = npz_pieces(data)
    if pieces is not None:
        return OpenedMatrix(data, unit, None, source_of_npz(pieces, shape, unit))
    reader = MatrixReader(data, shape)
    return OpenedMatrix(data, unit, reader, source_of_triples(reader, unit))


class OpenedMatrix:
    """A matrix of a caller, opened; it is first read when a view or its holder asks."""

    def __init__(
        self, data: Any, unit: MatrixUnit, reader: MatrixReader | None, parted: MatrixSource | None
    ) -> None:
        self.unit = unit
        self._data, self._reader, self._parted = data, reader, parted

    @cached_property
    def source(self) -> MatrixSource:
        """The counts: in memory, where they are read and checked now, or in parts."""
        if self._parted is not None:
            return self._parted
        assert self._reader is not None  # noqa: S101  # a matrix that is not in parts has a reader
        return MemoryMatrix(self._reader.counts(self.unit))

    @property
    def known_shape(self) -> Shape | None:
        """The shape, as far as it is known before an entry is read."""
        if self._parted is not None:
            return self._parted.shape
        if self._declared_shape is not None:
            return self._declared_shape
        rows, columns = getattr(self._data, "shape", (0, 0))
        return (int(rows), int(columns)) if rows else None

    @property
    def facts(self) -> PublicFacts:
        """What is public about the matrix, once it may be read."""
        columns = getattr(self._data, "columns", None) if self._declared_shape is None else None
        columns = columns if self._reader is None else self._reader.names or columns
        names = () if columns is None else tuple(columns)
        named = bool(names) and all(isinstance(name, str) for name in names)
        return PublicFacts(names if named else None, self.source.shape[1], None, self.unit)

    @property
    def _declared_shape(self) -> Shape | None:
        return None if self._reader is None else self._reader.shape

    def check_engine(self) -> None:
        """Raise, before anything is charged, if the chosen engine cannot read the matrix."""
        current_engine().check(MemoryMatrix(None) if self._parted is None else self._parted)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._reader is not None:
            self._reader.close()
        if self._parted is not None:
            self._parted.close()
