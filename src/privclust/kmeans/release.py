"""The kind "kmeans": what it holds and how it labels rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privclust._typing import Floats
from privclust.exceptions import ReleaseError
from privclust.kmeans.profiles import check_profiles
from privclust.kmeans.result import LearnedCenters
from privclust.release.checks import check_centres, check_not_negative
from privclust.release.facts import Facts, Listing
from privclust.release.kinds import ReleaseKind, register_kind
from privclust.reports.rounded import TWO_ERRORS, give_or_take
from privclust.schema.coordinates import Coordinates

if TYPE_CHECKING:
    from privclust.release.release import Release

__all__ = [
    "centers_error",
    "column_scales",
    "labels",
    "learned_arrays",
]


_ERRORS = ("cluster_centers_error",)  # older releases have none


def column_scales(release: Release) -> Floats:
    """Return the length that counts as one in each coordinate, in the metric of the model."""
    return Coordinates(release.schema).scales(bool(release.parameters.get("rescale")))


def centers_error(release: Release) -> Floats | None:
    """Return the errors of the noise of the centres; older releases have none."""
    return release.arrays.get(*_ERRORS)


def labels(release: Release, X: Any) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the index of the nearest centre for every row."""
    from privclust.holder.points import OwnPoints
    from privclust.opening.rows import open_points

    rescale, arrays = bool(release.parameters.get("rescale")), release.arrays
    with open_points(X, schema=release.schema, ignore=None) as opened:
        own = OwnPoints(opened, rescale=rescale)
        if "value_points" not in arrays:
            yield from own.label_parts(arrays["cluster_centers"])
            return
        own.see_as(arrays["value_points"])
        yield from own.label_parts(arrays["cluster_places"])


def learned_arrays(learned: LearnedCenters) -> dict[str, Floats]:
    """Return what a learned metric adds to a release: values and centres on its axes."""
    return {"cluster_places": learned.places, "value_points": learned.values}


def _check(release: Release) -> None:
    check_centres(release, "cluster_centers")
    errors = centers_error(release)
    check_not_negative(release, "cluster_sizes_error", *_ERRORS if errors is not None else ())
    if errors is not None and errors.shape != release.arrays["cluster_centers"].shape:
        raise ReleaseError(
            "The array 'cluster_centers_error' needs the shape of 'cluster_centers'; correct it."
        )
    check_profiles(release, len(release.arrays["cluster_centers"]))
    _check_learned(release, len(release.arrays["cluster_centers"]))


def _check_learned(release: Release, k: int) -> None:
    """Raise unless centres and values on the axes of a learned metric fit each other."""
    arrays = release.arrays
    given = [arrays[name].shape for name in ("cluster_places", "value_points") if name in arrays]
    if not given:
        return
    fits = len(given) == 2 and all(len(shape) == 2 for shape in given)
    if not fits or given[0][0] != k or given[0][1] != given[1][1]:
        raise ReleaseError(
            "The arrays 'cluster_places' and 'value_points' do not fit each other; give a place "
            "for each centre, and the same axes in both."
        )


def _facts(release: Release) -> Facts:
    from privclust.kmeans.wording import cluster_sentences, sentence_listing

    arrays, coordinates = release.arrays, Coordinates(release.schema)
    errors, verdict = centers_error(release), release.parameters.get("verdict")
    parts = ("cluster_sizes", "cluster_sizes_error", "cluster_centers")
    clusters = list(zip(*(arrays[part].tolist() for part in parts), strict=True))
    lines, values = [], []
    for label, (size, error, center) in enumerate(clusters):
        value = {"size": size, "size_error": error, "center": coordinates.described(center)}
        shown = [f"{x:.4g}" for x in center]
        if errors is not None:
            value["center_error"] = coordinates.described(errors[label].tolist())
            both = zip(shown, errors[label], strict=True)
            shown = [give_or_take(text, noise) for text, noise in both]
        lines.append([str(label), give_or_take(f"{size:,.0f}", error), *shown])
        values.append(value)
    return Facts(
        summary=[
            ("clusters", str(len(clusters))),
            ("columns", str(len(release.schema))),
            ("rows, with noise", f"{float(arrays['cluster_sizes'].sum()):,.0f}"),
        ],
        listings=[
            Listing(["cluster", f"rows {TWO_ERRORS}", *coordinates.names], lines),
            *sentence_listing(release),
        ],
        values={"clusters": values, "sentences": cluster_sentences(release)}
        | ({"verdict": verdict} if verdict else {}),
    )


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
        facts=_facts,
        template="kmeans/report.html.j2",
        context="privclust.kmeans.report:kmeans_context",
        labels=labels,
    )
)
