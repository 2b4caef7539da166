"""The published algorithms: what they compute, that they warn, and that they are not private."""

import inspect

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from privclust.audit.auditor import audit
from privclust.audit.neighbours import NeighbourPair
from privclust.exceptions import NotPrivateWarning
from privclust.papers.metrics import cost_gap
from privclust.papers.zones.published import KMeansGuarantee, SubclusterGuarantee

PUBLISHED = [KMeansGuarantee, SubclusterGuarantee]
QUIET = pytest.mark.filterwarnings("ignore::privclust.exceptions.NotPrivateWarning")


@pytest.mark.parametrize("kind", PUBLISHED)
def test_making_one_warns_that_it_is_not_private(kind):
    with pytest.warns(NotPrivateWarning, match="NOT PRIVATE"):
        kind(3)


@pytest.mark.parametrize("kind", PUBLISHED)
def test_none_can_be_charged_to_a_ledger(kind):
    assert not {"ledger", "dataset"} & set(inspect.signature(kind).parameters)


@QUIET
@pytest.mark.parametrize("kind", PUBLISHED)
def test_with_little_noise_they_cluster(kind):
    rows = load_iris().data
    best = KMeans(3, n_init=5, random_state=0).fit(rows).cluster_centers_
    gaps = [
        cost_gap(rows, kind(3, epsilon=100, random_state=seed).fit(rows).cluster_centers_, best)
        for seed in range(9)
    ]
    assert np.median(gaps) < 0.2


@QUIET
def test_without_final_noise_a_subcluster_centre_is_a_raw_row():
    rows = load_iris().data
    centres = SubclusterGuarantee(3, epsilon=1e12, random_state=0).fit(rows).cluster_centers_
    gaps = abs(centres[:, None] - rows).max(axis=2).min(axis=1)
    assert gaps.max() < 1e-6


@QUIET
@pytest.mark.parametrize("empty_zone", ["keep", "mean"])
def test_an_empty_zone_is_treated_as_told(empty_zone):
    rows = np.array([[-1.0], [1.0]])
    model = SubclusterGuarantee(1, epsilon=1e12, empty_zone=empty_zone, random_state=0)
    place = abs(float(model.fit(rows).cluster_centers_[0, 0]))
    assert place == pytest.approx({"keep": 1.0, "mean": 0.0}[empty_zone], abs=1e-9)


@QUIET
@pytest.mark.parametrize("kind", PUBLISHED)
def test_the_zones_that_the_paper_publishes_are_exact_means_and_distances(kind):
    rows = load_iris().data
    model = kind(1, n_iter=3, random_state=0).fit(rows)
    first_start = rows[np.random.default_rng(0).choice(len(rows), 1, replace=False)]
    np.testing.assert_allclose(model.zone_middles_[0], rows.mean(axis=0)[None])
    np.testing.assert_allclose(
        model.zone_radii_[0], np.linalg.norm(first_start - rows.mean(axis=0), axis=1)
    )
    # Each zone reaches to the centre before, which was drawn within the last zone.
    assert (np.diff(model.zone_radii_[:, 0]) <= 1e-9).all()
    assert len(model.zone_middles_) == len(model.zone_radii_)


@QUIET
@pytest.mark.parametrize("kind", PUBLISHED)
def test_labels_are_those_of_the_noisy_centres(kind):
    rows = load_iris().data
    model = kind(3, epsilon=0.1, random_state=0).fit(rows)
    squares = ((rows[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.labels_, squares.argmin(axis=1))


# The attacks. The bounds are granted to be public.
ROWS = np.repeat([[-1.0], [1.0]], 500, axis=0)
ROW_IN_THE_ZONE = NeighbourPair("row in the zone", ROWS, np.append(ROWS, [[0.5]], axis=0))
CROWD = np.linspace(-1, -0.98, 300)[:, None]
ROW_FAR_OUT = NeighbourPair("row far out", CROWD, np.append(CROWD, [[1.0]], axis=0))


def audited(kind, n_clusters, pair, released, **parameters):
    """Audit one released attribute where a half is claimed; the auditor is not told the event."""

    def release(rows, rng):
        model = kind(n_clusters, epsilon=0.5, bounds=(-1, 1), random_state=rng, **parameters)
        return released(model.fit(rows))

    return audit(release, pair, 0.5, 600, features="values", random_state=0)


@pytest.mark.audit
@QUIET
@pytest.mark.parametrize(
    ("kind", "n_clusters", "pair"),
    [(SubclusterGuarantee, 1, ROW_IN_THE_ZONE), (KMeansGuarantee, 2, ROW_FAR_OUT)],
    ids=["SubclusterGuarantee", "KMeansGuarantee"],
)
def test_centres_alone_betray_more_than_three_where_a_half_is_claimed(kind, n_clusters, pair):
    report = audited(kind, n_clusters, pair, lambda model: model.cluster_centers_, n_iter=10)
    assert report.verdict == "violated"
    assert report.epsilon_lower > 3


@pytest.mark.audit
@QUIET
@pytest.mark.parametrize("kind", PUBLISHED)
def test_the_published_zone_betrays_more_than_three_where_a_half_is_claimed(kind):
    report = audited(kind, 1, ROW_IN_THE_ZONE, lambda model: model.zone_middles_[0], n_iter=1)
    assert report.verdict == "violated"
    assert report.epsilon_lower > 3
