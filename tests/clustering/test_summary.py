"""A summary answers for every k what its cells say, with the data or without them."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from privclust import Box, PrivateSummary, Release, Schema
from privclust.clustering.answers import Summary
from privclust.clustering.auto import ask_with_chosen_k
from privclust.clustering.spread import Spread
from privclust.clustering.summarise import _misses_far_rows
from privclust.data.points.door import PointRows
from privclust.exceptions import LowSignalWarning, ParameterError, ReleaseError
from privclust.opening.rows import open_points
from privclust.papers.metrics import inertia
from privclust.privacy.meter import Meter

RNG = np.random.default_rng(3)
CENTRES = np.array([[1.0, 1.0, 1.0], [9.0, 2.0, 5.0], [5.0, 9.0, 9.0], [9.0, 9.0, 1.0]])
OWN = RNG.choice(4, 20_000, p=[0.4, 0.3, 0.2, 0.1])
ROWS = CENTRES[OWN] + RNG.normal(0, 0.4, (20_000, 3))
SCHEMA = Schema({"age": Box(0, 10), "cost": Box(0, 10), "visits": Box(0, 10)})
WIDE = np.clip(RNG.uniform(-1, 1, (4, 14))[OWN] + RNG.normal(0, 0.1, (20_000, 14)), -1, 1)


def fitted(rows=ROWS, **changes):
    given = {"epsilon": 1.0, "random_state": 0, "schema": SCHEMA} | changes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PrivateSummary(**given).fit(rows)


MODEL = fitted()


def test_the_whole_budget_is_spent_and_no_more():
    assert float(MODEL.privacy_.spent.pure) == pytest.approx(1)
    assert MODEL.privacy_.spent.pure <= 1


@pytest.mark.parametrize("changes", [{}, {"delta": 1e-6}, {"unit": "replace-row"}])
def test_centres_and_sizes_are_those_of_the_clumps(changes):
    model = fitted(**changes)
    np.testing.assert_allclose(model.centers(4), CENTRES, atol=0.1)
    exact = np.bincount(OWN)
    assert (abs(model.sizes(4) - exact) < 5 * model.sizes_error(4)).all()


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_centres_in_many_columns_are_moved_in_all_of_them(delta):
    model = fitted(WIDE, schema=None, bounds=(-1, 1), delta=delta)
    means = np.array([WIDE[label == OWN].mean(axis=0) for label in range(4)])
    np.testing.assert_allclose(model.centers(4), means, atol=0.06)


def test_the_inertia_is_about_that_of_the_rows():
    scaled = ROWS / 10
    gaps = ((scaled[:, None] - MODEL.centers(4) / 10) ** 2).sum(axis=2).min(axis=1)
    assert MODEL.inertia(4) == pytest.approx(gaps.sum(), rel=0.1)
    assert MODEL.inertia(1) > MODEL.inertia(2) > MODEL.inertia(4)


@pytest.mark.system
def test_errors_cover_most_centres_of_the_rows_nearest_to_them():
    inside = []
    for seed in range(5):
        model = fitted(random_state=seed)
        near = ((ROWS[:, None] - model.centers(4)) ** 2).sum(axis=2).argmin(axis=1)
        means = np.array([ROWS[near == label].mean(axis=0) for label in range(4)])
        inside.append(abs(means - model.centers(4)) < 2 * model.centers_error(4))
    assert np.mean(inside) > 0.7
    assert np.median(MODEL.centers_error(4)) < 0.1  # so it says something


def test_two_errors_cover_most_sizes_and_inertias_and_one_error_does_not():
    wide = CENTRES[OWN[:4000]] + RNG.normal(0, 2, (4000, 3))
    rows = np.clip(wide, 0, 10)
    off = {"sizes": [], "inertia": []}
    for seed in range(60):
        model = fitted(rows, schema=None, bounds=(0, 10), epsilon=0.5, random_state=seed)
        gaps = ((rows[:, None] - model.centers(4)) ** 2).sum(axis=2)
        exact = np.bincount(gaps.argmin(axis=1), minlength=4)
        off["sizes"].append((model.sizes(4) - exact) / model.sizes_error(4))
        off["inertia"].append((model.inertia(4) - gaps.min(axis=1).sum()) / model.inertia_error(4))
    for errors in map(np.abs, off.values()):
        assert np.mean(errors < 2) > 0.85
        assert np.mean(errors < 1) < 0.85  # they say something


def test_errors_shrink_with_the_budget():
    for error in ("centers_error", "sizes_error"):
        little, much = (getattr(fitted(epsilon=e), error)(4).mean() for e in (0.3, 3))
        assert much < little / 2


def test_a_loaded_release_answers_as_the_model_does(tmp_path):
    loaded = Summary(Release.load(MODEL.release().save(tmp_path / "summary")))
    for name in ("centers", "centers_error", "sizes", "sizes_error", "inertia", "inertia_error"):
        np.testing.assert_array_equal(getattr(loaded, name)(5), getattr(MODEL, name)(5))
    assert loaded.kmeans(3) == MODEL.kmeans(3)
    assert loaded.profiles(3) == MODEL.profiles(3)
    np.testing.assert_array_equal(loaded.sample(9, random_state=1), MODEL.sample(9, random_state=1))
    assert str(loaded.choose_k(range(1, 7))) == str(MODEL.choose_k(range(1, 7)))


def test_a_kmeans_release_names_its_summary_and_costs_nothing_more():
    release = MODEL.kmeans(4)
    assert release.kind == "kmeans"
    assert release.parameters["summary"] == MODEL.release().digest
    assert release.privacy == MODEL.release().privacy
    assert (release.predict(CENTRES) == [0, 1, 2, 3]).all()


def test_synthetic_rows_lie_within_the_bounds_and_resemble_the_rows():
    rows = MODEL.sample(20_000, random_state=0)
    assert rows.min() >= 0
    assert rows.max() <= 10
    np.testing.assert_allclose(rows.mean(axis=0), ROWS.mean(axis=0), atol=0.15)
    np.testing.assert_allclose(np.cov(rows.T), np.cov(ROWS.T), atol=0.6)


def test_profiles_tell_what_is_beyond_the_noise():
    smallest = MODEL.profiles(4)[3]
    assert smallest.sentence.startswith(("cost higher", "visits lower", "age higher"))
    assert smallest.center["visits"] == pytest.approx(1, abs=0.2)
    hidden = fitted(ROWS * 0 + 5 + RNG.normal(0, 0.3, ROWS.shape)).profiles(1)[0]
    assert hidden.differences == {}
    assert hidden.sentence.startswith("nothing stands out from the noise; ")


FAR = np.clip(CENTRES[OWN] / 5 - 1 + 0.05 * RNG.standard_t(1.2, (20_000, 3)), -1, 1)


def test_an_inertia_that_misses_far_rows_says_so_and_nothing_else_is_doubted():
    model = PrivateSummary(epsilon=0.3, bounds=(-1, 1), random_state=0)
    with pytest.warns(LowSignalWarning, match="the inertia is too small; compare"):
        model.fit(FAR)
    assert model.inertia(4) < 0.8 * inertia(FAR, model.centers(4))
    assert model.choose_k(range(1, 7)).suggestion > 1
    assert model.release().signal == "seen"
    assert "warnings" not in model.kmeans(4).parameters


@pytest.mark.parametrize(
    ("more", "clip", "missed"), [(0, 9, False), (1, 9, True), (0.05, 9, False), (0, 2.5, True)]
)
def test_far_rows_are_missed_if_they_spread_farther_or_the_clip_is_too_close(more, clip, missed):
    cells = replace(MODEL._cells, counts_error=0.0, within_error=0.0)
    mean = np.average(cells.cells, axis=0, weights=cells.counts)
    gaps = ((cells.cells - mean) ** 2).sum(axis=1)
    square = np.average(gaps, weights=cells.counts) + (1 + more) * cells.within
    spread = Spread(cells.n_rows, mean, np.sqrt(square), 0.4 * cells.within * bool(more))
    assert _misses_far_rows(cells, spread, clip * np.sqrt(cells.within)) == missed


def test_an_inertia_of_rows_near_their_cells_is_not_doubted():
    for seed in range(3):
        assert fitted(random_state=seed).warnings_ == ()
        assert fitted(WIDE, schema=None, bounds=(-1, 1), random_state=seed).warnings_ == ()


# Bad input


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", True, 10**6])
def test_a_k_that_cannot_be_is_refused_in_one_sentence(k):
    with pytest.raises(ParameterError, match=r"n_clusters must be") as caught:
        MODEL.centers(k)
    assert ". " not in str(caught.value)


def test_a_release_of_another_kind_is_no_summary():
    with pytest.raises(ReleaseError, match="is not a summary"):
        Summary(MODEL.kmeans(2))


@pytest.mark.usefixtures("blank_pictures")
@pytest.mark.parametrize("n_rows", [1, 2, 20])
@pytest.mark.parametrize("n_columns", [1, 3, 14])
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_few_rows_are_summarised_with_a_warning(n_rows, n_columns, delta):
    rows = np.full((n_rows, n_columns), 0.5)
    model = PrivateSummary(epsilon=0.5, delta=delta, bounds=(-1, 1), random_state=1)
    with pytest.warns(LowSignalWarning):
        model.fit(rows)
    assert np.isfinite(model.centers(2)).all()
    assert "Nothing can be learned from this release" in model.release().to_html()


def test_cells_that_never_saw_the_rows_say_so():
    with pytest.warns(LowSignalWarning, match="never saw the rows"):
        model = PrivateSummary(epsilon=0.01, bounds=(-1, 1), random_state=1).fit(WIDE[:9])
    assert model.release().signal == "none"
    assert model.kmeans(3).signal == "none"
    assert model.choose_k([2, 3]).n_clusters is None
    with pytest.warns(LowSignalWarning, match="synthetic rows say nothing about them"):
        model.sample(5)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("raw_cells", [10**6], "points beyond"),
        ("groups", [-1], "points beyond"),
        ("counts", [-1.0], "negative entries"),
        ("within", [-1.0], "negative entries"),
    ],
)
def test_a_damaged_summary_is_refused(name, value, message):
    release = MODEL.release()
    array = np.array(release.arrays[name])
    array[0] = value[0]
    given = {"kind": "summary", "schema": release.schema, "privacy": release.privacy}
    with pytest.raises(ReleaseError, match=message):
        Release(arrays={**release.arrays, name: array}, parameters={}, **given)


@pytest.mark.system
def test_the_report_says_that_all_of_it_was_paid_once():
    page = MODEL.release().to_html()
    assert "The privacy budget was spent once" in page
    assert "rows fall into 4 groups of similar rows" in page
    assert "The rows are in 4 clusters." in page


def test_k_is_chosen_within_the_budget_of_one_fit():
    meter = Meter(MODEL._budget())
    with open_points(ROWS, schema=SCHEMA) as opened:
        rows = PointRows(opened, rescale=True)
        view = rows.private(meter, np.random.SeedSequence(0))
        result = ask_with_chosen_k(view, meter.budget.whole, np.random.default_rng(0))
        centres = rows.domain.to_data_units(result.centres)
    assert meter.spent.pure <= 1
    assert not result.notes
    np.testing.assert_allclose(centres, CENTRES, atol=0.2)


def test_a_plan_tells_the_questions_and_the_error():
    plan = PrivateSummary(schema=SCHEMA).plan(n_rows=20_000, n_clusters=4)
    assert 0.9 < plan.error_ratio < 1.5
    assert any("spread within cells" in charge.query for charge in plan.queries)
