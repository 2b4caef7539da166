"""The kind "coclustering": what it holds and how it labels rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privclust.exceptions import ReleaseError
from privclust.release.kinds import ReleaseKind, register_kind
from privclust.unit import matrix_unit_from

if TYPE_CHECKING:
    from privclust.release.release import Release

__all__ = ["as_bytes", "column_names", "labels"]


def column_names(release: Release) -> list[str]:
    """Return the names of the columns, or their numbers if the release has no names."""
    if "column_names" not in release.arrays:
        return [f"column {j}" for j in range(len(release.arrays["column_labels"]))]
    text = release.arrays["column_names"].tobytes().decode("utf-8", errors="replace")
    return text.split("\n")


def as_bytes(names: Sequence[str], count: int) -> npt.NDArray[np.uint8]:
    """Return names as bytes, one per line: arrays of text would need pickle."""
    lines = [" ".join(str(name).splitlines()) for name in names]
    if len(lines) != count:
        raise ReleaseError(
            f"There are {len(lines)} names for {count} columns; give one name per column."
        )
    return np.frombuffer("\n".join(lines).encode("utf-8", errors="replace"), np.uint8)


def labels(release: Release, X: Any) -> Iterator[npt.NDArray[np.intp]]:
    """Yield the row cluster of every row of a matrix with the same columns."""
    from privclust.data.matrix.door import CountMatrix

    unit = matrix_unit_from(dict(release.privacy.unit))
    weights = release.arrays["column_weights"]
    try:
        with CountMatrix(X, unit=unit) as matrix:
            yield matrix.labels(weights)
    except ValueError as error:
        raise ReleaseError(str(error)) from None


def _check(release: Release) -> None:
    arrays = release.arrays
    k, n_clusters = arrays["block_totals"].shape
    if not k or not n_clusters:
        raise ReleaseError("A coclustering release needs at least one cluster; fit it again.")
    labels = arrays["column_labels"]
    if labels.dtype.kind not in "iu" or not 0 <= labels.min() <= labels.max() < n_clusters:
        raise ReleaseError("The array 'column_labels' names no cluster of columns; correct it.")
    if len(column_names(release)) != len(labels):
        raise ReleaseError("The array 'column_names' has not one line per column; correct it.")
    if (arrays["block_totals_error"] < 0).any():
        raise ReleaseError("The array 'block_totals_error' has negative entries; correct it.")


def _summary(release: Release) -> list[tuple[str, str]]:
    k, n_clusters = release.arrays["block_totals"].shape
    tau = float(release.parameters.get("tau", float("nan")))
    return [
        ("row clusters", str(k)),
        ("column clusters", str(n_clusters)),
        ("columns", f"{len(release.arrays['column_labels']):,}"),
        ("τ of the block totals", f"{tau:.3f}"),
    ]


def _context(release: Release) -> dict[str, Any]:
    from privclust.coclustering.report import context

    return context(release)


register_kind(
    ReleaseKind(
        name="coclustering",
        title="co-clustering of a matrix of counts",
        arrays={
            "column_labels": ("m",),
            "block_totals": ("k", "l"),
            "block_totals_error": ("k", "l"),
            "column_weights": ("m", "k"),
        },
        check=_check,
        summary=_summary,
        labels=labels,
        template="coclustering/report.html.j2",
        context=_context,
    )
)
