"""What the reports of k-means and of summaries show: sizes, profiles, maps, the curve of k."""

from __future__ import annotations

from collections.abc import Sequence
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
    column_scales,
    groups_of,
    has_metric,
)
from privclust.clustering.shown import shown_parts
from privclust.reports.findings import RowGroups, missing_sentences
from privclust.reports.plots import (
    Map,
    heat_map,
    histogram_grid,
    map_plot,
    principal_map,
    strip_plot,
)
from privclust.reports.svg import ACCENT, INK, WIDTH, inline_svg, is_narrow, short_name
from privclust.reports.values import (
    HIDDEN,
    column_label,
    coordinate_facts,
    coordinate_labels,
    counted_missing,
    describe,
    describe_about,
    describe_count,
    describe_size,
    format_error,
    join_words,
    missing_words,
    percent_of,
    significant,
)
from privclust.schema.coordinates import Coordinates
from privclust.schema.facts import Box

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privclust.release.release import Release


_MOST_COLUMNS, _MOST_CLUSTERS = 16, 6
_MOST_IN_PICTURE, _MOST_LINES = 100, 40
_MOST_CELLS = 20_000
_MOST_ROWS, _MOST_HISTOGRAMS = 12, 8


def kmeans_context(release: Release) -> dict[str, Any]:
    """Return what the templates need; centres that never saw the rows are not drawn."""
    groups = groups_of(release)
    k = len(groups.sizes)
    found = release.signal != "none" and len(groups.order) >= min(k, 2)
    shown: dict[str, Any] = {
        "k": k,
        "unseen": release.signal == "none",
        "found": found,
        "groups": groups.context(),
        "sizes": size_rows(groups),
        "places": _table(groups, range(len(groups.sizes)), range(groups.centers.shape[1])),
        "errors_of": has_errors(release),
        "of_summary": "summary" in release.parameters,
        "verdict": release.parameters.get("verdict"),
    }
    return shown | (found_context(groups) | _details(release, groups) if found else {})


def found_context(groups: RowGroups) -> dict[str, Any]:
    """Return the picture and the table of groups that stand out from the noise."""
    strips = groups.strips() if len(groups.order) > 1 else []
    columns, k = by_spread(groups), len(groups.sizes)
    ranked = [*groups.order, *(i for i in range(k) if not groups.clear[i])]
    few, many = groups.order[:_MOST_CLUSTERS], columns[:_MOST_COLUMNS]
    all_of_it = len(few) == k and len(many) == len(columns)
    return {
        "picture": strip_plot(groups.order[: len(strips[0].values)], strips) if strips else None,
        "drawn": len(strips[0].values) if strips else 0,
        "table": _with_sizes(_table(groups, few, many), groups, few),
        "missing": missing_sentences(groups.schema, groups.missing),
        "complete": None if all_of_it or k * len(columns) > _MOST_CELLS
        else _table(groups, ranked, range(len(columns))),
        "left_out": not all_of_it,
    }  # fmt: skip


def by_spread(groups: RowGroups) -> list[int]:
    """Return the coordinates, those first in which the groups differ most."""
    spread = np.average(_differences(groups) ** 2, axis=0, weights=groups.weights)
    return [int(j) for j in np.argsort(-spread, kind="stable")]


def size_rows(groups: RowGroups) -> list[dict[str, str]]:
    """Return the sizes of all groups, the largest first."""
    ranked = np.argsort(-groups.sizes, kind="stable").tolist()
    return [
        {
            "name": groups.name(i),
            "size": describe_size(float(groups.sizes[i]), float(groups.sizes_error[i])),
            "share": percent_of(float(groups.weights[i])) if groups.clear[i] else HIDDEN,
        }
        for i in ranked
    ]


def _differences(groups: RowGroups) -> Floats:
    """Return how far each centre lies from the average, in declared widths."""
    coordinates = Coordinates(groups.schema)
    widths = coordinates.high - coordinates.low
    return np.asarray((groups.centers - groups.average) / widths)


def _table(groups: RowGroups, rows: Sequence[int], columns: Sequence[int]) -> dict[str, Any]:
    """Return centres in their own units, one line per coordinate."""
    schema, names = groups.schema, coordinate_labels(groups.schema)
    facts = coordinate_facts(schema)
    own = [column.name for column in Coordinates(schema).columns for _ in range(column.size)]
    alike, lines = {*groups.columns_alike}, []
    several = groups.errors is not None and len(groups.order) > 1
    for j in columns:
        noise = [None] * len(groups.sizes) if groups.errors is None else groups.errors[:, j]
        fact = facts[j]
        lines.append(
            {
                "name": names[j],
                "missing": "" if fact is None else missing_words(own[j], fact, groups.missing),
                "alike": several and own[j] in alike,
                "values": [describe(fact, groups.centers[i, j], noise[i]) for i in rows],
                "all": describe_about(fact, groups.average[j], groups.average_error(j)),
            }
        )
    return {"labels": [groups.name(i) for i in rows], "lines": lines}


def _with_sizes(table: dict[str, Any], groups: RowGroups, rows: Sequence[int]) -> dict[str, Any]:
    """Return a table of centres whose first line has the sizes."""
    told = zip(groups.sizes.tolist(), groups.sizes_error.tolist(), strict=True)
    sizes = [describe_size(*it) for it in told]
    line = {
        "name": "number of rows",
        "missing": "",
        "alike": False,
        "values": [sizes[i] for i in rows],
        "all": groups.context()["total"],
    }
    return table | {"lines": [line, *table["lines"]]}


def _details(release: Release, groups: RowGroups) -> dict[str, Any]:
    """Return what specialists look at: all centres in pictures, histograms, a learned metric."""
    d = groups.centers.shape[1]
    columns, ranked = by_spread(groups)[:_MOST_COLUMNS], groups.order
    rows = ranked[:_MOST_LINES]
    names = coordinate_labels(release.schema)
    several = len(ranked) > 1
    differences = _differences(groups)[np.ix_(rows, columns)]
    return {
        "d": d,
        "n_columns": len(release.schema),
        "heat_map": heat_map(rows, [names[j] for j in columns], differences) if several else None,
        "in_heat_map": {"clusters": len(rows), "columns": len(columns), "all": len(ranked)},
        "map_plot": _map_plot(groups, column_scales(release)) if several else None,
        "real_axes": d <= 2,
        **pictures(release),
        **(metric_context(release) if has_metric(release) else {"attributes": []}),
    }


def _map_plot(groups: RowGroups, scales: Floats) -> str:
    names, shown = coordinate_labels(groups.schema), groups.order[:_MOST_IN_PICTURE]
    if len(names) <= 2:
        facts = tuple(coordinate_facts(groups.schema))
        place = Map(groups.centers, tuple(map(short_name, names)), facts)
    else:
        place = principal_map(groups.centers / scales, groups.weights, names)
    drawn = Map(place.points[shown], place.axes, place.facts)
    return map_plot(shown, drawn, groups.sizes[shown])


# What the errors of centres cover; those of other methods cover only the noise.
_ERRORS_HOLD = {
    "cells": "of the noise and of what the last step leaves out",
    "cautious": "of what noise leaves unknown of the last move",
    "grid": "of the noise and of the width of the cells",
}


def has_errors(release: Release) -> str:
    """Return what the errors of the centres are errors of."""
    return _ERRORS_HOLD.get(str(release.parameters.get("method")), "of the noise alone")


def pictures(release: Release) -> dict[str, Any]:
    """Return the parts of columns and the histograms of a report, the largest cluster first."""
    arrays = release.arrays
    order = np.argsort(-arrays["cluster_sizes"], kind="stable")
    shown: dict[str, Any] = {"histograms": None, "parts": shown_parts(release)}
    if "profile_counts" in arrays and release.signal != "none":
        rows, names = order[:_MOST_ROWS], release.schema.numeric[:_MOST_HISTOGRAMS]
        facts = [fact for fact in release.schema.columns.values() if isinstance(fact, Box)]
        counts, errors = (
            arrays[name][rows][:, : len(names)]
            for name in ("profile_counts", "profile_counts_error")
        )
        called = [column_label(*it) for it in zip(names, facts, strict=False)]
        labels, boxes = [int(i) for i in rows], facts[: len(names)]
        shown["histograms"] = histogram_grid(labels, called, counts, errors, boxes)
        shown["in_histograms"] = {"clusters": len(rows), "columns": len(names)}
    return shown


# What the report of a summary shows: the curve of k, and the clusters for a chosen k.

_FEWEST_CELLS = 3
_MOST_LEAVES = 30


def summary_context(release: Release) -> dict[str, Any]:
    """Return what the templates need; without enough cells there is nothing to choose."""
    summary, cells = Summary(release), cells_from_release(release)
    found = release.signal == "seen" and most_clusters(cells) >= _FEWEST_CELLS
    shown: dict[str, Any] = {
        "found": found,
        "rows": describe_count(cells.n_rows, cells.n_rows_error),
        "rows_error": describe_size(cells.n_rows, cells.n_rows_error),
        "n_cells": most_clusters(cells),
        "of_rows": summary.sample_notes() if "histogram_counts" in release.arrays else (),
        "labelled": _labels_context(release),
        "missing": missing_sentences(release.schema, counted_missing(release)),
    }
    if not found:
        return shown
    choice = summary.choose_k()
    clusters = kmeans_context(summary.kmeans(choice.suggestion))
    return shown | {
        "found": clusters["found"],
        "verdict": choice.verdict,
        "is_clear": choice.n_clusters is not None,
        "number": _number_sentence(choice),
        "shortlist": [candidate.sentence for candidate in choice.shortlist],
        "curve": _curve_plot(choice),
        "lines": _lines(choice),
        "k": choice.suggestion,
        "clusters": clusters,
        "tree": _tree_plot(summary.dendrogram()),
    }


def _number_sentence(choice: Choice) -> str:
    """Say how sure the number of clusters is, for readers who cannot choose another."""
    others = [it.n_clusters for it in choice.shortlist if it.n_clusters != choice.suggestion]
    also = f" {join_words(map(str, others), 'or')} would be worth a look, too." if others else ""
    if choice.n_clusters is None:
        return f"Noise and rows leave the number of clusters open.{also}"
    if choice.n_clusters == 1:
        return "As far as the noise lets us tell, the rows are all of one kind."
    return "That number of clusters stands out clearly."


def _labels_context(release: Release) -> dict[str, Any] | None:
    """Return the clusters of labelled cells as groups, if there are any."""
    labels, counts = release.arrays.get("cell_labels"), release.arrays["counts"]
    if labels is None:
        return None
    own = np.eye(int(labels.max()) + 1, dtype=bool)[labels[labels >= 0]].T
    seen = counts[labels >= 0] * own
    sizes = np.asarray(seen.sum(axis=1), np.float64)
    error = float(release.arrays["counts_error"][0]) * np.sqrt(own.sum(axis=1))
    weights = seen / np.maximum(sizes, 1e-300)[:, None]
    centers = weights @ release.arrays["cells"][labels >= 0]
    missing = counted_missing(release)
    groups = RowGroups(
        release.schema, centers, None, sizes, error, release.about.names, missing=missing
    )
    return {
        "by": str(release.parameters.get("clusterer")),
        "of": str(release.parameters.get("summary", ""))[:12],
        "groups": groups.context(),
        "noise": f"{counts[labels < 0].sum():,.0f}" if (labels < 0).any() else "",
        **(found_context(groups) if groups.order else {"picture": None, "table": None}),
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
            "inertia": significant(inertia, 4),
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

    first, last = (significant(float(choice.inertia[place]), 3) for place in (0, -1))
    ends = f"{first} for 1 to {last} for {choice.ks[-1]}"
    alt = f"Line of the inertia by the number of clusters, from {ends}. {choice.verdict}"
    return inline_svg("curve", alt, (WIDTH, 2.8), draw)
