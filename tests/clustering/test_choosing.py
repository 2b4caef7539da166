"""The choice of k: a number where there is one, 1 where there is one cluster, and the curve."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score, calinski_harabasz_score

from privclust import Box, Categories, PrivateSummary, Schema
from privclust.clustering.choose_k import Verdicts, _rand_index, _separation
from privclust.clustering.shortlist import shortlist_of
from privclust.exceptions import ParameterError


def clumps(k, seed=0):
    rng = np.random.default_rng(seed)
    corners = np.array([[-0.7, -0.7], [0.7, 0.7], [-0.7, 0.7], [0.7, -0.7], [0.0, 0.0]])[:k]
    return corners[rng.integers(k, size=20_000)] + rng.normal(0, 0.07, (20_000, 2))


def summary_of(rows):
    return PrivateSummary(epsilon=1, delta=1e-6, bounds=(-1, 1), random_state=0).fit(rows)


@pytest.mark.parametrize("k", [3, 5])
def test_a_clear_number_is_found(k):
    choice = summary_of(clumps(k)).choose_k(range(1, 9))
    assert choice.n_clusters == choice.suggestion == k
    assert choice.verdict == f"The rows are in {k} clusters."


def test_one_cluster_is_one():
    rows = np.clip(np.random.default_rng(0).normal(0, 0.25, (20_000, 2)), -1, 1)
    choice = summary_of(rows).choose_k(range(1, 9))
    assert choice.n_clusters == choice.suggestion == 1


def test_cells_too_few_to_halve_never_say_that_there_is_one_cluster():
    rng = np.random.default_rng(0)
    kinds = rng.integers(3, size=3000)
    rows = pd.DataFrame({"age": np.array([25, 45, 75])[kinds] + rng.normal(0, 5, 3000)})
    for name, size in (("status", 3), ("ward", 4)):
        codes = np.where(rng.random(3000) < 0.9, kinds, rng.integers(size, size=3000))
        rows[name] = np.array(list("abcd"))[codes]
    schema = Schema(
        {"age": Box(0, 110), "status": Categories(list("abc")), "ward": Categories(list("abcd"))}
    )
    summary = PrivateSummary(epsilon=0.5, schema=schema, random_state=1).fit(rows)
    assert 3 < (summary.counts_ > 0).sum() < 16
    choice = summary.choose_k()
    assert choice.n_clusters is None
    assert choice.suggestion == choice.ks[1:][int(choice.stability[1:].argmax())]


def mixed(kinds, sizes, usual, seed=0):
    rng = np.random.default_rng(seed)
    own, shifts = rng.integers(kinds, size=20_000), rng.integers(10, size=len(sizes))
    columns = {"x": np.clip(own / kinds + rng.normal(0.1, 0.05, 20_000), 0, 1)}
    for number, (size, shift) in enumerate(zip(sizes, shifts, strict=True)):
        others = rng.integers(size, size=20_000)
        codes = np.where(rng.random(20_000) < usual, (own + shift) % size, others)
        columns[f"c{number}"] = np.array([f"v{i}" for i in range(size)])[codes]
    facts = {f"c{i}": Categories([f"v{j}" for j in range(size)]) for i, size in enumerate(sizes)}
    schema = Schema({"x": Box(0, 1), **facts})
    return PrivateSummary(epsilon=1, delta=1e-6, schema=schema, random_state=0).fit(
        pd.DataFrame(columns)
    )


def test_combinations_of_independent_categories_are_no_clear_number():
    choice = mixed(1, (2, 3), 0.0).choose_k(range(1, 9))
    assert choice.stability.max() == pytest.approx(1)  # each of the six is a clump of its own
    assert choice.n_clusters is None


def test_kinds_of_mixed_rows_are_found():
    assert mixed(4, (4, 5, 6, 4), 0.85).choose_k(range(1, 9)).n_clusters == 4
    few = mixed(4, (4, 4, 4), 0.85).choose_k(range(1, 9))
    assert few.n_clusters == 4
    assert few.suggestion == 4


def test_kinds_that_are_not_stable_are_never_one_cluster():
    separation, bic = np.array([0, 1, 2, 4, 3]), np.array([0, 1, 2, 3, 4])
    stability = np.array([1, 0.5, 0.8, 0.7, 0.6])
    best = Verdicts.of((1, 2, 3, 4, 5), separation, separation, bic, stability, 40)
    assert best.of_numbers() == (1, 1)
    assert best.of_mixed_rows(lambda k: k == 5) == (None, 5)
    assert best.of_mixed_rows(lambda k: False) == (1, 1)


def test_a_number_that_is_not_stable_itself_is_not_clear():
    index, of_rows = np.array([0, 1, 2, 3, 4]), np.array([0, 1, 4, 3, 2])
    for own, expected in ((0.89, (None, 3)), (0.91, (5, 5))):
        stability = np.array([1, 0.5, 0.95, 0.7, own])
        best = Verdicts.of((1, 2, 3, 4, 5), index, of_rows, index, stability, 40)
        assert best.of_numbers() == expected


@pytest.mark.parametrize(
    ("stability", "stands", "expected"),
    [
        ([1, 0.5, 0.95, 0.7, 0.6], {3, 5}, (3, 3)),  # the only stable one, and the BIC's
        ([1, 0.5, 0.95, 0.7, 0.6], {5}, (None, 5)),  # but no better than independent columns
        ([1, 0.5, 0.95, 0.7, 0.96], {3, 5}, (None, 5)),  # two are stable
        ([1, 0.95, 0.5, 0.7, 0.6], {2, 3, 5}, (None, 5)),  # nothing else speaks for it
    ],
)
def test_a_single_stable_number_of_mixed_rows_needs_one_more_criterion(stability, stands, expected):
    separation, bic = np.array([0, 1, 2, 3, 4]), np.array([0, 1, 4, 3, 2])
    best = Verdicts.of((1, 2, 3, 4, 5), separation, separation, bic, np.array(stability), 40)
    assert best.of_numbers() == (None, 5)
    assert best.of_mixed_rows(lambda k: k in stands) == expected


def test_the_curve_has_every_number_and_falls():
    choice = summary_of(clumps(3)).choose_k([2, 3, 4, 6])
    assert choice.ks == (1, 2, 3, 4, 6)
    assert (np.diff(choice.inertia) < 0).all()
    assert len(str(choice).splitlines()) == 7 + 4  # and the shortlist


def test_numbers_beyond_the_cells_are_refused_in_one_sentence():
    with pytest.raises(ParameterError, match="cells stand out from the noise") as caught:
        summary_of(clumps(3)).choose_k([10_000])
    assert ". " not in str(caught.value)


@pytest.mark.parametrize("candidates", [[], [1]])
def test_nothing_to_choose_among_is_no_verdict(candidates):
    with pytest.raises(ParameterError, match="nothing to choose among; give at least one number"):
        summary_of(clumps(3)).choose_k(candidates)


def test_known_answers_of_the_criteria():
    rng = np.random.default_rng(0)
    one, other = rng.integers(3, size=(2, 400))
    other = np.where(rng.random(400) < 0.7, one, other)
    # The index counts pairs with repetition, so that it takes weights; many rows make it the same.
    assert _rand_index(one, other, np.ones(400)) == pytest.approx(
        adjusted_rand_score(one, other), abs=0.01
    )
    points = rng.normal(size=(300, 2)) + 4 * np.eye(2)[rng.integers(2, size=300)]
    points -= points.mean(axis=0)
    centers = np.array([[2.0, -2.0], [-2.0, 2.0]])
    for _ in range(20):
        near = ((points[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        centers = np.array([points[near == label].mean(axis=0) for label in range(2)])
    assert _separation(points, np.ones(300), centers, 0.0) == pytest.approx(
        calinski_harabasz_score(points, near)
    )


def test_the_index_of_the_rows_counts_what_the_cells_hide():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 1)) + np.repeat([-3, 3], 200)[:, None]
    rows -= rows.mean()
    cells = rows.reshape(100, 4).mean(axis=1)[:, None]
    within = ((rows.reshape(100, 4) - cells) ** 2).mean()
    centers = np.array([[-3.0], [3.0]])
    weights = np.full(100, 4.0)
    near = (rows > 0).ravel()
    expected = calinski_harabasz_score(rows, near) * (100 - 2) / (400 - 2)
    assert _separation(cells, weights, centers, within) == pytest.approx(expected, rel=0.05)
    assert _separation(cells, weights, centers, 0.0) > 2 * expected


def test_the_index_of_few_cells_does_not_prefer_as_many_clusters():
    rng = np.random.default_rng(1)
    cells = np.repeat([[-2.0], [2.0]], 6, axis=0) + rng.normal(0, 0.5, (12, 1))
    cells -= cells.mean()
    order, by_k = np.sort(cells, axis=0), {}
    for k in (2, 11):
        centers = np.array([part.mean(axis=0) for part in np.array_split(order, k)])
        by_k[k] = [_separation(cells, np.ones(12), centers, within) for within in (0.0, 0.25)]
    assert by_k[2][1] > by_k[11][1]


def test_the_shortlist_begins_with_the_suggestion_and_says_what_splits():
    choice = summary_of(clumps(5)).choose_k(range(1, 9))
    first, *others = choice.shortlist
    assert first.n_clusters == choice.suggestion == 5
    assert len(others) == 2
    assert all(candidate.n_clusters != 5 for candidate in others)
    assert first.stability > 0.9
    assert "5: stability" in first.sentence
    assert first.sentence in str(choice)


def test_a_candidate_splits_the_clusters_whose_cells_part():
    labels = {1: np.zeros(6, int), 2: np.array([0, 0, 0, 0, 1, 1]), 3: np.array([0, 0, 1, 1, 2, 2])}
    stability, separation = np.array([1, 0.95, 0.9]), np.array([0, 5.0, 4.8])
    found = shortlist_of((1, 2, 3), separation, stability, labels, np.ones(6), 2)
    assert [candidate.n_clusters for candidate in found] == [2, 3]
    assert (found[1].beside, found[1].splits) == (2, (0,))
    assert found[1].sentence == "3: stability 0.90; of the 2 clusters it splits 0"
    assert shortlist_of((1, 2, 3), separation, stability, labels, np.ones(6), 1)[0].n_clusters == 1
