"""Drafting a schema from a sample that is declared public."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.exceptions import SchemaError
from privclust.schema.dialect import Csv
from privclust.schema.facts import Box, Categories
from privclust.schema.schema import Schema
from privclust.steward.draft import draft_skeleton

FRAME = pd.DataFrame(
    {
        "age": [18, 71, 44],
        "bmi": [18.25, np.nan, 33.5],
        "sex": ["f", "m", "f"],
        "city": ["Oslo", None, "Bergen"],
        "smokes": [True, False, True],
    }
)
EXPECTED = {
    "age": Box(18, 71, form="integer"),
    "bmi": Box(18, 34, 25.875),  # the median of the sample stands for what is missing
    "sex": Categories(["f", "m"], unknown="other"),
    "city": Categories(["Bergen", "Oslo"], missing="category", unknown="other"),
    "smokes": Categories([False, True]),
}


def test_a_draft_covers_the_sample_and_says_where_it_comes_from():
    schema = Schema.draft(FRAME)
    assert schema.columns == EXPECTED
    assert schema.note == "drafted from a public sample; check every bound"


def test_the_file_says_so_twice(tmp_path):
    Schema.draft(FRAME).save(tmp_path / "draft.toml")
    lines = (tmp_path / "draft.toml").read_text().splitlines()
    assert lines[0] == "# drafted from a public sample; check every bound"
    assert lines[1] == 'note = "drafted from a public sample; check every bound"'


def test_the_kind_of_sample_does_not_matter(tmp_path):
    polars = pl.from_pandas(FRAME)
    polars.write_parquet(tmp_path / "sample.parquet")
    FRAME.drop(columns="smokes").to_csv(tmp_path / "sample.csv", index=False)
    assert Schema.draft(polars) == Schema.draft(tmp_path / "sample.parquet") == Schema.draft(FRAME)
    text = Schema.draft(tmp_path / "sample.csv").columns
    assert text == {name: fact for name, fact in EXPECTED.items() if name != "smokes"}


@pytest.mark.parametrize("codes", [[0, 1], [1, 2]])
def test_two_codes_are_categories_and_not_the_ends_of_a_range(codes, tmp_path):
    frame = pd.DataFrame({"smokes": codes * 15, "stays": [*codes, 7] * 10})
    frame.to_csv(tmp_path / "sample.csv", index=False)
    for sample in (frame, tmp_path / "sample.csv"):
        drafted = Schema.draft(sample)
        assert drafted["smokes"] == Categories(codes, unknown="other")
        assert isinstance(drafted["stays"], Box)
        assert drafted.check(sample).problems == ()
    assert isinstance(Schema.draft(frame[:2])["smokes"], Box)


def test_only_the_first_rows_are_looked_at():
    assert Schema.draft(FRAME, rows=1)["age"] == Box(17, 19, form="integer")
    assert Schema.draft(FRAME[["bmi"]], rows=1)["bmi"] == Box(9, 28)
    assert Schema.draft(np.arange(10.0).reshape(5, 2), rows=2).columns == {
        "x0": Box(0, 2),
        "x1": Box(1, 3),
    }


def test_columns_can_be_left_out():
    assert Schema.draft(FRAME, ignore=["city", "age"]).names == ("bmi", "sex", "smokes")


@given(st.lists(st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100), min_size=1))
def test_drafted_bounds_hold_the_sample(values):
    box = Schema.draft(np.array(values)[:, None])["x0"]
    assert box.low <= min(values)
    assert max(values) <= box.high


@pytest.mark.parametrize(
    ("frame", "part"),
    [
        ({"a": [np.nan, np.inf]}, "Column 'a' has no values in the sample"),
        ({"a": [f"name {i}" for i in range(101)]}, "Column 'a' has more than 100 categories"),
        ({"a": [[1], [2]]}, "Column 'a' holds"),
        ({"id": range(20, 0, -1)}, "Column 'id' has another number in every row"),
    ],
)
def test_what_cannot_be_drafted_is_ignored_and_named(frame, part):
    with pytest.raises(SchemaError, match=part):
        Schema.draft(pd.DataFrame(frame))
    (name,) = frame
    schema = Schema.draft(pd.DataFrame({**frame, "x": np.arange(len(frame[name])) / 8}))
    assert (schema.names, schema.ignore) == (("x",), (name,))
    assert (
        f"{name!r} is ignored, since it {part.partition(name + chr(39))[2].strip()}" in schema.note
    )


def test_dates_get_whole_years(tmp_path):
    (tmp_path / "x.csv").write_text("day,n\n2020-03-01,1\n2021-05-06T12:00,2\n,3\n")
    schema = Schema.draft(tmp_path / "x.csv")
    assert schema["day"] == Box("2020-01-01", "2021-12-31", missing="2020-10-02")
    assert Schema.draft(pd.DataFrame({"d": pd.to_datetime(["1999-05-05"])}))["d"] == Box(
        "1999-01-01", "1999-12-31"
    )


def test_durations_are_counted_in_hours():
    frame = pd.DataFrame(
        {"stay": pd.to_timedelta(["1h", None, "3h"]), "clock": ["0:30", "1:00", "2:30"]}
    )
    schema = Schema.draft(frame)
    assert schema["stay"] == Box(1, 3, missing=2, form="hours")
    assert schema["clock"] == Box(0.5, 2.5, form="hours")


def test_a_dialect_and_what_is_ignored_stay_with_the_schema(tmp_path):
    (tmp_path / "x.csv").write_text("x;c;name\n1,5;a,b;n\n2,5;c;m\n")
    csv = Csv(delimiter=";", decimal=",")
    schema = Schema.draft(tmp_path / "x.csv", ignore=["name"], csv=csv)
    assert schema.columns == {
        "x": Box(1.5, 2.5),
        "c": Categories(["a,b", "c"], unknown="other"),
    }
    assert (schema.ignore, schema.csv) == (("name",), csv)
    assert schema.check(tmp_path / "x.csv").problems == ()


GERMAN = """;Fall;Name;Tag;Kosten;Anteil;Gewicht;Raucher
0;a1;n;31.12.2023;1.200,50;10%;80.5 kg;ja
1;a2;m;01.02.2024;800,00;20 %;70.0 kg;nein
2;a3;o;13.02.2024;2.800,25;;61.5 kg;ja
"""


def test_a_draft_finds_how_a_public_sample_is_written(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(GERMAN)
    schema = Schema.draft(path)
    assert schema["Tag"] == Box("2023-01-01", "2024-12-31", format="%d.%m.%Y")
    assert schema["Kosten"] == Box(800, 2900)
    assert schema["Anteil"] == Box(10, 20, 15, "integer", unit="%")
    assert schema["Gewicht"] == Box(61, 81, unit="kg", decimal=".", thousands="")
    assert schema.csv == Csv(decimal=",", thousands=".")
    assert schema.check(path).problems == schema.check(path).doubts == ()


def test_a_date_that_could_be_two_is_said_to_be_doubtful(tmp_path):
    (tmp_path / "x.csv").write_text("d\n01/02/2024\n03/04/2024\n")
    schema = Schema.draft(tmp_path / "x.csv")
    assert schema["d"].format == "%d/%m/%Y"
    assert "'d' may as well be written as %m/%d/%Y" in schema.note


def test_a_mark_that_could_be_two_goes_by_groups_of_three(tmp_path):
    (tmp_path / "x.csv").write_text('x,y\n"1,234","1,25"\n900,"3,5"\n"12,500","0,125"\n')
    schema = Schema.draft(tmp_path / "x.csv", csv=Csv(thousands=","))
    assert schema["x"] == Box(0, 13000, form="integer")
    assert schema["y"] == Box(0.1, 3.5, decimal=",", thousands="")


def test_a_skeleton_has_the_names_and_reads_no_row(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b";a;b c\n1;\xff;SECRET\n")
    text = draft_skeleton(path, csv=Csv(delimiter=";"))
    assert "SECRET" not in text
    assert '[columns.a]\n\n[columns."b c"]\n' in text
    assert 'delimiter = ";"' in text
    with pytest.raises(SchemaError, match="Column 'a': a column needs one kind of fact; give"):
        Schema.from_toml(text)
    filled = text.replace("[columns.a]", "[columns.a]\nlow = 0\nhigh = 1")
    filled = filled.replace('[columns."b c"]', '[columns."b c"]\nvalues = ["x"]')
    assert Schema.from_toml(filled).names == ("a", "b c")


def test_words_for_true_and_false_in_a_file_are_booleans_that_a_fit_reads(tmp_path):
    rows = "".join(f"{i % 7},{i % 3 == 0},{i % 2}\n" for i in range(60))
    (tmp_path / "rows.csv").write_text(f"x,alone,code\n{rows}")
    schema = Schema.draft(tmp_path / "rows.csv")
    assert schema["alone"] == Categories([False, True])
    assert schema["code"].values == (0, 1)
    assert not schema.check(tmp_path / "rows.csv").doubts
