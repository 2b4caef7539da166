"""The kind "kmeans": what it holds and how it labels rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privclust.exceptions import ReleaseError
from privclust.release.kinds import ReleaseKind, register_kind

if TYPE_CHECKING:
    from privclust.release.release import Release

__all__ = ["column_scales", "labels"]

Floats = npt.NDArray[np.float64]


def column_scales(release: Release) -> Floats:
    """Return the length that counts as one in each column, in the metric of the model."""
    schema = release.schema
    widths = schema.high - schema.low
    return widths if release.parameters.get("rescale") else np.ones_like(widths)


def labels(release: Release, X: Any) -> Iterator[npt.NDArray[np.intp]]:
    """Yield the index of the nearest centre for every row."""
    from privclust.data.points.door import PointRows

    rescale = bool(release.parameters.get("rescale"))
    with PointRows(X, schema=release.schema, rescale=rescale, ignore=None) as rows:
        yield from rows.label_parts(release.arrays["cluster_centers"])


def _check(release: Release) -> None:
    k, d = release.arrays["cluster_centers"].shape
    if release.schema.categorical:
        raise ReleaseError(
            f"Column {release.schema.categorical[0]!r} is declared as categorical in a kmeans "
            "release; declare a Box."
        )
    if not k:
        raise ReleaseError("A kmeans release needs at least one centre; fit it again.")
    columns = len(release.schema.numeric)
    if d != columns:
        raise ReleaseError(
            f"The centres have {d} coordinates where the schema declares {columns} numeric "
            "columns; give one coordinate per Box column."
        )
    if (release.arrays["cluster_sizes_error"] < 0).any():
        raise ReleaseError("The array 'cluster_sizes_error' has negative entries; correct it.")


def _summary(release: Release) -> list[tuple[str, str]]:
    k, d = release.arrays["cluster_centers"].shape
    rows = float(release.arrays["cluster_sizes"].sum())
    return [("clusters", str(k)), ("columns", str(d)), ("rows, with noise", f"{rows:,.0f}")]


def _context(release: Release) -> dict[str, Any]:
    from privclust.kmeans.report import context

    return context(release)


register_kind(
    ReleaseKind(
        name="kmeans",
        title="k-means clustering",
        arrays={
            "cluster_centers": ("k", "d"),
            "cluster_sizes": ("k",),
            "cluster_sizes_error": ("k",),
        },
        check=_check,
        summary=_summary,
        labels=labels,
        template="kmeans/report.html.j2",
        context=_context,
    )
)
