"""What the report of a density shows: the heat map, the clusters, and where peaks meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from privclust._typing import Floats, Indices
from privclust.density.answers import clusters_of_density
from privclust.density.grid_counts import Grid
from privclust.density.persistence import Merge
from privclust.density.release import (
    counts_from_release,
    grid_labels,
    sizes_of_clusters,
    verdict_of,
)
from privclust.density.smooth import smooth
from privclust.reports.findings import RowGroups, missing_sentences
from privclust.reports.plots import label_axis
from privclust.reports.svg import ACCENT, GROUPS, INK, WIDTH, inline_svg, is_narrow, short_name
from privclust.reports.values import (
    column_label,
    counted_missing,
    describe,
    describe_count,
    format_error,
    significant,
)
from privclust.schema.facts import Box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from privclust.release.release import Release

_MOST_MERGES, _STEPS = 12, 9


def density_context(release: Release) -> dict[str, Any]:
    """Return what the templates need."""
    counted, found = counts_from_release(release), clusters_of_density(release)
    seen, labels = smooth(counted), grid_labels(release)
    density, hidden = np.maximum(seen.density, 0), release.signal != "seen"
    facts = _facts_of(release)
    sizes, errors = sizes_of_clusters(release)
    nothing = np.zeros((len(sizes), 0))
    groups = RowGroups(release.schema, nothing, None, sizes, errors, release.about.names)
    return {
        "found": not hidden,
        "rows": describe_count(counted.n_rows, counted.n_rows_error),
        "cells": " × ".join(map(str, counted.grid.sides)),
        "n_cells": f"{counted.counts.size:,}",
        "error": format_error(counted.counts_error),
        "verdict": verdict_of(release, len(sizes), found.verdict),
        "clusterer": release.parameters.get("clusterer"),
        "of": str(release.parameters.get("density", ""))[:12],
        "columns": len(facts),
        "groups": _with_places(groups.size_context(), counted.grid, density, labels, facts),
        "merges": [_line(merge, facts) for merge in found.persistence[:_MOST_MERGES]],
        "more_merges": max(0, len(found.persistence) - _MOST_MERGES),
        "missing": missing_sentences(release.schema, counted_missing(release)),
        "picture": None if hidden else _picture(counted.grid, density, labels, facts),
    }


Facts = list[tuple[str, Box | None]]  # what readers call each column, and what is declared of it


def _facts_of(release: Release) -> Facts:
    return [
        (column_label(name, fact), fact if isinstance(fact, Box) else None)
        for name, fact in release.schema.columns.items()
    ]


def _with_places(
    shown: dict[str, Any], grid: Grid, density: Floats, labels: Indices, facts: Facts
) -> dict[str, Any]:
    """Return the groups with the place where each is densest."""
    for card in shown["cards"]:
        inside = np.where(labels == card["number"], density, -1.0)
        cell = np.unravel_index(int(inside.argmax()), density.shape)
        at = [float(axis[i]) for axis, i in zip(grid.axes, cell, strict=True)]
        words = f"densest at {_place(at, facts)}"
        card["traits"] = [{"words": words, "values": ""}] if inside.max() >= 0 else []
    return shown


def _place(at: Sequence[float], facts: Facts) -> str:
    told = zip(facts, at, strict=True)
    return ", ".join(f"{name} {describe(fact, value)}" for (name, fact), value in told)


def _line(merge: Merge, facts: Facts) -> dict[str, str]:
    return {
        "place": _place([float(x) for x in merge.place], facts),
        "peak": significant(merge.peak, 3),
        "saddle": significant(merge.saddle, 3),
        "significance": f"{merge.significance:.1f}",
        "apart": "stay apart" if merge.apart else "one cluster",
    }


def _picture(grid: Grid, density: Floats, labels: Indices, facts: Facts) -> str:
    """Draw the density next to the clusters: as a line, a map, or maps from three sides."""
    count, names = int(labels.max()) + 1, [name for name, _ in facts]
    alt = (
        f"How dense rows are in the cells of {', '.join(map(short_name, names))}, and which of "
        f"{count} clusters each cell belongs to."
    )
    if len(names) == 1:
        return inline_svg(
            "density", alt, (WIDTH, 2.8), lambda it: _draw_line(it, grid, density, labels, facts)
        )
    sides = [(0, 1)] if len(names) == 2 else [(0, 1), (0, 2), (1, 2)]

    def draw(figure: Figure) -> None:
        axes = figure.subplots(len(sides), 2, squeeze=False)
        for (left, right), (first, second) in zip(axes, sides, strict=True):
            _draw_map(left, grid, _seen_from(density, first, second), (first, second))
            _draw_labels(right, grid, _labels_from(labels, density, first, second), first, second)
            for ax in (left, right):
                ax.set_xlabel(short_name(names[first]))
                label_axis(ax.xaxis, facts[first][1])
                ax.tick_params(labelsize=7 if is_narrow(figure) else 9)
            left.set_ylabel(short_name(names[second]))
            label_axis(left.yaxis, facts[second][1])

    height = 3.6 * len(sides)
    return inline_svg("density", alt, (WIDTH, height), draw, narrow_height=2.2 * len(sides))


def _seen_from(density: Floats, first: int, second: int) -> Floats:
    others = tuple(axis for axis in range(density.ndim) if axis not in (first, second))
    return np.asarray(density.sum(axis=others))


def _labels_from(labels: Indices, density: Floats, first: int, second: int) -> Indices:
    """Return the label of the densest cell along the line of sight."""
    if labels.ndim == 2:
        return labels
    (other,) = (axis for axis in range(3) if axis not in (first, second))
    best = np.where(labels >= 0, density, -1).argmax(axis=other)
    return np.take_along_axis(labels, np.expand_dims(best, other), other).squeeze(other)


def _ends(grid: Grid, axis: int) -> tuple[float, float]:
    low = float(grid.low[axis])
    return low, low + float(grid.widths[axis]) * grid.sides[axis]


def _draw_map(ax: Axes, grid: Grid, shown: Floats, pair: tuple[int, int]) -> None:
    """Draw equal steps of the density: a page loads no images, and single cells are too many."""
    from matplotlib.colors import to_rgba

    levels = np.linspace(0, max(float(shown.max()), 1e-9), _STEPS + 1)
    colours = [to_rgba(ACCENT, step / (_STEPS - 1)) for step in range(_STEPS)]
    places = grid.axes[pair[0]], grid.axes[pair[1]]
    ax.contourf(*places, shown.T, levels=levels, colors=colours)
    ax.set(xlim=_ends(grid, pair[0]), ylim=_ends(grid, pair[1]))


def _draw_labels(ax: Axes, grid: Grid, labels: Indices, first: int, second: int) -> None:
    """Draw cells in strips of one cluster."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    wide, high = float(grid.widths[first]), float(grid.widths[second])
    (left, _), (low, _) = _ends(grid, first), _ends(grid, second)
    strips, colours = [], []
    for row, line in enumerate(labels.T):
        begins = np.append(0, np.flatnonzero(np.diff(line)) + 1)
        for begin, end in zip(begins, np.append(begins[1:], len(line)), strict=True):
            if line[begin] >= 0:
                corner = left + begin * wide, low + row * high
                strips.append(Rectangle(corner, float(end - begin) * wide, high))
                colours.append(GROUPS[line[begin] % len(GROUPS)])
    ax.add_collection(PatchCollection(strips, facecolors=colours, edgecolors=colours, lw=0.3))
    ax.set(xlim=_ends(grid, first), ylim=_ends(grid, second), yticks=[])


def _draw_line(figure: Figure, grid: Grid, density: Floats, labels: Indices, facts: Facts) -> None:
    ax, (places,) = figure.subplots(), grid.axes
    ax.plot(places, density, color=INK, linewidth=1)
    for label in range(int(labels.max()) + 1):
        own = np.where(labels == label, density, 0)
        colour = GROUPS[label % len(GROUPS)]
        ax.fill_between(places, own, color=colour, alpha=0.6, step="mid", linewidth=0)
    ax.set_ylabel("rows of a cell")
    ax.set_xlabel(short_name(facts[0][0]))
    label_axis(ax.xaxis, facts[0][1])
    ax.yaxis.grid(visible=True)
    ax.set_axisbelow(True)
