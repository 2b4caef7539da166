"""Summaries with tables: their rows, their releases, and what is said of them."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from privclust import Ball, Bins, Box, Categories, Person, PrivateSummary, Release, Schema
from privclust.clustering.answers import Summary
from privclust.clustering.tables import TABLE_ARRAYS
from privclust.exceptions import LowSignalWarning, ParameterError, ReleaseError

RNG = np.random.default_rng(5)
N = 8000
KIND = RNG.choice(3, N, p=[0.5, 0.3, 0.2])
SCHEMA = Schema(
    {
        "age": Box(0, 110, form="integer"),
        "income": Box(0, 100_000),
        "born": Box("1950-01-01", "2009-12-31"),
        "sex": Categories(["f", "m"]),
        "job": Categories(list("abcdef"), missing="category"),
        "stay": Bins([0, 1, 7, 30], form="integer"),
    }
)
ROWS = pd.DataFrame(
    {
        "age": np.clip(RNG.normal(np.array([25, 50, 75])[KIND], 8), 0, 110).round(),
        "income": np.clip(RNG.gamma(4, np.array([4e3, 1e4, 5e3])[KIND]), 0, 1e5),
        "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(RNG.integers(0, 20_000, N), "D"),
        "sex": np.where(RNG.random(N) < np.array([0.3, 0.5, 0.8])[KIND], "f", "m"),
        "job": np.array([*"abcdef", None], object)[(KIND * 2 + RNG.integers(0, 3, N)) % 7],
        "stay": RNG.choice([0, 3, 20], N),
    }
)


def fitted(rows=ROWS, schema=SCHEMA, **changes):
    given = {"epsilon": 2.0, "delta": 1e-6, "random_state": 0, "synthetic": True} | changes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PrivateSummary(schema=schema, **given).fit(rows)


@pytest.fixture(scope="module")
def model():
    return fitted()


def pair_error(real, made, numbers, bins=16):
    """Return the mean total variation of all pairs of columns."""
    codes = []
    for name in real:
        both = pd.concat([real[name], made[name]])
        if name in numbers:
            low, high = numbers[name]
            each = np.clip((both - low) / (high - low) * bins, 0, bins - 1).astype(int).to_numpy()
        else:
            each = pd.factorize(both, use_na_sentinel=False)[0]
        codes.append((each[: len(real)], each[len(real) :], each.max() + 1))
    found = []
    for (a, b, n), (c, d, m) in combinations(codes, 2):
        left = np.bincount(a * m + c, minlength=n * m) / len(a)
        right = np.bincount(b * m + d, minlength=n * m) / len(b)
        found.append(np.abs(left - right).sum() / 2)
    return float(np.mean(found))


def shuffled(rows, seed=0):
    rng = np.random.default_rng(seed)
    return rows.apply(lambda column: rng.permutation(column.to_numpy()))


def generated(kind, seed):
    """Return rows and what is declared of them."""
    rng = np.random.default_rng(seed)
    n = {"few": 300, "many": 6000}[kind]
    z = rng.normal(size=n)
    rows = pd.DataFrame(
        {
            "a": np.clip(50 + 15 * z + rng.normal(0, 8, n), 0, 100).round(),
            "b": np.clip(rng.exponential(10, n) * (z > 0), 0, 100),
            "c": np.array(list("uvwxyz"))[np.clip((z * 1.5 + 3).astype(int), 0, 5)],
            "d": rng.choice(list("pq"), n),
            "e": np.where(rng.random(n) < 0.02, "rare", np.where(z > 1, "high", "low")),
        }
    )
    schema = Schema(
        {
            "a": Box(0, 100, form="integer"),
            "b": Box(0, 100),
            "c": Categories(list("uvwxyz")),
            "d": Categories(["p", "q"]),
            "e": Categories(["high", "low", "rare"]),
        }
    )
    return rows, schema, {"a": (0, 100), "b": (0, 100)}


@pytest.mark.parametrize("kind", ["few", "many"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 0), (0.2, 1e-6), (1, 0), (1, 1e-6), (5, 0)])
def test_pairs_are_never_worse_than_those_of_the_same_rows_with_columns_shuffled(
    kind, epsilon, delta
):
    """The structure that was found helps, or there is none; one in a hundred for the draw."""
    together, apart = [], []
    for seed in range(3):
        rows, schema, numbers = generated(kind, seed)
        model = fitted(rows, schema, epsilon=epsilon, delta=delta, random_state=seed)
        made = model.sample(20_000, random_state=seed).to_pandas()
        together.append(pair_error(rows, made, numbers))
        apart.append(pair_error(rows, shuffled(made), numbers))
    assert np.mean(together) <= 1.01 * np.mean(apart)
    if (kind, epsilon) == ("many", 5):
        assert np.mean(together) < 0.6 * np.mean(apart)  # and much is found where noise allows


def test_rows_are_better_than_those_of_cells_alone(model):
    alone = fitted(synthetic=False)
    numbers = {"income": (0, 1e5), "age": (0, 110)}
    real = ROWS[["age", "income", "sex"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made, old = (m.sample(N, random_state=1).to_pandas() for m in (model, alone))
    found = pair_error(real, made, numbers)
    assert found < 0.1
    assert found < pair_error(real, old, numbers)


def test_rows_have_declared_values_types_and_whole_numbers(model):
    table = model.sample(5000, random_state=0)
    assert table.column_names == list(SCHEMA.names)
    assert table.schema.field("age").type == pa.int64()
    assert table.schema.field("born").type == pa.date32()
    made = table.to_pandas()
    assert made["age"].between(0, 110).all()
    assert made["income"].between(0, 100_000).all()
    assert set(made["sex"]) == {"f", "m"}
    assert set(made["job"].dropna()) <= {*"abcdef"}
    assert made["job"].isna().any()
    assert (made["stay"] == made["stay"].round()).all()
    assert made["stay"].between(0, 30).all()


def test_whole_numbers_of_cells_alone_are_whole_too():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = fitted(synthetic=False).sample(100, random_state=0)
    assert table.schema.field("age").type == pa.int64()


def test_the_budget_is_spent_and_no_more(model):
    amount = model._budget().amount
    assert 0.98 * amount <= model.privacy_.spent.rho <= amount


def test_a_published_summary_draws_the_same_rows(model, tmp_path):
    model.release().save(tmp_path / "summary")
    loaded = Summary(Release.load(tmp_path / "summary"))
    assert loaded.sample(50, random_state=3).equals(model.sample(50, random_state=3))
    assert loaded.sample_notes() == model.sample_notes()
    np.testing.assert_array_equal(loaded.centers(3), model.centers(3))


def test_the_release_holds_the_raw_counts_with_their_errors(model):
    arrays = model.release().arrays
    assert {*TABLE_ARRAYS} <= {*arrays}
    first = arrays["histogram_levels"] == 0
    for column in range(len(SCHEMA)):
        of_column = first & (arrays["histogram_columns"] == column)
        error = arrays["histogram_counts_error"][of_column][0]
        total = arrays["histogram_counts"][of_column].sum()
        assert abs(total - N) < 6 * error * of_column.sum() ** 0.5
    assert (arrays["histogram_counts"] < 0).any()
    assert len(arrays["pairs"]) == len(arrays["pair_counts_error"]) == 2 * (len(SCHEMA) - 1)
    assert len({tuple(pair) for pair in arrays["pairs"].tolist()}) == len(arrays["pairs"])
    total = arrays["pair_counts"].sum() / len(arrays["pairs"])
    assert total == pytest.approx(N, rel=0.1)


@pytest.mark.parametrize("name", TABLE_ARRAYS)
def test_tables_that_do_not_fit_are_refused(model, name):
    release = model.release()
    arrays = dict(release.arrays)
    fields = {k: getattr(release, k) for k in ("kind", "schema", "parameters", "privacy")}
    with pytest.raises(ReleaseError, match="Synthetic rows need the arrays"):
        Release(arrays={k: v for k, v in arrays.items() if k != name}, **fields)
    if name not in ("histogram_counts_error", "group_counts_error", "pair_counts_error"):
        arrays[name] = arrays[name][:-1]
        if name == "group_counts":
            arrays[name] = arrays[name][:, :-1]
        with pytest.raises(ReleaseError):
            Release(arrays=arrays, **fields)


def test_a_share_for_tables_is_what_they_cost(model):
    half = fitted(synthetic=0.5)
    cells = sum(
        q.loss.rho
        for q in half.privacy_.queries
        if not any(w in q.query for w in ("histograms", "tree", "groups of cells", "for tables"))
    )
    assert float(cells / half._budget().amount) == pytest.approx(0.49, abs=0.01)


@pytest.mark.parametrize("value", [0, 1, 1.5, -0.1, "yes", None])
def test_what_is_no_share_is_refused(value):
    with pytest.raises(ParameterError, match="synthetic must be False, True or a number"):
        PrivateSummary(schema=SCHEMA, synthetic=value).fit(ROWS)


def test_histograms_tell_number_mean_and_spread(model):
    """So the cells do not pay for them."""
    asked = {query.query for query in model.privacy_.queries}
    assert "number of rows, for tables" in asked
    assert not asked & {"number of rows", "mean: offsets", "spread: square"}
    alone = {query.query for query in fitted(synthetic=False).privacy_.queries}
    assert {"number of rows", "mean: offsets", "spread: square"} <= alone


def test_in_pure_epsilon_there_is_one_tree():
    assert len(fitted(epsilon=4.0, delta=0).tables_.pairs) == len(SCHEMA) - 1


def test_few_rows_get_cells_and_histograms_alone_and_are_told_so():
    model = fitted(ROWS[:200], epsilon=0.5)
    assert any("too few rows for tables" in text for text in model.warnings_)
    assert any("left out" in text for text in model.sample_notes())
    assert not len(model.tables_.pairs)
    assert model.sample(10, random_state=0).num_rows == 10


def test_the_notes_tell_errors_pooled_values_and_hidden_tables(model):
    first, *_ = model.sample_notes()
    assert "points" in first
    assert "pair" in first
    rng = np.random.default_rng(0)
    many = [f"v{j}" for j in range(500)]
    rows = pd.DataFrame({name: rng.choice(many[:12], 6000) for name in "bcdef"})
    rows["a"] = rng.choice(many, 6000)
    schema = Schema({name: Categories(many[: 500 if name == "a" else 12]) for name in rows})
    notes = " ".join(fitted(rows, schema, epsilon=1).sample_notes())
    assert " of 'a'" in notes
    assert "Noise hid these tables" in notes


def test_a_summary_without_tables_says_what_its_rows_are_not_good_for():
    model = fitted(synthetic=False)
    with pytest.warns(LowSignalWarning, match="right in place but not in spread"):
        model.sample(5)
    assert "synthetic=True" in model.sample_notes()[-1]


def test_a_plan_tells_the_errors_of_a_column_and_of_a_pair():
    model = PrivateSummary(epsilon=1, delta=1e-6, schema=SCHEMA, synthetic=True)
    notes = model.plan(20_000).notes
    assert any("that of a pair by" in note for note in notes)
    assert not any("leave delta at 0" in note for note in notes)  # rows are worse without
    few = PrivateSummary(epsilon=0.1, schema=SCHEMA, synthetic=True).plan(200)
    assert any("too few rows" in note for note in few.notes)
    none = PrivateSummary(epsilon=1, schema=SCHEMA).plan(500)
    assert not any("Synthetic rows" in note for note in none.notes)


# Odd tables


def test_one_column():
    rows = pd.DataFrame({"x": np.r_[np.zeros(3000), np.full(1000, 7.0)]})
    model = fitted(rows, Schema({"x": Box(0, 9, form="integer")}))
    drawn = model.sample(4000, random_state=0)[:, 0]
    assert np.mean(drawn == 0) == pytest.approx(0.75, abs=0.03)
    assert not len(model.tables_.pairs)


def test_two_columns_have_a_tree_of_one_edge_and_nothing_to_choose():
    rows = pd.DataFrame({"x": KIND * 4.0, "y": np.array(list("abc"))[KIND]})
    schema = Schema({"x": Box(0, 9), "y": Categories(list("abc"))})
    model = fitted(rows, schema)
    assert model.tables_.pairs.tolist() == [[0, 1]]
    assert not any(query.query == "tree" for query in model.privacy_.queries)
    made = model.sample(4000, random_state=0).to_pandas()
    assert np.mean((made["x"] < 2) == (made["y"] == "a")) > 0.95


@pytest.mark.parametrize("unit", ["add-remove-row", "replace-row"])
def test_a_constant_column_and_one_category(unit):
    rows = pd.DataFrame({"x": np.full(2000, 3.0), "y": "only", "z": RNG.choice(list("ab"), 2000)})
    schema = Schema({"x": Box(0, 9), "y": Categories(["only"]), "z": Categories(["a", "b"])})
    made = fitted(rows, schema, unit=unit).sample(2000, random_state=0).to_pandas()
    assert (made["y"] == "only").all()
    assert made["x"].between(2.5, 3.5).mean() > 0.9


def test_whole_numbers_up_to_a_billion():
    big = np.where(RNG.random(6000) < 0.4, 0, RNG.integers(0, 10**9, 6000))
    rows = pd.DataFrame({"x": big, "y": (big > 0).astype(float)})
    schema = Schema({"x": Box(0, 10**9, form="integer"), "y": Box(0, 1, form="integer")})
    drawn = fitted(rows, schema).sample(6000, random_state=0)
    assert (drawn == drawn.round()).all()
    assert np.mean(drawn[:, 0] < 10_000) == pytest.approx(0.4, abs=0.03)
    assert np.mean((drawn[:, 0] > 10_000) == (drawn[:, 1] == 1)) > 0.95


def test_more_than_thirty_columns():
    kinds = RNG.integers(0, 2, 5000)
    flips = RNG.random((5000, 34)) < 0.1
    rows = pd.DataFrame({f"c{j}": np.array(["n", "y"])[kinds ^ flips[:, j]] for j in range(34)})
    schema = Schema({name: Categories(["n", "y"]) for name in rows})
    model = fitted(rows, schema, epsilon=5)
    made = model.sample(5000, random_state=0)
    assert made.num_columns == 34
    assert len(model.tables_.pairs) <= 2 * 33
    agree = np.mean(made["c3"].to_numpy() == made["c20"].to_numpy())
    assert agree == pytest.approx(0.82, abs=0.05)


@pytest.mark.parametrize("epsilon", [0.01, 1, 100])
def test_five_rows(epsilon):
    model = fitted(ROWS[:5], epsilon=epsilon, delta=0)
    assert model.sample(20, random_state=0).num_rows == 20


def test_a_ball_is_respected():
    rows = RNG.normal(0, 0.4, (5000, 2))
    schema = Schema({"x": Box(-2, 2), "y": Box(-2, 2)}, ball=Ball(1.0, [0.0, 0.0]))
    drawn = fitted(pd.DataFrame(rows, columns=["x", "y"]), schema).sample(3000, random_state=0)
    assert (np.linalg.norm(drawn, axis=1) <= 1 + 1e-9).all()


@pytest.mark.parametrize("synthetic", [True, False])
@pytest.mark.parametrize(
    ("forms", "radius", "center"),
    [
        (("integer", "integer"), 7.0, (0.0, 0.0)),
        (("integer", "number"), 7.0, (0.0, 0.0)),
        (("integer", "integer"), 5.3, (0.4, -2.6)),
        (("integer", "number"), 0.6, (0.5, 3.25)),
    ],
)
def test_whole_numbers_in_a_ball_stay_whole(forms, radius, center, synthetic):
    rows = np.rint(np.random.default_rng(1).normal(0, 6, (5000, 2)))
    facts = {name: Box(-20, 20, form=form) for name, form in zip("xy", forms, strict=True)}
    schema = Schema(facts, ball=Ball(radius, list(center)))
    model = fitted(pd.DataFrame(rows, columns=["x", "y"]), schema, synthetic=synthetic)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = model.sample(3000, random_state=0)
    whole = np.array([form == "integer" for form in forms])
    assert (drawn[:, whole] == np.rint(drawn[:, whole])).all()
    lengths = np.linalg.norm(drawn - center, axis=1)
    assert (lengths <= radius + 1e-9).all()
    assert len(np.unique(drawn, axis=0)) > 2


def test_people_are_bounded_and_every_question_pays_for_all_their_rows():
    people = ROWS.assign(who=np.arange(N) // 2)
    model = fitted(people, unit=Person("who", 2))
    single = fitted()
    errors = [m.release().arrays["histogram_counts_error"][0] for m in (model, single)]
    assert errors[0] > 1.5 * errors[1]


def test_profiles_and_tables_go_together():
    both = fitted(profile_share=0.1)
    k = len(both.release().arrays["profile_centers"])
    assert "profile_counts" in both.kmeans(k).arrays
