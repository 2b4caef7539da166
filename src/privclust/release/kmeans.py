"""The kind "kmeans": what it holds and how it labels rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privclust.release.errors import ReleaseError
from privclust.release.kinds import ReleaseKind, register_kind
from privclust.schema import Box

if TYPE_CHECKING:
    from privclust.release.release import Release

__all__ = ["column_scales", "predict"]

Floats = npt.NDArray[np.float64]

# Squares of scaled numbers up to here, and sums of many of them, are finite.
_LARGEST = 1e140


def column_scales(release: Release) -> Floats:
    """Return the length that counts as one in each column, in the metric of the model."""
    schema = release.schema
    widths = schema.high - schema.low
    return widths if release.parameters.get("rescale") else np.ones_like(widths)


def predict(release: Release, X: Any) -> npt.NDArray[np.intp]:
    """Return the index of the nearest centre for every row."""
    from scipy.spatial.distance import cdist

    from privclust.data.door import rows_of_caller

    names, scales = release.schema.numeric, column_scales(release)
    # Numbers are compared around the middle of the box, where their digits are.
    middle = release.schema.low + (release.schema.high - release.schema.low) / 2
    centers = (release.arrays["cluster_centers"] - middle) / scales
    labels = [np.empty(0, dtype=np.intp)]
    for batch in rows_of_caller(X, names):
        rows = _filled(release, batch)
        with np.errstate(over="ignore"):
            rows = (rows - middle) / scales
        _check_size(rows, names)
        labels.append(cdist(rows, centers, "sqeuclidean").argmin(axis=1))
    return np.concatenate(labels)


def _filled(release: Release, rows: Floats) -> Floats:
    """Return the rows with missing values replaced by the schema's rule."""
    missing = np.isnan(rows)
    if not missing.any():
        return rows
    rows = rows.copy()
    for j in np.flatnonzero(missing.any(axis=0)):
        name = release.schema.numeric[j]
        fact = release.schema[name]
        rule = fact.missing if isinstance(fact, Box) else "error"
        if isinstance(rule, str):
            raise ReleaseError(
                f"Column {name!r} has missing values, for which the schema of the release declares "
                "no number; fill them in or leave these rows out."
            )
        rows[missing[:, j], j] = rule
    return rows


def _check_size(rows: Floats, names: tuple[str, ...]) -> None:
    for j in np.flatnonzero(~(np.abs(rows) <= _LARGEST).all(axis=0)):
        raise ReleaseError(
            f"Column {names[j]!r} holds infinite or far too large numbers; correct them or leave "
            "these rows out."
        )


def _check(release: Release) -> None:
    k, d = release.arrays["cluster_centers"].shape
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
    from privclust.release.kmeans_report import context

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
        predict=predict,
        template="kmeans.html.j2",
        context=_context,
    )
)
