"""What PrivateKMeans does and says when noise hides the clusters."""

import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs

from privclust import PrivateKMeans
from privclust.clustering.refine import is_worse_than_one
from privclust.exceptions import LowSignalWarning


def test_centres_that_never_saw_the_rows_are_called_so():
    rows = np.random.default_rng(0).uniform(0, 1, (40, 6))
    tiny = PrivateKMeans(3, epsilon=0.01, bounds=(0, 1), random_state=1)
    with pytest.warns(LowSignalWarning, match="never saw the rows"):
        fitted = tiny.fit(rows)
    # Other rows, the same centres: nothing but the number of rows and the sizes was asked.
    with pytest.warns(LowSignalWarning, match="never saw the rows"):
        other = clone(tiny).fit(1 - rows)
    np.testing.assert_array_equal(fitted.cluster_centers_, other.cluster_centers_)
    names = [charge.query for charge in fitted.privacy_.queries]
    assert names == ["number of rows", "cluster sizes: counts"]
    assert fitted.privacy_.spent.pure == fitted._budget().amount
    page = fitted.release().to_html()
    assert "Nothing can be learned from this release" in page
    assert "without looking at the rows" in page
    assert not re.search("epsilon[,;.]|plan\\(", page)  # advice is for whoever fits


def test_hidden_clusters_are_warned_of_and_clear_ones_are_not():
    rows, _ = make_blobs(3000, centers=[[-5, 0], [0, 5], [5, 0]], cluster_std=0.3, random_state=0)
    hidden = PrivateKMeans(3, epsilon=0.01, bounds=(-10, 10), random_state=0)
    with pytest.warns(LowSignalWarning, match="hides some of the clusters"):
        hidden.fit(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PrivateKMeans(3, epsilon=1, bounds=(-10, 10), random_state=0).fit(rows)


def test_centres_that_are_no_better_than_one_are_called_so():
    places = np.array([[0.0, 0.0], [0.3, 0.4]])
    assert not is_worse_than_one(places, np.full((2, 2), 0.1), np.array([50.0, 50.0]))
    assert is_worse_than_one(places, np.full((2, 2), 0.2), np.array([50.0, 50.0]))
    assert not is_worse_than_one(places[:1], np.full((1, 2), 9.0), np.array([50.0]))  # it is one
    # Nothing but tight rows in one corner of bounds far too wide: the clusters are noise.
    rows = 20 + np.random.default_rng(0).normal(0, 1, (569, 30))
    model = PrivateKMeans(2, bounds=(0, 1000), random_state=0)
    with pytest.warns(LowSignalWarning, match="a single centre|hides (some|most)|may have no rows"):
        model.fit(rows)
    assert model.release().parameters["signal"] == "hidden"


@pytest.mark.parametrize("looser", [1, 3, 10])
@pytest.mark.parametrize(
    ("load", "n_clusters"), [(load_iris, 3), (load_wine, 3), (load_breast_cancer, 2)]
)
def test_no_fit_is_silently_worse_than_one_centre(load, n_clusters, looser):
    rows = load().data
    step = 10.0 ** np.floor(np.log10(np.ptp(rows, axis=0))) / 2  # bounds as a person rounds them
    low, high = np.floor(rows.min(axis=0) / step) * step, np.ceil(rows.max(axis=0) / step) * step
    more = (looser - 1) * (high - low) / 2
    low, high = low - more, high + more
    places = (rows - low) / (high - low)
    alone, worse = ((places - places.mean(axis=0)) ** 2).sum(), 0
    for seed in range(6):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = PrivateKMeans(n_clusters, bounds=(low, high), random_state=seed).fit(rows)
        centres = (model.cluster_centers_ - low) / (high - low)
        gaps = ((places[:, None] - centres) ** 2).sum(axis=2).min(axis=1)
        is_worse = gaps.sum() > alone
        worse += is_worse
        assert not is_worse or any(issubclass(note.category, LowSignalWarning) for note in told)
    assert worse == 6 or looser < 10  # so there is something to say
