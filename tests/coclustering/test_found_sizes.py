"""DP-τCC with numbers of clusters of its own: joined where noise explains, by released values."""

import numpy as np
import pytest

from privclust.coclustering.plan import synthetic_counts
from privclust.data.matrix.public import Groups
from privclust.data.public import Noisy
from privclust.exceptions import ParameterError
from privclust.papers.metrics import goodman_kruskal_tau
from privclust.papers.tau import PrivateTauCoclustering
from privclust.papers.tau.automatic import MOST_CLUSTERS, alike, join_alike, start_from_signal
from privclust.papers.tau.private import random_start

AUTO = {"n_row_clusters": "auto", "n_column_clusters": "auto"}
ERROR = 5.0


def planted(k, seed=0):
    return synthetic_counts((400, 300), k, k, 400, seed=seed)


def test_rows_of_one_profile_are_joined_and_others_are_not():
    """Six rows of three profiles, some of them much larger than others; noise on every cell."""
    profiles = np.array([[900, 100, 100], [100, 900, 100], [100, 100, 900]], float)
    table = np.concatenate([profiles, 4 * profiles])
    found = [
        tuple(alike(table + np.random.default_rng(seed).normal(0, ERROR, table.shape), ERROR))
        for seed in range(40)
    ]
    assert found.count((0, 1, 2, 0, 1, 2)) >= 36


def test_a_table_of_noise_is_one_cluster():
    rng = np.random.default_rng(0)
    left = [alike(rng.normal(0, ERROR, (6, 5)), ERROR).max() + 1 for _ in range(40)]
    assert np.mean(left) < 1.3


def test_joined_blocks_are_the_sums_of_those_of_the_joined_clusters():
    table = np.array([[500.0, 20, 510], [10, 600, 12], [505, 25, 495]])
    rows, columns = Groups(np.array([0, 1, 2, 2]), 3), Groups(np.array([2, 0, 1]), 3)
    blocks, errors, tall, wide = join_alike(Noisy(table, ERROR), rows, columns)
    assert blocks.tolist() == [[2010, 45], [22, 600]]
    assert errors == pytest.approx(ERROR * np.sqrt([[4, 2], [2, 1]]))
    assert tall.labels.tolist() == [0, 1, 0, 0]
    assert tall.count == 2
    assert wide.labels.tolist() == [0, 0, 1]
    assert wide.count == 2


def test_more_signal_begins_with_more_clusters_and_pays_for_more_rounds():
    starts = [start_from_signal(10.0**n, (500, 800), 1.0) for n in range(2, 8)]
    assert [s.n_clusters for s in starts] == sorted(s.n_clusters for s in starts)
    assert [s.n_rounds for s in starts] == sorted(s.n_rounds for s in starts)
    assert starts[0].n_clusters == 2
    assert starts[-1].n_clusters == MOST_CLUSTERS
    assert all(0.5 <= s.choice <= 0.95 for s in starts)
    assert start_from_signal(-50.0, (500, 800), 1.0) == starts[0]._replace(choice=0.5)


@pytest.mark.parametrize("k", [2, 4])
def test_planted_numbers_of_clusters_are_found(k):
    data = planted(k)
    found = [
        PrivateTauCoclustering(**AUTO, epsilon=3, choice_share="auto").fit(data.counts)
        for _ in range(6)
    ]
    shapes = [model.block_totals_.shape for model in found]
    assert np.median([abs(rows - k) for rows, _ in shapes]) <= 1
    for model in found:
        n_rows, n_columns = model.block_totals_.shape
        assert model.release().parameters["n_row_clusters"] == n_rows
        assert set(model.row_labels_) <= set(range(n_rows))
        assert set(model.column_labels_) <= set(range(n_columns))
        assert model.privacy_.epsilon <= 3


def test_of_no_structure_one_cluster_is_left_or_two():
    counts = np.random.default_rng(0).poisson(1.0, (300, 200))
    models = [PrivateTauCoclustering(**AUTO, epsilon=1).fit(counts) for _ in range(8)]
    assert np.mean([len(model.block_totals_) for model in models]) <= 2
    assert max(goodman_kruskal_tau(model.block_totals_) for model in models) < 0.05


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"n_row_clusters": "auto"}, "both numbers of clusters or none"),
        ({"choice_share": "auto"}, 'choice_share="auto" needs'),
        ({**AUTO, "noise": "published"}, "nothing was published"),
        ({"n_row_clusters": "many", "n_column_clusters": "auto"}, "n_row_clusters must be"),
    ],
)
def test_what_goes_only_together_is_refused_apart(given, sentence):
    with pytest.raises(ParameterError, match=sentence):
        PrivateTauCoclustering(**given).fit(np.ones((4, 4), int))


def test_no_cluster_of_the_start_is_ahead_because_columns_cannot_be_divided():
    """Ten columns in four clusters: blocks of three and of two, or all of three."""
    strengths = {}
    for even in (True, False):
        rows, weights = random_start((4000, 10), 4, 4, np.random.default_rng(0), even=even)
        own = [weights[rows.labels == k, k].mean() for k in range(4)]
        strengths[even] = max(own) / min(own)
    assert strengths[True] == pytest.approx(1, abs=0.02)
    assert abs(strengths[False] - 1) > 0.1
