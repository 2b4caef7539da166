"""Paid profiles: histograms of every cluster, their cost, their place in plan and report."""

import numpy as np
import pandas as pd
import pytest

from privclust import Box, Categories, Person, PrivateKMeans, PrivateSummary, Release, Schema
from privclust.budget import Budget
from privclust.clustering.answers import Summary
from privclust.clustering.histograms import check_numbers, histogram_note
from privclust.exceptions import ParameterError, ReleaseError
from privclust.unit.rows import AddRemoveRow, ReplaceRow
from support.transcripts import recorded_draws, replayed_draws

RNG = np.random.default_rng(0)
SCHEMA = Schema({"age": Box(0, 100), "stay": Box(0, 20)})
ROWS = np.concatenate(
    [RNG.normal([20, 3], [3, 0.8], (2000, 2)), RNG.normal([70, 11], [4, 0.8], (2000, 2))]
)
PLENTY = {"epsilon": 5.0, "schema": SCHEMA, "profile_share": 0.2, "random_state": 0}
KMEANS = PrivateKMeans(2, **PLENTY).fit(ROWS)
SUMMARY = PrivateSummary(**PLENTY).fit(ROWS)


def exact_histograms(model, rows):
    """Return what the noisy histograms stand for, by brute force."""
    labels, clipped = model.predict(rows), np.clip(rows, SCHEMA.low, SCHEMA.high)
    return np.array(
        [
            [
                np.histogram(clipped[labels == k, j], model.profile_edges_[j])[0]
                for j in range(rows.shape[1])
            ]
            for k in range(2)
        ]
    )


def test_histograms_are_those_of_the_rows_of_each_cluster_up_to_noise():
    assert KMEANS.profile_counts_.shape == (2, 2, 10)
    gaps = KMEANS.profile_counts_ - exact_histograms(KMEANS, ROWS)
    assert (np.abs(gaps) < 8 * KMEANS.profile_counts_error_).all()
    assert np.abs(gaps).max() > 0
    np.testing.assert_array_equal(KMEANS.profile_edges_[0], np.arange(0, 101, 10))


def test_profiles_take_their_share_and_the_clusters_the_rest():
    *clusters, profiles = KMEANS.privacy_.queries
    assert profiles.query == "profiles"
    assert profiles.loss.pure == Budget(5).amount / 5
    assert sum(asked.loss.pure for asked in clusters) == Budget(5).amount * 4 / 5


@pytest.mark.parametrize("kind", [PrivateKMeans, PrivateSummary])
def test_without_a_share_nothing_is_asked_and_nothing_kept(kind):
    model = kind(**PLENTY).fit(ROWS)
    model.set_params(profile_share=None).fit(ROWS)
    assert not hasattr(model, "profile_counts_")
    assert "profile_counts" not in model.release().arrays
    assert all(asked.query != "profiles" for asked in model.privacy_.queries)


@pytest.mark.parametrize("unit", [ReplaceRow(), Person("who", 2)], ids=str)
def test_other_units_have_more_noise(unit):
    frame = pd.DataFrame(ROWS, columns=["age", "stay"])
    frame = frame.assign(who=np.arange(len(frame))) if unit.id_column else frame
    model = PrivateKMeans(2, unit=unit, **PLENTY).fit(frame)
    assert model.profile_counts_error_.max() > 1.9 * KMEANS.profile_counts_error_.max()


def test_a_summary_has_histograms_of_the_clusters_that_it_suggests():
    assert SUMMARY.choose_k().n_clusters == 2
    profiles = SUMMARY.profiles(2)
    np.testing.assert_array_equal(profiles[0].histograms["age"], SUMMARY.profile_counts_[0, 0])
    sums = SUMMARY.profile_counts_.sum(axis=2)
    np.testing.assert_allclose(sums, SUMMARY.sizes(2)[:, None] + 0 * sums, atol=60)
    assert SUMMARY.profiles(3)[0].histograms is None


def test_histograms_travel_with_the_release(tmp_path):
    SUMMARY.release().save(tmp_path / "summary")
    loaded = Summary(Release.load(tmp_path / "summary"))
    np.testing.assert_array_equal(
        loaded.kmeans(2).arrays["profile_counts"], SUMMARY.profile_counts_
    )
    assert "profile_counts" not in loaded.kmeans(3).arrays


@pytest.mark.system
def test_reports_draw_histograms_that_were_paid_for(tmp_path):
    for release in (KMEANS.release(), SUMMARY.release()):
        page = release.report(tmp_path / f"{release.kind}.html")
        assert "Histograms of age, stay" in page.read_text("utf-8")


@pytest.mark.parametrize(
    "damage",
    [
        {"profile_counts": np.zeros((3, 2, 10))},
        {"profile_counts": np.zeros((2, 2))},
        {"profile_edges": np.zeros((2, 11))},
        {"profile_counts_error": np.full((2, 2, 10), -1.0)},
        {"profile_counts_error": None},
    ],
    ids=str,
)
def test_histograms_that_do_not_fit_are_refused(damage):
    release = KMEANS.release()
    arrays = {k: v for k, v in {**release.arrays, **damage}.items() if v is not None}
    with pytest.raises(ReleaseError, match=r"profiles|Profiles"):
        Release(
            kind="kmeans",
            arrays=arrays,
            schema=SCHEMA,
            parameters=release.parameters,
            privacy=release.privacy,
        )


# What share is needed.
@pytest.mark.parametrize("unit", [AddRemoveRow(), ReplaceRow(), Person("who", 3)], ids=str)
@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-6)], ids=["pure", "zcdp"])
def test_the_share_that_a_plan_names_gives_two_errors_of_five_points(budget, unit):
    """The rule: 57 C / (ε n_k) in pure ε and 800 C / (ρ n_k²) in ρ, for one row."""
    rows, columns, amount = 5000, 2, float(budget.amount)
    if isinstance(unit, AddRemoveRow):
        pure = 57 * columns / (amount * rows)
        needed = pure if budget.currency == "pure" else 800 * columns / (amount * rows**2)
    else:
        told = histogram_note(budget, unit, 2 * rows, 2, columns, 0.5)
        needed = float(told.split("a share of ")[1].split(" ")[0])
    said = histogram_note(budget, unit, 2 * rows, 2, columns, needed)
    assert float(said.split("two errors are ")[1].split(" ")[0]) == pytest.approx(5, rel=0.05)


def test_a_plan_says_how_good_profiles_will_be():
    model = PrivateKMeans(2, epsilon=1.0, schema=SCHEMA, profile_share=0.1)
    plan = model.plan(200)
    assert "Profiles of clusters of 100 rows" in str(plan)
    assert "more than all of the budget" in str(plan)
    assert plan.to_dict()["notes"] == list(plan.notes)
    assert "Profiles" not in str(model.set_params(profile_share=None).plan(200))


@pytest.mark.parametrize("share", [0, 1, -0.5, "half", True])
def test_a_share_that_cannot_be_is_refused_in_one_sentence(share):
    for kind in (PrivateKMeans, PrivateSummary):
        with pytest.raises(ParameterError, match="profile_share must be None or a number"):
            kind(bounds=(0, 1), profile_share=share).fit(ROWS)


def test_histograms_are_of_numbers_alone():
    mixed = Schema({"sex": Categories(["f", "m"]), "age": Box(0, 9), "town": Categories([1, 2, 3])})
    with pytest.raises(ParameterError, match="no column is one"):
        check_numbers(mixed.only(["sex", "town"]))


@pytest.mark.system
@pytest.mark.parametrize("kind", [PrivateKMeans, PrivateSummary])
def test_all_that_is_kept_is_made_of_noisy_answers(kind):
    """The answers of one fit, given again to a fit of other rows, end alike."""
    with recorded_draws() as draws:
        one = kind(**PLENTY).fit(ROWS)
    with replayed_draws([draw.answer for draw in draws]) as asked:
        two = kind(**PLENTY).fit(ROWS[::-7] / 2)
    assert [draw.mechanism for draw in asked] == [draw.mechanism for draw in draws]
    assert one.release() == two.release()


def test_mixed_tables_have_histograms_of_numbers_and_words_for_categories():
    rng = np.random.default_rng(0)
    old = rng.random(4000) < 0.4
    table = pd.DataFrame(
        {
            "status": np.where(
                rng.random(4000) < 0.2, "married", np.where(old, "widowed", "single")
            ),
            "age": np.where(old, 75, 30) + rng.normal(0, 4, 4000),
        }
    )
    schema = Schema({"status": Categories(["single", "married", "widowed"]), "age": Box(0, 100)})
    model = PrivateSummary(epsilon=5.0, schema=schema, profile_share=0.2, random_state=0)
    model.fit(table)
    assert model.profile_counts_.shape[1:] == (1, 10)
    profiles = model.profiles(2)
    words = [profile.sentence.split(";")[0].split(", ") for profile in profiles]
    assert {*words[0]} == {"age lower", "status mostly single"}
    assert {*words[1]} == {"age higher", "status mostly widowed"}
    if profiles[0].histograms is not None:
        assert profiles[0].histograms["age"].argmax() in (2, 3)


def test_histograms_and_a_learned_metric_are_refused_together():
    schema = Schema({"sex": Categories(["f", "m"]), "age": Box(0, 9)})
    table = pd.DataFrame({"sex": ["f", "m"], "age": [3.0, 4.0]})
    with pytest.raises(ParameterError, match="drop one of them"):
        PrivateKMeans(2, schema=schema, metric="dilca", profile_share=0.1).fit(table)
