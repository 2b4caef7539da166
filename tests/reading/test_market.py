"""Matrix Market files are read as SciPy reads them, and a damaged one never ends the process."""

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmread, mmwrite

from privclust.exceptions import DataError
from privclust.reading.matrix_files import market_shape, read_market

LOWER = np.array([[5, 0, 0], [3, 0, 0], [0, 7, 2]])
MATRICES = {
    "general": np.array([[0, 2**62 + 1, 0, 1], [3, 0, 0, 0]]),
    "symmetric": LOWER + np.tril(LOWER, -1).T,
    "skew-symmetric": np.tril(LOWER, -1) - np.tril(LOWER, -1).T,
}
HEAD = "%%MatrixMarket matrix coordinate"


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


SORTS = [(symmetry, dtype) for symmetry in MATRICES for dtype in (np.int64, np.float64)]
SORTS += [("general", np.uint64), ("symmetric", np.uint64)]


@pytest.mark.parametrize(("symmetry", "dtype"), SORTS)
@pytest.mark.parametrize("form", [np.asarray, sparse.coo_array])
def test_a_file_is_read_as_scipy_reads_it(symmetry, dtype, form, tmp_path):
    path = tmp_path / "x.mtx"
    mmwrite(path, form(MATRICES[symmetry].astype(dtype)), symmetry=symmetry, precision=17)
    read, theirs = dense(read_market(path)), dense(mmread(path, spmatrix=False))
    assert (read == theirs).all()
    assert (read == MATRICES[symmetry].astype(dtype)).all()
    assert read.dtype == theirs.dtype
    assert market_shape(path) == read.shape


def test_places_alone_count_one_each(tmp_path):
    path = tmp_path / "x.mtx"
    path.write_text(f"{HEAD} pattern symmetric\n% Zoë\n\n2 2 2\n1 1\n2 1\n")
    assert dense(read_market(path)).tolist() == [[1, 1], [1, 0]]


def test_a_matrix_without_entries_is_read(tmp_path):
    path = tmp_path / "x.mtx"
    path.write_text(f"{HEAD} integer general\n2 3 0\n")
    assert dense(read_market(path)).tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD} complex general\n1 1 1\n1 1 1 1\n",
        f"{HEAD} integer general\n2 2 1\n1 1 86753.5\n",
        f"{HEAD} integer general\n2 2 1\n1 1 {2**63}\n",
        f"{HEAD} integer general\n2 2 1\n3 1 86753\n",
        f"{HEAD} integer general\n2 2 1\n0 1 86753\n",
        f"{HEAD} integer general\n2 2 2\n1 1 86753\n",
        f"{HEAD} integer general\n2 2 1\n1 1 86753\n1 2 86753\n",
        f"{HEAD} integer symmetric\n2 3 1\n1 1 86753\n",
        # SciPy's reader reads on beyond the end of these, and the process dies.
        f"{HEAD} integer general\n2 2 1\n1 1 86753\x00",
        f"{HEAD} integer general\n4 4 3\n1 2 86\x00 1\n3 3 86753\n3 4 2\n",
    ],
)
def test_what_is_no_matrix_is_refused_with_nothing_quoted(text, tmp_path):
    path = tmp_path / "x.mtx"
    path.write_text(text)
    with pytest.raises(DataError, match="is not a matrix") as told:
        read_market(path)
    assert "8675" not in str(told.value)
    assert told.value.__context__ is None
