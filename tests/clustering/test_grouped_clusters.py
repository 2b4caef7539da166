"""The grouped question is that about clusters, added up over groups of centres before noise."""

import numpy as np
import pytest

from privclust.budget import Budget
from privclust.data.points.public import Projection
from support.noise import NoNoise
from support.views import view_of

CENTRES = np.array([[0.3, 0.3], [-0.3, 0.0], [0.1, -0.4], [0.0, 0.0]])
GROUPS = np.array([2, 0, 2, 0])
ROWS = np.random.default_rng(0).uniform(-1, 1, (200, 2))
FRAME = Projection(np.zeros(2))


def asked(question, *about):
    shares = Budget(1).whole.split([1, 1, 1])
    parts = dict(zip(("counts", "offsets", "square"), shares, strict=True))
    return getattr(view_of(ROWS, noise=NoNoise()), f"ask_{question}")(
        "q", FRAME, *about, 0.2, **parts
    )


def test_groups_add_up_what_clusters_have():
    one, all_of_it = asked("clusters", CENTRES), asked("grouped_clusters", CENTRES, GROUPS)
    for group in range(3):
        inside = group == GROUPS
        assert all_of_it.counts.value[group] == one.counts.value[inside].sum()
        np.testing.assert_allclose(
            all_of_it.offsets.value[group], one.offsets.value[inside].sum(axis=0), atol=1e-12
        )
    assert all_of_it.square.value == one.square.value


def test_noise_does_not_grow_with_the_number_of_groups():
    one, other = asked("clusters", CENTRES), asked("grouped_clusters", CENTRES, GROUPS)
    for part in ("counts", "offsets", "square"):
        assert getattr(one, part).standard_error == getattr(other, part).standard_error


@pytest.mark.parametrize("groups", [[0, 1], [0, 1, -1, 0]])
def test_centres_without_a_group_are_refused(groups):
    with pytest.raises(ValueError, match="Every centre needs one group"):
        asked("grouped_clusters", CENTRES, np.array(groups))
