"""What releases of clusters and summaries are as tables for spreadsheets, and on axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from privclust.clustering.release import centers_error
from privclust.release.facts import cluster_tables, place_table
from privclust.reports.axes import draw_bubbles, pick_columns

if TYPE_CHECKING:
    from privclust.release.release import Release


def kmeans_tables(release: Release) -> dict[str, pa.Table]:
    """Return the centres and the sizes of the clusters."""
    arrays = release.arrays
    sizes = arrays["cluster_sizes"], arrays["cluster_sizes_error"]
    return cluster_tables(release.schema, arrays["cluster_centers"], centers_error(release), *sizes)


def plot_centres(release: Release, ax: Any, columns: Sequence[str] | None) -> None:
    """Draw the centres in two columns, as large as their clusters."""
    centers, sizes = (release.arrays[f"cluster_{name}"] for name in ("centers", "sizes"))
    names = pick_columns(release.schema, columns, centers, sizes)
    draw_bubbles(ax, release.schema, names, centers, sizes, named=True)


def summary_tables(release: Release) -> dict[str, pa.Table]:
    """Return the cells, with about how many rows each represents."""
    counts = release.arrays["counts"]
    return {"cells.csv": place_table(release.schema, release.arrays["cells"], rows=counts)}


def plot_cells(release: Release, ax: Any, columns: Sequence[str] | None) -> None:
    """Draw the cells in two columns, as large as their counts."""
    cells, counts = release.arrays["cells"], np.asarray(release.arrays["counts"])
    names = pick_columns(release.schema, columns, cells, counts)
    live = counts > 0
    draw_bubbles(ax, release.schema, names, cells[live], counts[live], named=False)
