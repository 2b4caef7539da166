"""Row locality: what becomes of a row depends on that row alone.

Each row is encoded alone, and then beside every other, in blocks of all sizes and in another order:
the bits must be the same. Refusals count as well: they are the same beside rows that are fine.
"""

from __future__ import annotations

import csv
import datetime
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from privclust.data.encode import Domain
from privclust.data.points.mixed import region_of
from privclust.data.table.as_points import BinCoder
from privclust.data.table.codes import CategoryCoder
from privclust.reading.matrices import MatrixReader
from privclust.reading.opening import open_rows
from privclust.schema.facts import Bins, Box, Categories
from privclust.schema.schema import Schema
from privclust.unit.matrix import MatrixCount, MatrixEntry
from support.blocks import block_numbers

# Every rule but "error", so that every value has an encoding.
FACTS = {
    "box": Box(-100, 100, missing=3),
    "bins": Bins([-1e-300, 0, 0.05, 0.1, 1, 7, 100], missing="category"),
    "integer": Categories([0, 1, 7, 2**53, 2**53 + 1], missing="category", unknown="other"),
    "text": Categories(["", "x", "7", "NA", "true", "ä"], missing="category", unknown="other"),
    "boolean": Categories([True, False], missing="category", unknown="other"),
}
CODERS = {name: CategoryCoder(Schema({"a": fact})) for name, fact in FACTS.items() if name != "box"}
BOX = Domain.from_schema(Schema({"a": FACTS["box"]}))
# Categories as points, missing ones left out; and numbers as categories, for a learned metric.
OMITTED = {name: replace(fact, missing="omit") for name, fact in FACTS.items() if name != "box"}
REGIONS = [region_of(Schema({"a": fact})) for fact in OMITTED.values()]
BINNED = BinCoder(Schema({"a": FACTS["box"]}))


def encodings(data, block_rows=None):
    """Return the bits of every encoding of every row, as bytes."""
    parts = []
    with open_rows(data, ["a"], block_rows=block_rows) as source:
        for block in source.blocks():
            numbers = block_numbers(block, lenient=["a"])
            columns = [
                numbers.view(np.uint64),
                BOX.to_grid(BOX.numbers(block)).view(np.uint64),
            ]
            columns += [coder.codes(block).astype(np.uint64) for coder in CODERS.values()]
            columns += [BINNED.codes(block).astype(np.uint64)]
            for region in REGIONS:
                pieces = [piece.dense().copy() for piece in region.pieces(block, 8)]
                columns += [np.concatenate(pieces).view(np.uint64)]
            parts.append(np.column_stack(columns))
    return [row.tobytes() for row in np.concatenate(parts)]


def check(make, values):
    """Compare rows alone with rows together, divided into blocks, and in another order."""
    alone = [encodings(make([value]))[0] for value in values]
    for block_rows in (None, 1, 2, 3):
        assert encodings(make(values), block_rows) == alone
    assert encodings(make(values[::-1])) == alone[::-1]


def objects(values):
    column = np.empty((len(values), 1), object)
    column[:, 0] = values
    return column


OBJECTS = [
    None,
    float("nan"),
    pd.NA,
    pd.NaT,
    True,
    np.bool_(True),
    False,
    0,
    1,
    7,
    -0.0,
    0.05,
    0.1,
    1.0,
    1.5,
    float("inf"),
    5e-324,
    1e308,
    2**53,
    2**53 + 1,
    float(2**53),
    2**63,
    2**64,
    -(2**63),
    10**400,
    np.int8(7),
    np.uint64(2**64 - 2048),
    np.float16(0.1),
    np.float32(0.1),
    np.longdouble("0.1"),
    Decimal("0.05"),
    Decimal("50.000001"),
    Decimal("-0.00"),
    Decimal("1e30"),
    Decimal("7"),
    Decimal("9007199254740993"),
    Decimal("NaN"),
    Decimal("Infinity"),
    Fraction(1, 10),
    "x",
    "7",
    "0.05",
    "NA",
    "",
    "ä",
    "\ud800",
    b"x",
    datetime.date(2020, 1, 1),
    datetime.datetime(2020, 1, 1, 5),
    np.datetime64("2020-01-01"),
    np.datetime64("2020-01-01T05:00:00.000000001"),
    1j,
    (1, 2),
    [3],
    {"a": 1},
]
MAKERS = {
    "array of objects": objects,
    "lists": lambda values: [[value] for value in values],
    "tuples": lambda values: tuple((value,) for value in values),
    "pandas objects": lambda values: pd.DataFrame({"a": pd.Series(values, dtype=object)}),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_objects_of_every_kind_are_read_by_themselves(make):
    check(make, OBJECTS)


def test_any_two_kinds_of_objects_are_read_alike():
    for one in OBJECTS[:8] + OBJECTS[10:12] + OBJECTS[30:33] + OBJECTS[39:41]:
        for other in OBJECTS[-8:-3]:
            check(objects, [one, other])


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(values=st.lists(st.sampled_from(OBJECTS), min_size=1, max_size=4))
def test_objects_are_read_alike_beside_any_others(make, values):
    check(make, values)


NUMBERS = [0.0, -0.0, 0.05, 0.1, 1.0, 1.5, 7.0, 5e-324, -5e-324, 1e308, 2.0**53, 2.0**63, np.nan]
NUMBERS += [np.inf, -np.inf]
INTEGERS = [0, 1, 7, 100]
TYPED = {
    **{f"NumPy {kind}": (INTEGERS, kind) for kind in ("?", "i1", "u2", "i4", "u8", "f2", "U")},
    **{f"NumPy {kind}": (NUMBERS, kind) for kind in ("f8", "g", "O")},
    "NumPy f4": ([0.05, -0.0, 1e-45, 3e38, np.nan, np.inf], "f4"),
    "NumPy M8": (["2020-01-01", "NaT"], "M8[ns]"),
    "NumPy T": (["x", "7", "", "ä"], np.dtypes.StringDType()),
}


@pytest.mark.parametrize(("values", "dtype"), TYPED.values(), ids=TYPED)
def test_arrays_of_every_type(values, dtype):
    check(lambda rows: np.array(rows, dtype=dtype).reshape(-1, 1), values)


def test_masked_arrays():
    values = [(0.05, False), (1.5, True), (np.nan, False), (1e308, True)]
    check(lambda rows: np.ma.array([[v] for v, _ in rows], mask=[[m] for _, m in rows]), values)


PANDAS = {
    "Int64": [0, 1, None, 2**53 + 1, -(2**63)],
    "UInt64": [0, 1, None, 2**64 - 1],
    "Float64": [0.05, None, 5e-324, 1e308],
    "boolean": [True, False, None],
    "string": ["x", None, "", "7"],
    "int64[pyarrow]": [0, None, 2**53 + 1],
    "double[pyarrow]": [0.05, None, -0.0],
    "string[pyarrow]": ["x", None, "ä"],
    "category": ["x", None, "7"],
    "datetime64[ns]": [pd.Timestamp("2020-01-01"), pd.NaT],
    "Sparse[float]": [0.0, 0.05, 7.0],
}


@pytest.mark.parametrize(("dtype", "values"), PANDAS.items(), ids=PANDAS)
def test_pandas_columns_of_every_type(dtype, values):
    check(lambda rows: pd.DataFrame({"a": pd.Series(rows, dtype=dtype)}), values)


@pytest.mark.parametrize(
    "values", [[1, "x", 0.05], [Decimal("0.05"), Decimal("50.000001")], [2**53 + 1, "x", 2.5]]
)
def test_pandas_categories_of_any_values(values):
    check(lambda rows: pd.DataFrame({"a": pd.Categorical(rows)}), values)


DECIMALS = [Decimal(text) for text in ("0.05", "0.1", "50.000001", "7", "-0.00", "0.07")]
POLARS = {
    "decimals": (DECIMALS, None),
    "objects": ([1, "x", 0.05, None, True, Decimal("0.05")], pl.Object),
    "strings": (["x", None, "", "7"], pl.String),
    "categorical": (["x", None, "7"], pl.Categorical),
    "integers": ([0, None, 2**53 + 1], pl.Int64),
    "long integers": ([0, None, 2**100], pl.Int128),
    "floats": (NUMBERS, pl.Float64),
    "dates": ([datetime.date(2020, 1, 1), None], pl.Date),
}


@pytest.mark.parametrize(("values", "dtype"), POLARS.values(), ids=POLARS)
def test_polars_columns_of_every_type(values, dtype):
    check(lambda rows: pl.DataFrame({"a": pl.Series(rows, dtype=dtype)}), values)


ARROW = {
    "decimal128": (DECIMALS, pa.decimal128(38, 12)),
    "decimal256": (DECIMALS, pa.decimal256(60, 30)),
    "small decimals": ([Decimal("0.05"), Decimal("7")], pa.decimal128(5, 2)),
    "uint64": ([0, None, 2**64 - 1, 2**53 + 1], pa.uint64()),
    "half": ([np.float16(0.05), None], pa.float16()),
    "dictionary": (["x", None, "7"], pa.dictionary(pa.int8(), pa.string())),
    "string views": (["x", None, "7"], pa.string_view()),
    "binary": ([b"x", None], pa.binary()),
    "time": ([datetime.time(5), None], pa.time64("us")),
    "lists": ([[1], None], pa.list_(pa.int64())),
    "nothing": ([None, None], pa.null()),
}
HOLDERS = {
    "table": lambda table: table,
    "batch": lambda table: table.combine_chunks().to_batches()[0],
    "stream": lambda table: table.to_reader(max_chunksize=2),
    "chunks": lambda table: pa.concat_tables([table.slice(0, 1), table.slice(1)]),
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize(("values", "kind"), ARROW.values(), ids=ARROW)
def test_arrow_columns_of_every_type(hold, values, kind):
    check(lambda rows: hold(pa.table({"a": pa.array(rows, kind)})), values)


@pytest.mark.parametrize(
    ("values", "kind"), [ARROW["decimal128"], ARROW["uint64"], (NUMBERS, pa.float64())]
)
def test_parquet_files(values, kind, tmp_path):
    def make(rows):
        pq.write_table(pa.table({"a": pa.array(rows, kind)}), tmp_path / "x.parquet")
        return tmp_path / "x.parquet"

    check(make, values)


SPELLINGS = ["1", "1.0", " 1", "1e3", "0.1", "0.10000000000000000555", "0.05", "NA", "true", "-0"]
SPELLINGS += ["1E-3", "  2.5 ", "nan", "3.", "+.5", "1_0", "x", "9007199254740993", "1e400", "7"]
SPELLINGS += ["inf", "-Infinity", "0x10", "False", "N/A", "ä", "a,b", 'say "x"', "2\n3", "T", "1,5"]
texts = st.text(st.characters(exclude_categories=["C"]), max_size=5)


def csv_of(folder):
    def make(rows):
        with open(folder / "x.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["a"], *([row] for row in rows)])
        return folder / "x.csv"

    return make


def test_csv_files(tmp_path):
    check(csv_of(tmp_path), SPELLINGS)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.sampled_from(SPELLINGS) | texts, min_size=1, max_size=4))
def test_csv_files_of_any_text(tmp_path, values):
    check(csv_of(tmp_path), values)


# Sparse rows, and the entries of matrices

FORMS = ["csr", "csc", "coo", "lil", "dok", "bsr"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["?", "i1", "i8", "u8", "f4", "f8"])
def test_sparse_rows(form, dtype):
    check(
        lambda rows: sparse.coo_array(np.array(rows).astype(dtype).reshape(-1, 1)).asformat(form),
        INTEGERS,
    )


PARTS = [0, 1, 3, 2**31 - 1, 2**31, 2**53 + 1, 2**62]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(PARTS)), min_size=1, max_size=6),
    st.sampled_from([MatrixCount(), MatrixEntry(1), MatrixEntry(2.0, 0.5)]),
)
def test_entries_of_a_matrix_are_read_by_themselves(parts, unit):
    rows = np.array([row for row, _ in parts])
    stored = np.array([part for _, part in parts], np.int64)
    limit = 4 if unit == MatrixEntry(2.0, 0.5) else 1 if unit == MatrixEntry(1) else 2**31 - 1
    steps = 2 if unit == MatrixEntry(2.0, 0.5) else 1
    exact = [min(sum(p for r, p in parts if r == row) * steps, limit) for row in range(4)]
    matrix = sparse.coo_array((stored, (rows, np.zeros_like(rows))), shape=(4, 2))
    triples = pd.DataFrame({"row": rows, "column": 0, "count": stored})
    for data, shape in ((matrix, None), (matrix.tocsc(copy=True), None), (triples, (4, 2))):
        if shape is None and getattr(data, "format", "") == "csc" and len(set(rows)) < len(rows):
            continue  # SciPy itself adds equal places up on the way
        counts = MatrixReader(data, shape).counts(unit).toarray()
        assert counts[:, 0].tolist() == exact
        assert not counts[:, 1].any()
