"""Starting centres that never saw the data, for any declared bounds."""

import numpy as np
import pytest

from privclust.clustering.weighted_kmeans import spread_out_centres


@pytest.mark.parametrize("n_clusters", [1, 2, 9])
def test_any_box_can_be_packed_and_centres_lie_within_it(n_clusters):
    rng = np.random.default_rng(0)
    for _ in range(30):
        # Around the origin, where the middle of the narrowest side is not its exact half.
        low, high = -rng.uniform(0, 1, 2), rng.uniform(0, 1, 2)
        centres = spread_out_centres(n_clusters, low, high, rng)
        assert centres.shape == (n_clusters, 2)
        assert (centres >= low).all()
        assert (centres <= high).all()


def test_centres_stay_apart():
    centres = spread_out_centres(4, np.zeros(2), np.ones(2), np.random.default_rng(0))
    gaps = np.linalg.norm(centres[:, None] - centres, axis=2) + np.eye(4)
    assert gaps.min() > 0.2
