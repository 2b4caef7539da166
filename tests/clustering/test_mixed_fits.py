"""k-means and summaries of mixed tables, as a user meets them."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import adjusted_rand_score

from privclust import (
    Box,
    Categories,
    Person,
    PrivateKMeans,
    PrivateSummary,
    Release,
    ReplaceRow,
    Schema,
)
from privclust.categories.metric import principal_axes
from privclust.clustering.answers import Summary
from privclust.exceptions import DataError, ParameterError, PrivclustError, SchemaError
from privclust.schema.coordinates import CATEGORY_GAP, Coordinates
from support.datasets import MIXED, SURVEY, mixed, survey

DATA = mixed().drop(columns="who")
KINDS = np.random.default_rng(5).integers(3, size=2500)  # as the rows were made
COORDINATES = Coordinates(MIXED)


def kmeans(data=DATA, n_clusters=3, **given):
    given = {"schema": MIXED, "epsilon": 5.0, "random_state": 0} | given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PrivateKMeans(n_clusters, **given).fit(data)


def summary(data=DATA, **given):
    given = {"schema": MIXED, "epsilon": 5.0, "random_state": 0} | given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PrivateSummary(**given).fit(data)


@pytest.mark.parametrize("metric", ["mismatch", "dilca"])
def test_clusters_of_mixed_rows_are_found(metric):
    labels = kmeans(metric=metric, missing_share=0).predict(DATA)
    assert adjusted_rand_score(KINDS, labels) > 0.9


@pytest.mark.parametrize("metric", ["mismatch", "dilca"])
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_more_budget_does_not_lose_the_kinds(metric, delta):
    labels = kmeans(metric=metric, epsilon=1000.0, delta=delta).predict(DATA)
    assert adjusted_rand_score(KINDS, labels) > 0.9


def test_with_little_noise_pure_epsilon_learns_the_metric_of_all_pairs():
    answers, given = survey().drop(columns="who"), {"schema": SURVEY, "metric": "dilca"}
    few = kmeans(answers, epsilon=0.5, **given)
    many = kmeans(answers, epsilon=1e4, **given)
    assert "tree" in asked(few)
    assert "tree" not in asked(many)
    pairs = kmeans(answers, epsilon=1e4, delta=1e-6, **given)
    for name in SURVEY.names:
        own, theirs = many.metric_[name].distances(), pairs.metric_[name].distances()
        np.testing.assert_allclose(own, theirs, atol=1e-3)


def asked(model):
    return {query.query for query in model.privacy_.queries}


@pytest.mark.parametrize("fit", [kmeans, summary])
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_axes_are_left_out_only_where_there_is_noise(fit, delta, monkeypatch):
    kept = []

    def counted(metric, estimate, n_axes):
        points, radius = principal_axes(metric, estimate, n_axes)
        kept.append(points.dimension)
        return points, radius

    monkeypatch.setattr("privclust.clustering.learned_metric.principal_axes", counted)
    for epsilon in (0.5, 1e4):
        fit(metric="dilca", epsilon=epsilon, delta=delta)
    assert kept[0] <= 5
    assert kept[1] == 2 + 3 + 2 + 3  # numbers, and one axis less than values of each other column


@pytest.mark.parametrize("metric", ["mismatch", "dilca"])
def test_a_centre_holds_the_means_and_shares_of_its_rows(metric):
    model = kmeans(metric=metric, epsilon=50.0)
    labels = model.predict(DATA)
    for label, center in enumerate(model.cluster_centers_):
        told, own = COORDINATES.describe(center), DATA[labels == label]
        assert told["age"] == pytest.approx(own["age"].mean(), abs=6)
        for town in ("north", "south", "west"):
            assert told["town"][town] == pytest.approx((own["town"] == town).mean(), abs=0.1)
        assert sum(told["town"].values()) == pytest.approx(1)
        assert sum(told["pet"].values()) == pytest.approx(own["pet"].notna().mean(), abs=0.1)


def test_an_axis_of_noise_tells_no_shares():
    rng = np.random.default_rng(1)
    age = rng.choice([30, 70], 8000) + rng.normal(0, 5, 8000)
    town = rng.choice(["north", "south", "west", "abroad"], 8000, p=[0.15, 0.15, 0, 0.7])
    schema = MIXED.only(["age", "town"])
    data = pd.DataFrame({"age": age, "town": town})
    for seed in range(3):
        model = kmeans(data, 2, metric="dilca", schema=schema, epsilon=1.0, random_state=seed)
        centers = model.cluster_centers_
        np.testing.assert_allclose(np.sort(centers[:, 0]), [30, 70], atol=5)
        np.testing.assert_allclose(centers[:, 1:], [[0.15, 0.15, 0, 0.7]] * 2, atol=0.15)


@pytest.mark.usefixtures("blank_pictures")
@pytest.mark.parametrize("metric", ["mismatch", "dilca"])
def test_a_release_labels_rows_as_the_model_does_without_the_data(metric, tmp_path):
    model = kmeans(metric=metric)
    model.release().save(tmp_path / "release")
    loaded = Release.load(tmp_path / "release")
    np.testing.assert_array_equal(loaded.predict(DATA), model.predict(DATA))
    assert loaded.parameters["metric"] == metric
    assert "town: north" in loaded.to_html()


def test_distances_are_those_to_numbers_and_shares():
    model = kmeans(random_state=1)
    scales, centers = COORDINATES.scales(True, CATEGORY_GAP), model.cluster_centers_
    row = DATA[DATA["pet"].notna() & DATA["visits"].notna() & (DATA["town"] != "abroad")][:1]
    days = (row["since"] - pd.Timestamp("1970-01-01")).dt.days.to_numpy()
    written = np.zeros((1, COORDINATES.dimension))
    written[0, [0, 5]] = row["age"].to_numpy()[0], days[0]
    bins = np.searchsorted([2, 5], row["visits"], side="right")[0]
    for name in (f"town={row['town'].iloc[0]}", f"pet={row['pet'].iloc[0]}"):
        written[0, COORDINATES.names.index(name)] = 1
    written[0, COORDINATES.columns[-1].start + bins] = 1
    expected = np.linalg.norm((written - centers) / scales, axis=1)
    np.testing.assert_allclose(model.transform(row)[0], expected, atol=1e-4)
    assert -model.score(row) == pytest.approx(expected.min() ** 2, abs=1e-3)


def test_every_form_of_the_data_gives_the_same_release(tmp_path):
    table = pa.Table.from_pandas(DATA, preserve_index=False)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=300)
    forms = {
        "pandas categories": DATA.astype({"town": "category", "pet": "category"}),
        "polars": pl.from_arrow(table),
        "Parquet": tmp_path / "rows.parquet",
        "stream": table.to_reader(max_chunksize=500),
    }
    digest = kmeans().cluster_centers_
    for name, form in forms.items():
        np.testing.assert_array_equal(kmeans(form).cluster_centers_, digest, err_msg=name)


@pytest.mark.parametrize("unit", [ReplaceRow(), Person("who", 2)], ids=str)
@pytest.mark.parametrize("fit", [kmeans, summary])
def test_other_units_take_mixed_tables(fit, unit):
    data = mixed() if isinstance(unit, Person) else DATA
    assert fit(data, unit=unit).privacy_.epsilon == 5


def test_a_weight_makes_a_column_count():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.integers(0, 2, 2000) * 1.0, "a": rng.choice(["p", "q"], 2000)})
    for heavy, told in (("x", rows["x"]), ("a", rows["a"])):
        weights = {name: 3.0 if name == heavy else 1.0 for name in rows}
        schema = Schema(
            {
                "x": Box(0, 1, weight=weights["x"]),
                "a": Categories(["p", "q"], weight=weights["a"]),
            }
        )
        labels = kmeans(rows, 2, schema=schema, metric="mismatch").predict(rows)
        assert adjusted_rand_score(told, labels) > 0.95


def test_a_weight_counts_among_numbers_alone():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (2000, 2)) * 1.0
    schema = Schema({"x": Box(0, 1), "y": Box(0, 1, weight=5)})
    labels = kmeans(rows, 2, schema=schema).predict(rows)
    assert adjusted_rand_score(rows[:, 1], labels) > 0.95


def test_a_learned_metric_is_chosen_for_categories_alone_in_pure_epsilon():
    given = {"schema": SURVEY, "n_clusters": 3}
    rows = survey().drop(columns="who")
    assert kmeans(rows, **given).release().parameters["metric"] == "dilca"
    assert kmeans(rows, delta=1e-6, **given).release().parameters["metric"] == "mismatch"
    assert kmeans().release().parameters["metric"] == "mismatch"


# Summaries


@pytest.mark.system
def test_a_summary_of_mixed_rows_answers_for_any_number_of_clusters(tmp_path):
    fitted = summary()
    fitted.release().save(tmp_path / "summary")
    loaded = Summary(Release.load(tmp_path / "summary"))
    for k in (2, 3, 5):
        np.testing.assert_array_equal(fitted.centers(k), loaded.centers(k))
        np.testing.assert_allclose(fitted.centers(k)[:, COORDINATES.columns[1].places].sum(1), 1)
    labels = loaded.kmeans(3).predict(DATA)
    assert adjusted_rand_score(KINDS, labels) > 0.7
    assert len(loaded.profiles(3)) == 3
    assert "town: " in loaded.release().to_html()


def test_synthetic_rows_of_a_mixed_summary_can_be_fitted_again():
    rows = summary().sample(3000, random_state=0)
    assert rows.column_names == list(MIXED.names)
    assert rows.schema.field("since").type == pa.date32()
    frame = rows.to_pandas()
    assert (frame["town"] == "south").mean() == pytest.approx(
        (DATA["town"] == "south").mean(), abs=0.08
    )
    assert frame["pet"].isna().mean() == pytest.approx(DATA["pet"].isna().mean(), abs=0.08)
    again = Schema({**MIXED.columns, "town": Categories([*MIXED["town"].values, "(other)"])})
    assert len(kmeans(rows, schema=again).cluster_centers_) == 3


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_centres_are_tables(library):
    model, made = kmeans(), summary()
    for table in (model.centers_table(library), made.centers_table(3, library)):
        names = table.column_names if library == "arrow" else list(table.columns)
        assert names == list(COORDINATES.names)
        assert table.shape == (3, COORDINATES.dimension)
    with pytest.raises(ParameterError, match="library must be"):
        model.centers_table("excel")


def test_a_plan_of_a_mixed_fit_touches_no_data():
    plan = PrivateKMeans(3, schema=MIXED, epsilon=1).plan(2000)
    assert 0.9 < plan.error_ratio < 3
    assert PrivateSummary(schema=MIXED).plan(2000).error_ratio < 3


# What cannot be clustered


def refused(error, data=DATA, **given):
    with pytest.raises(PrivclustError) as caught:
        kmeans(data, **given)
    assert isinstance(caught.value, error)
    assert ". " not in str(caught.value)
    return str(caught.value)


def test_bad_input_is_one_sentence():
    strict = Schema({**MIXED.columns, "town": Categories(["north"])})
    assert "'town' has values that the schema does not list" in refused(DataError, schema=strict)
    empty = DATA.assign(since=pd.NaT)
    assert "'since' has missing numbers" in refused(DataError, empty)
    known = Schema({**MIXED.columns, "pet": Categories(["cat", "dog"])})
    assert "'pet' has missing values" in refused(DataError, schema=known)
    assert "metric must be" in refused(ParameterError, metric="gower")
    numbers = DATA[["age"]]
    alone = Schema({"age": Box(0, 100)})
    assert "declares none" in refused(ParameterError, numbers, schema=alone, metric="dilca")
    single = Schema({"town": Categories(["north"], unknown="other")})
    assert "at least two" in refused(SchemaError, DATA[["town"]], schema=single, metric="dilca")


def test_a_column_without_any_value_is_left_out():
    model = kmeans(DATA.assign(pet=None))
    shares = model.cluster_centers_[:, COORDINATES.columns[3].places]
    assert (shares.sum(axis=1) < 0.2).all()


def test_a_learned_metric_alone_does_not_take_what_is_left_out():
    from privclust import PrivateDilca

    schema = Schema({**SURVEY.columns, "pet": Categories(["cat", "dog"], missing="omit")})
    with pytest.raises(SchemaError, match="leaves missing values out"):
        PrivateDilca(schema=schema).fit(survey().drop(columns="who"))
