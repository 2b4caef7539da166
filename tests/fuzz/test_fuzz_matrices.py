"""Files that hold a matrix of counts are read or refused with one sentence that quotes no count."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import io as scipy_io
from scipy import sparse

from privclust import PrivateCoclustering
from privclust.exceptions import DataError
from privclust.opening.matrices import open_matrix
from privclust.unit.matrix import MatrixEntry
from support.damage import as_one_sentence, attempts

ROWS, COLUMNS, COUNTS = [0, 1, 2, 2, 3], [1, 0, 2, 3, 1], [86753, 1, 86754, 2, 3]
PRIVATE = ("8675",)
SHAPE = (4, 4)
TRIPLES = "row,column,count\n" + "".join(
    f"{row},{column},{count}\n" for row, column, count in zip(ROWS, COLUMNS, COUNTS, strict=True)
)
SUFFIX = {"named": "npz", "bare": "npz", "packed": "npz", "array": "mtx", "real": "mtx"}


def files() -> dict[str, bytes]:
    matrix = sparse.csr_array((COUNTS, (ROWS, COLUMNS)), shape=SHAPE, dtype=np.int64)
    made = {name: io.BytesIO() for name in ("mtx", "array", "real", "named", "bare", "packed")}
    scipy_io.mmwrite(made["mtx"], matrix)
    scipy_io.mmwrite(made["array"], matrix.toarray())
    scipy_io.mmwrite(made["real"], matrix.astype(float), symmetry="general")
    sparse.save_npz(made["named"], matrix, compressed=False)
    sparse.save_npz(made["packed"], matrix.tocoo(), compressed=True)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    np.savez(made["bare"], **parts, shape=matrix.shape)
    made["parquet"] = io.BytesIO()
    pq.write_table(pa.table({"row": ROWS, "column": COLUMNS, "count": COUNTS}), made["parquet"])
    return {"csv": TRIPLES.encode(), **{name: file.getvalue() for name, file in made.items()}}


FILES = files()


@pytest.mark.parametrize("form", list(FILES))
def test_any_matrix_file_is_read_or_one_sentence(form, tmp_path):
    path = tmp_path / f"x.{SUFFIX.get(form, form)}"
    shape = SHAPE if form in ("csv", "parquet") else None
    unit = MatrixEntry(10, step=0.5) if form == "real" else MatrixEntry(10)
    for content in attempts(FILES[form]):
        path.write_bytes(content)
        try:
            with open_matrix(path, unit=unit, shape=shape) as opened:
                assert opened.facts.n_columns
        except DataError as error:
            as_one_sentence(error, PRIVATE)


@pytest.mark.parametrize("form", ["mtx", "named", "csv"])
def test_an_undamaged_matrix_file_is_read(form, tmp_path):
    path = tmp_path / f"x.{SUFFIX.get(form, form)}"
    path.write_bytes(FILES[form])
    with open_matrix(path, unit=MatrixEntry(10), shape=SHAPE) as opened:
        assert opened.facts.n_columns == SHAPE[1]


@pytest.mark.parametrize("form", ["mtx", "named", "csv", "parquet"])
def test_a_fit_of_any_matrix_file_is_made_or_one_sentence(form, tmp_path):
    path = tmp_path / f"x.{SUFFIX.get(form, form)}"
    shape = SHAPE if form in ("csv", "parquet") else None
    model = PrivateCoclustering(2, 2, shape=shape, unit=MatrixEntry(10), random_state=0)
    for content in attempts(FILES[form], inputs=10):
        path.write_bytes(content)
        try:
            model.fit(path)
        except DataError as error:
            as_one_sentence(error, PRIVATE)
