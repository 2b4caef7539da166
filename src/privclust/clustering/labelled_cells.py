"""Labels of released cells by a clusterer: how a summary or a density holds and shows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privclust.exceptions import ReleaseError

if TYPE_CHECKING:
    from privclust.release.release import Release

LABELS = "cell_labels"
_UNLABELLED = (
    "A summary labels rows once its cells are clustered; label them with what "
    "Summary(release).kmeans(k) or .cluster(estimator) returns."
)


def with_cell_labels(release: Release, found: npt.NDArray[np.intp], clusterer: str) -> Release:
    """Return a summary whose cells are labelled by a clusterer; its digest names the first."""
    from privclust.release.release import Release

    told = {name: value for name, value in release.parameters.items() if name != "clusterer"}
    return Release(
        kind="summary",
        arrays={**release.arrays, LABELS: found.astype(np.int64)},
        schema=release.schema,
        parameters={"summary": release.digest, **told, "clusterer": clusterer},
        privacy=release.privacy,
        created=release.created,
        about=replace(release.about, names=()),
    )


def check_cell_labels(release: Release, n_cells: int) -> None:
    """Raise unless labels of cells, if there are any, are whole numbers from -1 on."""
    found = release.arrays.get(LABELS, np.zeros(n_cells, np.int64))
    if found.shape != (n_cells,) or found.dtype.kind != "i" or (found < -1).any():
        raise ReleaseError(
            f"A {release.kind} needs a whole number from -1 on for each cell; correct {LABELS!r}."
        )


def clusterer_fact(release: Release) -> list[tuple[str, str]]:
    """Return what labelled the cells, if they are labelled."""
    clusterer = release.parameters.get("clusterer")
    return [("as clusterer", str(clusterer))] if clusterer else []


def labels_by_cell(
    release: Release, X: Any, scaling: dict[str, Any]
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the label of the cell that is nearest to every row; cells without rows have none."""
    from privclust.clustering.predicting import label_by_nearest

    if LABELS not in release.arrays:
        raise ReleaseError(_UNLABELLED)
    live = release.arrays["counts"] > 0
    cells, found = release.arrays["cells"][live], release.arrays[LABELS][live]
    yield from label_by_nearest(X, release.schema, scaling, cells, found)
