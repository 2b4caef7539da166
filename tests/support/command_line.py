"""What the tests of the command line share: rows in three clumps, and the type of a runner."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from privclust import Box, Schema

SCHEMA = Schema({"x": Box(0, 10), "y": Box(0, 10)})
CENTRES = np.array([[1.0, 1.0], [8.0, 2.0], [5.0, 9.0]])

Run = Callable[..., Any]


def clumps(rows: int) -> np.ndarray[Any, Any]:
    """Return rows in three clumps."""
    rng = np.random.default_rng(0)
    return CENTRES[rng.integers(3, size=rows)] + 0.3 * rng.standard_normal((rows, 2))


def write_csv(path: Path, rows: np.ndarray[Any, Any]) -> None:
    """Write rows under the names x and y."""
    np.savetxt(path, rows, delimiter=",", header="x,y", comments="")
