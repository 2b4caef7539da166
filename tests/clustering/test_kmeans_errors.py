"""Errors of released centres are those of the noise: they cover it, shrink with it, and travel."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from privclust import PrivateKMeans, Release
from privclust.clustering.refine import errors_of_means
from privclust.data.points.public import ClusterAnswer
from privclust.data.public import Noisy
from privclust.exceptions import ReleaseError
from support.releases import CENTERS, make_release

RNG = np.random.default_rng(1)
SEEN_AS_FEW = 1  # a seed whose noisy number of rows is small
CORNERS = np.array([[2.0, 2.0], [8.0, 2.0], [2.0, 8.0]])
ROWS = CORNERS[RNG.integers(3, size=3000)] + RNG.normal(0, 0.5, (3000, 2))


def fitted(rows=ROWS, **changes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PrivateKMeans(
            3, **({"epsilon": 1.0, "bounds": (0, 10), "random_state": 0} | changes)
        ).fit(rows)


@pytest.mark.parametrize("method", ["cells", "cautious", "grid", "lloyd"])
def test_two_errors_cover_most_means_of_the_rows_nearest_to_each_centre(method):
    inside = []
    for seed in range(10):
        model = fitted(method=method, random_state=seed, epsilon=0.5)
        labels = model.predict(ROWS)
        for label in set(labels):
            gap = ROWS[labels == label].mean(axis=0) - model.cluster_centers_[label]
            inside.append(abs(gap) <= 2 * model.cluster_centers_error_[label])
    assert np.mean(inside) > 0.8


# Cells of a grid are as wide, whatever the budget.
@pytest.mark.parametrize("method", ["cells", "cautious", "lloyd"])
def test_errors_shrink_with_the_budget(method):
    little, much = (
        fitted(method=method, epsilon=epsilon).cluster_centers_error_.mean() for epsilon in (0.3, 3)
    )
    assert much < little / 2  # a larger budget makes more steps, each with less of it


def test_the_error_of_a_noisy_mean_is_that_of_many_draws():
    exact_sum, exact_count = np.array([[30.0, -10.0]]), 100.0
    sums, counts = RNG.normal(exact_sum, 4.0, (100_000, 2)), RNG.normal(exact_count, 3.0, 100_000)
    answer = ClusterAnswer(Noisy(np.array([exact_count]), 3.0), Noisy(exact_sum, 4.0))
    expected = errors_of_means(answer, exact_sum / exact_count, 0.0, 1.0)[0]
    np.testing.assert_allclose(np.std(sums / counts[:, None], axis=0), expected, rtol=0.02)


def test_centres_that_never_saw_the_rows_may_lie_anywhere_within_the_bounds():
    model = fitted(ROWS[:5], method="cells", epsilon=0.01, random_state=SEEN_AS_FEW)
    assert "never saw the rows" in model.warnings_[0]
    np.testing.assert_array_equal(model.cluster_centers_error_, np.full((3, 2), 5.0))


def test_errors_are_in_the_units_of_the_data():
    small, large = (
        fitted(ROWS * scale, bounds=(0, 10 * scale)).cluster_centers_error_ for scale in (1, 1000)
    )
    np.testing.assert_allclose(large, 1000 * small, rtol=1e-3)


@pytest.mark.usefixtures("blank_pictures")
def test_errors_are_released_shown_and_printed():
    model = fitted()
    release = model.release()
    np.testing.assert_array_equal(
        release.arrays["cluster_centers_error"], model.cluster_centers_error_
    )
    facts = release.facts()
    assert facts.values["clusters"][0]["center_error"].keys() == {"x0", "x1"}
    assert all(" ± " in cell for cell in facts.listings[0].lines[0][1:])
    assert "errors of the noise and of what the last step leaves out" in release.to_html()


@pytest.mark.usefixtures("blank_pictures")
@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("lloyd", "errors of the noise alone"),
        ("cautious", "errors of what noise leaves unknown of the last move"),
        ("grid", "errors of the noise and of the width of the cells"),
    ],
)
def test_a_report_says_what_the_errors_of_its_method_hold(method, words):
    assert words in fitted(method=method).release().to_html()


@pytest.mark.usefixtures("blank_pictures")
def test_a_release_without_errors_of_its_centres_still_loads(tmp_path):
    old = make_release()
    assert Release.load(old.save(tmp_path / "old")) == old
    assert "center_error" not in old.facts().values["clusters"][0]
    assert "How far noise moved the centres is not part of this release" in old.to_html()


@pytest.mark.parametrize("errors", [np.zeros((2, 2)), -np.ones(np.shape(CENTERS))])
def test_errors_of_centres_that_cannot_be_are_refused(errors):
    arrays = {**make_release().arrays, "cluster_centers_error": errors}
    with pytest.raises(ReleaseError, match="cluster_centers_error"):
        make_release(arrays=arrays)
