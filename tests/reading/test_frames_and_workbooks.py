"""Frames of other libraries, and workbooks: each value with the type that it has by itself."""

from __future__ import annotations

import datetime as dt
import sys

import dask.dataframe as dd
import ibis
import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xlsxwriter

from privclust import Box, Categories, PrivateKMeans, Schema
from privclust.exceptions import DataError
from privclust.reading.declared import open_declared
from privclust.reading.opening import open_rows
from support.blocks import block_numbers
from support.readings import check_rows

DAY = dt.date(2024, 12, 31)


def workbook(path, rows):
    """Write rows to the first sheet of a workbook, and return its path."""
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                if isinstance(value, dt.date):
                    sheet.write_datetime(i, j, dt.datetime(value.year, value.month, value.day), day)
                elif value is not None:
                    sheet.write(i, j, value)
    return path


@pytest.mark.filterwarnings("ignore:.*infer_string")  # of Dask
def test_a_table_of_ibis_and_a_frame_of_dask_are_read_by_name():
    frame = pd.DataFrame({"c": ["a", "b", "a"], "x": [1.0, 2.0, None]})
    for data in (ibis.memtable(frame), dd.from_pandas(frame, npartitions=2)):
        with open_rows(data, ["x"], ignore=["c"]) as source:
            (block,) = source.blocks()
            assert block_numbers(block).tolist()[:2] == [[1.0], [2.0]]
            (again,) = source.blocks()
            assert again.n_rows == 3


def test_objects_of_a_wrapped_frame_keep_their_own_types():
    values = [1, "x", None, 2.5, DAY, True]

    def make(chosen):
        return nw.from_native(pd.DataFrame({"a": pd.Series(chosen, dtype=object)}))

    check_rows(make, values)


def test_a_wrapped_frame_is_refused_before_the_charge_like_the_frame_itself():
    wrapped = nw.from_native(pa.table({"x": ["a"]}), eager_only=True)
    with pytest.raises(DataError, match="holds text where numbers are declared"):
        open_declared(wrapped, Schema({"x": Box(0, 1)}))


CELLS = [1.5, 7.0, "7", "1.200,50", "x", None, DAY, True, False, "NA", "31.12.2024", -1e300]


def test_a_cell_of_a_sheet_is_read_by_itself(tmp_path):
    def make(values):
        # A second column, so that no row is empty.
        return workbook(tmp_path / "x.xlsx", [["a", "b"], *((value, 1) for value in values)])

    alone = [make_alone(tmp_path, value) for value in CELLS]
    check_rows(make, CELLS, alone, ignore=["b"])


def make_alone(folder, value):
    """Return what every line makes of one cell, from Python's own values and fields of CSV."""
    from support.readings import of_fields, of_objects

    return of_fields([value])[0] if isinstance(value, str) else of_objects([value])[0]


def test_a_fit_reads_a_workbook(tmp_path):
    rows = [[DAY, 3, "ja"], [None] * 3, ["01.02.2024", "4,5", "nein"]] * 50
    path = workbook(tmp_path / "x.xlsx", [["day", "pay", "smokes", None], *rows])
    schema = Schema(
        {
            "day": Box("2024-01-01", "2024-12-31", format="%d.%m.%Y"),
            "pay": Box(0, 10, decimal=","),
            "smokes": Categories([False, True], true=["ja"], false=["nein"]),
        }
    )
    report = schema.check(path)
    assert (report.rows, report.problems, report.doubts) == (100, (), ())
    model = PrivateKMeans(1, epsilon=1000, schema=schema, random_state=0).fit(path)
    assert np.isclose(model.cluster_centers_[0][1], 3.75, atol=0.1)


def test_a_draft_of_a_workbook(tmp_path):
    rows = [["a", 1, True, DAY], ["b", 2, False, None], ["a", 4, None, DAY]]
    schema = Schema.draft(workbook(tmp_path / "x.xlsx", [["c", "n", "yes", "day"], *rows]))
    assert schema.columns == {
        "c": Categories(["a", "b"], unknown="other"),
        "n": Box(1, 4, form="integer"),
        "yes": Categories([False, True], missing="category"),
        "day": Box("2024-01-01", "2024-12-31", missing="2024-12-31"),
    }


@pytest.mark.parametrize("width", [3, 4, 6])
def test_cells_beyond_the_header_are_not_seen(tmp_path, width):
    rows = [["a", "b"], [1, 2], [3, 4]]
    plain = workbook(tmp_path / "plain.xlsx", rows)
    wider = workbook(tmp_path / "wider.xlsx", [*rows[:2], [3, 4, *range(width - 2)]])
    shifted = [[None, None, *row] for row in rows]
    before = workbook(tmp_path / "before.xlsx", [*shifted[:2], [5, 6, 3, 4]])
    for declared in (["a", "b"], None):
        read = []
        for path in (plain, wider, before):
            with open_rows(path, declared) as source:
                assert source.names == ("a", "b")
                read += [block_numbers(block).tolist() for block in source.blocks()]
        assert read == [[[1.0, 2.0], [3.0, 4.0]]] * 3


@pytest.mark.parametrize("days", [-1.25e9, -1.25e12])  # too long for Python, and for Rust
def test_a_duration_that_cannot_be_held_is_not_quoted(tmp_path, days):
    path = tmp_path / "x.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["a", "b"])
        sheet.write_row(1, 0, [1, 2])
        sheet.write_number(2, 0, days, book.add_format({"num_format": "[h]:mm:ss"}))
    schema = Schema({"a": Box(0, 9, missing=0), "b": Box(0, 9, missing=0)})
    with pytest.raises(DataError, match="cannot be read as a workbook") as caught:
        PrivateKMeans(1, schema=schema).fit(path)
    assert caught.value.__context__ is None


def test_what_is_no_table_is_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "x.xlsx"
    path.write_bytes(b"PK\x03\x04 SECRET")
    with pytest.raises(DataError, match="cannot be read as a workbook; check that it is complete"):
        open_rows(path)
    workbook(path, [])
    with pytest.raises(DataError, match="is empty; give a sheet with a header line and rows"):
        open_rows(path)
    workbook(path, [["a", 1.5], ["b", 2]])
    with pytest.raises(DataError, match="is not a list of names"):
        open_rows(path)
    workbook(path, [["a", "b"]])
    with pytest.raises(DataError, match="have no rows"):
        open_declared(path, Schema({"a": Box(0, 1), "b": Box(0, 1)}))
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(DataError, match="pip install python-calamine, or save the sheet as CSV"):
        open_rows(path)
