"""Pictures of algorithms and data: zones and sub-clusters, Synthetic 1 to 3, one run of NNA."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from sklearn.cluster import KMeans

from category_output import save_small
from privclust.papers.datasets.named import SOURCE_TARGET_SETS
from privclust.source_target.task import SOURCE_TARGET

__all__ = ["PICTURES"]

GREY, BLUE, ORANGE, INK = "#bbbbbb", "#0072b2", "#d55e00", "#222222"


def zones(path: Path) -> None:
    """Draw the convergent zone, the sampling zone of the baseline, and sub-clusters."""
    rng = np.random.default_rng(4)
    rows = np.concatenate(
        [rng.normal(at, 0.35, (40, 2)) for at in ((0, 0), (1.4, 0.5), (0.5, 1.5))]
    )
    mean, before = rows.mean(axis=0), np.array([-0.5, -0.2])
    radius = float(np.linalg.norm(mean - before))
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, title in ((left, "KMeans-Guarantee"), (right, "SubCluster-Guarantee")):
        ax.scatter(*rows.T, s=8, color=GREY)
        ax.add_patch(Circle(mean, radius, fill=False, color=INK, lw=1))
        ax.plot(*mean, "o", color=INK, ms=5)
        ax.plot(*before, "s", color=INK, ms=5)
        for words, at, apart in (("mean", mean, (5, 5)), ("old centre", before, (-8, -14))):
            box = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8}
            ax.annotate(
                words, at, apart, textcoords="offset points", fontsize=9, bbox=box, zorder=5
            )
        ax.set(title=title, aspect="equal", xticks=[], yticks=[])
    step = (mean - before) / radius
    turn = np.deg2rad(50)
    way = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) @ step
    left.add_patch(Circle(mean + way * radius / 2, radius / 2, fill=False, color=ORANGE, lw=1.5))
    left.annotate("", mean + way * radius, mean, arrowprops={"arrowstyle": "->", "color": ORANGE})
    inside = rows[np.linalg.norm(rows - mean, axis=1) < radius]
    found = KMeans(4, n_init=10, random_state=0).fit(inside)
    right.scatter(*inside.T, s=10, c=found.labels_, cmap="tab10")
    right.scatter(*found.cluster_centers_.T, marker="x", color=INK, s=40)
    save_small(figure, path)


def synthetic(path: Path) -> None:
    """Draw the three synthetic sets (Figure 2)."""
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    for ax, name in zip(
        figure.subplots(1, 3), ("Synthetic 1", "Synthetic 2", "Synthetic 3"), strict=True
    ):
        _points(ax, *SOURCE_TARGET_SETS[name](0))
        ax.set_title(name, fontsize=9)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    save_small(figure, path)


def nna(path: Path) -> None:
    """Draw one run of NNA (Figure 1): source, target, released source, chosen centres."""
    source, target = SOURCE_TARGET_SETS["Synthetic 3"](0)
    model = SOURCE_TARGET.model(8, epsilon=3, method="nna", random_state=0)
    model.fit(target, source=source)
    figure = Figure(figsize=(5, 4), layout="constrained")
    ax = figure.subplots()
    _points(ax, source, target)
    ax.scatter(
        *model.released_source_.positions.T, marker="s", s=18, color=INK, label="released source"
    )
    ax.scatter(*model.centers_.T, marker="*", s=90, color="#cc0000", label="new centres")
    ax.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    save_small(figure, path)


def _points(ax: Any, source: np.ndarray, target: np.ndarray) -> None:
    ax.scatter(*source.T, s=2, color=ORANGE, alpha=0.5, label="source, private")
    ax.scatter(*target.T, s=2, color=BLUE, alpha=0.5, label="target, public")
    ax.set(aspect="equal", xticks=[], yticks=[])


PICTURES: dict[str, Callable[[Path], None]] = {
    "papers-zones-picture": zones,
    "papers-targets-sets": synthetic,
    "papers-targets-nna": nna,
}
