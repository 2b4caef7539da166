"""Small pictures as plain numbers for SVG; the templates draw them in the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_WIDTH, _HEIGHT = 600.0, 160.0


@dataclass(frozen=True)
class Point:
    """A point of a curve, with its words."""

    x: float
    y: float
    epsilon: str
    error: str


@dataclass(frozen=True)
class Curve:
    """The expected error by ε, in a box of 600 by 160; ε grows by factors."""

    path: str
    points: tuple[Point, ...]
    words: str


def curve(points: Sequence[tuple[float, float]]) -> Curve:
    """Return the curve through pairs of ε and expected error.

    Parameters
    ----------
    points : sequence of (ε, error)
        At least one, by rising ε.
    """
    low, high = math.log(points[0][0]), math.log(points[-1][0])
    most = max(error for _, error in points) or 1.0
    placed = tuple(
        Point(
            round(_WIDTH * (math.log(epsilon) - low) / ((high - low) or 1.0), 1),
            round(_HEIGHT * (1 - error / most), 1),
            f"{epsilon:.3g}",
            f"{error:.3g}",
        )
        for epsilon, error in points
    )
    path = "M" + "L".join(f"{point.x} {point.y}" for point in placed)
    words = ", ".join(f"{point.error} at ε = {point.epsilon}" for point in placed)
    return Curve(path, placed, f"Expected error: {words}.")
