"""Which source a matrix of counts becomes: one in memory, or one that is read in parts of rows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from privclust.data.matrix.rows import MatrixSource
from privclust.exceptions import DataError
from privclust.reading.files import FileRows
from privclust.reading.matrices import MatrixReader
from privclust.reading.matrix_files import check_memory
from privclust.reading.matrix_pieces import NpzMatrix, TriplesMatrix, npz_shape_at
from privclust.reading.places import Place, Places, placed
from privclust.unit import MatrixUnit

__all__ = ["npz_pieces", "source_of_npz", "source_of_triples"]

Shape = tuple[int, int]


def npz_pieces(data: Any) -> Places | None:
    """Return the ``.npz`` files that a folder, a pattern, a list or a URI stands for, if any."""
    if isinstance(data, (str, os.PathLike)):
        # One file is a matrix by itself, and so is one that is not there.
        path = Path(data)
        if path.is_file() or not (
            "://" in str(data) or path.is_dir() or set("*[") & set(str(data))
        ):
            return None
    elif not isinstance(data, (list, tuple)):
        return None
    found = placed(data)
    return found if isinstance(found, Places) and found[0].format == "npz" else None


def source_of_npz(places: Places, shape: Shape | None, unit: MatrixUnit) -> MatrixSource:
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


def _is_parquet(place: Place) -> bool:
    return place.format == "parquet"
