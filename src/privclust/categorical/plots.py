"""The pictures of a categorical metric: distances between values as a heat map, values in 2-d."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from privclust._typing import Floats
from privclust.reports.svg import ACCENT, INK, MUTED, WIDTH, inline_svg, is_narrow, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["distance_plot", "value_plot"]


# Values, beyond which cells are too small for numbers; and on a phone.
_NUMBERS_UP_TO, _NUMBERS_ON_A_PHONE = 12, 6
# Values within this share of the picture have one text, of at most this many names.
_TOO_NEAR, _MOST_JOINED = 0.04, 3


def distance_plot(name: str, labels: Sequence[str], distances: Floats) -> str:
    """Draw the distances between the values of one attribute; a stronger colour is further."""
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
        words = [shown(label, 18) for label in labels]
        at = np.arange(size) + 0.48
        font = 8 if size <= _NUMBERS_UP_TO else 6
        ax.set_xticks(at, words, rotation=90, fontsize=font, color=INK)
        ax.set_yticks(at, words, fontsize=font)
        ax.tick_params(length=0)
        for spine in ax.spines.values():
            spine.set_visible(False)

    alt = (
        f"Heat map of the distances between the {size} values of {shown(name)}; a stronger colour "
        "is further."
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
        for text, (x, y) in _joined_labels(labels, plane):
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

    alt = f"Map of the {len(labels)} values of {shown(name)}: values that are near are alike."
    return inline_svg(f"values-{_slug(name)}", alt, (WIDTH, 4.0), draw, narrow_height=3.4)


def _joined_labels(labels: Sequence[str], points: Floats) -> list[tuple[str, tuple[float, float]]]:
    """Return texts and places; values too near to each other for a text each share one."""
    reach = _TOO_NEAR * float(np.ptp(points, axis=0).max())
    left, texts = list(range(len(labels))), []
    while left:
        first = left[0]
        near = [i for i in left if np.abs(points[i] - points[first]).max() <= reach]
        left = [i for i in left if i not in near]
        words = ", ".join(shown(labels[i], 18) for i in near[:_MOST_JOINED])
        more = len(near) - _MOST_JOINED
        text = f"{words} and {more} more" if more > 0 else words
        texts.append((text, (float(points[first, 0]), float(points[first, 1]))))
    return texts


def _slug(name: str) -> str:
    """Return an id that is unique for the name and safe in a page."""
    return name.encode("utf-8").hex()
