"""Released values read as a reader expects: dates, percent, units, and no digits of noise."""

import pytest

from privclust import Bins, Box, Categories
from privclust.reports.values import (
    HIDDEN,
    category_labels,
    column_label,
    count_of,
    describe,
    describe_about,
    describe_range,
    describe_share,
    describe_size,
    describe_tick,
    join_words,
    missing_rule,
)

BORN = Box("1940-01-01", "2020-12-31", missing="1970-01-01")
SEEN = Box("2024-01-01T00:00", "2024-12-31T23:59")
DAY = 12_699.0  # 2004-10-08


@pytest.mark.parametrize(
    ("fact", "value", "error", "shown"),
    [
        (BORN, DAY, None, "2004-10-08"),
        (BORN, DAY, 6.5, "2004-10-08 ± 13 days"),
        (BORN, DAY, 0.01, "2004-10-08 ± 1 days"),
        (BORN, DAY, 8000.0, HIDDEN),
        (SEEN, 19_800.5, 0.02, "2024-03-18 12:00 ± 58 minutes"),
        (SEEN, 19_800.5, 3.0, "2024-03-18 ± 6 days"),
        (Box(0, 100), 41.52, None, "41.5"),
        (Box(0, 100), 41.5, 0.2, "41.5 ± 0.4"),
        (Box(0, 100), 41.5, 0.06, "41.50 ± 0.12"),
        (Box(0, 9000), 4324.4, 90.0, "4,320 ± 180"),
        (Box(0, 100), 41.0, None, "41"),
        (Box(1900, 2100, form="integer"), 1996.768, 0.05, "1997 ± 1"),
        (Box(0, 300, unit="kg"), 71.23, 0.4, "71.2 ± 0.8 kg"),
        (Box(0, 24, form="hours"), 7.5, 0.5, "7.5 ± 1.0 hours"),
        (Box(-50, 50), -3.25, None, "−3.2"),
        (Box(0, 1, form="integer"), 0.3, 0.01, "30 % ± 2"),
        (Box(0, 1e-12), 1.3e-13, None, "1.3 · 10⁻¹³"),
        (Box(0, 1e15), 1.25e14, None, "1.25 · 10¹⁴"),
    ],
)
def test_a_mean_is_shown_as_its_column_declares(fact, value, error, shown):
    assert describe(fact, value, error) == shown


@pytest.mark.parametrize(
    ("share", "error", "shown"),
    [
        (1.0, 0.175, "65 to 100 %"),
        (0.0, 0.0195, "0 to 4 %"),
        (0.0, 0.002, "0 %"),
        (0.5, 0.01, "50 % ± 2"),
        (0.97, None, "97 %"),
        (0.004, None, "0.4 %"),
        (-0.1, None, "0 %"),
        (1.105, None, "100 %"),
        (0.5, 0.3, HIDDEN),
    ],
)
def test_a_share_is_percent_and_never_beyond_what_is_possible(share, error, shown):
    assert describe_share(share, error) == shown


@pytest.mark.parametrize(
    ("size", "error", "shown"),
    [
        (2584.2, 23.6, "2,584 ± 47"),
        (400.0, 2.0, "400 ± 4"),
        (4324.0, 90.0, "4,320 ± 180"),
        (-62.0, 23.6, "at most 47"),
        (40.0, 23.6, "at most 87"),
    ],
)
def test_a_size_is_a_whole_number_and_never_below_zero(size, error, shown):
    assert describe_size(size, error) == shown


def test_no_value_has_an_exponent_that_a_reader_must_decode():
    for exponent in range(-6, 12):
        fact = Box(0, 10.0 ** (exponent + 1))
        for error in (None, 10.0 ** (exponent - 2)):
            assert "e" not in describe(fact, 3.21 * 10.0**exponent, error)


def test_sentences_have_fewer_digits_and_no_errors():
    assert describe_about(Box(170, 235, unit="mm"), 216.43, 0.2) == "216.4 mm"
    assert describe_about(Box(170, 235, unit="mm"), 216.43, 3.0) == "216 mm"
    assert describe_about(Box(0, 29, form="integer"), 13.9, 0.5) == "14"
    assert describe_about(Box(0, 2400, form="integer"), 1334.0, 0.5) == "1330"
    assert describe_about(BORN, DAY, 20.0) == "2004-10-08"
    assert describe_about(BORN, DAY, 30.0) == "2004-10"


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (1.0, "2004-10-08 ± 2 days"),
        (20.0, "2004-10-08 ± 40 days"),
        (22.5, "2004-10-08 ± 45 days"),
        (23.0, "2004-10 ± 2 months"),
        (60.0, "2004-10 ± 4 months"),
        (800.0, "2004 ± 4 years"),
    ],
)
def test_a_date_is_no_more_exact_than_its_error(error, shown):
    assert describe(BORN, DAY, error) == shown
    assert describe_about(None, 0.514, 0.02) == "51 %"


def test_axes_show_dates_and_percent():
    assert describe_tick(BORN, 0.0) == "1970-01-01"
    assert describe_tick(None, 0.25) == "25 %"
    assert describe_tick(Box(0, 9, unit="km"), 2.5) == "2.5 km"


@pytest.mark.parametrize(
    ("fact", "declared", "rule"),
    [
        (BORN, "1940-01-01 to 2020-12-31", "counted as 1970-01-01"),
        (Box(0, 11, missing=1.1, unit="mg/dl"), "0 to 11 mg/dl", "counted as 1.1 mg/dl"),
        (Box(0, 1), "0 to 1", ""),
        (Box(1900, 2100, form="integer"), "1900 to 2100", ""),
        (Categories(["a"]), "1 category", ""),
        (Categories(["a", "b"], missing="category"), "2 categories", "counted as a category"),
        (Bins([0, 60], missing="omit", unit="kg"), "1 bin from 0 to 60 kg", "left out"),
    ],
)
def test_what_is_declared_is_told_in_words(fact, declared, rule):
    assert describe_range(fact) == declared
    assert missing_rule(fact) == rule


def test_columns_and_categories_are_called_by_their_labels():
    assert column_label("body_mass_g", Box(0, 1)) == "body mass g"
    assert column_label("body_mass_g", Box(0, 1, label="body mass")) == "body mass"
    assert category_labels(Categories([False, True], missing="category")) == [
        *("no", "yes", "missing"),
    ]
    assert category_labels(Bins([0, 60.5, 1200], unit="kg")) == ["0 to 60.5 kg", "60.5 to 1,200 kg"]


def test_numbers_and_lists_in_sentences():
    assert count_of(1, "category", "categories") == "1 category"
    assert count_of(1200, "row") == "1,200 rows"
    assert join_words(["a"]) == "a"
    assert join_words(["a", "b", "c"]) == "a, b and c"
