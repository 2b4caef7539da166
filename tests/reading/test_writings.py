"""How columns are written: known answers, each from its own text and the declaration alone."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust import Bins, Box, Categories, PrivateKMeans, Schema
from privclust.data.columns.kinds import TypedColumn
from privclust.data.columns.table import category_line, number_line
from privclust.exceptions import DataError, SchemaError
from privclust.schema.dialect import Csv
from privclust.schema.writing import Writing

GERMAN = Writing(decimal=",", thousands=".")
KG, ENGLISH = Writing(unit="kg"), Writing(thousands=",")


def number(text, writing):
    """Return what a field stands for: a number, None if it is missing, or "foreign"."""
    read = number_line(writing).read(TypedColumn("field", pa.array([text], pa.large_string())))
    return "foreign" if read.foreign[0] else read.values[0].as_py()


@pytest.mark.parametrize(
    ("text", "writing", "meant"),
    [
        ("1.200,50", GERMAN, 1200.5),
        ("-12.345.678", GERMAN, -12345678.0),
        ("7,5", GERMAN, 7.5),
        ("+7", GERMAN, 7.0),
        (",5", GERMAN, 0.5),
        ("1.5", GERMAN, "foreign"),  # a point before anything but three digits is no mark
        ("1.20,5", GERMAN, "foreign"),
        ("0.123", GERMAN, "foreign"),  # nobody groups a zero
        ("1200,50", GERMAN, 1200.5),
        ("1,5,5", GERMAN, "foreign"),
        ("", GERMAN, None),
        ("NA", GERMAN, None),
        ("?", GERMAN, "foreign"),
        ("true", GERMAN, 1.0),
        ("1,200.5", ENGLISH, 1200.5),
        ("1,20", ENGLISH, "foreign"),
        ("1 200,5", Writing(decimal=",", thousands=" "), 1200.5),
        ("1\u202f200\u00a0000", Writing(thousands=" "), 1200000.0),
        ("1\u2019200", Writing(thousands="'"), 1200.0),
        ("70 kg", KG, 70.0),
        ("70kg", KG, 70.0),
        ("kg 70.5", KG, 70.5),
        ("70 g", KG, "foreign"),
        ("45%", Writing(unit="%"), 45.0),
        ("ja", Writing(true=("ja",), false=("nein",)), 1.0),
        ("nein", Writing(true=("ja",), false=("nein",)), 0.0),
        ("Ja", Writing(true=("ja",), false=("nein",)), "foreign"),
        ("1e400", GERMAN, float("inf")),
        ("1,5e3", GERMAN, 1500.0),
    ],
)
def test_what_a_field_stands_for(text, writing, meant):
    assert number(text, writing) == meant
    padded = number(f" {text} ", writing)
    assert padded == meant


MOMENTS = [
    ("31.12.2024", "%d.%m.%Y", datetime(2024, 12, 31)),
    ("1.2.2024", "%d.%m.%Y", datetime(2024, 2, 1)),
    ("29.02.2023", "%d.%m.%Y", None),
    ("2024-12-31", "%d.%m.%Y", None),
    ("31.12.24", "%d.%m.%y", datetime(2024, 12, 31)),
    ("01.01.69", "%d.%m.%y", datetime(1969, 1, 1)),
    ("01.01.68", "%d.%m.%y", datetime(2068, 1, 1)),
    ("12/31/2024 6:30 PM", "%m/%d/%Y %I:%M %p", datetime(2024, 12, 31, 18, 30)),
    ("12/31/2024 12:30 am", "%m/%d/%Y %I:%M %p", datetime(2024, 12, 31, 0, 30)),
    ("12/31/2024 13:30 PM", "%m/%d/%Y %I:%M %p", None),
    ("31DEC2024", "%d%b%Y", datetime(2024, 12, 31)),
    ("December 31, 2024", "%B %d, %Y", datetime(2024, 12, 31)),
    ("31 Foo 2024", "%d %b %Y", None),
    ("2024/12", "%Y/%m", datetime(2024, 12, 1)),
    ("2024", "%Y", datetime(2024, 1, 1)),
    ("31.12.2024 18:30:05.25", "%d.%m.%Y %H:%M:%S.%f", datetime(2024, 12, 31, 18, 30, 5, 250000)),
    ("31.12.2024 18:30+0200", "%d.%m.%Y %H:%M%z", datetime(2024, 12, 31, 16, 30)),
    ("31.12.2024 24:00", "%d.%m.%Y %H:%M", None),
    ("100%31.12.2024", "100%%%d.%m.%Y", datetime(2024, 12, 31)),
]


@pytest.mark.parametrize(("text", "format", "meant"), MOMENTS)
def test_what_a_date_stands_for(text, format, meant):
    days = None if meant is None else (meant - datetime(1970, 1, 1)).total_seconds() / 86400
    assert number(text, Writing("time", format)) == ("foreign" if days is None else days)
    whole = "foreign" if days is None else np.floor(days)
    assert number(text, Writing("date", format)) == whole


@given(st.dates(date(1000, 1, 1)), st.sampled_from(["%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d %b %Y"]))
def test_a_format_reads_what_python_writes(day, format):
    assert number(day.strftime(format), Writing("date", format)) == day.toordinal() - 719163


@given(st.floats(-1e12, 1e12), st.sampled_from([(",", "."), (".", ","), (",", " "), (".", "'")]))
def test_marks_read_what_was_written_with_them(value, marks):
    decimal, thousands = marks
    text = f"{value:,.6f}".replace(",", "T").replace(".", decimal).replace("T", thousands)
    assert number(text, Writing(decimal=decimal, thousands=thousands)) == float(f"{value:.6f}")


def test_codes_are_whole_whether_or_not_a_program_wrote_a_point():
    column = TypedColumn("field", pa.array(["1", "1.0", "1.", "1.5", "x", " 2.00 "]))
    read = category_line("integer", Writing()).read(column)
    assert read.values.to_pylist() == [1, 1, 1, None, None, 2]
    assert read.foreign.tolist() == [False, False, False, True, True, False]


def test_words_for_yes_and_no_are_those_of_the_column_or_of_the_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\nja,J\nnein,N\ntrue,1\n")
    facts = {"a": Categories([False, True]), "b": Categories([False, True], true="J", false=["N"])}
    schema = Schema(facts, csv=Csv(true=["ja"], false=["nein"]))
    assert schema.check(path).problems == ()
    assert Schema.from_toml(schema.to_toml()) == schema
    assert 'true = ["ja"]' in schema.to_toml()


def test_a_column_differs_from_its_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a;b;c;d\n1.200,5;1.5;31.12.2024;12/31/2024\n")
    facts = {
        "a": Box(0, 2000),
        "b": Bins([0, 1, 2], decimal=".", thousands=""),
        "c": Box("01.01.2020", "31.12.2024", format="%d.%m.%Y"),
        "d": Box("2020-01-01", "2024-12-31"),
    }
    schema = Schema(facts, csv=Csv(decimal=",", thousands=".", format="%m/%d/%Y"))
    report = schema.check(path)
    assert report.problems == ()
    assert report.clipped_rows == 0
    assert schema["c"] == Box("2020-01-01", "2024-12-31", format="%d.%m.%Y")
    assert Schema.from_json(schema.to_json()) == schema
    assert Schema.from_toml(schema.to_toml()) == schema


def test_text_of_a_frame_is_read_as_it_is_written():
    frame = pd.DataFrame({"pay": ["1.200,50", "800,00"], "day": ["31.12.2024", "01.02.2024"]})
    facts = {
        "pay": Box(0, 2000, form="text", decimal=",", thousands="."),
        "day": Box("2024-01-01", "2024-12-31", format="%d.%m.%Y"),
    }
    report = Schema(facts).check(frame)
    assert (report.problems, report.clipped_rows) == ((), 0)


def test_a_fit_reads_what_the_schema_declares(tmp_path):
    days = pd.to_datetime(["2024-01-01", "2024-12-31"] * 500)
    pay = ["1.000,00", "9.000,00"] * 500
    frame = pd.DataFrame(
        {"day": days.strftime("%d.%m.%Y"), "pay": pay, "smokes": ["ja", "nein"] * 500}
    )
    frame.to_csv(tmp_path / "x.csv", sep=";", index=False)
    schema = Schema(
        {
            "day": Box("2023-01-01", "2025-12-31", format="%d.%m.%Y"),
            "pay": Box(0, 10_000),
            "smokes": Categories([False, True], true=["ja"], false=["nein"]),
        },
        csv=Csv(decimal=",", thousands="."),
    )
    model = PrivateKMeans(2, epsilon=100, schema=schema, random_state=0).fit(tmp_path / "x.csv")
    early, late = sorted(model.cluster_centers_.tolist())
    assert schema["day"].shown(early[0]) == "2024-01-01"
    assert schema["day"].shown(late[0]) == "2024-12-31"
    assert np.allclose([early[1], late[1]], [1000, 9000], rtol=0.01)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Box("2020-01-01", "2021-01-01", format="%d.%m"), "with a year"),
        (lambda: Box("2020-01-01", "2021-01-01", format="%d.%m.%Y.%d"), "no part twice"),
        (lambda: Box("2020-01-01", "2021-01-01", format="%Q %Y"), "with the letters %Y, %y"),
        (lambda: Box("2020-01-01", "2021-01-01", format="%Y %"), "with the letters %Y, %y"),
        (lambda: Box("2020-01-01", "2021-01-01", format="%Y %I"), "%I and %p together"),
        (lambda: Box("2020-01-01", "2021-01-01", format=5), 'such as "%d.%m.%Y"'),
        (lambda: Box(0, 1, format="%Y"), "give bounds that are dates"),
        (lambda: Box(0, 1, decimal=";"), 'must be "." or ","'),
        (lambda: Box(0, 1, thousands="x"), "write one of them"),
        (lambda: Box("2020-01-01", "2021-01-01", unit="kg"), "are for numbers"),
        (lambda: Box(0, 1, unit=5), "must be text"),
        (lambda: Categories(["a"], true=["ja"]), "list the words themselves"),
        (lambda: Categories([True], true=[""]), "a list of words as true"),
        (lambda: Csv(format="%d"), "with a year"),
        (
            lambda: Schema({"a": Box(0, 1, thousands=",")}, csv=Csv(decimal=",")),
            "Column 'a': the dec",
        ),
        (
            lambda: Schema.from_dict({"columns": {"a": {"low": 0, "high": 1, "integer": 2}}}),
            "whole",
        ),
    ],
)
def test_what_cannot_be_declared_is_said_with_the_cure(make, message):
    with pytest.raises(SchemaError) as caught:
        make()
    assert message in str(caught.value)
    assert "; " in str(caught.value)


def test_integer_true_is_the_form_of_whole_numbers():
    entry = {"low": 0, "high": 9, "integer": True}
    assert Schema.from_dict({"columns": {"a": entry}})["a"] == Box(0, 9, form="integer")
    assert Schema.from_dict({"columns": {"a": {**entry, "integer": False}}})["a"] == Box(0, 9)


def test_a_refusal_tells_how_to_declare_the_writing(tmp_path):
    (tmp_path / "x.csv").write_text("a\n31.12.2024\n")
    dates = PrivateKMeans(1, schema={"a": Box("2020-01-01", "2024-12-31")})
    with pytest.raises(DataError, match='declare how they are written, such as format = "%d'):
        dates.fit(tmp_path / "x.csv")
    with pytest.raises(DataError, match="privclust check says which"):
        PrivateKMeans(1, schema={"a": Box(0, 1)}).fit(tmp_path / "x.csv")
