"""What a density tells the holder of rows: the cluster of the cell that each of them lies in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from privclust._typing import Indices
from privclust.density.grid_counts import Grid
from privclust.holder.answers import OwnPoints
from privclust.opening.rows import open_points
from privclust.schema.schema import Schema


def label_by_cell(
    X: Any, schema: Schema, grid: Grid, labels: Indices
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the label of the cell of each row, while the rows are read."""
    with open_points(X, schema=schema, ignore=None) as opened:
        for part in OwnPoints(opened).cell_label_parts(grid.cuts, labels):
            yield part.astype(np.int64, copy=False)
