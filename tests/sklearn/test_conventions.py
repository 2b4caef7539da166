"""What users of scikit-learn expect beyond its common checks: frames, pipelines, searches, repr."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

import privclust
import sklearn
from privclust import PrivateKMeans, Schema
from privclust.exceptions import LeakWarning, PublicFactWarning

# Seeded and at a huge ε: then all tests are about conventions.
SETTINGS = {"epsilon": 1e6, "bounds": (-10, 10), "random_state": 0}

ROWS, GROUPS = make_blobs(300, centers=3, cluster_std=0.5, center_box=(-8, 8), random_state=3)
FRAME = pd.DataFrame(ROWS, columns=["a", "b"])


def model(**changes):
    return PrivateKMeans(3, **{**SETTINGS, **changes})


@pytest.mark.parametrize("method", ["cells", "lloyd"])
def test_the_rest_of_check_clustering_holds(method, tmp_path):
    rows, groups = make_blobs(50, random_state=1)
    memory = np.memmap(tmp_path / "rows", rows.dtype, "w+", shape=rows.shape)
    memory[:] = rows
    memory.setflags(write=False)
    labels = [
        model(method=method, bounds=(-15, 15)).fit_predict(data)
        for data in (rows, rows.tolist(), memory)
    ]
    assert adjusted_rand_score(labels[0], groups) > 0.4
    assert_array_equal(labels[0], labels[1])
    assert_array_equal(labels[0], labels[2])
    assert labels[0].dtype in (np.int32, np.int64)
    assert set(labels[0]) <= set(range(3))


def test_nothing_exact_is_kept():
    fitted = model().fit(FRAME)
    kept = {name for name in vars(fitted) if name.endswith("_")}
    assert kept == {
        "cluster_centers_",
        "cluster_centers_error_",
        "cluster_sizes_",
        "cluster_sizes_error_",
        "feature_names_in_",
        "method_",
        "n_clusters_",
        "n_features_in_",
        "privacy_",
        "schema_",
        "warnings_",
    }
    assert len(pickle.dumps(fitted)) < 10_000


@pytest.mark.parametrize("name", ["labels_", "inertia_"])
@pytest.mark.parametrize("fit", [False, True])
def test_what_is_not_kept_says_so_and_what_to_use_instead(name, fit):
    asked = model().fit(FRAME) if fit else model()
    assert not hasattr(asked, name)
    with pytest.raises(AttributeError, match=f"^{name} is not kept, because .*; .*\\(X\\).*\\.$"):
        getattr(asked, name)


def test_distances_and_score_come_in_the_units_of_the_data_if_asked_for():
    frame = FRAME.assign(a=1000 * FRAME["a"])
    schema = Schema({"a": privclust.Box(-10_000, 10_000), "b": privclust.Box(-10, 10)})
    fitted = PrivateKMeans(3, schema=schema, epsilon=1e6, random_state=0).fit(frame)
    gaps = frame.to_numpy()[:, None] - fitted.cluster_centers_
    for units, scales in (("data", [1, 1]), ("model", [20_000, 20])):
        expected = np.linalg.norm(gaps / scales, axis=2)
        np.testing.assert_allclose(fitted.transform(frame, units=units), expected, rtol=1e-4)
        score = -(expected.min(axis=1) ** 2).sum()
        np.testing.assert_allclose(fitted.score(frame, units=units), score, rtol=1e-4)
    with pytest.raises(privclust.exceptions.ParameterError, match="units must be one of model, da"):
        fitted.score(frame, units="widths")


def test_learned_distances_have_no_units_of_the_data():
    towns = pd.DataFrame({"a": list("xyxy") * 20, "b": list("uvuv") * 20})
    facts = {"a": privclust.Categories(["x", "y"]), "b": privclust.Categories(["u", "v"])}
    fitted = PrivateKMeans(2, schema=Schema(facts), metric="dilca", random_state=0).fit(towns)
    with pytest.raises(privclust.exceptions.ParameterError, match="use units='model'"):
        fitted.transform(towns, units="data")


def test_fits_of_one_model_are_added_up_unless_a_ledger_does(tmp_path):
    ledger = privclust.Ledger.open(tmp_path / "budget.db")
    ledger.create_dataset("rows")
    ledger.grant("rows", epsilon=9)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", PublicFactWarning)
        charged = PrivateKMeans(2, bounds=(-10, 10), ledger=ledger, dataset="rows")
        charged.fit(FRAME).fit(FRAME)
        model(epsilon=1).fit(FRAME).fit(FRAME)  # seeded: nothing of it is private
        assert not told
        fresh = PrivateKMeans(2, bounds=(-10, 10), delta=1e-6).fit(FRAME).fit(FRAME)
        fresh.set_params(epsilon=0.5).fit(FRAME)
    texts = [str(each.message) for each in told]
    assert "fitted 2 times; if to the same rows, that cost ε = 2, δ = 2e-06 in all" in texts[0]
    assert "fitted 3 times; if to the same rows, that cost ε = 2.5, δ = 3e-06 in all" in texts[1]
    assert len(texts) == 2


def test_a_fit_without_a_number_of_clusters_says_which_it_took():
    with pytest.warns(PublicFactWarning, match="so 8 were sought; give one, or 'auto'"):
        fitted = PrivateKMeans(bounds=(-10, 10)).fit(FRAME)
    assert fitted.n_clusters_ == 8
    assert "No number of clusters is given; 8 are assumed." in str(fitted.plan(100, 2))
    assert "No number" not in str(PrivateKMeans(8, bounds=(-10, 10)).plan(100, 2))


def test_a_clone_is_unfitted_and_gives_the_same_seeded_result():
    fitted = model(schema=Schema.from_bounds(-10, 10, names=["a", "b"]), bounds=None).fit(FRAME)
    copy = clone(fitted)
    assert not hasattr(copy, "cluster_centers_")
    assert copy.get_params() == fitted.get_params()
    assert_array_equal(copy.fit(FRAME).cluster_centers_, fitted.cluster_centers_)


def test_a_pickled_model_predicts_the_same():
    fitted = model().fit(FRAME)
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict(FRAME), fitted.predict(FRAME))
    assert again.privacy_ == fitted.privacy_


@pytest.mark.parametrize(
    ("library", "frame_type"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)]
)
def test_distances_come_in_the_frame_that_is_wished_for(library, frame_type):
    wishful = model().set_output(transform=library)
    distances = wishful.fit_transform(FRAME)
    names = ["privatekmeans0", "privatekmeans1", "privatekmeans2"]
    assert isinstance(distances, frame_type)
    assert list(distances.columns) == names
    assert wishful.get_feature_names_out().tolist() == names
    assert_array_equal(distances.to_numpy(), model().fit_transform(FRAME))


def test_a_pipeline_fits_predicts_and_names_its_columns():
    steps = [("shift", FunctionTransformer(lambda rows: rows - 1)), ("cluster", model())]
    pipeline = Pipeline(steps).fit(ROWS)
    expected = model().fit(ROWS - 1)
    assert_array_equal(pipeline.predict(ROWS), expected.predict(ROWS - 1))
    assert_array_equal(pipeline.transform(ROWS), expected.transform(ROWS - 1))
    assert pipeline.score(ROWS) == expected.score(ROWS - 1)


def test_a_grid_search_runs_and_its_winner_says_that_it_is_not_private():
    search = GridSearchCV(model(random_state=None), {"n_clusters": [1, 3]}, cv=3)
    with pytest.warns(LeakWarning, match="search or cross-validation"):
        search.fit(FRAME)
    assert search.best_params_ == {"n_clusters": 3}
    winner = search.best_estimator_
    assert winner.cluster_centers_.shape == (3, 2)
    assert "NOT PRIVATE" in repr(winner)
    assert "exact scores" in winner.release().privacy.promise


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_fits_of_a_cross_validation_are_warned_of_in_worker_processes_too(n_jobs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakWarning)
        folds = cross_validate(
            model(random_state=None), FRAME, cv=2, n_jobs=n_jobs, return_estimator=True
        )
    assert not any(fold.privacy_.private for fold in folds["estimator"])


def test_a_model_that_is_fitted_again_after_its_score_was_seen_is_not_private():
    fitted = model(random_state=None).fit(FRAME)
    assert fitted.privacy_.private
    fitted.score(FRAME)
    with pytest.warns(LeakWarning, match="fitted again after its exact score"):
        fitted.fit(FRAME)
    assert not fitted.privacy_.private
    assert fitted.fit(FRAME).privacy_.private


# Names of columns


def test_columns_have_names_if_the_data_have_them():
    assert model().fit(FRAME).feature_names_in_.tolist() == ["a", "b"]
    assert model().fit(pl.from_pandas(FRAME)).feature_names_in_.tolist() == ["a", "b"]
    assert model().fit(pa.Table.from_pandas(FRAME)).feature_names_in_.tolist() == ["a", "b"]
    assert not hasattr(model().fit(ROWS), "feature_names_in_")
    assert not hasattr(model().fit(pd.DataFrame(ROWS)), "feature_names_in_")


def test_a_refit_forgets_the_names_of_the_columns():
    refitted = model().fit(FRAME).fit(ROWS)
    assert not hasattr(refitted, "feature_names_in_")
    refitted.predict(ROWS)


def test_a_schema_names_the_columns_of_an_array_and_finds_those_of_a_frame():
    schema = Schema.from_bounds(-10, 10, names=["b", "a"])
    fitted = model(schema=schema, bounds=None).fit(FRAME)
    assert fitted.feature_names_in_.tolist() == ["b", "a"]
    from_array = model(schema=schema, bounds=None).fit(ROWS[:, ::-1])
    assert_array_equal(from_array.cluster_centers_, fitted.cluster_centers_)
    assert_array_equal(fitted.predict(FRAME), fitted.predict(ROWS[:, ::-1]))
    assert_array_equal(fitted.predict(FRAME[["b", "a"]]), fitted.predict(FRAME))


def test_rows_with_names_are_taken_in_order_if_the_fit_had_none():
    fitted = model().fit(ROWS)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        labels = fitted.predict(FRAME)
    assert_array_equal(labels, fitted.predict(ROWS))
    with pytest.raises(ValueError, match="columns"):
        fitted.predict([[1.0, 2.0, 3.0]])


# Not private


def test_a_seeded_fit_is_reproducible_and_says_that_it_is_not_private():
    fitted = model(epsilon=1).fit(ROWS)
    again = model(epsilon=1).fit(ROWS)
    other = model(epsilon=1, random_state=1).fit(ROWS)
    assert_array_equal(fitted.cluster_centers_, again.cluster_centers_)
    assert_array_equal(fitted.cluster_sizes_, again.cluster_sizes_)
    assert (fitted.cluster_centers_ != other.cluster_centers_).any()
    assert not fitted.privacy_.private
    assert "NOT PRIVATE" in repr(fitted.privacy_)
    assert "NOT PRIVATE" in str(fitted.privacy_)
    assert "NOT PRIVATE" in repr(fitted)
    assert "NOT PRIVATE" in fitted._repr_html_()
    assert "NOT PRIVATE" in repr(fitted.release())


def test_a_seeded_model_is_marked_in_what_a_notebook_shows_of_it_and_of_its_pipeline():
    fitted = model(epsilon=1).fit(ROWS)
    assert fitted._repr_mimebundle_()["text/html"].startswith("<p style")
    pipeline = make_pipeline(FunctionTransformer(), model(epsilon=1)).fit(ROWS)
    shown = pipeline._repr_mimebundle_()["text/html"]
    cells = [line for line in shown.splitlines() if "PrivacyStatem..." in line]
    shows_attributes = [*map(int, sklearn.__version__.split(".")[:2])] >= [1, 9]
    assert bool(cells) == shows_attributes
    assert all("NOT PRIVATE" in cell for cell in cells)
    private = model(epsilon=1, random_state=None).fit(ROWS)
    assert "NOT PRIVATE" not in private._repr_mimebundle_()["text/html"]


def test_an_unseeded_fit_is_private_and_never_the_same():
    fitted, again = (model(epsilon=1, random_state=None).fit(ROWS) for _ in range(2))
    assert fitted.privacy_.private
    assert (fitted.cluster_centers_ != again.cluster_centers_).any()
    for shown in (repr(fitted), fitted._repr_html_(), repr(fitted.privacy_), repr(model())):
        assert "NOT PRIVATE" not in shown


# Steps that learn from the private rows


def leaks_of(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(warning.message) for warning in caught if warning.category is LeakWarning]


def test_a_scaler_before_the_private_step_is_warned_of_and_the_remedy_named():
    (message,) = leaks_of(lambda: make_pipeline(StandardScaler(), model()).fit(ROWS))
    assert "'standardscaler' (StandardScaler)" in message
    assert "not private" in message
    assert "declare bounds" in message
    assert "rescale=True" in message


@pytest.mark.parametrize("fit", ["fit", "fit_predict", "fit_transform"])
def test_a_scaler_is_warned_of_however_the_pipeline_is_fitted(fit):
    pipeline = make_pipeline(StandardScaler(), model())
    assert len(leaks_of(lambda: getattr(pipeline, fit)(ROWS))) == 1


def test_every_step_that_learns_is_warned_of_whatever_stands_between():
    pipeline = make_pipeline(StandardScaler(), PCA(2), Normalizer(), model())
    messages = leaks_of(lambda: pipeline.fit(ROWS))
    assert [message.partition("(")[2].partition(")")[0] for message in messages] == [
        "StandardScaler",
        "PCA",
    ]


def test_every_step_that_learns_is_warned_of_in_nested_pipelines_too():
    inner = make_pipeline(PCA(2), model())
    outer = make_pipeline(make_pipeline(StandardScaler()), inner)
    messages = leaks_of(lambda: outer.fit(ROWS))
    assert [message.partition("(")[2].partition(")")[0] for message in messages] == [
        "PCA",
        "Pipeline",
    ]


def test_a_grid_search_over_a_leaking_pipeline_warns():
    pipeline = Pipeline([("scale", StandardScaler()), ("cluster", model())])
    search = GridSearchCV(pipeline, {"cluster__n_clusters": [2]}, cv=2)
    assert len(leaks_of(lambda: search.fit(ROWS))) == 6  # the scaler and the search, three fits


@pytest.mark.parametrize("step", [FunctionTransformer(), Normalizer(), "passthrough", None])
def test_a_step_that_learns_nothing_is_not_warned_of(step):
    assert leaks_of(lambda: Pipeline([("first", step), ("last", model())]).fit(ROWS)) == []


@pytest.mark.parametrize("memory", [False, True])
def test_steps_after_the_private_one_and_the_private_one_itself_do_not_leak(memory, tmp_path):
    pipeline = make_pipeline(model(), StandardScaler(), LogisticRegression())
    pipeline.memory = str(tmp_path) if memory else None
    assert leaks_of(lambda: pipeline.fit(ROWS, GROUPS)) == []
    assert pipeline.score(ROWS, GROUPS) > 0.9
