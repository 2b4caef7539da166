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
    "age": Box(18, 71),
    "bmi": Box(18, 34, 26),
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


def test_only_the_first_rows_are_looked_at():
    assert Schema.draft(FRAME, rows=1)["age"] == Box(9, 27)
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
    ],
)
def test_what_cannot_be_drafted_is_named(frame, part):
    with pytest.raises(ValueError, match=part) as caught:
        Schema.draft(pd.DataFrame(frame))
    assert "; " in str(caught.value)
    assert isinstance(caught.value, SchemaError) or "holds" in part


def test_dates_get_whole_years(tmp_path):
    (tmp_path / "x.csv").write_text("day,n\n2020-03-01,1\n2021-05-06T12:00,2\n,3\n")
    schema = Schema.draft(tmp_path / "x.csv")
    assert schema["day"] == Box("2020-01-01", "2021-12-31", missing="2020-07-01")
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
