"""Neighbours that once broke a promise, where one odd record changed how others were read.

A type that was inferred from a block of values let one cell empty all the others; records were
lost where they were joined, and a record could end a fit. For each pair the exact answers are
compared with what the mechanisms were made for; the auditor looks at the worst.
"""

from __future__ import annotations

import csv
import datetime as dt
from functools import partial
from itertools import permutations
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest

from privclust import (
    Bins,
    Box,
    Categories,
    PrivateBounds,
    PrivateDilca,
    PrivateKMeans,
    Schema,
)
from privclust.reading import csv_files
from support.neighbours import check, check_and_audit
from support.transcripts import recorded_draws, replayed_draws

N = 60
RNG = np.random.default_rng(0)
TEXTS = [f"{value:.2f}" for value in RNG.uniform(60, 100, N)]
OTHERS = RNG.uniform(0, 1, N).tolist()
DATES = [dt.date(2015, 1, 1) + dt.timedelta(int(days)) for days in RNG.integers(0, 3000, N)]
MOMENTS = [dt.datetime.combine(date, dt.time(6)) for date in DATES]
SPANS = [dt.timedelta(hours=float(hours)) for hours in RNG.uniform(20, 40, N)]
START, END = dt.date(2000, 1, 1), dt.date(2030, 1, 1)
FACTS = {
    "text": Box(0, 100, form="text", missing=0),
    "date": Box(START, END, form="date", missing=START),
    "time": Box(START, END, form="time", missing=START),
    "hours": Box(0, 50, form="hours", missing=0),
}
kmeans = partial(PrivateKMeans, 1, epsilon=1.0, method="lloyd")


def lists(values, others):
    return [list(row) for row in zip(values, others, strict=True)]


def frame(values, others):
    return pd.DataFrame({"x": pd.Series(values, dtype=object), "y": others})


def polars(values, others):
    return pl.DataFrame({"x": pl.Series(values, dtype=pl.Object), "y": others})


def neighbours(make, values, odd):
    """Return rows of values, and the same rows with one more."""
    return make(values, OTHERS), make([*values, odd], [*OTHERS, 0.5])


# One odd value among objects

ODD = {
    "integer": 70,
    "float": 70.5,
    "float of NumPy": np.float32(1),
    "text": "abc",
    "datetime": dt.datetime(2020, 1, 1),
    "date": dt.date(2020, 2, 2),
    "Timestamp": pd.Timestamp("2020-01-01"),
    "datetime of NumPy": np.datetime64("2020-01-01"),
    "bytes": b"x",
    "missing": None,
    "NaN": float("nan"),
    "NaN of NumPy": np.float32("nan"),
    "boolean": True,
    "surrogate": "\ud800",
    "zone": dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=5))),
    "first year": dt.datetime(1, 1, 1),
    "last year": dt.datetime(9999, 12, 31),
    "object": object(),
}
BASES = {
    "numbers as text": ("text", TEXTS),
    "dates": ("date", DATES),
    "dates as text": ("date", [str(date) for date in DATES]),
    "moments": ("time", MOMENTS),
    "durations": ("hours", SPANS),
    "durations as text": ("hours", [f"{hours}:30:00" for hours in range(20, 20 + N)]),
}


@pytest.mark.parametrize(("form", "values"), BASES.values(), ids=BASES)
def test_one_odd_value_changes_no_other_row(form, values):
    model = kmeans(schema=Schema({"x": FACTS[form], "y": Box(0, 1)}))
    for odd in ODD.values():
        check(model, neighbours(frame, values, odd))


@pytest.mark.parametrize("make", [lists, frame, polars])
def test_a_number_among_texts_is_a_row_like_any_other(make):
    model = kmeans(schema=Schema({"x": FACTS["text"], "y": Box(0, 1)}))
    check_and_audit(model, neighbours(make, TEXTS, 70.5))


def test_a_timestamp_among_dates_is_a_row_like_any_other():
    model = kmeans(schema=Schema({"x": FACTS["date"], "y": Box(0, 1)}))
    check_and_audit(model, neighbours(frame, DATES, pd.Timestamp("2020-05-05")))


def test_a_number_among_texts_moves_no_other_row_to_another_bin():
    facts = {"x": Bins([0, 50, 100], form="text", missing="category"), "y": Categories(["a", "b"])}
    model = PrivateDilca(epsilon=1.0, schema=Schema(facts))
    letters = ["a", "b"] * (N // 2)
    check(model, (frame(TEXTS, letters), frame([*TEXTS, 7], [*letters, "a"])))


def test_a_number_among_texts_moves_private_bounds_by_one_row():
    model = PrivateBounds(epsilon=1.0, columns={"x": "text"}, unreadable="missing")
    pair = (frame(TEXTS, OTHERS)[["x"]], frame([*TEXTS, 70.0], [*OTHERS, 0.5])[["x"]])
    check(model, pair)


def test_a_text_that_is_none_is_a_row_like_any_other():
    kind = pd.StringDtype("python")
    pair = [pd.DataFrame({"x": pd.Series(pd.array(v, kind))}) for v in (TEXTS, [*TEXTS, "\ud800"])]
    check(kmeans(schema=Schema({"x": FACTS["text"]})), pair)


def test_a_missing_float_of_any_width_is_missing_beside_any_value():
    fact = Categories(["a", "b"], missing="category", unknown="other")
    model = PrivateDilca(epsilon=1.0, schema=Schema({"x": fact, "y": Categories(["a"])}))
    gaps = [np.float32("nan")] * N
    check(model, (frame(gaps, ["a"] * N), frame([*gaps, "b"], ["a"] * (N + 1))))


# What pandas makes of a sheet with one odd cell


def appended(values, odd):
    rows = pd.DataFrame({"x": values, "y": OTHERS})
    return rows, pd.concat([rows, pd.DataFrame({"x": [odd], "y": [0.5]})], ignore_index=True)


SHEETS = {
    "a word among dates": ("date", pd.to_datetime(MOMENTS), "unknown"),
    "a zone among dates": ("date", pd.to_datetime(MOMENTS), pd.Timestamp("2020-01-01", tz="UTC")),
    "a far date": ("date", pd.Series(MOMENTS, dtype=object), dt.datetime(9999, 12, 31)),
    "a word among durations": ("hours", pd.to_timedelta(SPANS), "?"),
    "a number among texts": ("text", pd.Series(TEXTS), 70.5),
}


@pytest.mark.parametrize(("form", "values", "odd"), SHEETS.values(), ids=SHEETS)
def test_one_odd_cell_of_a_sheet_changes_no_other_row(form, values, odd):
    model = kmeans(schema=Schema({"x": FACTS[form], "y": Box(0, 1)}))
    check(model, appended(values, odd))


# Zones

NOON = dt.datetime(2020, 1, 1, 12)
ZONES = {
    "none": NOON,
    "east": NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=5))),
    "odd": NOON.replace(tzinfo=dt.timezone(dt.timedelta(minutes=1, seconds=7))),
    "autumn": dt.datetime(2020, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Rome")),
    "first year": dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=5))),
    "last year": dt.datetime(9999, 12, 31, 23, tzinfo=dt.timezone(dt.timedelta(hours=-8))),
}


def test_no_zone_changes_the_instant_of_another_row():
    model = kmeans(schema=Schema({"x": FACTS["time"], "y": Box(0, 1)}))
    for one, other in permutations(ZONES.values(), 2):
        check(model, neighbours(frame, [one] * N, other))


# Files

CODES = Categories(["a", "b"], unknown="other", missing="category")
TABLE = Schema({"x": Box(0, 1, missing=0), "t": CODES}, ignore=["u"])


def csv_file(folder, rows):
    path = folder / f"{len(rows)}.csv"
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([["x", "t"], *rows])
    return path


@pytest.mark.parametrize("length", [200_000, 9_000_000])
@pytest.mark.parametrize("first", [True, False])
def test_a_long_record_is_a_row_like_any_other(length, first, tmp_path):
    rows, long = [[0.5, "a"]] * 50, [[0.5, "z" * length]]
    pair = csv_file(tmp_path, rows), csv_file(tmp_path, long + rows if first else rows + long)
    check(kmeans(schema=TABLE), pair)


@pytest.mark.parametrize("line", [b".5,\xff\xfe,u\n", b".5,a,\xff\n", b"\xff,a,u\n"])
@pytest.mark.parametrize("count", [50, 20_000])
def test_bytes_that_are_no_text_are_a_row_like_any_other(line, count, tmp_path):
    pair = tmp_path / "left.csv", tmp_path / "right.csv"
    for path, more in zip(pair, (b"", line), strict=True):
        path.write_bytes(b"x,t,u\n" + b".5,a,b\n" * count + more)
    check(kmeans(schema=TABLE), pair)


SITES = Schema({name: Categories(v, missing="category", unknown="other") for name, v in
                {"a": ["p", "q"], "b": [0, 1]}.items()})  # fmt: skip
SITE_MODELS = {
    "dilca": PrivateDilca(epsilon=1.0, schema=SITES, unit="replace-row"),
    "points": PrivateKMeans(2, epsilon=1.0, schema=SITES, metric="dilca", unit="replace-row"),
}


def sites(folder, last):
    for site, values in enumerate((["p", "q", "p"] * 5, ["q", "q", "p"] * 4 + ["q", "q", last])):
        place = folder / f"b={site}"
        place.mkdir(parents=True)
        pl.DataFrame({"a": values}).write_csv(place / "rows.csv")
    return folder


@pytest.mark.parametrize("model", SITE_MODELS.values(), ids=SITE_MODELS)
def test_a_missing_value_in_a_file_of_one_column_is_a_row_that_was_replaced(model, tmp_path):
    pair = sites(tmp_path / "left", "p"), sites(tmp_path / "right", None)
    check(model, pair)
    with recorded_draws() as draws:
        left = model.fit(pair[0]).release().digest
    with replayed_draws([draw.answer for draw in draws]):
        assert model.fit(pair[1]).release().digest == left


def test_a_row_before_others_moves_no_line_end_out_of_their_quotes(tmp_path, monkeypatch):
    """In blocks of 64 bytes every fourth row lost half of a line's end, and now none."""
    monkeypatch.setattr(csv_files, "_CSV_BYTES", 64)
    note = "two\r\nlines."
    record = f'"{note}",a\n'
    assert 64 % len(record) == 0
    # The first record is as long as puts borders behind carriage returns.
    start = "x,y\n" + "z" * 36 + ",a\n"
    assert (64 - len(start)) % len(record) == record.index("\r") + 1
    left, right = tmp_path / "left.csv", tmp_path / "right.csv"
    left.write_text(start + record * 400, newline="")
    right.write_text(start + "z,a\n" + record * 400, newline="")
    fact = Categories([note], missing="category", unknown="other")
    model = PrivateDilca(epsilon=1.0, schema=Schema({"x": fact, "y": Categories(["a", "b"])}))
    check(model, (left, right))
