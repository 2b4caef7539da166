"""The door for matrices: every form gives the same counts, and bad input one clear sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.io import mmwrite

from privclust.exceptions import DataError
from privclust.opening.matrices import open_matrix
from privclust.reading.opening import open_rows
from privclust.unit.matrix import MatrixCount, MatrixEntry, MatrixRow

DENSE = np.array([[0, 2, 0], [1, 0, 3]])
TRIPLES = {"row": [0, 1, 1, 1], "column": [1, 0, 2, 2], "count": [2, 1, 1, 2]}


def counts_of(data, unit=None, **declared):
    with open_matrix(data, unit=unit or MatrixCount(), **declared) as opened:
        return sparse.vstack([rows.counts for rows in opened.source.blocks()], format="csr")


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_every_sparse_format_gives_the_same_counts(form):
    counts = counts_of(sparse.coo_array(DENSE).asformat(form))
    assert counts.dtype == np.int64
    assert (counts.toarray() == DENSE).all()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, object])
def test_every_type_of_whole_numbers_gives_the_same_counts(dtype):
    dense = (DENSE > 0) if dtype is bool else DENSE
    assert (counts_of(dense.astype(dtype)).toarray() == dense).all()


def test_files_give_the_same_counts(tmp_path):
    matrix = sparse.csr_array(DENSE)
    sparse.save_npz(tmp_path / "a.npz", matrix)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    np.savez(tmp_path / "b.npz", shape=matrix.shape, labels=[0, 1], **parts)
    mmwrite(tmp_path / "c.mtx", matrix)
    pd.DataFrame(TRIPLES).to_csv(tmp_path / "d.csv", index=False)
    pl.DataFrame(TRIPLES).write_parquet(tmp_path / "e.parquet")
    for name in ("a.npz", "b.npz", "c.mtx"):
        assert (counts_of(tmp_path / name).toarray() == DENSE).all()
    for name in ("d.csv", "e.parquet"):
        assert (counts_of(tmp_path / name, shape=(2, 3)).toarray() == DENSE).all()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_triples_in_a_frame_add_up_and_fill_the_declared_shape(make):
    counts = counts_of(make(TRIPLES), shape=(4, 3))
    assert counts.shape == (4, 3)
    assert (counts.toarray()[:2] == DENSE).all()


def test_duplicates_add_up_without_overflow():
    places = ([0, 0, 0], [1, 1, 1])
    matrix = sparse.coo_array((np.array([100, 100, 100], np.int8), places), shape=(1, 2))
    assert counts_of(matrix).toarray().tolist() == [[0, 300]]


@pytest.mark.parametrize(
    "unit", [MatrixCount(), MatrixEntry(1), MatrixEntry(1.0, 0.5), MatrixRow()]
)
@pytest.mark.parametrize("form", ["coo", "csr", "csc", "bsr"])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64, np.longdouble])
def test_duplicates_of_any_size_never_leave_the_range_of_an_entry(unit, form, dtype):
    stored = np.array([2**62, 2**62, 3], dtype)
    rows, columns = np.array([0, 0, 1]), np.array([0, 0, 1])
    matrix = sparse.coo_array((stored, (rows, columns)), shape=(3, 3))
    if form != "coo":
        pointers = np.array([0, 2, 3, 3])
        kind = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}[form]
        blocks = stored.reshape(-1, 1, 1) if form == "bsr" else stored
        matrix = kind((blocks, columns, pointers), shape=(3, 3))
    counts = counts_of(matrix, unit)
    limit = unit.levels if isinstance(unit, MatrixEntry) else 2**31 - 1
    assert counts.toarray()[0, 0] == limit
    assert counts.toarray()[1, 1] == min(3, limit)
    assert counts.sum() <= limit + min(3, limit)


def test_larger_counts_count_as_the_largest():
    large = [[2.0**40, 2.0**31, 2.0**31 - 1]]
    assert counts_of(large).toarray().tolist() == [[2**31 - 1] * 3]


def test_huge_entries_are_capped_without_a_warning():
    huge = np.array([[1e308, 0.0], [1.7e308, 1.0]])
    assert counts_of(huge, MatrixEntry(1.0, 0.5)).toarray().tolist() == [[2, 0], [2, 2]]


def test_stored_zeros_are_no_entries():
    zero = sparse.csr_array((np.array([0, 2]), np.array([2, 1]), np.array([0, 1, 2])), shape=(2, 3))
    assert counts_of(zero).nnz == 1
    assert counts_of(np.array([[0.1, 0.9]]), MatrixEntry(1.0, 0.5)).nnz == 1


EMPTY = {"row": [], "column": [], "count": []}


@pytest.mark.parametrize("make", ["pandas", "polars", "csv", "parquet"])
def test_the_matrix_of_zeros_may_come_as_no_triples(make, tmp_path):
    frame = pd.DataFrame(EMPTY)
    data = {
        "pandas": lambda: frame,
        "polars": lambda: pl.DataFrame(EMPTY),
        "csv": lambda: frame.to_csv(tmp_path / "x.csv", index=False) or tmp_path / "x.csv",
        "parquet": lambda: frame.to_parquet(tmp_path / "x.pq") or tmp_path / "x.pq",
    }[make]()
    counts = counts_of(data, shape=(4, 3))
    assert (counts.shape, counts.nnz, counts.dtype) == ((4, 3), 0, np.int64)


def bad_places(indices, pointers):
    matrix = sparse.csr_array(np.ones((2, 2), int))
    matrix.indices, matrix.indptr = np.array(indices, np.int32), np.array(pointers, np.int32)
    return matrix


@pytest.mark.parametrize(
    "matrix",
    [
        bad_places([0, 5, 0, 1], [0, 2, 4]),
        bad_places([0, -1, 0, 1], [0, 2, 4]),
        bad_places([0, 1, 0, 1], [0, 9, 4]),
        bad_places([0, 1, 0, 1], [0, 3, 2]),
    ],
)
def test_places_outside_of_the_shape_are_refused(matrix):
    with pytest.raises(DataError, match="outside its shape; build it again") as caught:
        counts_of(matrix)
    assert caught.value.__context__ is None
    with pytest.raises(DataError, match="outside its shape"):
        open_rows(matrix)


HEADER = "%%MatrixMarket matrix {} integer general\n"


@pytest.mark.parametrize(
    "text",
    [
        HEADER.format("coordinate") + "3000000000 3000000000 1\n1 1 1\n",
        HEADER.format("coordinate") + "3 3 900000000\n1 1 1\n",
        HEADER.format("array") + "100000 100000\n1\n1\n",
    ],
)
def test_a_small_file_that_declares_a_huge_matrix_is_refused_when_it_is_opened(text, tmp_path):
    (tmp_path / "x.mtx").write_text(text)
    with pytest.raises(DataError, match=r"memory of this machine|is not a matrix"):
        open_matrix(tmp_path / "x.mtx", unit=MatrixCount())


def test_a_shape_that_no_memory_holds_is_refused_when_it_is_declared(tmp_path):
    huge = (3 * 10**12, 3)
    with pytest.raises(DataError, match="memory of this machine"):
        open_matrix(pd.DataFrame(TRIPLES), unit=MatrixCount(), shape=huge)
    np.savez(tmp_path / "x.npz", data=[1], indices=[0], indptr=[0, 1], shape=huge)
    with pytest.raises(DataError, match="memory of this machine"):
        open_matrix(tmp_path / "x.npz", unit=MatrixCount())
    with pytest.raises(DataError, match="memory of this machine"):
        open_matrix(sparse.coo_array(([1], ([0], [0])), shape=huge), unit=MatrixCount())


def test_the_callers_matrix_is_left_as_it_was():
    matrix = sparse.csr_array((np.array([1, 2]), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    assert counts_of(matrix).toarray().tolist() == [[0, 3]]
    assert matrix.nnz == 2


def test_entries_are_capped_and_rounded_as_declared():
    assert counts_of([[0, 7, 2]], MatrixEntry(3)).toarray().tolist() == [[0, 3, 2]]
    assert counts_of([[0, 7, 2]], MatrixEntry()).toarray().tolist() == [[0, 1, 1]]
    assert counts_of([[0.3, 7.0, 0.6]], MatrixEntry(1.0, 0.5)).toarray().tolist() == [[1, 2, 1]]


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ([[1, -1]], "negative"),
        ([[1.5, 1.0]], "fractional"),
        ([[np.nan, 1.0]], "missing or infinite"),
        ([[np.inf, 1.0]], "missing or infinite"),
        ([["a", "b"]], "numbers"),
        ([1, 2, 3], "rows and columns"),
        (np.zeros((0, 3)), "no rows"),
        (np.zeros((3, 0)), "no columns"),
        (np.array([[1j]]), "real numbers"),
        ([[1, 2], [3]], "differ in length"),
        (np.ma.masked_greater([[1, 9]], 5), "missing or infinite"),
        (sparse.coo_array(([3, -1], ([0, 0], [0, 0])), shape=(1, 1)), "negative"),
        ("there-is-no-such-file.npz", "no file"),
        ("there-is-no-such-file.mtx", "no file"),
        ("there-is-no-such-file.csv", "was not found"),
    ],
)
def test_bad_input_is_answered_by_one_sentence(data, part):
    with pytest.raises(DataError, match=part) as caught:
        counts_of(data)
    assert str(caught.value).count(". ") == 0


def test_a_matrix_must_have_the_columns_that_were_declared():
    with pytest.raises(DataError, match="3 were declared"):
        counts_of(np.ones((2, 2)), shape=(2, 3))
    with pytest.raises(DataError, match="Reshape"):
        counts_of(np.ones(4), shape=(2, 2))


@pytest.mark.parametrize("row", [-1, 5, 0.5, np.nan])
def test_triples_outside_the_shape_are_refused(row):
    frame = pd.DataFrame({"row": [row], "column": [0], "count": [1]})
    with pytest.raises(DataError, match="within the declared shape"):
        counts_of(frame, shape=(2, 3))


def test_a_matrix_without_rows_is_legal_when_rows_are_private():
    assert counts_of(np.zeros((0, 3)), MatrixRow()).shape == (0, 3)


def test_damaged_files_are_answered_by_one_sentence(tmp_path):
    for name in ("a.npz", "a.mtx"):
        (tmp_path / name).write_bytes(b"nonsense")
        with pytest.raises(DataError, match="is not a"):
            counts_of(tmp_path / name)


def test_triples_need_a_shape_and_wide_tables_have_one(tmp_path):
    (tmp_path / "triples.csv").write_text("row,column,count\n0,1,2\n")
    with pytest.raises(DataError, match="public shape"):
        counts_of(tmp_path / "triples.csv")
    (tmp_path / "wide.csv").write_text("row,column,counts\n0,1,2\n")
    assert counts_of(tmp_path / "wide.csv").toarray().tolist() == [[0, 1, 2]]
