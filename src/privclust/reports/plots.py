"""The pictures of a clustering: groups in the columns that set them apart, centres, histograms.

All of them are drawn from released values alone.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from privclust._typing import Floats
from privclust.reports.svg import (
    ABOVE,
    ACCENT,
    BELOW,
    GROUPS,
    INK,
    MUTED,
    PAPER,
    WIDTH,
    inline_svg,
    is_narrow,
    short_name,
)
from privclust.reports.values import count_of, describe, describe_tick
from privclust.schema.facts import Box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from privclust.reports.findings import Strip


_MOST_LABELS = 30
_LARGEST_BUBBLE = 2400.0  # square points
_LETTERS = 38  # in a line along an axis, on a phone
_MOST_NUMBERS = 7  # columns with numbers in their cells, on a phone


Side = Literal["left", "center", "right"]
# Marks nearer to each other than this share of the picture are drawn one above the other.
_TOO_NEAR, _TOO_NEAR_ON_A_PHONE = 0.03, 0.075


def strip_plot(labels: Sequence[int], strips: Sequence[Strip]) -> str:
    """Draw a line for each column, with a mark for each group where it lies, in its own units."""

    def draw(figure: Figure) -> None:
        narrow = is_narrow(figure)
        levels = [_levels(strip, narrow) for strip in strips]
        heights = [1.0 + 0.45 * max(level) for level in levels]
        axes = figure.subplots(len(strips), 1, squeeze=False, height_ratios=heights)[:, 0]
        for ax, strip, level in zip(axes, strips, levels, strict=True):
            _draw_strip(ax, labels, strip, level, narrow=narrow)

    def height(narrow: bool) -> float:
        return sum(0.66 + 0.17 * max(_levels(strip, narrow)) for strip in strips)

    names = ", ".join(short_name(strip.name) for strip in strips)
    alt = (
        f"Where each of {len(labels)} groups lies in {names}. The numbers are in the table that "
        "follows."
    )
    size = WIDTH, height(narrow=False)
    return inline_svg("strips", alt, size, draw, narrow_height=height(narrow=True))


def _levels(strip: Strip, narrow: bool) -> list[int]:
    """Return how many marks each mark is drawn above, so that none covers another."""
    low, high = strip.ends
    near = (_TOO_NEAR_ON_A_PHONE if narrow else _TOO_NEAR) * (high - low)
    levels = [0] * len(strip.values)
    taken: list[float] = []
    for i in np.argsort(strip.values, kind="stable").tolist():
        value = float(strip.values[i])
        free = [level for level, last in enumerate(taken) if value - last >= near]
        levels[i] = free[0] if free else len(taken)
        taken[levels[i] : levels[i] + 1] = [value]
    return levels


def _draw_strip(
    ax: Axes, labels: Sequence[int], strip: Strip, levels: list[int], *, narrow: bool
) -> None:
    low, high = strip.ends
    ax.axvline(strip.average, color=MUTED, linewidth=1.0, linestyle=(0, (3, 2)))
    for place, (value, level) in enumerate(zip(strip.values.tolist(), levels, strict=True)):
        colour = GROUPS[place]
        if strip.errors is not None:
            reach = 2 * float(strip.errors[place])
            ends = [max(value - reach, low), min(value + reach, high)]
            ax.plot(ends, [level, level], color=colour, linewidth=2.2, alpha=0.45)
        ax.scatter([value], [level], 105, color=colour, zorder=3, clip_on=False)
        ax.annotate(
            str(labels[place]), (value, level), color=PAPER, ha="center", va="center_baseline",
            fontsize=7, fontweight="bold", zorder=4, annotation_clip=False,
        )  # fmt: skip
    ax.set(xlim=(low, high), ylim=(-0.75, max(levels) + 0.6), yticks=[])
    ax.set_title(short_name(strip.name, 44), loc="left", fontsize=9, color=INK, pad=3)
    ticks = _ticks(strip, 3 if narrow else 5)
    ax.set_xticks(ticks, [describe_tick(strip.fact, tick) for tick in ticks], fontsize=7.5)
    for text, align in zip((*ax.get_xticklabels(),), _sides(ticks, low, high), strict=True):
        text.set_horizontalalignment(align)
    ax.tick_params(length=3)
    ax.spines["left"].set_visible(False)


def _ticks(strip: Strip, most: int) -> list[float]:
    """Return round numbers within the drawn part; of dates, places at equal distances."""
    from matplotlib.ticker import MaxNLocator

    low, high = strip.ends
    if strip.fact is not None and strip.fact.form in ("date", "time"):
        inner = np.linspace(low, high, 2 * most + 1)[1::2]
        return [float(place) for place in inner]
    places = MaxNLocator(most).tick_values(low, high)
    return [float(place) for place in places if low <= place <= high]


def _sides(ticks: Sequence[float], low: float, high: float) -> list[Side]:
    """Return how labels lie at their ticks: within the picture also at its ends."""
    share = [(tick - low) / (high - low) for tick in ticks]
    return ["left" if at < 0.03 else "right" if at > 0.97 else "center" for at in share]


def label_axis(axis: Axis, fact: Box | None) -> None:
    """Let an axis show a few numbers of a column as a reader expects them: dates as dates."""
    from matplotlib.ticker import MaxNLocator

    dated = fact is not None and fact.form in ("date", "time")
    axis.set_major_locator(MaxNLocator(3 if dated else 6))
    axis.set_major_formatter(lambda value, _: describe_tick(fact, value))


def heat_map(labels: Sequence[int], names: Sequence[str], differences: Floats) -> str:
    """Draw how far each centre is above or below the average, in shares of declared ranges.

    ``differences``: (len(labels), difference from the average over all clusters; 1 is the whole
    declared range.
    """
    k, d = differences.shape
    largest = float(np.abs(differences).max()) or 1.0
    numbers = k <= 20 and d <= 12
    row = 0.27 if k <= 20 else 0.17

    def draw(figure: Figure) -> None:
        from matplotlib.collections import PatchCollection
        from matplotlib.colors import to_rgba
        from matplotlib.patches import Rectangle

        ax = figure.subplots()
        cells = [Rectangle((j + 0.02, i + 0.03), 0.96, 0.94) for i in range(k) for j in range(d)]
        colours = [
            to_rgba(ABOVE if value > 0 else BELOW, 0.05 + 0.8 * abs(value) / largest)
            for value in differences.ravel()
        ]
        ax.add_collection(PatchCollection(cells, facecolors=colours, edgecolors="none"))
        narrow = is_narrow(figure)
        if numbers and not (narrow and d > _MOST_NUMBERS):
            _write_cells(ax, differences)
        _label_grid(ax, labels, names, small=row < 0.2, narrow=narrow)

    alt = (
        f"Heat map of {count_of(k, 'cluster')} by {count_of(d, 'column')}: how far each centre "
        "lies above or below the average of all clusters. The table above has the numbers."
    )
    longest = max(len(short_name(name)) for name in names)
    size = WIDTH, 0.4 + row * k + 0.05 * longest
    return inline_svg("profile", alt, size, draw, narrow_height=0.4 + row * k + 0.08 * longest)


def _write_cells(ax: Axes, differences: Floats) -> None:
    for (i, j), value in np.ndenumerate(differences):
        text = f"{100 * value:+.0f}".replace("-", "−") if abs(value) >= 0.005 else "0"
        ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize=8)


def _label_grid(
    ax: Axes, labels: Sequence[int], names: Sequence[str], *, small: bool, narrow: bool
) -> None:
    k, d = len(labels), len(names)
    ax.set_xlim(0, d)
    ax.set_ylim(k, 0)
    ax.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    ax.set_xticks(np.arange(d) + 0.5, [short_name(name) for name in names])
    letters = d * max(len(short_name(name)) for name in names)
    rotation = 0.0 if letters < (25 if narrow else 70) else 90.0 if narrow else 35.0
    for text in ax.get_xticklabels():
        text.set(rotation=rotation, color=INK, ha="left" if rotation == 35 else "center")
        text.set_rotation_mode("anchor" if rotation == 35 else "default")
    words = [str(label) if narrow else f"cluster {label}" for label in labels]
    ax.set_yticks(np.arange(k) + 0.5, words)
    ax.tick_params(axis="y", labelsize=7 if small else 9)
    for spine in ax.spines.values():
        spine.set_visible(False)


@dataclass(frozen=True)
class Map:
    """Where to draw the centres."""

    points: Floats  # (k, 2)
    axes: tuple[str, ...]  # what to write along each axis
    # What is declared of the columns that the axes are; None if they are mixtures of columns.
    facts: tuple[Box | None, ...] | None = None


def principal_map(centers: Floats, weights: Floats, names: Sequence[str]) -> Map:
    """Return the centres in the two directions in which they differ most.

    ``centers``: (k, d). ``weights``: (k,).
    """
    weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1.0)
    offsets = centers - np.average(centers, axis=0, weights=weights)
    _, strengths, directions = np.linalg.svd(
        offsets * np.sqrt(weights)[:, None], full_matrices=False
    )
    total = float((strengths**2).sum()) or 1.0
    used = [j for j in range(min(2, len(strengths))) if strengths[j] > 1e-6 * strengths[0]] or [0]
    points, axes = [], []
    for j in used:
        # A direction is unique up to its sign; let its heaviest column point upwards.
        direction = directions[j] * (1 if directions[j][np.abs(directions[j]).argmax()] > 0 else -1)
        points.append(offsets @ direction)
        share = f"{100 * strengths[j] ** 2 / total:.0f} % of the differences"
        axes.append(f"{_direction_words(direction, names)}\N{NO-BREAK SPACE}→\n({share})")
    return Map(np.column_stack(points), tuple(axes))


def _direction_words(direction: Floats, names: Sequence[str]) -> str:
    heaviest = np.argsort(-np.abs(direction), kind="stable")[:3]
    heavy = [j for j in heaviest if abs(direction[j]) > 0.3 * abs(direction[heaviest[0]])]
    words = [f"{'more' if direction[j] > 0 else 'less'} {short_name(names[j], 18)}" for j in heavy]
    return ", ".join(words)


def map_plot(labels: Sequence[int], place: Map, sizes: Floats) -> str:
    """Draw each centre as a bubble whose area is the noisy size of the cluster."""
    line = place.points.shape[1] == 1
    x = place.points[:, 0]
    y = np.zeros_like(x) if line else place.points[:, 1]
    largest = float(sizes.max())
    areas = np.clip(sizes, 0, None) / (largest if largest > 0 else 1.0)
    areas = np.clip(areas * min(_LARGEST_BUBBLE, 3e4 / len(labels)), 12.0, None)

    def draw(figure: Figure) -> None:
        ax = figure.subplots()
        drawn = areas * (0.3 if is_narrow(figure) else 1.0)
        ax.scatter(x, y, drawn, color=ACCENT, alpha=0.35, edgecolors=ACCENT, linewidths=1.0)
        for i in range(min(len(labels), _MOST_LABELS)):
            inside = drawn[i] > 220
            shift = (0.0, 0.0) if inside else (0.0, float(np.sqrt(drawn[i]) / 2 + 6))
            ax.annotate(
                str(labels[i]), (x[i], y[i]), shift, textcoords="offset points",
                ha="center", va="center", fontsize=9,
            )  # fmt: skip
        _dress_map(ax, place, narrow=is_narrow(figure))

    words = [axis.replace("\n", " ") for axis in place.axes]
    alt = (
        f"Map of the centres of {len(labels)} clusters; the area of a bubble is the noisy size of "
        f"the cluster. Horizontal axis: {words[0]}."
    )
    if not line:
        alt += f" Vertical axis: {words[1]}."
    return inline_svg(
        "map", alt, (WIDTH, 1.8 if line else 5.0), draw, narrow_height=1.8 if line else 3.6
    )


def _dress_map(ax: Axes, place: Map, *, narrow: bool) -> None:
    words = [_wrap(axis) if narrow else axis for axis in place.axes]
    ax.margins(0.14)
    ax.set_xlabel(words[0])
    ax.grid(visible=True)
    ax.set_axisbelow(True)
    ax.tick_params(length=0, labelcolor=MUTED)
    if place.facts is None:
        # Lengths in mixed units mean nothing to a reader; only the arrangement does.
        ax.set(xticklabels=[], yticklabels=[])
    for axis, fact in zip((ax.xaxis, ax.yaxis), place.facts or (), strict=False):
        label_axis(axis, fact)
    if len(place.axes) == 1:
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
    else:
        ax.set_ylabel(words[1])
    _spread_flat_axes(ax)


def _wrap(text: str) -> str:
    """Wrap text for a phone."""
    return "\n".join(line for part in text.split("\n") for line in textwrap.wrap(part, _LETTERS))


def _spread_flat_axes(ax: Any) -> None:
    """Give a single point, or points on a line, some margin on either side."""
    for axis in ("x", "y"):
        low, high = getattr(ax, f"get_{axis}lim")()
        if high - low < 1e-12 * max(abs(low), abs(high), 1e-300):
            getattr(ax, f"set_{axis}lim")(low - 1, high + 1)


# Small pictures of how the numbers of each cluster spread, drawn from released values alone.

_ROW = 0.55  # inches
_MOST_ON_A_PHONE = 3


def histogram_grid(
    labels: Sequence[int],
    names: Sequence[str],
    counts: Floats,
    errors: Floats,
    boxes: Sequence[Box],
) -> str:
    """Draw a histogram for each cluster and column; bars within two errors of zero are pale.

    ``counts``: (n_clusters, n_columns, n_cells). ``boxes``: what is declared of each column; its
    bounds are below the last line.
    """

    def draw(figure: Figure) -> None:
        width = min(len(names), _MOST_ON_A_PHONE) if is_narrow(figure) else len(names)
        axes = figure.subplots(len(labels), width, squeeze=False)
        for row, label in enumerate(labels):
            for column in range(width):
                ax = axes[row, column]
                _draw_one(ax, counts[row, column], errors[row, column])
                if row == 0:
                    ax.set_title(short_name(names[column]), fontsize=7.5, color=MUTED)
                if row == len(labels) - 1:
                    _mark_ends(ax, boxes[column], counts.shape[2])
            axes[row, 0].set_ylabel(f"{label}", rotation=0, ha="right", va="center")

    listed = ", ".join(short_name(name) for name in names)
    alt = f"Histograms of {listed}, a line for each of {len(labels)} clusters."
    return inline_svg("histograms", alt, (WIDTH, 0.7 + _ROW * len(labels)), draw)


def _draw_one(ax: Axes, counts: Floats, errors: Floats) -> None:
    heights = np.maximum(counts, 0)
    sure = counts > 2 * errors
    at = np.arange(len(counts))
    ax.bar(at[sure], heights[sure], 0.92, color=ACCENT, alpha=0.8)
    ax.bar(at[~sure], heights[~sure], 0.92, color=ACCENT, alpha=0.25)
    ax.set_xlim(-0.6, len(counts) - 0.4)
    ax.set_ylim(0, max(float(heights.max()), 4 * float(errors.max()), 1e-9))
    ax.set_xticks([])
    ax.set_yticks([])


def _mark_ends(ax: Axes, box: Box, n_cells: int) -> None:
    ends = [describe(box, box.low), describe(box, box.high)]
    ax.set_xticks([-0.5, n_cells - 0.5], ends, fontsize=6.5)
    ax.tick_params(length=0)
    first, last = ax.get_xticklabels()
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")
