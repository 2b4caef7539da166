"""What a steward can declare: forms of numbers, columns to ignore, dialects, and short forms."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust import Ball, Bins, Box, Categories, Schema
from privclust.exceptions import SchemaError
from privclust.schema.dialect import Csv

EVERYTHING = Schema(
    {
        "born": Box("1900-01-01", "2010-12-31", missing="1950-06-15"),
        "seen": Box("2020-01-01T08:00", "2020-12-31T23:59:59.250"),
        "stay": Box(0, 48, form="hours"),
        "age": Box(0, 110, form="text"),
        "year": Bins([date(2020, 1, 1), date(2021, 1, 1), date(2022, 1, 1)]),
        "sex": Categories(["f", "m"]),
    },
    ignore=["name", "street\n"],
    csv=Csv(delimiter=";", decimal=",", encoding="latin-1", quote="'"),
    note="all of it",
)


def refused(part, make):
    with pytest.raises(SchemaError, match=part) as caught:
        make()
    message = str(caught.value)
    assert message.endswith(".")
    assert ". " not in message
    assert "; " in message


def test_every_fact_makes_the_round_trip_through_toml_json_and_dict(tmp_path):
    assert Schema.from_toml(EVERYTHING.to_toml()) == EVERYTHING
    assert Schema.from_json(EVERYTHING.to_json()) == EVERYTHING
    assert Schema.from_dict(EVERYTHING.to_dict()) == EVERYTHING
    EVERYTHING.save(tmp_path / "x.toml")
    assert Schema.load(tmp_path / "x.toml") == EVERYTHING


def test_facts_that_existed_before_are_written_as_before():
    schema = Schema({"a": Box(0, 1), "b": Bins([0, 1])})
    assert schema.to_dict() == {
        "columns": {
            "a": {"low": 0.0, "high": 1.0, "missing": "error"},
            "b": {"edges": [0.0, 1.0], "missing": "error"},
        }
    }
    assert repr(Box(0, 1)) == "Box(low=0.0, high=1.0)"
    assert Bins([0, 0.5, 1]).labels == ("0.0 to 0.5", "0.5 to 1.0")


def test_dates_count_in_days_since_1970():
    box = Box("1970-01-02", date(1971, 1, 1), missing=np.datetime64("1970-02-01"))
    assert (box.low, box.high, box.missing, box.form) == (1, 365, 31, "date")
    assert box == Box(datetime(1970, 1, 2, 5), datetime(1971, 1, 1), "1970-02-01", "date")


def test_times_are_in_utc_where_a_zone_is_given():
    box = Box("1970-01-01T12:00+02:00", datetime(1970, 1, 2, tzinfo=UTC))
    assert (box.low, box.high, box.form) == (10 / 24, 1, "time")


def test_durations_may_be_bounded_by_durations():
    assert Box(timedelta(0), timedelta(days=2), form="hours") == Box(0, 48, form="hours")


@given(st.datetimes(max_value=datetime(9999, 12, 31)), st.integers(1, 10**6))
def test_any_time_makes_the_round_trip(low, milliseconds):
    low = low.replace(microsecond=low.microsecond // 1000 * 1000)
    high = min(low, datetime(9999, 12, 30)) + timedelta(milliseconds=milliseconds)
    if low < high:
        box = Box(low, high)
        assert Box(**box.to_dict()) == box
        assert box.shown(box.low) == low.isoformat(
            timespec="milliseconds" if low.microsecond else "seconds"
        )


def test_numbers_of_a_column_are_shown_as_a_reader_expects_them():
    assert Box("2020-01-01", "2021-01-01").shown(18262.4) == "2020-01-01"
    assert EVERYTHING["seen"].shown(18262.5) == "2020-01-01T12:00:00"
    assert EVERYTHING["stay"].shown(1.5) == "1.5 hours"
    assert Box(0, 1).shown(0.25) == "0.25"
    assert Box("2020-01-01", "2021-01-01").shown(1e12) == "1e+12 days since 1970-01-01"
    assert EVERYTHING["year"].labels == ("2020-01-01 to 2021-01-01", "2021-01-01 to 2022-01-01")


@pytest.mark.parametrize(
    ("part", "make"),
    [
        ("low below high", lambda: Box("2021-01-01", "2020-01-01")),
        ("different forms", lambda: Box("2021-01-01", 5)),
        ("different forms", lambda: Box("2021-01-01", "2021-01-01T05:00")),
        ("in the calendar", lambda: Box("2021-02-30", "2022-01-01")),
        ("in the calendar", lambda: Box("2021-W05-1", "2022-01-01", form="date")),
        ("a date as low", lambda: Box(1, 2, form="date")),
        ("outside the bounds", lambda: Box("2021-01-01", "2022-01-01", missing="2023-01-01")),
        ("a number as low", lambda: Box("soon", "later")),
        ("form='dates' is not known", lambda: Box(0, 1, form="dates")),
        ("form=\\['date'\\] is not known", lambda: Box(0, 1, form=["date"])),
        ("not a rule for numbers", lambda: Box(0, 1, missing="2020-01-01")),
        ("rising order", lambda: Bins(["2021-01-01", "2020-01-01"])),
        ("one ASCII character", lambda: Csv(delimiter="::")),
        ("one ASCII character", lambda: Csv(delimiter="a")),
        ("one ASCII character", lambda: Csv(delimiter=7)),
        ("decimal mark", lambda: Csv(decimal="'")),
        ("differ from", lambda: Csv(delimiter=",", decimal=",")),
        ("differ from", lambda: Csv(delimiter='"')),
        ("not a letter or digit, or empty", lambda: Csv(quote="xy")),
        ("encoding 'klingon' is not known", lambda: Csv(encoding="klingon")),
        ("encoding 'base64' is not known", lambda: Csv(encoding="base64")),
        ("encoding 5 is not known", lambda: Csv(encoding=5)),
        ("declared and ignored", lambda: Schema({"a": Box(0, 1)}, ignore=["a"])),
        ("a list as ignore", lambda: Schema({"a": Box(0, 1)}, ignore="b")),
        ("must be text", lambda: Schema({"a": Box(0, 1)}, ignore=[3])),
        ("must be a Csv", lambda: Schema({"a": Box(0, 1)}, csv=";")),
        ("Unknown key 'sep'", lambda: Schema.from_toml("[columns.a]\nlow=0\nhigh=1\n[csv]\nsep=1")),
        ("as the csv table", lambda: Schema.from_toml("csv=1\n[columns.a]\nlow=0\nhigh=1\n")),
    ],
)
def test_what_means_nothing_is_refused_in_one_sentence(part, make):
    refused(part, make)


def test_toml_has_dates_of_its_own():
    schema = Schema.from_toml("[columns.a]\nlow = 2020-01-01\nhigh = 2021-01-01\n")
    assert schema["a"] == Box("2020-01-01", "2021-01-01")


class TestOf:
    SCHEMA = Schema({"a": Box(0, 1), "b": Categories(["x"])})

    def test_a_schema_a_path_and_a_dict_stand_for_the_same(self, tmp_path):
        self.SCHEMA.save(tmp_path / "s.toml")
        for declared in (
            self.SCHEMA,
            tmp_path / "s.toml",
            str(tmp_path / "s.toml"),
            {"a": Box(0, 1), "b": Categories(["x"])},
            {"a": {"low": 0, "high": 1}, "b": {"values": ["x"]}},
            self.SCHEMA.to_dict(),
        ):
            assert Schema.of(declared) == self.SCHEMA

    def test_facts_without_names_are_about_all_columns_or_one_each(self):
        yes = Categories([False, True])
        assert Schema.of(yes, names=["u", "v"]) == Schema({"u": yes, "v": yes})
        assert Schema.of([yes, Bins([0, 1])], n_columns=2).names == ("x0", "x1")
        refused("have 3 columns but the schema declares 1", lambda: Schema.of([yes], n_columns=3))
        refused("does not say how many columns", lambda: Schema.of(yes))

    def test_bounds_are_from_bounds(self):
        assert Schema.of(None, bounds=(0, [1, 2])) == Schema.from_bounds(0, [1, 2])
        refused("No bounds are declared", lambda: Schema.of(None))
        refused("must be a pair", lambda: Schema.of(None, bounds=3))

    def test_schema_and_bounds_are_refused_together(self):
        refused("Both a schema and bounds", lambda: Schema.of(self.SCHEMA, bounds=(0, 1)))

    def test_anything_else_is_refused(self):
        refused("object of type int", lambda: Schema.of(3))
        refused("object of type list", lambda: Schema.of([1, 2]))
        refused("was not found", lambda: Schema.of("absent.toml"))


def test_some_columns_of_a_schema_ignore_the_others():
    schema = EVERYTHING.only(["sex", "born"])
    assert schema.names == ("born", "sex")
    assert schema.ignore == ("*",)
    assert schema.csv == EVERYTHING.csv
    refused("'x' is not in the schema", lambda: EVERYTHING.only(["x"]))
    boxes = {"a": Box(0, 1), "b": Box(0, 2)}
    assert Schema(boxes, ball=Ball(1, [0, 1])).only(["b"]).ball == Ball(1, [1])


def test_widths_over_tenfold_are_uneven():
    assert Schema({"a": Box(0, 1), "b": Box(0, 10)}).uneven_widths() is None
    assert Schema({"a": Box(0, 10.1), "b": Box(0, 1)}).uneven_widths() == ("b", "a")
    assert Schema({"a": Categories(["x"])}).uneven_widths() is None
