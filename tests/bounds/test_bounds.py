"""Private bounds hold the rows, whatever the numbers are, and say where noise hides them."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from privclust import Ledger, PrivateBounds, PrivateKMeans, Release, Schema
from privclust.bounds.find import grow_until_covered, occupied_cells, smallest_run
from privclust.exceptions import DataError, LowSignalWarning, ParameterError, ReleaseError
from privclust.schema.dialect import Csv

RNG = np.random.default_rng(0)
PLENTY = {"epsilon": 20.0, "random_state": 0}


def bounds_of(column, **changes):
    model = PrivateBounds(**{**PLENTY, **changes}).fit(np.asarray(column, float)[:, None])
    return tuple(float(end[0]) for end in model.bounds_)


@pytest.mark.parametrize("power", [-149, -30, -3, 0, 3, 30, 149])
@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_of_any_size_are_found(power, sign):
    column = sign * RNG.uniform(1, 9, 4000) * 10.0**power / 10
    low, high = bounds_of(column)
    beyond = ((column < low) | (column > high)).mean()
    assert beyond <= 0.012
    assert high - low <= 1.5 * np.ptp(column)


@pytest.mark.parametrize(
    ("number", "wanted"),
    [
        (0.0, (0, 1)),
        (-0.0, (0, 1)),
        (5e-324, (0, 1)),
        (1e300, (2.0**498, 1e150)),
        (-1e300, (-1e150, -(2.0**498))),
    ],
    ids=str,
)
def test_numbers_beyond_what_a_box_holds_end_at_its_limits(number, wanted):
    assert bounds_of([number] * 500) == wanted


@pytest.mark.parametrize("pair", [(np.nan, np.nan), (np.inf, -np.inf)], ids=str)
def test_a_column_without_a_finite_number_is_hidden_and_counted_as_missing(pair):
    model = PrivateBounds(**PLENTY)
    with pytest.warns(LowSignalWarning, match="Noise hides the numbers of the column 'x0'"):
        model.fit(np.array(pair * 250)[:, None])
    assert not model.found_.any()
    assert model.bounds_ == (-1e150, 1e150)
    assert abs(model.missing_[0] - 500) < 5


def test_a_column_far_from_zero_gets_a_range_of_its_own_width():
    years = RNG.integers(1990, 2024, 5000)
    low, high = bounds_of(years)
    assert 1950 < low <= 1991
    assert 2022 <= high < 2060


def test_a_column_of_both_signs_keeps_both():
    low, high = bounds_of(RNG.normal(1, 1, 5000))
    assert -3 < low < -1
    assert 3 < high < 5


def test_the_declared_share_is_left_out_and_no_more():
    column = np.concatenate([RNG.uniform(1, 2, 9700), RNG.uniform(1000, 2000, 300)])
    assert bounds_of(column, outside_share=0.05)[1] <= 2.1
    assert bounds_of(column, outside_share=0.01)[1] > 1600  # 100 of the 300


def test_forms_become_what_a_schema_declares():
    days = pd.Timestamp("1950-01-01") + pd.to_timedelta(RNG.integers(0, 20000, 4000), unit="D")
    table = pd.DataFrame({"age": RNG.integers(18, 90, 4000), "born": days, "sex": "f"})
    table["stay"] = pd.to_timedelta(RNG.uniform(1, 9, 4000), unit="h")
    forms = {"age": "integer", "born": "date", "stay": "hours"}
    schema = PrivateBounds(columns=forms, ignore=["sex"], **PLENTY).fit(table).schema_
    assert schema["age"].low.is_integer()
    assert schema["age"].high.is_integer()
    assert [schema[name].form for name in forms] == ["integer", "date", "hours"]
    assert "1945-01-01" < schema["born"].shown(schema["born"].low) < "1951-01-01"
    assert schema.ignore == ("sex",)
    PrivateKMeans(2, schema=schema, random_state=0).fit(table)


@pytest.mark.parametrize("form", ["date", "time"])
def test_dates_that_noise_hides_have_the_bounds_of_the_calendar(form):
    days = pd.DataFrame({"born": [pd.Timestamp("2000-01-01")] * 9})
    model = PrivateBounds(0.01, columns={"born": form}, random_state=0).fit(days)
    assert model.schema_["born"].shown(model.schema_["born"].low).startswith("0001-01-01")


def test_a_schema_of_bounds_refuses_no_row():
    column = np.where(RNG.random(4000) < 0.2, np.nan, RNG.uniform(3, 4, 4000))
    schema = PrivateBounds(**PLENTY).fit(column[:, None]).schema_
    broken = np.array([[np.nan], [np.inf], [-np.inf], [1e300], [5e-324]])
    PrivateKMeans(2, schema=schema, random_state=0).fit(np.append(column[:, None], broken, axis=0))


def test_values_that_are_no_numbers_are_refused_or_counted_as_missing(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a;b\n" + "1,5;x\n" * 300 + "many;y\n" * 300)
    common = {"columns": ["a"], "ignore": ["b"], "csv": Csv(decimal=","), **PLENTY}
    with pytest.raises(DataError, match="'a'"):
        PrivateBounds(**common).fit(path)
    model = PrivateBounds(unreadable="missing", **common).fit(path)
    assert abs(model.missing_[0] - 300) < 5
    assert model.schema_.csv == Csv(decimal=",")


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": "age"},
        {"columns": []},
        {"columns": [3]},
        {"columns": {"age": "number of years"}},
        {"outside_share": 1},
        {"unreadable": "ignore"},
        {"csv": Csv(decimal=",")},
        {"csv": ","},
    ],
    ids=str,
)
def test_parameters_that_cannot_work_are_refused_in_one_sentence(wrong):
    with pytest.raises(ParameterError) as caught:
        PrivateBounds(**wrong).fit([[1.0]])
    assert ". " not in str(caught.value)


def test_bounds_are_charged_and_the_rest_pays_for_the_fit(tmp_path):
    ledger = Ledger.open(tmp_path / "budget.db")
    ledger.create_dataset("rows")
    ledger.grant("rows", 1)
    rows = pa.table({"a": RNG.uniform(3, 4, 3000), "b": RNG.uniform(0, 900, 3000)})
    charged = {"ledger": ledger, "dataset": "rows"}
    found = PrivateBounds(0.3, **charged).fit(rows)
    found.release().save(tmp_path / "bounds", report=True)
    schema = Release.load(tmp_path / "bounds").schema
    assert schema == found.schema_
    PrivateKMeans(2, epsilon=0.7, schema=schema, **charged).fit(rows)
    (pot,) = ledger.balance("rows")
    assert pot.spent.epsilon == pot.granted.epsilon
    assert "The range of each column" in (tmp_path / "bounds" / "report.html").read_text("utf-8")


def test_no_other_fit_looks_for_bounds_by_itself():
    with pytest.raises(ValueError, match="No bounds are declared"):
        PrivateKMeans(2).fit([[1.0], [2.0]])


def test_bounds_that_noise_makes_too_narrow_are_told():
    rows = 10.0 ** RNG.uniform(0, 60, (6000, 1))  # so many sizes that none stands out for long
    rows[:1500] = 1.5
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        PrivateBounds(0.5, random_state=0).fit(rows)
    assert any("leave out at least" in str(warning.message) for warning in caught)


# Cells.
def test_cells_stand_out_alone_together_or_with_those_of_the_other_sign():
    cells = np.array([0, 0, 6, 0, 0, 6, 6, 0, 20.0])
    assert occupied_cells(cells, 10).tolist() == [False] * 8 + [True]
    assert np.flatnonzero(occupied_cells(cells, 8)).tolist() == [5, 6, 8]
    both = np.array([0, 9, 0, 0, 0, 9, 0.0])
    assert not occupied_cells(both, 10).any()
    assert np.flatnonzero(occupied_cells(both, 10, mirror=3)).tolist() == [1, 5]


def test_the_smallest_run_is_that_of_brute_force():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        counts = rng.integers(0, 5, 8) * rng.integers(0, 2, 8) + np.eye(8)[3]
        edges, wanted = np.cumsum(rng.uniform(0.5, 2, 9)), 0.8 * counts.sum()
        runs = [(i, j) for i in range(8) for j in range(i, 8) if counts[i : j + 1].sum() >= wanted]
        best = min(edges[j + 1] - edges[i] for i, j in runs)
        first, last = smallest_run(counts, edges, wanted)
        assert (first, last) in runs
        assert edges[last + 1] - edges[first] == best


def test_a_run_grows_until_noise_may_hide_the_rest():
    cells = np.array([5.0, 100, 900, 100, 5])
    assert grow_until_covered(cells, (2, 2), 1110, 1.0, 1.0) == (0, 4)
    assert grow_until_covered(cells, (2, 2), 1110, 6.0, 6.0) == (1, 3)
    assert grow_until_covered(cells, (2, 2), 10_000, 1.0, 1.0) == (0, 4)


def test_a_drafted_schema_reads_back_from_a_file(tmp_path):
    schema = PrivateBounds(**PLENTY).fit(RNG.uniform(3, 4, (500, 1))).schema_
    schema.save(tmp_path / "schema.toml")
    assert Schema.load(tmp_path / "schema.toml") == schema


@pytest.mark.parametrize(
    "damage",
    [
        {"found": np.array([1.0])},
        {"found": np.array([True, True])},
        {"inside_error": np.array([-1.0])},
        {"n_rows": np.array([1.0, 2.0]), "n_rows_error": np.array([1.0, 2.0])},
        {"outside_share": None},
        {"outside_share": "much"},
    ],
    ids=str,
)
def test_a_damaged_release_is_refused_in_one_sentence(damage):
    release = PrivateBounds(**PLENTY).fit(RNG.uniform(3, 4, (500, 1))).release()
    arrays, parameters = dict(release.arrays), dict(release.parameters)
    for name, value in damage.items():
        (arrays if name in arrays else parameters)[name] = value
    with pytest.raises(ReleaseError) as caught:
        Release(
            kind="bounds",
            arrays=arrays,
            schema=release.schema,
            parameters=parameters,
            privacy=release.privacy,
        )
    assert ". " not in str(caught.value)


def test_about_the_median_stands_for_missing_numbers_and_never_the_middle():
    skewed = RNG.exponential(10, 20_000)
    days = pd.Timestamp("2000-01-01") + pd.to_timedelta(RNG.exponential(100, 20_000), unit="D")
    table = pd.DataFrame({"pay": skewed, "n": np.rint(skewed), "day": days})
    schema = PrivateBounds(columns={"pay": "number", "n": "integer", "day": "date"}, **PLENTY)
    schema = schema.fit(table).schema_
    assert abs(schema["pay"].missing - np.median(skewed)) < 1
    assert schema["n"].missing == round(schema["n"].missing)
    assert abs(schema["n"].missing - np.median(skewed)) <= 1.5
    found = pd.Timestamp(schema["day"].shown(schema["day"].missing))
    assert abs((found - days.to_series().median()).days) < 15


def test_a_column_that_is_mostly_missing_is_told_from_noisy_counts():
    gaps = np.where(RNG.random(4000) < 0.8, np.nan, RNG.uniform(3, 4, 4000))
    table = np.column_stack([gaps, RNG.uniform(3, 4, 4000)])
    model = PrivateBounds(**PLENTY).fit(table)
    (told,) = [text for text in model.warnings_ if "missing or cannot be read" in text]
    assert told.startswith("Most values of the column 'x0' (about 80%)")


def test_columns_select_and_the_others_are_not_read():
    table = pd.DataFrame({"a": RNG.uniform(3, 4, 4000), "word": "x", "b": 1.0})
    schema = PrivateBounds(columns=["a"], **PLENTY).fit(table).schema_
    assert (schema.names, schema.ignore) == (("a",), ("*",))
    PrivateKMeans(1, schema=schema, random_state=0).fit(table)
