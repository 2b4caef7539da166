"""The kind "summary": what it holds, and the k-means releases that are made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privclust._typing import Floats
from privclust.exceptions import ReleaseError
from privclust.kmeans.profiles import PROFILE_ARRAYS, check_profiles
from privclust.kmeans.release import column_scales
from privclust.release.checks import check_coordinates, check_not_negative
from privclust.release.facts import Facts, Listing
from privclust.release.kinds import ReleaseKind, register_kind
from privclust.release.signal import without_note
from privclust.schema.coordinates import Coordinates
from privclust.summary.clustering import clustered, most_clusters
from privclust.summary.result import Cells

if TYPE_CHECKING:
    from privclust.release.release import Release

__all__ = [
    "arrays_of",
    "cells_of",
    "column_scales",
    "kmeans_release",
]

_ARRAYS = {
    "cells": ("m", "d"),
    "counts": ("m",),
    "counts_error": ("one",),
    "variances": ("m",),
    "column_shares": ("d",),
    "groups": ("m",),
    "group_variances": ("g",),
    "raw_counts": ("r",),
    "raw_counts_error": ("one",),
    "raw_cells": ("r",),
    "n_rows": ("one",),
    "n_rows_error": ("one",),
    "within": ("one",),
    "within_error": ("one",),
}
_NUMBERS = tuple(name for name, axes in _ARRAYS.items() if axes == ("one",))
_PLACES = {"groups": "group_variances", "raw_cells": "cells"}


def arrays_of(cells: Cells, places: Floats) -> dict[str, Any]:
    """Return the arrays of a release; ``places`` are the cells in the units of the data."""
    arrays: dict[str, Any] = {}
    for name in _ARRAYS:
        value = getattr(cells, name)
        arrays[name] = np.array([value]) if name in _NUMBERS else np.array(value)
    arrays |= {name: arrays[name].astype(np.int64) for name in _PLACES}
    return {**arrays, "cells": places}


def cells_of(release: Release) -> Cells:
    """Return the cells of a release in the metric of the model."""
    arrays: dict[str, Any] = {name: release.arrays[name] for name in _ARRAYS}
    arrays |= {name: float(arrays[name][0]) for name in _NUMBERS}
    arrays["cells"] = arrays["cells"] / column_scales(release)
    return Cells(**arrays)


def kmeans_release(release: Release, n_clusters: int) -> Release:
    """Return k centres of a summary as a k-means release; its digest names the summary."""
    from privclust.release.release import Release

    clusters, scales = clustered(cells_of(release), n_clusters), column_scales(release)
    schema = release.schema
    centers = Coordinates(schema).projected(clusters.centers * scales)
    parameters = {
        "n_clusters": len(clusters.sizes),
        "method": "summary",
        "rescale": bool(release.parameters.get("rescale")),
        "summary": release.digest,
        # That note is about the inertia alone, which a k-means release does not have.
        **without_note(release, "far-rows-missed"),
    }
    return Release(
        kind="kmeans",
        arrays={
            "cluster_centers": centers,
            "cluster_centers_error": clusters.centers_error * scales,
            "cluster_sizes": clusters.sizes,
            "cluster_sizes_error": clusters.sizes_error,
            **_profiles_of(release, centers),
        },
        schema=schema,
        parameters=parameters,
        privacy=release.privacy,
        created=release.created,
    )


def _profiles_of(release: Release, centers: Floats) -> dict[str, Any]:
    """Return the histograms that were paid for, if they are those of the same clusters."""
    arrays = release.arrays
    if not np.array_equal(arrays.get("profile_centers", np.empty(0)), centers):
        return {}
    return {name: arrays[name] for name in PROFILE_ARRAYS}


def _check(release: Release) -> None:
    arrays = release.arrays
    check_coordinates(release, arrays["cells"].shape[1], "cells")
    if any(len(arrays[name]) != 1 for name in _NUMBERS):
        raise ReleaseError("A summary has one number of rows and one of each error; correct it.")
    check_profiles(release, len(arrays.get("profile_centers", ())))
    for name, target in _PLACES.items():
        places, most = arrays[name], len(arrays[target])
        if places.dtype.kind != "i" or ((places < 0) | (places >= most)).any():
            raise ReleaseError(f"The array {name!r} points beyond {target!r}; correct it.")
    check_not_negative(
        release, "counts", "variances", "column_shares", "group_variances", *_NUMBERS
    )
    if not (arrays["counts"] > 0).any() or arrays["n_rows"][0] < 1:
        raise ReleaseError("A summary needs at least one cell with rows; fit it again.")


def _facts(release: Release) -> Facts:
    cells, names = cells_of(release), Coordinates(release.schema).names
    order = np.argsort(-cells.counts, kind="stable")[:20]
    places = release.arrays["cells"]
    return Facts(
        summary=[
            ("cells", str(most_clusters(cells))),
            ("columns", str(len(release.schema))),
            ("rows, with noise", f"{cells.n_rows:,.0f}"),
        ],
        listings=[
            Listing(
                ["cell", "rows", *names],
                [
                    [str(j), f"{cells.counts[j]:,.0f}", *(f"{x:.4g}" for x in places[j])]
                    for j in order
                ],
            )
        ],
        values={
            "cells": most_clusters(cells),
            "rows": cells.n_rows,
            "rows_error": cells.n_rows_error,
        },
    )


register_kind(
    ReleaseKind(
        name="summary",
        title="Private summary",
        arrays=_ARRAYS,
        check=_check,
        facts=_facts,
        template="summary/report.html.j2",
        context="privclust.summary.report:summary_context",
    )
)
