"""What the reports of k-means and of summaries show: sizes, profiles, maps, the curve of k."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from privclust._typing import Floats
from privclust.categories.report import metric_context
from privclust.clustering.answers import Summary
from privclust.clustering.choose_k import Choice
from privclust.clustering.dendrogram import Dendrogram, draw_tree
from privclust.clustering.from_cells import most_clusters
from privclust.clustering.release import (
    cells_from_release,
    centers_error,
    column_scales,
    has_errors,
    has_metric,
    pictures,
)
from privclust.reports.plots import Map, heat_map, map_plot, principal_map, size_plot
from privclust.reports.svg import ACCENT, INK, WIDTH, inline_svg, is_narrow, short_name
from privclust.reports.words import format_error
from privclust.schema.coordinates import Coordinates

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privclust.release.release import Release


_MOST_COLUMNS = 16
_MOST_CLUSTERS = 40
_MOST_IN_PICTURE = 100
_MOST_CELLS = 20_000


@dataclass(frozen=True)
class _Clusters:
    """The released values, largest cluster first."""

    labels: list[int]
    sizes: Floats
    errors: Floats
    centers: Floats
    centers_error: Floats | None
    names: tuple[str, ...]
    low: Floats
    high: Floats

    @property
    def weights(self) -> Floats:
        """Sizes to average with: noise can make a size negative, a weight cannot be."""
        weights = np.clip(self.sizes, 0, None)
        return weights if weights.sum() > 0 else np.ones_like(weights)

    @property
    def differences(self) -> Floats:
        """Distance of each centre from the average, in shares of the declared ranges."""
        average = np.average(self.centers, axis=0, weights=self.weights)
        return (self.centers - average) / (self.high - self.low)

    @property
    def by_spread(self) -> list[int]:
        """The columns, those first in which the clusters differ most."""
        spread = np.average(self.differences**2, axis=0, weights=self.weights)
        return [int(j) for j in np.argsort(-spread, kind="stable")]


def kmeans_context(release: Release) -> dict[str, Any]:
    """Return what the template needs; centres that never saw the rows are not drawn."""
    clusters, found = _clusters(release), release.signal != "none"
    k, d = clusters.centers.shape
    top = clusters.by_spread[:_MOST_COLUMNS]
    rows = list(range(min(k, _MOST_CLUSTERS)))
    return {
        "k": k,
        "d": d,
        "columns": len(release.schema),
        "found": found,
        "rows_in_all": _minus(f"{clusters.sizes.sum():,.0f}"),
        "sizes": _size_rows(clusters),
        "negative": bool((clusters.sizes < 0).any()),
        "size_plot": _size_plot(clusters) if found else None,
        "in_size_plot": min(k, _MOST_IN_PICTURE),
        "heat_map": _heat_map(clusters, rows, top) if found else None,
        "map_plot": _map_plot(clusters, column_scales(release)) if found else None,
        "real_axes": d <= 2,
        "verdict": release.parameters.get("verdict"),
        "with_errors": clusters.centers_error is not None,
        "has_errors": has_errors(release),
        "of_summary": "summary" in release.parameters,
        "profile": _table(clusters, rows, top),
        "profile_clusters": len(rows),
        "profile_columns": len(top),
        "complete": _complete_table(clusters, len(rows) * len(top)),
        **pictures(release),
        **(metric_context(release) if has_metric(release) else {"attributes": []}),
    }


def _clusters(release: Release) -> _Clusters:
    arrays, coordinates = release.arrays, Coordinates(release.schema)
    sizes = arrays["cluster_sizes"].astype(np.float64)
    order = np.argsort(-sizes, kind="stable")
    noise = centers_error(release)
    return _Clusters(
        labels=[int(label) for label in order],
        sizes=sizes[order],
        errors=arrays["cluster_sizes_error"].astype(np.float64)[order],
        centers=arrays["cluster_centers"].astype(np.float64)[order],
        centers_error=None if noise is None else noise.astype(np.float64)[order],
        names=coordinates.names,
        low=coordinates.low,
        high=coordinates.high,
    )


def _size_rows(clusters: _Clusters) -> list[dict[str, str]]:
    whole = clusters.sizes.sum()
    return [
        {
            "label": str(label),
            "size": _minus(f"{size:,.0f}"),
            "error": format_error(2 * error),
            "share": _minus(f"{100 * size / whole:.1f} %") if whole > 0 else "",
        }
        for label, size, error in zip(clusters.labels, clusters.sizes, clusters.errors, strict=True)
    ]


def _size_plot(clusters: _Clusters) -> str:
    most = _MOST_IN_PICTURE
    return size_plot(clusters.labels[:most], clusters.sizes[:most], clusters.errors[:most])


def _heat_map(clusters: _Clusters, rows: list[int], top: list[int]) -> str | None:
    """Return the heat map; with a single cluster there is nothing to compare."""
    if len(clusters.labels) == 1:
        return None
    labels = [clusters.labels[i] for i in rows]
    names = [clusters.names[j] for j in top]
    return heat_map(labels, names, clusters.differences[np.ix_(rows, top)])


def _map_plot(clusters: _Clusters, scales: Floats) -> str | None:
    if len(clusters.labels) == 1:
        return None
    if len(clusters.names) <= 2:
        place = Map(clusters.centers, tuple(map(short_name, clusters.names)), real=True)
    else:
        place = principal_map(clusters.centers / scales, clusters.weights, clusters.names)
    most = _MOST_IN_PICTURE
    drawn = Map(place.points[:most], place.axes, place.real)
    return map_plot(clusters.labels[:most], drawn, clusters.sizes[:most])


def _table(clusters: _Clusters, rows: list[int], columns: list[int]) -> dict[str, Any]:
    """Return centres in their own units, one line per column of the data."""
    return {
        "labels": [clusters.labels[i] for i in rows],
        "lines": [
            {
                "name": clusters.names[j],
                "low": _number(clusters.low[j], _digits(clusters, j)),
                "high": _number(clusters.high[j], _digits(clusters, j)),
                "values": [_centre(clusters, i, j) for i in rows],
            }
            for j in columns
        ],
    }


def _centre(clusters: _Clusters, i: int, j: int) -> str:
    """Return a coordinate and two errors to each side."""
    value, errors = _number(clusters.centers[i, j], _digits(clusters, j)), clusters.centers_error
    return value if errors is None else f"{value} ± {2 * errors[i, j]:.2g}"


def _complete_table(clusters: _Clusters, n_shown: int) -> dict[str, Any] | None:
    """Return all centres, if the page shows only some of them and has room for the rest."""
    k, d = clusters.centers.shape
    if k * d == n_shown or k * d > _MOST_CELLS:
        return None
    return _table(clusters, list(range(k)), list(range(d)))


def _digits(clusters: _Clusters, j: int) -> int:
    """Return the digits after the point that matter in a column of this range."""
    return 3 - math.floor(math.log10(clusters.high[j] - clusters.low[j]))


def _number(value: float, digits: int) -> str:
    if digits > 6 or digits < -6:
        return _minus(f"{value:.4g}")
    text = f"{value:,.{max(digits, 0)}f}"
    return _minus(
        text.rstrip("0").rstrip(".") if float(value).is_integer() and "." in text else text
    )


def _minus(text: str) -> str:
    return text.replace("-", "−")


# What the report of a summary shows: the curve of k, and the clusters for a chosen k.

_FEWEST_CELLS = 3
_MOST_LEAVES = 30


def summary_context(release: Release) -> dict[str, Any]:
    """Return what the template needs; without enough cells there is nothing to choose."""
    summary, cells = Summary(release), cells_from_release(release)
    found = release.signal == "seen" and most_clusters(cells) >= _FEWEST_CELLS
    shown: dict[str, Any] = {
        "found": found,
        "rows": f"{cells.n_rows:,.0f}",
        "rows_error": format_error(2 * cells.n_rows_error),
        "n_cells": most_clusters(cells),
        "of_rows": summary.sample_notes() if "histogram_counts" in release.arrays else (),
        "labelled": _clusters_of_cells(release),
    }
    if not found:
        return shown
    choice = summary.choose_k()
    k = choice.suggestion
    return shown | {
        "verdict": choice.verdict,
        "clear": choice.n_clusters is not None,
        "shortlist": [candidate.sentence for candidate in choice.shortlist],
        "curve": _curve_plot(choice),
        "lines": _lines(choice),
        "k": k,
        "sentences": [profile.sentence for profile in summary.profiles(k)],
        "clusters": kmeans_context(summary.kmeans(k)),
        "tree": _tree_plot(summary.dendrogram()),
    }


def _clusters_of_cells(release: Release) -> dict[str, Any] | None:
    """Return the clusters of labelled cells and about how many rows they have, if there are any."""
    labels, counts = release.arrays.get("cell_labels"), release.arrays["counts"]
    if labels is None:
        return None
    names = range(int(labels.max()) + 1)
    return {
        "by": str(release.parameters.get("clusterer")),
        "of": str(release.parameters.get("summary", ""))[:12],
        "sizes": [f"{counts[labels == name].sum():,.0f}" for name in names],
        "noise": f"{counts[labels < 0].sum():,.0f}" if (labels < 0).any() else "",
    }


def _tree_plot(tree: Dendrogram) -> dict[str, Any]:
    """Draw the tree of the cells, and count what noise explains of it."""

    def draw(figure: Figure) -> None:
        most = _MOST_LEAVES // 2 if is_narrow(figure) else _MOST_LEAVES
        draw_tree(figure.subplots(), tree, most, ACCENT)

    merges, by_noise = len(tree.within_noise), int(tree.within_noise.sum())
    alt = f"Tree of {merges + 1} cells by Ward's rule; noise explains {by_noise} merges."
    return {
        "plot": inline_svg("tree", alt, (WIDTH, 3.4), draw),
        "merges": merges,
        "within_noise": by_noise,
        "leaves": min(_MOST_LEAVES, merges + 1),
    }


def _lines(choice: Choice) -> list[dict[str, str]]:
    curve = zip(choice.ks, choice.inertia, choice.inertia_error, choice.stability, strict=True)
    return [
        {
            "k": str(k),
            "inertia": f"{inertia:,.4g}",
            "error": format_error(2 * error),
            "stability": f"{stability:.2f}".replace("-", "−"),
        }
        for k, inertia, error, stability in curve
    ]


def _curve_plot(choice: Choice) -> str:
    """Draw the inertia of every k with two errors of the noise to each side."""

    def draw(figure: Figure) -> None:
        ax = figure.subplots()
        whiskers: dict[str, Any] = {"ecolor": INK, "capsize": 2.5, "elinewidth": 1.0}
        errors = 2 * choice.inertia_error
        ax.errorbar(
            choice.ks, choice.inertia, yerr=errors, color=ACCENT, marker="o", ms=4, **whiskers
        )
        ax.set_xlabel("number of clusters")
        ax.set_ylabel("inertia")
        ax.set_ylim(0, float(np.max(choice.inertia + errors)) * 1.05)
        ax.yaxis.grid(visible=True)
        ax.set_axisbelow(True)

    ends = f"{choice.inertia[0]:.3g} for 1 to {choice.inertia[-1]:.3g} for {choice.ks[-1]}"
    alt = f"Line of the inertia by the number of clusters, from {ends}. {choice.verdict}"
    return inline_svg("curve", alt, (WIDTH, 2.8), draw)
