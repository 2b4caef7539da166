"""The estimator: what it releases, what that depends on, and what it answers to bad input."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone

from privclust.exceptions import LowSignalWarning, PrivclustWarning
from privclust.papers.targets.published import SourceTargetMedoids
from privclust.schema.facts import Box
from privclust.schema.schema import Schema
from privclust.unit.rows import Person
from support.transcripts import recorded_draws, replayed_draws
from support.variants import medoids

METHODS = ["rings", "nna", "nas"]


def few_nearest(method, number):
    """Return how many sources NAS averages, where there is such a setting."""
    return {} if method == "rings" else {"n_nearest": number}


def towns(n=150, seed=0):
    return np.random.default_rng(seed).uniform(0, 1, (n, 2))


def sources(m=600, seed=1, at=(0.2, 0.2)):
    return np.random.default_rng(seed).normal(at, 0.05, (m, 2))


def quiet_fit(model, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivclustWarning)
        return model.fit(*args, **kwargs)


def true_cost(targets, source, centres):
    everything = np.concatenate([source, centres])
    return cdist(targets, everything).min(axis=1).mean()


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("method", METHODS)
def test_nothing_released_depends_on_the_source_but_through_noisy_answers(method, delta):
    """With the answers of mechanisms held fixed, a different source gives the same release."""
    given = {"delta": delta, "random_state": 0, **few_nearest(method, 20)}
    model = medoids(5, epsilon=2, method=method, **given)
    with recorded_draws() as seen:
        one = quiet_fit(clone(model), towns(), source=sources())
    answers = [draw.answer for draw in seen]
    with replayed_draws(answers) as asked:
        other = quiet_fit(clone(model), towns(), source=sources(70, 9, at=(0.9, 0.1)))
    assert len(asked) == len(answers)
    assert one.release() == other.release()
    with recorded_draws() as changed:
        quiet_fit(clone(model), towns(), source=sources(70, 9, at=(0.9, 0.1)))
    assert any(
        (mine != theirs.answer).any() for mine, theirs in zip(answers, changed, strict=False)
    )


QUERIES = {
    "rings": ["distances to the targets", "cells of all shells"],
    "nna": ["cells of the coreset: counts", "cells of the coreset: sums"],
    "nas": ["number of sources", "averages of nearest sources"],
}


@pytest.mark.parametrize("method", METHODS)
def test_nothing_else_is_asked_than_what_is_written_here(method):
    """With any source, or none: the list does not depend on it."""
    for source in (sources(), sources(3), None):
        model = medoids(3, method=method, random_state=0)
        quiet_fit(model, towns(), source=source)
        assert [charge.query for charge in model.privacy_.queries] == QUERIES[method]
        assert model.privacy_.spent.pure == 1


@pytest.mark.parametrize("method", METHODS)
def test_no_source_is_charged_for_and_gives_the_centres_of_the_targets_alone(method):
    targets = towns()
    for unit in ("add-remove-row", Person("who", 2)):
        model = medoids(4, epsilon=5, method=method, unit=unit, random_state=0)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model.fit(targets)
        assert any("No source was given" in str(warning.message) for warning in told)
        assert model.privacy_.spent.pure == 5
        alone = SourceTargetMedoids(4).fit(targets)
        assert sorted(model.medoid_indices_) == sorted(alone.medoid_indices_)
        assert "targets alone" in model.warnings_[0]
        assert "No source was given" not in str(model.release().parameters)
        np.testing.assert_array_equal(model.labels_, model.predict(targets))


def test_points_are_labelled_and_measured_in_the_units_of_the_metric():
    table = cdist(towns(), towns())
    kinds = {
        "euclidean": towns(),
        "manhattan": towns(),
        "cosine": towns() + 1,
        "precomputed": table,
    }
    for metric, targets in kinds.items():
        model = quiet_fit(medoids(3, metric=metric, random_state=0), targets)
        norm = {"manhattan": "cityblock", "precomputed": "euclidean"}.get(metric, metric)
        places = towns() if metric == "precomputed" else targets
        expected = cdist(places, places[model.medoid_indices_], norm)
        np.testing.assert_allclose(model.transform(targets), expected, atol=1e-12)
        np.testing.assert_array_equal(model.labels_, expected.argmin(axis=1))
    globe = medoids(1, metric="haversine", random_state=0)
    quiet_fit(globe, [[0.0, 0.0], [0.0, 90.0]], forced=[0])
    assert globe.transform([[90.0, 0.0]])[0, 0] == pytest.approx(6371.0088 * np.pi / 2)


def test_distances_to_separate_candidates_are_what_labels_precomputed_points():
    between = cdist(towns(6), towns(6))
    candidates = cdist([[0.0, 0.0], [1.0, 1.0]], towns(6))
    model = medoids(2, metric="precomputed", random_state=0)
    quiet_fit(model, between, candidates=candidates)
    np.testing.assert_array_equal(model.labels_, candidates[model.medoid_indices_].argmin(axis=0))
    np.testing.assert_array_equal(model.predict(candidates.T), model.labels_)


@pytest.mark.parametrize("method", ["rings", "nna"])
def test_centres_stay_away_from_targets_that_sources_serve(method):
    targets, source = towns(400), sources(2000)
    model = medoids(6, epsilon=5, method=method, random_state=0)
    cost = true_cost(targets, source, quiet_fit(model, targets, source=source).centers_)
    alone = SourceTargetMedoids(6).fit(targets).centers_
    best = SourceTargetMedoids(6).fit(targets, source=source)
    assert best.cost_ == pytest.approx(true_cost(targets, source, best.centers_), rel=1e-5)
    ignored = true_cost(targets, source, alone)
    assert ignored - cost > 0.3 * (ignored - best.cost_)


def test_a_source_that_noise_hides_gives_the_centres_of_the_targets_alone():
    targets = towns()
    model = medoids(4, epsilon=0.01, random_state=3)
    with pytest.warns(LowSignalWarning):
        model.fit(targets, source=sources(5))
    assert not len(model.released_source_.positions)
    alone = SourceTargetMedoids(4).fit(targets)
    assert sorted(model.medoid_indices_) == sorted(alone.medoid_indices_)
    assert "targets alone" in model.warnings_[0]


def test_the_beginning_of_the_order_serves_fewer_centres():
    few, many = (quiet_fit(medoids(k, random_state=0), towns(), source=sources()) for k in (3, 9))
    assert few.order_.tolist() == many.order_[:3].tolist()
    assert (np.diff(many.order_costs_) <= 0).all()
    assert many.cost_estimate_ <= many.order_costs_[-1] + 1e-9


def test_no_exact_statement_about_the_source_is_kept():
    model = quiet_fit(medoids(3), towns(), source=sources(777))
    kept = pickle.dumps(vars(model))
    assert sources(777).tobytes()[:64] not in kept
    assert not any(name in vars(model) for name in ("cost_", "source_"))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "haversine"])
def test_every_method_works_in_every_metric(method, metric):
    scale = np.array([100.0, 300.0]) if metric == "haversine" else 1.0
    shift = np.array([50.0, 150.0]) if metric == "haversine" else -0.1
    model = medoids(3, method=method, metric=metric, random_state=0)
    targets = towns() * scale - shift
    quiet_fit(model, targets, source=sources() * scale - shift)
    assert len(set(model.medoid_indices_)) == 3
    np.testing.assert_array_equal(model.centers_, targets[model.medoid_indices_])
    if metric == "haversine" and len(model.released_source_.positions):
        assert np.abs(model.released_source_.positions).max() <= 180


def test_precomputed_distances_serve_graphs():
    targets, source = towns(300), sources(1500)
    table, rows = cdist(targets, targets), cdist(source, targets)
    model = medoids(5, epsilon=5, metric="precomputed", random_state=0)
    quiet_fit(model, table, source=rows)
    cost = np.minimum(rows.min(axis=0), table[model.medoid_indices_].min(axis=0)).mean()
    alone = SourceTargetMedoids(5, metric="precomputed").fit(table).medoid_indices_
    assert cost < np.minimum(rows.min(axis=0), table[alone].min(axis=0)).mean()


def test_forced_forbidden_weighted_and_separate_candidates():
    targets = towns()
    model = medoids(4, random_state=0)
    quiet_fit(model, targets, source=sources(), forced=[7], forbidden=range(20, 150))
    assert model.medoid_indices_[0] == model.order_[0] == 7
    assert model.medoid_indices_.max() < 20
    corner = np.array([[0.0, 0.0], [1.0, 1.0], [0.5, 0.5]])
    only = np.isclose(targets, targets[targets.sum(axis=1).argmax()]).all(axis=1)
    model = medoids(1, epsilon=5, random_state=0)
    quiet_fit(model, targets, source=sources(), candidates=corner, sample_weight=only)
    assert model.medoid_indices_.tolist() == [1]


def test_a_projection_keeps_the_centres_in_the_original_columns():
    rng = np.random.default_rng(0)
    targets, source = rng.normal(size=(100, 20)), rng.normal(size=(400, 20))
    model = medoids(3, n_projected=4, random_state=0)
    quiet_fit(model, targets, source=source)
    assert model.centers_.shape == (3, 20)
    assert model.released_source_.positions.shape[1] == 4


def test_people_with_many_sources_are_bounded():
    frame = pd.DataFrame(sources(), columns=["x", "y"]).assign(who=np.arange(600) % 50)
    targets = pd.DataFrame(towns(), columns=["x", "y"])
    model = medoids(3, unit=Person("who", 2), random_state=0)
    quiet_fit(model, targets, source=frame)
    assert "who" in model.privacy_.protects
    assert model.feature_names_in_.tolist() == ["x", "y"]


def test_a_seeded_fit_says_that_it_is_not_private():
    model = quiet_fit(medoids(2, random_state=0), towns(), source=sources())
    assert "NOT PRIVATE" in repr(model)
    assert not model.release().privacy.private


# Unusual but right


@pytest.mark.parametrize("method", METHODS)
def test_few_or_no_sources_and_duplicate_or_single_targets_are_served(method):
    for targets in (np.repeat(towns(3), 40, axis=0), np.zeros((5, 2)), towns(2), towns(60)[:, :1]):
        width = targets.shape[1]
        for source in (np.empty((0, width)), sources(3)[:, :width]):
            model = medoids(2, method=method, **few_nearest(method, 10))
            quiet_fit(model, targets, source=source)
            assert len(set(model.medoid_indices_)) == 2
            assert np.isfinite(model.cost_estimate_)


@pytest.mark.parametrize("unit", ["add-remove-row", "replace-row", Person("who", 2)], ids=str)
def test_every_form_of_an_empty_source_is_answered_like_any_other(unit, tmp_path):
    """An error would tell that there is no source, which is a private fact."""
    columns = ["x", "y", "who"] if isinstance(unit, Person) else ["x", "y"]
    frame = pd.DataFrame(np.empty((0, len(columns))), columns=columns)
    frame.to_csv(tmp_path / "header.csv", index=False)
    frame.to_parquet(tmp_path / "empty.parquet")
    named = (tmp_path / "header.csv", tmp_path / "empty.parquet", frame, pl.from_pandas(frame))
    arrays = () if isinstance(unit, Person) else (np.empty((0, 2)), sparse.csr_array((0, 2)))
    releases = set()
    for source in (None, [], (), *named, pa.Table.from_pandas(frame), *arrays):
        model = medoids(3, epsilon=5, unit=unit, random_state=1)
        quiet_fit(model, pd.DataFrame(towns(), columns=["x", "y"]), source=source)
        assert "targets alone" in model.warnings_[0]
        releases.add(model.release().digest)
    assert len(releases) == 1


def test_sources_outside_the_bounds_are_left_out_and_told():
    model = medoids(3, epsilon=5, bounds=(0, 1), random_state=0)
    with pytest.warns(LowSignalWarning, match="outside the declared bounds"):
        model.fit(towns(), source=np.concatenate([sources(300), sources(300) + 50]))
    assert model.released_source_.counts.sum() < 400


# One clear sentence


BAD_FITS = {
    "n_centers=200 is more than the 150 candidates": ({"n_centers": 200}, {}),
    "n_centers must be a whole number": ({"n_centers": 2.5}, {}),
    "metric must be one of": ({"metric": "chebyshev"}, {}),
    "epsilon must be above zero": ({"epsilon": 0}, {}),
    "coreset_radius must be a number above 0": ({"method": "nna", "coreset_radius": 0}, {}),
    "n_nearest must be a whole number": ({"method": "nas", "n_nearest": 0}, {}),
    "one of euclidean, manhattan, cosine, haversine, got": (
        {"metric": "precomputed", "method": "nna"},
        {},
    ),
    "must be a square table": ({"metric": "precomputed"}, {}),
    "keeps Euclidean distances only": ({"metric": "manhattan", "n_projected": 1}, {}),
    "must be a table": ({}, {"target": np.zeros(5)}),
    "target is empty": ({}, {"target": np.empty((0, 2))}),
    "target has missing or infinite": ({}, {"target": [[0.0, np.nan]]}),
    "numbers only": ({}, {"target": [["a", "b"]]}),
    "has missing numbers": ({}, {"source": np.array([[0.0, np.nan]])}),
    "The data have 3 columns": ({}, {"source": np.zeros((4, 3))}),
    "latitude beyond": ({"metric": "haversine"}, {"target": [[100.0, 0.0]]}),
    "need two columns": ({"metric": "haversine"}, {"target": np.zeros((4, 3))}),
    "must lie within -90 to 90": ({"metric": "haversine", "bounds": (-180, 180)}, {}),
    "row of zeros": ({"metric": "cosine"}, {"target": np.zeros((4, 2))}),
    "sample_weight must be": ({}, {"sample_weight": -np.ones(150)}),
    "forced must be indices": ({}, {"forced": [150]}),
    "both forbidden and forced": ({}, {"forced": [1], "forbidden": [1]}),
    "less than the 4 forced": ({}, {"forced": [1, 2, 3, 4]}),
    "candidates have 3 columns": ({}, {"candidates": np.zeros((4, 3))}),
    "declares 1 numeric columns": ({"schema": Schema({"x": Box(0, 1)})}, {}),
}


def test_a_method_that_nobody_has_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="method must be one of rings, nna, nas, got 'best'"):
        medoids(method="best")


@pytest.mark.parametrize("words", BAD_FITS)
def test_bad_input_is_answered_in_one_sentence(words):
    parameters, data = BAD_FITS[words]
    model = medoids(**{"n_centers": 3, **parameters})
    with pytest.raises(ValueError, match=words) as raised:
        model.fit(**{"target": towns(), "source": sources(), **data})
    message = str(raised.value)
    assert message.endswith(".")
    assert message.count(". ") == 0
    assert not hasattr(model, "privacy_")
