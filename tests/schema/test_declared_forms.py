"""Dates, times, durations and numbers as text become numbers, each value by itself."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust import Bins, Box, Categories, Schema
from privclust.data.encode import writings_of
from privclust.exceptions import DataError
from privclust.reading.declared import open_declared
from privclust.schema.forms import DURATIONS
from support.blocks import block_numbers, formed

FORMS = ["text", "date", "time", *DURATIONS]


def numbers(data, schema, *, lenient=(), **options):
    with open_declared(data, schema, **options) as source:
        return np.concatenate(
            [
                block_numbers(block, lenient=lenient, writings=writings_of(schema))
                for block in source.blocks()
            ]
        )


def column(values, form):
    return formed(pa.array(values), form).tolist()


@pytest.mark.parametrize(
    ("form", "text", "number"),
    [
        ("date", "1970-01-02", 1),
        ("date", " 1970-01-02 ", 1),
        ("date", "1970-01-02T23:59:59", 1),
        ("date", "1969-12-31 23:00:00Z", -1),
        ("date", "1970-01-02T01:00+02:00", 0),
        ("date", "2024-02-29", 19782),
        ("time", "1970-01-01T12:00", 0.5),
        ("time", "1970-01-01T06:00:00.000-0600", 0.5),
        ("hours", "1:30", 1.5),
        ("hours", "-1:30", -1.5),
        ("minutes", "00:01:30.5", 1.5 + 0.5 / 60),
        ("days", "P1DT12H", 1.5),
        ("seconds", "PT1M0,5S", 60.5),
        ("text", "+2.5", 2.5),
        ("text", "1e3", 1000),
        ("text", ".5", 0.5),
    ],
)
def test_text_stands_for_a_number(form, text, number):
    assert column([text], form) == [number]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("date", "2023-02-29"),
        ("date", "2023-13-01"),
        ("date", "2023-00-01"),
        ("date", "0000-01-01"),
        ("date", "20230101"),
        ("date", "01.02.2023"),
        ("time", "2023-01-01T24:00"),
        ("time", "2023-01-01T12"),
        ("time", "2023-01-01T12:00+25:00"),
        ("hours", "90"),
        ("hours", "1:75"),
        ("hours", "P"),
        ("hours", "PT"),
        ("hours", "P1DT"),
        ("text", "inf"),
        ("text", "1e999"),
        ("text", "1,5"),
        ("text", "0x10"),
    ],
)
def test_what_is_not_of_the_form_is_no_number(form, text):
    assert math.isnan(column([text], form)[0])


@pytest.mark.parametrize(
    ("form", "value", "number"),
    [
        ("date", dt.date(1970, 1, 2), 1),
        ("date", dt.datetime(1970, 1, 2, 18), 1),
        ("date", dt.datetime(1969, 12, 31, 18), -1),
        ("time", dt.datetime(1970, 1, 2, 18), 1.75),
        ("time", dt.datetime(1970, 1, 2, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))), 1),
        ("hours", dt.timedelta(days=1), 24),
        ("hours", dt.time(1, 30), 1.5),
        ("text", 5, 5),
    ],
)
def test_columns_that_have_such_a_type_are_read_by_it(form, value, number):
    assert column([value], form) == [number]


def test_every_resolution_of_time_is_read_without_wrapping():
    for unit in ("s", "ms", "us", "ns"):
        most = pa.array([2**62], pa.int64()).cast(pa.timestamp(unit))
        assert formed(most, "date")[0] > 50_000
        assert formed(pa.array([10**9], pa.duration(unit)), "days")[0] > 0


ANY_TEXT = st.one_of(
    st.text(max_size=12),
    st.dates().map(str),
    st.datetimes().map(lambda moment: moment.isoformat()),
    st.from_regex(r"\A-?P([0-9]{1,3}D)?(T[0-9]{1,3}H)?\Z"),
    st.from_regex(r"\A[0-9]{1,3}:[0-9]{2}\Z"),
    st.floats().map(repr),
    st.none(),
)


@given(st.lists(ANY_TEXT, max_size=8), st.sampled_from(FORMS))
def test_each_value_is_converted_by_itself_and_none_raises(values, form):
    together = formed(pa.array(values, pa.string()), form)
    apart = [formed(pa.array([value], pa.string()), form)[0] for value in values]
    np.testing.assert_array_equal(together, np.array(apart, np.float64))


@given(st.dates(), st.sampled_from([pa.string(), pa.large_string(), pa.date32(), pa.date64()]))
def test_text_and_types_agree_about_dates(day, kind):
    stored = pa.array([str(day)]) if "string" in str(kind) else pa.array([day], kind)
    assert formed(stored, "date")[0] == (day - dt.date(1970, 1, 1)).days


DATES = Schema({"x": Box("2020-01-01", "2021-01-01")})
DAY = pd.Timestamp("2020-03-01")


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"x": [DAY]}),
        pd.DataFrame({"x": [DAY.date()]}),
        pd.DataFrame({"x": ["2020-03-01"]}),
        pd.DataFrame({"x": pd.Categorical(["2020-03-01"])}),
        pl.DataFrame({"x": [DAY.date()]}),
        pl.LazyFrame({"x": [DAY.to_pydatetime()]}),
        pa.table({"x": [DAY.date()]}),
        pa.table({"x": ["2020-03-01"]}).to_reader(),
        np.array([["2020-03-01"]], "datetime64[D]"),
        np.array([["2020-03-01"]]),
    ],
    ids=range(10),
)
def test_dates_are_read_from_whatever_holds_them(data):
    assert numbers(data, DATES).tolist() == [[18322.0]]


def test_the_rule_for_missing_values_takes_what_is_no_date():
    data = pa.table({"x": ["2020-03-01", "SECRET77", None], "y": [1.0, 2.0, 3.0]})
    kept = Schema({"y": Box(0, 5), "x": Box("2020-01-01", "2021-01-01", "2020-06-01")})
    read = numbers(data, kept, lenient=["x"])
    np.testing.assert_array_equal(read, [[1, 18322], [2, np.nan], [3, np.nan]])
    strict = Schema({"x": Box("2020-01-01", "2021-01-01")}, ignore=["y"])
    with pytest.raises(DataError, match="Column 'x' holds values that are not dates") as caught:
        numbers(data, strict)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "fact", "part"),
    [
        (pa.table({"x": [1]}), Box("2020-01-01", "2021-01-01"), "not dates"),
        (pa.table({"x": ["a"]}), Box(0, 1), "holds text where numbers are declared"),
        (pa.table({"x": [1.5]}), Categories(["a"]), "holds numbers where text is declared"),
        (pd.DataFrame({"x": [DAY]}), Bins([0, 1]), "holds dates or times where numbers"),
        (pl.DataFrame({"x": [DAY.date()]}), Box(0, 1, form="hours"), "not durations"),
        (pl.LazyFrame({"x": [True]}), Categories(["a"]), "holds booleans where text"),
        (np.array([["a"]]), Box(0, 1), "holds text where numbers are declared"),
    ],
)
def test_a_type_that_cannot_be_meant_is_refused_before_a_row_is_read(data, fact, part):
    with pytest.raises(DataError, match=part):
        open_declared(data, Schema({"x": fact}))


def test_data_known_to_be_empty_are_refused_before_they_are_read(tmp_path):
    (tmp_path / "x.csv").write_text("x\n")
    for data in (tmp_path / "x.csv", pa.table({"x": pa.array([], pa.float64())}), np.empty((0, 1))):
        with pytest.raises(DataError, match="no rows"):
            open_declared(data, Schema({"x": Box(0, 1)}))
        open_declared(data, Schema({"x": Box(0, 1)}), may_be_empty=True).close()


def test_columns_of_the_schema_to_ignore_are_not_read_and_others_are_refused():
    data = pa.table({"x": [1.0], "name": ["a"], "other": [1]})
    schema = Schema({"x": Box(0, 1)}, ignore=["name", "absent"])
    with pytest.raises(DataError, match="Column 'other' is in the data but not declared"):
        open_declared(data, schema)
    assert numbers(data, schema, ignore=["other"]).tolist() == [[1.0]]
