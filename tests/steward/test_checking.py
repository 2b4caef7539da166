"""The steward's check: exact counts over the rows, nothing raised, marked as not private."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privclust import Ball, Bins, Box, Categories, PrivateKMeans, Schema
from privclust.exceptions import DataError
from privclust.schema.dialect import Csv

SCHEMA = Schema(
    {
        "age": Box(0, 100),
        "born": Box("1900-01-01", "2020-12-31", missing="1960-01-01"),
        "pay": Bins([0, 10, 20], missing="category"),
        "sex": Categories(["f", "m"], missing="category"),
    },
    ignore=["name"],
)
COLUMNS = {
    "name": ["a", "b", "c", "d", "e"],
    "age": [-1.0, 50.0, 100.0, 101.0, None],
    "born": ["1899-12-31", "1980-01-01", "soon", None, "2000-01-01"],
    "pay": [5.0, 25.0, None, 0.0, 20.0],
    "sex": ["f", "x", None, "m", "f"],
    "pid": ["p", "q", "p", None, "p"],
}


def counts(report):
    found = {}
    for column in report.columns:
        parts = (column.missing, column.foreign, column.below, column.above, column.unknown)
        found[column.name] = parts
    return found


EXPECTED = {
    "age": (1, 0, 1, 1, 0),
    "born": (1, 1, 1, 0, 0),
    "pay": (1, 0, 0, 1, 0),
    "sex": (1, 0, 0, 0, 1),
}


def csv_of(table):
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(table, sink)
    return sink.getvalue().to_pybytes()


@pytest.fixture(params=["arrow", "pandas", "polars", "lazy", "csv", "parquet", "stream"])
def data(request, tmp_path):
    table = pa.table(COLUMNS)
    if request.param == "csv":
        (tmp_path / "x.csv").write_bytes(csv_of(table))
        return tmp_path / "x.csv"
    if request.param == "parquet":
        pq.write_table(table, tmp_path / "x.parquet")
        return str(tmp_path / "*.parquet")
    made = {
        "arrow": lambda: table,
        "pandas": lambda: pd.DataFrame(COLUMNS),
        "polars": lambda: pl.DataFrame(COLUMNS),
        "lazy": lambda: pl.LazyFrame(COLUMNS),
        "stream": table.to_reader,
    }
    return made[request.param]()


def test_everything_that_a_fit_reads_is_counted_alike(data):
    report = SCHEMA.check(data, id_column="pid", max_rows=2)
    assert report.rows == 5
    assert counts(report) == EXPECTED
    assert report.clipped_rows == 3
    people = report.people
    assert (people.people, people.missing, people.most_rows, people.rows_left_out) == (2, 1, 3, 1)
    assert people.mean_rows == 2


def test_what_a_fit_would_refuse_is_said():
    report = SCHEMA.check(pa.table(COLUMNS), id_column="pid")
    assert report.problems == (
        "Column 'age': 1 (20%) of its values are missing; declare missing = a constant for it.",
        "Column 'sex': 1 (20%) of its values are not in the declared list; list them, or "
        'declare unknown = "other" for it.',
        "Column 'pid' has 1 missing ids; fill them in, or count each as a person of its own "
        "(--missing-ids separate).",
    )
    table = pa.table({"age": COLUMNS["age"]})
    assert Schema({"age": Box(0, 100, missing=50)}).check(table).problems == ()


def test_no_problem_means_that_a_fit_reads_the_rows():
    table = pa.table({"x": [0.0, None, 5.0] * 20})
    schema = Schema({"x": Box(0, 1, missing=0)})
    assert not schema.check(table).problems
    PrivateKMeans(1, schema=schema).fit(table)
    strict = Schema({"x": Box(0, 1)})
    assert strict.check(table).problems
    with pytest.raises(DataError):
        PrivateKMeans(1, schema=strict).fit(table)


def test_the_first_line_says_that_it_is_not_private():
    report = SCHEMA.check(pa.table(COLUMNS), id_column="pid", max_rows=1)
    first = repr(report).splitlines()[0]
    assert first.startswith("NOT PRIVATE")
    assert "do not publish" in first
    assert next(iter(report.to_dict().values())) == first
    assert "NOT PRIVATE" in report._repr_html_()
    assert "60.00% are clipped" in repr(report)
    assert "A fit would be refused" in repr(report)


def test_types_that_do_not_fit_are_counted_and_not_raised():
    table = pa.table({"a": ["x", "1"], "b": [1, 2], "c": [True, None]})
    schema = Schema({"a": Box(0, 1), "b": Categories(["u"]), "c": Box("2020-01-01", "2021-01-01")})
    report = schema.check(table)
    assert counts(report) == {
        "a": (0, 2, 0, 0, 0),
        "b": (0, 0, 0, 0, 2),
        "c": (1, 1, 0, 0, 0),
    }
    assert [column.stored for column in report.columns] == [("text",), ("int64",), ("bool",)]


def test_ids_are_compared_as_in_a_fit():
    table = pa.table({"x": [1.0] * 4, "id": ["7", "07", "NA", ""]})
    schema = Schema({"x": Box(0, 1)})
    people = schema.check(table, id_column="id").people
    assert (people.people, people.missing) == (3, 1)
    unfit = pa.table({"x": [1.0], "id": [0.5]})
    (problem,) = schema.check(unfit, id_column="id").problems
    assert "cannot serve as the id column" in problem
    numbers = pa.table({"x": [1.0] * 2, "id": ["7", "07"]})
    assert schema.check(numbers, id_column="id", id_type="number").people.people == 1


def test_data_without_rows_are_a_problem_and_no_error():
    report = Schema({"x": Box(0, 1)}).check(pa.table({"x": pa.array([], pa.float64())}))
    assert report.rows == 0
    assert report.problems == ("The data have no rows.",)
    assert "-" in repr(report)


def test_columns_that_are_absent_or_not_declared_are_refused_as_in_a_fit():
    with pytest.raises(DataError, match="absent from the data"):
        Schema({"z": Box(0, 1)}).check(pa.table({"x": [1.0]}))
    with pytest.raises(DataError, match="not declared in the schema"):
        Schema({"x": Box(0, 1)}).check(pa.table({"x": [1.0], "y": [1.0]}))


def test_rows_outside_of_the_ball_are_clipped():
    schema = Schema({"x": Box(0, 1), "y": Box(0, 1)}, ball=Ball(0.5, [0.5, 0.5]))
    rows = np.array([[0.5, 0.5], [0.5, 1.0], [1.0, 1.0], [2.0, 0.5], [0.9, 0.9]])
    assert schema.check(rows).clipped_rows == 3


def test_a_dialect_of_the_schema_holds_for_the_check(tmp_path):
    (tmp_path / "x.csv").write_text("x;y\n1,5;2\nNA;zwei\n")
    schema = Schema({"x": Box(0, 1), "y": Box(0, 1)}, csv=Csv(decimal=","))
    assert counts(schema.check(tmp_path / "x.csv")) == {"x": (1, 0, 0, 1, 0), "y": (0, 1, 0, 1, 0)}


def test_bounds_beyond_which_most_values_lie_are_doubted():
    schema = Schema({"height": Box(0, 2.5), "weight": Box(0, 200)})
    in_centimetres = pd.DataFrame({"height": [170.0, 165.0, 1.8], "weight": [60.0, 250.0, 70.0]})
    (doubt,) = schema.check(in_centimetres).doubts
    assert doubt == (
        "Column 'height': 2 (67%) of its values are beyond the bounds, which would stand for them; "
        "declare wider ones, or ignore it."
    )
