"""What sources refuse, in one sentence that names the column and shows no value."""

import traceback
from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from privclust.exceptions import DataError
from privclust.reading.opening import open_rows
from support.blocks import block_numbers, block_values

SECRET = "SECRET77"  # noqa: S105
NUMBER = 771177.25


def read(data, columns=None, kind=None, **options):
    with open_rows(data, columns, **options) as source:
        for block in source.blocks():
            if kind is None:
                block_numbers(block)
            else:
                block_values(block, block.names[0], kind)


def refused(part, *arguments, **options):
    with pytest.raises(DataError) as caught:
        read(*arguments, **options)
    message = str(caught.value)
    assert part in message
    assert message.endswith(".")
    assert ". " not in message
    assert "; " in message
    # What a user sees includes the errors behind the error, and a logger walks the whole chain.
    shown = "".join(traceback.format_exception(caught.value))
    for error in chain_of(caught.value):
        shown += f"{error!r} {error} {vars(error)}"
    assert SECRET not in shown
    assert "7711" not in shown


def chain_of(error):
    """Yield an error and all that stand behind it, shown in a traceback or not."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


ONE, TWO = pl.DataFrame({"a": [1.0]}), pl.DataFrame({"a": [1.0], "b": [2.0]})


@pytest.mark.parametrize(
    ("data", "columns", "message"),
    [
        (
            ONE,
            ["a", "age"],
            "Column 'age' is declared in the schema but absent from the data; "
            "correct the name, or drop it from the schema.",
        ),
        (
            ONE,
            ["age", "sex"],
            "Columns 'age', 'sex' are declared in the schema but absent from the data; "
            "correct the names, or drop them from the schema, or write a header if there is none.",
        ),
        (
            TWO,
            ["a"],
            "Column 'b' is in the data but not declared in the schema; "
            'declare it, or list it in ignore (or "*" for all that are not declared).',
        ),
        (
            pl.DataFrame({name: [1] for name in "abcdefgh"}),
            ["a"],
            "Columns 'b', 'c', 'd', 'e', 'f' and 2 more are in the data but not declared in the "
            'schema; declare them, or list them in ignore (or "*" for all that are not declared).',
        ),
        (
            np.ones((2, 3)),
            ["a"],
            "The data have 3 columns but the schema declares 1; "
            "give the declared columns in order.",
        ),
    ],
)
def test_declared_and_present_columns_must_agree(data, columns, message):
    with pytest.raises(DataError) as caught:
        open_rows(data, columns)
    assert str(caught.value) == message


def test_columns_that_cannot_be_chosen():
    refused("Column 'a' occurs twice", pd.DataFrame([[1, 2]], columns=["a", "a"]))
    refused("Column 'a' occurs twice", pa.table([[1], [2]], names=["a", "a"]))
    refused("Some column names", pd.DataFrame({"a": [1], 2: [3]}))
    refused("no columns to read", pl.DataFrame())
    refused("no columns to read", ONE, ignore=["a"])
    refused("no columns to read", np.empty((3, 0)))
    refused("write ['a']", ONE, "a")
    refused("Column 'pid' is the declared id column", ONE, ["a"], id_column="pid")
    refused("The id column 'pid' cannot be found", np.ones((1, 1)), id_column="pid")
    refused("block_rows must be at least 1", ONE, block_rows=0)


@pytest.mark.parametrize(
    "data",
    [
        np.empty((0, 2)),
        sparse.csr_array((0, 2)),
        pd.DataFrame({"a": []}),
        pl.DataFrame({"a": []}),
        pl.LazyFrame({"a": pl.Series([], dtype=pl.Float64)}),
        pa.table({"a": []}),
        pa.table({"a": []}).to_reader(),
    ],
)
def test_data_without_rows(data):
    refused("The data have no rows; give at least one row.", data)


def test_things_that_hold_no_table():
    refused("an object of type int", 3)
    refused("an object of type NoneType", None)
    refused("an object of type dict", {"a": [1]})
    refused("The path of the data is empty", "")
    refused("got 1 dimension(s)", np.ones(3))
    refused("got 1 dimension(s)", [1, 2])
    refused("got 3 dimension(s)", np.ones((1, 1, 1)))
    refused("The rows differ in length", [[1, 2], [3]])
    refused("array of type complex128", np.ones((1, 1), complex))
    refused("array of type |S1", np.array([[b"x"]]))
    refused("masked array must have numbers", np.ma.masked_array([[SECRET]], [[True]]))
    refused("matrix of type complex128", sparse.csr_array(np.ones((1, 1), complex)))
    refused("sparse array must have rows and columns", sparse.coo_array(np.ones(3)))
    refused("stream is not a table", pl.Series([1]))
    streams = hasattr(pd.Series, "__arrow_c_stream__")  # since pandas 3
    refused("stream is not a table" if streams else "got 1 dimension(s)", pd.Series([1]))
    refused("LazyFrame cannot be evaluated", ONE.lazy().select("b"))
    wrong = pl.LazyFrame({"a": [SECRET]}).select(pl.col("a").cast(pl.Int64))
    refused("LazyFrame cannot be evaluated", wrong)


TEXT = "Column 'a' holds text where numbers are declared; declare form = \"text\" if the text is"
DATES = "Column 'a' holds dates or times where numbers are declared; declare dates as its bounds"
MIXED = "Column 'a' holds values of mixed or unsupported types; convert it"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pd.DataFrame({"a": ["1", SECRET]}), TEXT),
        (pd.DataFrame({"a": pd.Categorical([SECRET])}), TEXT),
        (pl.DataFrame({"a": [SECRET]}), TEXT),
        (pl.DataFrame({"a": pl.Series([SECRET], dtype=pl.Categorical)}), TEXT),
        (pa.table({"a": ["1"]}), TEXT),
        (pa.table({"a": [SECRET]}).to_reader(), TEXT),
        (pd.DataFrame({"a": pd.to_datetime(["1977-01-01"])}), DATES),
        (pd.DataFrame({"a": [date(1977, 1, 1)]}), DATES),
        (pl.DataFrame({"a": [datetime(1977, 1, 1)]}), DATES),
        (pl.DataFrame({"a": [date(1977, 1, 1)]}), DATES),
        (pd.DataFrame({"a": [1, SECRET]}), MIXED),
        (pd.DataFrame({"a": [1.5, {SECRET: 1}]}), MIXED),
        (pd.DataFrame({"a": [1j]}), MIXED),
        (pl.DataFrame({"a": [[1]]}), "Column 'a' holds values of type large_list"),
        (pa.table({"a": [b"x"]}), "Column 'a' holds values of type binary"),
        (pa.table({"a": [{"b": 1}]}), "Column 'a' holds values of type struct"),
    ],
)
def test_columns_that_are_no_numbers(data, message):
    refused(message, data)


def test_arrays_that_are_no_numbers():
    refused("Column 'a' holds text", np.array([["1", SECRET]]), ["a", "b"])
    refused("Column 'b' holds text", np.array([[1, SECRET]], object), ["a", "b"])
    refused("Column 'b' holds values of mixed", np.array([[1, 1], [1, {}]], object), ["a", "b"])
    refused("Column 'x0' holds dates", np.array([["1977-01-01"]], dtype="M8[D]"))


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ([1], "text", "holds integers where text is declared; convert it or list its values as"),
        ([True], "text", "holds booleans where text is declared; convert it or list its values as"),
        ([NUMBER], "text", "holds numbers where text is declared; convert it or list its values"),
        ([SECRET], "integer", "holds text where integers are declared; convert it or list"),
        ([NUMBER], "integer", "holds fractions where integers are declared; declare numbers"),
        ([True], "integer", "holds booleans where integers are declared; convert it or list"),
        (pa.array([2**63], pa.uint64()), "integer", "holds values beyond 64-bit integers; convert"),
        ([1], "boolean", "holds integers where booleans are declared; convert it or list"),
        ([date(1977, 1, 1)], "text", "holds dates or times where text is declared; convert it."),
    ],
)
def test_columns_that_are_not_the_declared_categories(values, kind, message):
    refused(f"Column 'a' {message}", pa.table({"a": values}), kind=kind)


class TestFiles:
    def test_paths(self, tmp_path):
        refused("was not found; check the path", tmp_path / "absent.csv")
        refused("was not found; check the path", str(tmp_path / "absent.parquet"))
        refused("has no .parquet, .csv or .arrow file", tmp_path)
        (tmp_path / "x.docx").touch()
        refused("unknown format; give a .csv, .tsv,", tmp_path / "x.docx")
        (tmp_path / "x.xlsx").touch()
        refused("cannot be read as a workbook; check that it is complete", tmp_path / "x.xlsx")
        (tmp_path / "x.parquet.gz").touch()
        refused("unknown format", tmp_path / "x.parquet.gz")

    def test_several_files(self, tmp_path):
        pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
        pq.write_table(pa.table({"b": [1]}), tmp_path / "b.parquet")
        (tmp_path / "c.csv").write_text("a\n1\n")
        refused("b.parquet' has columns other than", tmp_path)
        refused("of different formats", [tmp_path / "a.parquet", tmp_path / "c.csv"])

    def test_damaged_parquet(self, tmp_path):
        path = tmp_path / "x.parquet"
        path.touch()
        refused("cannot be read as Parquet", path)
        path.write_bytes(b"not parquet at all")
        refused("cannot be read as Parquet", path)
        pq.write_table(pa.table({"a": np.random.default_rng(0).random(10_000)}), path)
        content = bytearray(path.read_bytes())
        content[4:2000] = bytes(1996)
        path.write_bytes(content)
        refused("cannot be read as Parquet", path)
        pq.write_table(pa.table({"a": pa.array([], pa.float64())}), path)
        refused("The data have no rows", path)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "is empty; give a file with a header line and rows"),
            (b"\n\n", "is empty; give a file with a header line and rows"),
            (b"a,b", "The data have no rows"),
            (b"a,b\n", "The data have no rows"),
            (b"a,b\n\n", "The data have no rows"),
            (
                b"a,a\n1,2\n",
                "is not a list of names (it holds a number, an empty field or the",
            ),
            (b"a,b\n1,2\nSECRET77\n", "cannot be read as a table"),
            (b"a,b\n1,2\nSECRET77,1,2\n", "cannot be read as a table"),
            (b"a,b\n1,SECRET77\xff\n", "bytes that are not UTF-8 text"),
            (b"\xff\xfe,b\n1,2\n", "cannot be read as a table"),
            (b"a\n1\nSECRET77\n", "Column 'a' holds text where numbers are declared; declare how"),
            (b"a\n1\n1,5\n", "cannot be read as a table"),
        ],
        ids=range(12),  # the name of the temporary folder would show the content
    )
    def test_bad_csv(self, tmp_path, content, message):
        (tmp_path / "x.csv").write_bytes(content)
        refused(message, tmp_path / "x.csv")

    def test_csv_that_is_not_the_declared_categories(self, tmp_path):
        (tmp_path / "x.csv").write_text("a\n1\nSECRET77\n")
        message = "Column 'a' holds text where {} are declared; list its values as text"
        refused(message.format("integers"), tmp_path / "x.csv", kind="integer")
        refused(message.format("booleans"), tmp_path / "x.csv", kind="boolean")

    def test_damaged_gzip(self, tmp_path):
        (tmp_path / "x.csv.gz").write_bytes(b"SECRET77")
        refused("cannot be read as a table", tmp_path / "x.csv.gz")


def test_a_closed_source():
    source = open_rows(ONE)
    source.close()
    with pytest.raises(DataError, match="The data source is closed; open it again"):
        next(source.blocks())
