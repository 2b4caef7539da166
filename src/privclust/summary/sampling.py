"""Synthetic rows from released cells: a cell by its count, and normal scatter around it."""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats
from privclust.summary.result import Cells

__all__ = ["sampled"]


def sampled(cells: Cells, n_rows: int, rng: np.random.Generator) -> Floats:
    """Return rows in the model's metric; they may lie a little beyond the declared bounds."""
    d = cells.cells.shape[1]
    drawn = rng.choice(len(cells.cells), n_rows, p=cells.counts / cells.counts.sum())
    scatter = rng.standard_normal((n_rows, d)) * np.sqrt(cells.within / d)
    return np.asarray(cells.cells[drawn] + scatter)
