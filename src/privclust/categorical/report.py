"""What the report of a categorical release shows of each attribute, and of its clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privclust._typing import Floats
from privclust.categorical.plots import distance_plot, value_plot
from privclust.categorical.release import attribute_points, distances
from privclust.reports.plots import size_plot
from privclust.schema import Box

if TYPE_CHECKING:
    from privclust.release.release import Release

__all__ = ["categorical_context"]


_MOST_DRAWN = 60  # attributes with pictures
_MOST_VALUES = 60  # values in a picture


def categorical_context(release: Release) -> dict[str, Any]:
    """Return what the template ``report.html.j2`` needs."""
    places = np.flatnonzero(release.arrays["learned"])
    attributes = [
        _attribute(release, int(place), drawn=number < _MOST_DRAWN)
        for number, place in enumerate(places)
    ]
    return {
        "attributes": attributes,
        "cell_error": f"{float(release.arrays['cell_error'][0]):,.3g}",
        "clusters": _clusters(release),
    }


def _attribute(release: Release, place: int, *, drawn: bool) -> dict[str, Any]:
    name = release.schema.names[place]
    fact = release.schema[name]
    labels = () if isinstance(fact, Box) else fact.labels
    points = attribute_points(release, place)
    names = np.array(release.schema.names, dtype=object)
    described: dict[str, Any] = {
        "name": name,
        "values": len(labels),
        "context": list(names[release.arrays["contexts"][place] > 0]),
        "heat_map": None,
        "map": None,
        "contrast": None,
    }
    if 2 <= len(labels) <= _MOST_VALUES:
        matrix = distances(points)
        described["contrast"] = _contrast(labels, matrix)
        if drawn:
            described["heat_map"] = distance_plot(name, labels, matrix)
            described["map"] = value_plot(name, labels, points) if len(labels) > 2 else None
    return described


def _contrast(labels: tuple[str, ...], matrix: Floats) -> dict[str, str]:
    """Compare with plain mismatch, in which all values are equally far from each other."""
    first, second = np.triu_indices(len(labels), 1)
    apart = matrix[first, second]
    mean = float(apart.mean())
    near, far = int(apart.argmin()), int(apart.argmax())
    return {
        "mean": f"{mean:.3g}",
        "variation": f"{100 * float(apart.std()) / mean:.0f} %" if mean > 0 else "0 %",
        "nearest": f"{labels[first[near]]} and {labels[second[near]]}",
        "farthest": f"{labels[first[far]]} and {labels[second[far]]}",
        "nearest_distance": f"{apart[near]:.3g}",
        "farthest_distance": f"{apart[far]:.3g}",
    }


def _clusters(release: Release) -> dict[str, Any] | None:
    if "cluster_sizes" not in release.arrays:
        return None
    sizes = release.arrays["cluster_sizes"].astype(np.float64)
    errors = release.arrays["cluster_sizes_error"].astype(np.float64)
    order = np.argsort(-sizes, kind="stable")
    labels = [int(label) for label in order]
    return {
        "k": len(labels),
        "rows_in_all": f"{sizes.sum():,.0f}",
        "found": release.signal != "none",
        "plot": size_plot(labels, sizes[order], errors[order]),
        "lines": _typical_values(release, labels),
    }


def _typical_values(release: Release, labels: list[int]) -> list[dict[str, Any]]:
    """Return for each cluster the values that pull a row towards its centre most."""
    sizes = [fact.size for fact in release.schema.columns.values() if not isinstance(fact, Box)]
    points = np.split(release.arrays["value_points"], np.cumsum(sizes)[:-1])
    centers = release.arrays["cluster_centers"]
    mean = np.average(centers, axis=0, weights=_weights(release))
    lines = []
    for label in labels:
        direction = centers[label] - mean
        pulls = []
        for name, part in zip(release.schema.names, points, strict=True):
            fact = release.schema[name]
            gain = part @ direction
            best = int(gain.argmax())
            if not isinstance(fact, Box) and gain[best] > 0:
                pulls.append((float(gain[best]), f"{name} = {fact.labels[best]}"))
        pulls.sort(key=lambda pull: -pull[0])
        lines.append({"label": label, "values": [value for _, value in pulls[:5]]})
    return lines


def _weights(release: Release) -> Floats:
    weights = np.clip(release.arrays["cluster_sizes"].astype(np.float64), 0, None)
    return weights if weights.sum() > 0 else np.ones_like(weights)
