"""Sources: the same rows from every kind of data, in blocks of any size, pass after pass."""

import gzip
import subprocess
import sys
import tempfile
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from privclust.data.columns.table import ARROW_TYPE
from privclust.reading.opening import open_rows
from support.blocks import block_numbers, block_values


class OnlyAStream:
    """What any library that speaks Arrow looks like."""

    def __init__(self, frame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self.frame.__arrow_c_stream__(requested_schema)


def numbers(source):
    blocks = [block_numbers(block) for block in source.blocks()]
    assert all(block.flags.c_contiguous and block.dtype == np.float64 for block in blocks)
    return np.concatenate(blocks)


def texts(source, name, kind):
    arrays = [block_values(block, name, kind) for block in source.blocks()]
    assert {array.type for array in arrays} == {ARROW_TYPE[kind]}
    return pa.chunked_array(arrays).to_pylist()


def holders(table, folder):
    """Yield every kind of data that holds the rows of an Arrow table."""
    yield table
    yield table.combine_chunks().to_batches()[0]
    yield pa.concat_tables([table.slice(0, 2), table.slice(2)])
    yield table.to_reader(max_chunksize=2)
    yield table.to_pandas()
    yield table.to_pandas(types_mapper=pd.ArrowDtype)
    frame = pl.from_arrow(table)
    yield frame
    yield pl.concat([frame[:1], frame[1:]], rechunk=False)
    yield frame.lazy()
    yield OnlyAStream(frame)
    yield nw.from_native(table.to_pandas())
    yield nw.from_native(frame.lazy())
    yield duckdb.from_arrow(table)
    pq.write_table(table, f"{folder}/rows.parquet", row_group_size=3)
    yield f"{folder}/rows.parquet"
    frame.write_csv(f"{folder}/rows.csv")
    yield f"{folder}/rows.csv"
    frame.write_csv(f"{folder}/rows.tsv", separator="\t")
    yield f"{folder}/rows.tsv"
    with gzip.open(f"{folder}/rows.csv.gz", "wt") as file:
        file.write(frame.write_csv())
    yield f"{folder}/rows.csv.gz"


some_rows = st.integers(1, 7)
floats = st.none() | st.floats(width=64)
wholes = st.none() | st.integers(-(2**53), 2**53)
words = st.none() | st.text(st.characters(exclude_categories=["C"]), min_size=1)


@settings(max_examples=10)
@given(st.data(), some_rows, st.integers(1, 8))
def test_all_kinds_of_data_give_the_same_rows(data, n_rows, block_rows):
    draw = lambda values: data.draw(st.lists(values, min_size=n_rows, max_size=n_rows))  # noqa: E731
    table = pa.table(
        {
            "x": pa.array(draw(floats), pa.float64()),
            "word": pa.array(draw(words), pa.string()),
            "n": pa.array(draw(wholes), pa.int64()),
            "yes": pa.array(draw(st.none() | st.booleans()), pa.bool_()),
        }
    )
    expected = np.array(
        [[np.nan if v is None else v for v in table[c].to_pylist()] for c in ("n", "x", "yes")],
        dtype=float,
    ).T
    names = ["n", "word", "x", "yes"]
    with tempfile.TemporaryDirectory() as folder:
        for holder in holders(table, folder):
            with open_rows(holder, names, block_rows=block_rows) as source:
                assert source.names == tuple(names)
                assert source.n_columns == 4
                assert source.n_rows in (None, n_rows)
                got = [block_numbers(block, ["n", "x", "yes"]) for block in source.blocks()]
                np.testing.assert_array_equal(np.concatenate(got), expected)
                assert {len(block) for block in got[:-1]} <= {block_rows}
                for name, kind in (("word", "text"), ("n", "integer"), ("yes", "boolean")):
                    assert texts(source, name, kind) == table[name].to_pylist()


@given(st.integers(1, 30), st.integers(1, 40))
def test_any_division_into_blocks_gives_the_same_array(n_rows, block_rows):
    array = np.arange(n_rows * 3.0).reshape(n_rows, 3)
    for data in (array, array.tolist(), sparse.csr_array(array), pd.DataFrame(array)):
        source = open_rows(data, block_rows=block_rows)
        np.testing.assert_array_equal(numbers(source), array)
        assert len(list(source.blocks())) == -(-n_rows // block_rows)


class TestArrays:
    def test_float_arrays_are_read_in_place_and_protected(self):
        array = np.arange(12.0).reshape(6, 2)
        for block in open_rows(array, block_rows=4).blocks():
            rows = block_numbers(block)
            assert np.shares_memory(rows, array)
            with pytest.raises(ValueError, match="read-only"):
                rows[0, 0] = 1.0
        assert array.flags.writeable

    @pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f2", "f4", "f8", "g", "?", "O"])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_any_type_of_number(self, dtype, order):
        array = np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype, order=order)
        np.testing.assert_array_equal(numbers(open_rows(array)), [[0, 1], [1, 1], [1, 0]])

    def test_a_number_too_large_for_a_float_is_infinite_without_a_warning(self):
        """A warning would tell of a value."""
        if np.finfo(np.longdouble).max == np.finfo(np.float64).max:
            pytest.skip("This machine has no longer floats.")
        array = np.array([[np.longdouble("1e4000")], [np.longdouble(1)]])
        assert numbers(open_rows(array)).tolist() == [[np.inf], [1.0]]

    def test_columns_are_named_by_position(self):
        array = np.array([[1.0, 2.0], [3.0, 4.0]])
        assert open_rows(array).names is None
        block = next(open_rows(array, ["a", "b"]).blocks())
        assert block_numbers(block, ["b"]).tolist() == [[2.0], [4.0]]
        assert block_numbers(block, ["b", "a"]).tolist() == [[2.0, 1.0], [4.0, 3.0]]
        assert block_values(block, "a", "integer").to_pylist() == [1, 3]
        assert block_numbers(block.keep(np.array([False, True]))).tolist() == [[3.0, 4.0]]

    def test_masked_values_are_missing(self):
        array = np.ma.masked_array([[1, 2], [3, 4]], [[False, True], [False, False]])
        np.testing.assert_array_equal(numbers(open_rows(array)), [[1, np.nan], [3, 4]])

    def test_objects_and_text(self):
        array = np.array([[1, None, "a"], [2.5, True, "b"]], dtype=object)
        block = next(open_rows(array, ["x", "y", "z"]).blocks())
        np.testing.assert_array_equal(block_numbers(block, ["x", "y"]), [[1, np.nan], [2.5, 1]])
        assert block_values(block, "z", "text").to_pylist() == ["a", "b"]
        letters = next(open_rows(np.array([["a"], ["b"]])).blocks())
        assert block_values(letters, "x0", "text").to_pylist() == ["a", "b"]

    @pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dia"])
    @pytest.mark.parametrize("dtype", ["f4", "i8", "?"])
    def test_sparse_matrices_of_any_form(self, form, dtype):
        dense = np.eye(5, 3).astype(dtype)
        for make in (sparse.csr_array, sparse.csr_matrix):
            source = open_rows(make(dense).asformat(form), block_rows=2)
            np.testing.assert_array_equal(numbers(source), dense)
            assert source.n_rows == 5

    def test_sparse_duplicates_add_up(self):
        matrix = sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
        assert numbers(open_rows(matrix)).tolist() == [[0.0, 3.0]]

    @pytest.mark.parametrize("form", ["coo", "csr"])
    def test_sparse_duplicates_of_short_integers_do_not_wrap_around(self, form):
        parts = sparse.coo_array((np.array([100, 100], "i1"), ([0, 0], [1, 1])), shape=(1, 2))
        if form == "csr":
            parts = sparse.csr_array((parts.data, [1, 1], [0, 2]), shape=(1, 2))
        assert numbers(open_rows(parts)).tolist() == [[0.0, 200.0]]

    def test_wide_rows_come_in_shorter_blocks(self):
        matrix = sparse.csr_array((100_000, 50_000))
        assert open_rows(matrix).block_rows == 83
        assert open_rows(np.zeros((1, 3))).block_rows == 65_536
        assert open_rows(matrix, block_rows=7).block_rows == 7


class TestFrames:
    def test_pandas_types(self):
        frame = pd.DataFrame(
            {
                "int": pd.array([1, None], "Int8"),
                "bool": pd.array([True, None], "boolean"),
                "float": pd.array([0.5, None], "Float32"),
                "category": pd.Categorical([7, 8]),
                "decimal": [Decimal("1.5"), None],
                "object": pd.Series([pd.NA, 2], dtype=object),
                "arrow": pd.array([1, None], "int64[pyarrow]"),
                "nothing": pd.Series([None, None], dtype=object),
            }
        )
        nan = np.nan
        expected = [[1, 1, 0.5, 7, 1.5, nan, 1, nan], [nan, nan, nan, 8, nan, 2, nan, nan]]
        np.testing.assert_array_equal(numbers(open_rows(frame)), expected)

    @pytest.mark.parametrize(
        ("column", "expected"),
        [
            ([2**70, -(2**70)], [2.0**70, -(2.0**70)]),
            (pd.arrays.SparseArray([0.0, 2.5]), [0.0, 2.5]),
            ([True, 2], [1, 2]),
            ([Fraction(1, 2), Decimal("1e400")], [0.5, np.inf]),
            (pd.Categorical([Decimal("0.1"), 2]), [0.1, 2]),
        ],
    )
    def test_objects_are_read_one_by_one(self, column, expected):
        frame = pd.DataFrame({"x": column})
        assert numbers(open_rows(frame))[:, 0].tolist() == expected

    def test_pandas_integers_with_a_gap_are_still_integers(self):
        frame = pd.DataFrame({"n": [1, np.nan, 3]})
        assert texts(open_rows(frame), "n", "integer") == [1, None, 3]

    def test_pandas_index_and_numbered_columns_do_not_matter(self):
        frame = pd.DataFrame([[1, 2], [3, 4]], index=[9, 9])
        assert numbers(open_rows(frame, ["a", "b"])).tolist() == [[1, 2], [3, 4]]

    def test_pandas_column_that_changes_type_between_blocks(self):
        frame = pd.DataFrame({"x": pd.Series([1, 2, 2.5, 3.5], dtype=object)})
        assert numbers(open_rows(frame, block_rows=2))[:, 0].tolist() == [1, 2, 2.5, 3.5]

    @pytest.mark.parametrize(
        "dtype", [pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(10, 2), pl.Boolean]
    )
    def test_polars_types(self, dtype):
        frame = pl.DataFrame({"x": pl.Series([1, 0, None]).cast(dtype)})
        np.testing.assert_array_equal(numbers(open_rows(frame))[:, 0], [1, 0, np.nan])

    def test_long_integers_of_polars(self):
        frame = pl.DataFrame({"x": pl.Series([1, 2**100], dtype=pl.Int128)})
        assert numbers(open_rows(frame))[:, 0].tolist() == [1, 2.0**100]

    @pytest.mark.parametrize("wrap", [lambda f: f, pl.DataFrame.lazy, OnlyAStream, pa.table])
    @pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["a", "b"]), pl.String])
    def test_polars_categories(self, wrap, dtype):
        frame = pl.DataFrame({"c": pl.Series(["b", None, "a", "b"], dtype=dtype)})
        frame = pl.concat([frame[:3], frame[3:]], rechunk=False)
        assert texts(open_rows(wrap(frame)), "c", "text") == ["b", None, "a", "b"]

    def test_arrow_encodings(self):
        first, second = pa.array(["a", "b"]), pa.array(["c", None])
        chunks = pa.chunked_array([first.dictionary_encode(), second.dictionary_encode()])
        table = pa.table({"c": chunks, "r": pa.RunEndEncodedArray.from_arrays([3, 4], [5, 6])})
        source = open_rows(table, block_rows=3)
        assert texts(source, "c", "text") == ["a", "b", "c", None]
        assert numbers(open_rows(table, ["r"], ignore=["c"]))[:, 0].tolist() == [5, 5, 5, 6]

    def test_dictionaries_too_large_to_be_joined(self):
        parts = [[f"{letter}{i}" for i in range(100)] for letter in "ab"]
        codes = pa.array(range(100), pa.int8())
        chunks = [pa.DictionaryArray.from_arrays(codes, pa.array(part)) for part in parts]
        source = open_rows(pa.table({"c": pa.chunked_array(chunks)}))
        assert texts(source, "c", "text") == parts[0] + parts[1]

    def test_large_integers_become_the_nearest_float(self):
        table = pa.table({"x": pa.array([2**64 - 1, 2**53 + 1], pa.uint64())})
        assert numbers(open_rows(table))[:, 0].tolist() == [2.0**64, 2.0**53]

    def test_rows_can_be_left_out_of_a_block(self):
        block = next(open_rows(pl.DataFrame({"x": [1, 2, 3]})).blocks())
        assert block_numbers(block.keep(np.array([True, False, True])))[:, 0].tolist() == [1, 3]


def test_the_id_column_is_read_beside_the_others():
    frame = pl.DataFrame({"pid": ["a", "b"], "x": [1, 2]})
    source = open_rows(frame, ["x"], id_column="pid")
    assert (source.names, source.n_columns, source.id_column) == (("x",), 1, "pid")
    block = next(source.blocks())
    assert block.column("pid").array.cast("string").to_pylist() == ["a", "b"]
    assert block_numbers(block).tolist() == [[1], [2]]
    assert open_rows(frame, id_column="pid").names == ("x",)
    assert next(open_rows(frame, ["x", "pid"], id_column="pid").blocks()).names == ("x", "pid")


def test_all_columns_are_read_unless_told_otherwise():
    frame = pl.DataFrame({"a": [1], "b": [2], "c": [3]})
    assert open_rows(frame).names == ("a", "b", "c")
    assert open_rows(frame, ignore=["b", "absent"]).names == ("a", "c")
    assert open_rows(frame, ["c", "a"], ignore=["b"]).names == ("c", "a")


def test_importing_sources_imports_no_data_frame_library():
    code = (
        "import sys, privclust.reading, privclust.data.people;"
        "sys.exit(any(name in sys.modules for name in ('pandas', 'polars', 'sklearn')))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0  # noqa: S603


def test_durations_are_not_numbers():
    table = pa.table({"x": [timedelta(days=1)]})
    with pytest.raises(ValueError, match="Column 'x' holds dates or times"):
        numbers(open_rows(table))
