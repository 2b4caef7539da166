"""A metric is one record: every name has one, and its lengths are those of its definition."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from privclust.data.sites.distances import EARTH_RADIUS_KM, METRICS, CoordinateMetric, MetricName
from privclust.exceptions import ReleaseError
from privclust.release.release import Release
from privclust.source_target.estimator import PrivateSourceTargetMedoids

NEAR, FAR = np.array([[10.0, 20.0]]), np.array([[-30.0, 60.0]])


def test_every_name_of_a_metric_has_a_record() -> None:
    names = {name for part in get_args(MetricName) for name in (get_args(part) or (part,))}
    assert set(METRICS) == names
    with_places = {name for name, metric in METRICS.items() if metric.has_coordinates}
    assert with_places == set(get_args(CoordinateMetric))


def _haversine(start: np.ndarray, end: np.ndarray) -> float:
    (a, b), (c, d) = np.radians(start[0]), np.radians(end[0])
    half = np.sin((c - a) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((d - b) / 2) ** 2
    return float(2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(half)))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("euclidean", np.hypot(40, 40)),
        ("manhattan", 80.0),
        ("cosine", 1 - (10 * -30 + 20 * 60) / np.sqrt(500 * 4500)),
        ("haversine", _haversine(NEAR, FAR)),
    ],
)
def test_distances_are_those_of_the_definition(name: str, expected: float) -> None:
    metric = METRICS[name]
    found = metric.distances(metric.embed(NEAR), metric.embed(FAR))
    assert found[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize("name", ["euclidean", "manhattan", "haversine"])
def test_embedded_points_find_their_way_back(name: str) -> None:
    np.testing.assert_allclose(METRICS[name].invert(METRICS[name].embed(FAR)), FAR)


def test_a_release_of_an_unknown_metric_is_refused() -> None:
    model = PrivateSourceTargetMedoids(1, random_state=0).fit(
        [[0.0, 0.0], [1.0, 1.0]], source=[[0.5, 0.5]]
    )
    release = model.release()
    parts = {name: getattr(release, name) for name in ("arrays", "schema", "privacy")}
    with pytest.raises(ReleaseError, match="'metric'"):
        Release(kind="source_target", parameters={**release.parameters, "metric": "taxi"}, **parts)
