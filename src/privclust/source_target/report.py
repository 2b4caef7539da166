"""What the report of a source-target release shows: the map, the centres, the cost by number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privclust._typing import Floats
from privclust.data.sites.distances import METRICS
from privclust.reports.svg import (
    ABOVE,
    ACCENT,
    BELOW,
    INK,
    MUTED,
    WIDTH,
    inline_svg,
    is_narrow,
    short_name,
)
from privclust.reports.values import column_label, describe, percent_of, significant
from privclust.schema.facts import Box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from privclust.release.release import Release


_MOST_LISTED = 200
_MOST_NUMBERED = 40
_DOT = 25.0  # square points


def source_target_context(release: Release) -> dict[str, Any]:
    """Return what the template ``report.html.j2`` needs."""
    parameters, arrays = release.parameters, release.arrays
    length = METRICS[parameters["metric"]].unit
    unit = f" {length}" if length else ""
    n_targets = int(parameters["n_targets"])
    served, bound = float(parameters["served_estimate"]), parameters.get("cost_bound")
    return {
        "k": len(arrays["centers"]),
        "n_targets": f"{n_targets:,}",
        "served": f"{served:,.0f}",
        "served_share": percent_of(served / n_targets),
        "cost": significant(float(parameters["cost_estimate"]), 3) + unit,
        "bound": significant(float(bound), 3) + unit if bound is not None else None,
        "positions": len(arrays["source_positions"]),
        "counted": _count_phrase(release),
        "map": _map(release) if "targets" in arrays else None,
        "curve": _curve(arrays["order_costs"], unit) if "order_costs" in arrays else None,
        "names": [column_label(name, release.schema[name]) for name in release.schema.numeric],
        "gain": _gain(arrays["order_costs"], unit) if "order_costs" in arrays else "",
        "hidden": release.signal == "none",
        "centres": _list_centres(release),
        "named": bool(release.about.names),
        "shown": min(len(arrays["centers"]), _MOST_LISTED),
    }


def _gain(costs: Floats, unit: str) -> str:
    """Return how much nearer the last of several new centres brings a target than the first."""
    if len(costs) < 2:
        return ""
    first, last = (f"{significant(cost, 3)}{unit}" for cost in (costs[0], costs[-1]))
    return f"{first} with one new centre, {last} with {len(costs)}"


def _count_phrase(release: Release) -> str | None:
    if "source_counts" not in release.arrays:
        return None
    return f"{float(release.arrays['source_counts'].sum()):,.0f}"


def _list_centres(release: Release) -> list[dict[str, Any]]:
    arrays = release.arrays
    width = min(arrays["centers"].shape[1], 8)
    facts = [release.schema[name] for name in release.schema.numeric]
    names = release.about.names or [""] * len(arrays["centers"])
    listed = zip(names, arrays["medoid_indices"], arrays["centers"], strict=True)
    return [
        {
            "number": number,
            "name": name,
            "candidate": int(index),
            "values": [
                describe(fact, float(value))
                if isinstance(fact, Box)
                else significant(float(value), 3)
                for fact, value in zip(facts, centre[:width], strict=False)
            ],
        }
        for number, (name, index, centre) in enumerate(list(listed)[:_MOST_LISTED], start=1)
    ]


def _map(release: Release) -> str:
    """Draw targets by how well sources serve them, and the chosen centres."""
    arrays, names = release.arrays, release.schema.numeric
    geographic = METRICS[release.parameters["metric"]].geographic
    targets, centres, sources = (
        _flat(arrays[name], geographic) for name in ("targets", "centers", "source_positions")
    )
    served = arrays["served_by_source"]
    axes = [short_name(column_label(name, release.schema[name])) for name in names]
    axes = axes[::-1] if geographic else axes if len(axes) == 2 else [*axes, ""]

    def draw(figure: Figure) -> None:
        ax = figure.subplots()
        _draw_targets(ax, targets, served)
        if sources.shape[1] == 2 and len(sources):
            _draw_sources(ax, sources, _areas(release))
        _draw_centres(ax, centres)
        _dress(ax, axes, targets, geographic)
        columns = 1 if is_narrow(figure) else 2
        legend = figure.legend(loc="outside lower center", ncols=columns, frameon=False)
        for handle in legend.legend_handles[:2]:
            if handle is not None:  # the dots of many targets are too small for a legend
                handle.set(sizes=[_DOT])

    alt = (
        f"Map of {len(targets)} targets and {len(centres)} new centres; targets that an existing "
        "centre probably serves are set apart. The centres are listed in the table that follows."
    )
    return inline_svg("map", alt, (WIDTH, 6.0), draw, narrow_height=4.8)


def _draw_targets(ax: Axes, targets: Floats, served: Floats) -> None:
    size = float(np.clip(4000 / len(targets), 3, 30))
    for part, colour, label in (
        (served < 0.5, MUTED, "targets"),
        (served >= 0.5, BELOW, "targets probably served by an existing centre"),
    ):
        x, y = targets[part].T
        ax.scatter(x, y, size, color=colour, alpha=0.5, linewidths=0, label=label)


def _draw_sources(ax: Axes, sources: Floats, areas: Floats | float) -> None:
    x, y = sources.T
    style: dict[str, Any] = {"facecolors": "none", "edgecolors": ACCENT, "linewidths": 0.9}
    ax.scatter(x, y, areas, label="existing centres, from noisy counts", **style)


def _draw_centres(ax: Axes, centres: Floats) -> None:
    x, y = centres.T
    ax.scatter(x, y, 60, color=ABOVE, marker="^", label="new centres")
    for number, place in enumerate(centres[:_MOST_NUMBERED].tolist(), start=1):
        style: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "color": INK}
        ax.annotate(str(number), tuple(place), (0, 7), **style)


def _areas(release: Release) -> Floats | float:
    counts = release.arrays.get("source_counts")
    if counts is None:
        return 12.0
    return np.asarray(10 + 90 * np.clip(counts, 0, None) / max(float(counts.max()), 1.0))


def _flat(points: Floats, geographic: bool) -> Floats:
    """Return points for a map: longitude to the right, or one column along a line."""
    if points.shape[1] == 1:
        return np.column_stack([points[:, 0], np.zeros(len(points))])
    return points[:, ::-1] if geographic and points.shape[1] == 2 else points


def _dress(ax: Axes, names: list[str], targets: Floats, geographic: bool) -> None:
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.tick_params(length=0, labelcolor=MUTED)
    ax.margins(0.05)
    if geographic:
        # A degree of longitude is shorter than one of latitude, away from the equator.
        middle = np.radians(np.clip(targets[:, 1].mean(), -80, 80))
        ax.set_aspect(1 / np.cos(middle), adjustable="datalim")
    if not names[1]:
        ax.set_yticks([])


def _curve(costs: Floats, unit: str) -> str:
    """Draw the estimated cost by the number of new centres."""
    numbers = np.arange(1, len(costs) + 1)

    def draw(figure: Figure) -> None:
        ax = figure.subplots()
        ax.plot(numbers, costs, color=ACCENT, marker="o", markersize=3, linewidth=1.2)
        ax.set_ylim(bottom=0)
        ax.set_xlabel("number of new centres, in the order of their choice")
        ax.set_ylabel(f"estimated mean distance{unit and f' ({unit.strip()})'}")
        ax.grid(visible=True)
        ax.tick_params(length=0)
        ax.text(
            0.99, 0.97, "estimate, by the noisy source", transform=ax.transAxes,
            ha="right", va="top", color=MUTED,
        )  # fmt: skip

    alt = (
        "Curve of the estimated mean distance of targets: "
        f"{_gain(costs, unit) or significant(float(costs[0]), 3) + unit}."
    )
    return inline_svg("curve", alt, (WIDTH, 3.2), draw, narrow_height=2.8)
