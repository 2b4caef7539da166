"""The report of a categorical release: distances of values, and the clusters by their shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from privclust._typing import Floats
from privclust.categories.release import attribute_points, distances
from privclust.reports.findings import RowGroups
from privclust.reports.svg import ACCENT, INK, MUTED, WIDTH, inline_svg, is_narrow, short_name
from privclust.reports.values import category_labels, column_label, significant
from privclust.schema.facts import Box

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privclust.release.release import Release


# The pictures of a categorical metric: distances between values as a heat map, values in 2-d.

# Above this many values cells are too small for numbers; and on a phone.
_NUMBERS_UP_TO, _NUMBERS_ON_A_PHONE = 12, 6
# Values within this share of the picture share one label, of at most this many names.
_TOO_NEAR, _MOST_JOINED = 0.04, 3


def distance_plot(name: str, labels: Sequence[str], distances: Floats) -> str:
    """Draw the distances between the values of one attribute; a stronger colour is farther."""
    size = len(labels)
    largest = float(distances.max()) or 1.0
    side = min(WIDTH, 1.6 + 0.3 * size) if size <= _NUMBERS_UP_TO else min(WIDTH, 2 + 0.2 * size)

    def draw(figure: Figure) -> None:
        from matplotlib.collections import PatchCollection
        from matplotlib.colors import to_rgba
        from matplotlib.patches import Rectangle

        ax = figure.subplots()
        cells = [Rectangle((j, i), 0.96, 0.96) for i in range(size) for j in range(size)]
        shades = [to_rgba(ACCENT, 0.03 + 0.62 * value / largest) for value in distances.ravel()]
        ax.add_collection(PatchCollection(cells, facecolors=shades, edgecolors="none"))
        if size <= (_NUMBERS_ON_A_PHONE if is_narrow(figure) else _NUMBERS_UP_TO):
            for (i, j), value in np.ndenumerate(distances):
                if i != j:
                    ax.text(j + 0.48, i + 0.48, f"{value:.2f}", ha="center", va="center", size=7)
        ax.set(xlim=(0, size), ylim=(size, 0), aspect="equal", anchor="W")
        words = [short_name(label, 18) for label in labels]
        at = np.arange(size) + 0.48
        font = 8 if size <= _NUMBERS_UP_TO else 6
        ax.set_xticks(at, words, rotation=90, fontsize=font, color=INK)
        ax.set_yticks(at, words, fontsize=font)
        ax.tick_params(length=0)
        for spine in ax.spines.values():
            spine.set_visible(False)

    alt = (
        f"Heat map of the distances between the {size} values of {short_name(name)}; a stronger "
        "colour is further."
    )
    return inline_svg(
        f"distances-{_slug(name)}", alt, (WIDTH, side), draw, narrow_height=min(side, 4.2)
    )


def value_plot(name: str, labels: Sequence[str], points: Floats) -> str:
    """Draw the values of one attribute in the two directions in which they differ most."""
    centred = points - points.mean(axis=0)
    left, strengths, _ = np.linalg.svd(centred, full_matrices=False)
    plane = np.zeros((len(labels), 2))
    kept = min(2, len(strengths))
    plane[:, :kept] = left[:, :kept] * strengths[:kept]

    def draw(figure: Figure) -> None:
        ax = figure.subplots()
        ax.scatter(plane[:, 0], plane[:, 1], 22, color=ACCENT, alpha=0.7)
        for text, (x, y) in _merge_close_labels(labels, plane):
            side = "right" if 2 * x > plane[:, 0].min() + plane[:, 0].max() else "left"
            shift = (-4 if side == "right" else 4, 4)
            style: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7, "ha": side}
            ax.annotate(text, (x, y), shift, **style)
        ax.set(xticklabels=[], yticklabels=[])
        ax.margins(0.18)
        ax.set_aspect("equal", adjustable="datalim")
        ax.tick_params(length=0, labelcolor=MUTED)
        ax.grid(visible=True)
        ax.set_axisbelow(True)

    alt = f"Map of the {len(labels)} values of {short_name(name)}: values that are near are alike."
    return inline_svg(f"values-{_slug(name)}", alt, (WIDTH, 4.0), draw, narrow_height=3.4)


def _merge_close_labels(
    labels: Sequence[str], points: Floats
) -> list[tuple[str, tuple[float, float]]]:
    """Return labels and positions; values too close together share a label."""
    reach = _TOO_NEAR * float(np.ptp(points, axis=0).max())
    left, texts = list(range(len(labels))), []
    while left:
        first = left[0]
        near = [i for i in left if np.abs(points[i] - points[first]).max() <= reach]
        left = [i for i in left if i not in near]
        words = ", ".join(short_name(labels[i], 18) for i in near[:_MOST_JOINED])
        more = len(near) - _MOST_JOINED
        text = f"{words} and {more} more" if more > 0 else words
        texts.append((text, (float(points[first, 0]), float(points[first, 1]))))
    return texts


def _slug(name: str) -> str:
    """Return an id that is unique for the name and safe in a page."""
    return name.encode("utf-8").hex()


# What the report of a categorical release shows of each attribute, and of its clusters.

_MOST_DRAWN = 60  # attributes with pictures
_MOST_VALUES = 60  # values in a picture
# Distances of an attribute that vary by less than this share of their mean are not worth a line.
_CLEAR = 0.1


def categorical_context(release: Release) -> dict[str, Any]:
    """Return what the template ``report.html.j2`` needs."""
    shown, seen = metric_context(release), release.signal == "seen"
    told = [it for it in shown["attributes"] if it["contrast"] and it["contrast"]["told"]]
    first = next((it for it in told if it["map"]), None) if seen else None
    return {
        **shown,
        "told": told if seen else [],
        "picture": first and {"name": first["name"], "map": first["map"]},
        "hidden": not seen,
        "clusters": _clusters(release),
    }


def metric_context(release: Release) -> dict[str, Any]:
    """Return what the template ``metric.html.j2`` needs."""
    places = np.flatnonzero(release.arrays["learned"])
    attributes = [
        _attribute(release, int(place), drawn=number < _MOST_DRAWN)
        for number, place in enumerate(places)
    ]
    return {
        "attributes": attributes,
        "cell_error": significant(float(release.arrays["cell_error"][0]), 3),
    }


def _attribute(release: Release, place: int, *, drawn: bool) -> dict[str, Any]:
    name = release.schema.names[place]
    fact = release.schema[name]
    labels = () if isinstance(fact, Box) else tuple(category_labels(fact))
    points = attribute_points(release, place)
    called = [column_label(*column) for column in release.schema.columns.items()]
    context = np.flatnonzero(release.arrays["contexts"][place] > 0)
    described: dict[str, Any] = {
        "name": called[place],
        "values": len(labels),
        "context": [called[other] for other in context],
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


def _contrast(labels: tuple[str, ...], matrix: Floats) -> dict[str, Any]:
    """Compare with plain mismatch, in which all values are equally far apart."""
    first, second = np.triu_indices(len(labels), 1)
    apart = matrix[first, second]
    mean = float(apart.mean())
    near, far = int(apart.argmin()), int(apart.argmax())
    return {
        "told": len(labels) > 2 and float(apart.std()) > _CLEAR * mean,
        "mean": f"{mean:.3g}",
        "variation": f"{100 * float(apart.std()) / mean:.0f} %" if mean > 0 else "0 %",
        "nearest": f"{labels[first[near]]} and {labels[second[near]]}",
        "farthest": f"{labels[first[far]]} and {labels[second[far]]}",
        "nearest_distance": f"{apart[near]:.3g}",
        "farthest_distance": f"{apart[far]:.3g}",
    }


def _clusters(release: Release) -> dict[str, Any] | None:
    """Return the sizes of clusters; what their rows have in common is not in such a release."""
    arrays = release.arrays
    if "cluster_sizes" not in arrays:
        return None
    sizes, errors = (arrays[f"cluster_sizes{end}"].astype(float) for end in ("", "_error"))
    nothing = np.zeros((len(sizes), 0))
    groups = RowGroups(release.schema, nothing, None, sizes, errors, release.about.names)
    return {
        "found": release.signal != "none" and bool(groups.order),
        "groups": groups.size_context(),
    }
