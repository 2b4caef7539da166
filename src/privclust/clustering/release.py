"""The kinds "kmeans" and "summary": their content, how they label rows, what they say in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privclust._typing import Floats
from privclust.categories.release import (
    METRIC_ARRAYS,
    attributes_of,
    check_metric,
    metric_listing,
    release_arrays,
)
from privclust.clustering.agreement import cluster_by_agreement
from privclust.clustering.columns import ColumnPart, column_notes, separation_shares
from privclust.clustering.from_cells import Clusters, most_clusters
from privclust.clustering.histograms import PROFILE_ARRAYS, check_profiles
from privclust.clustering.labelled_cells import (
    check_cell_labels,
    clusterer_fact,
    labels_by_cell,
)
from privclust.clustering.result import Cells, LearnedCenters
from privclust.clustering.synthetic import SyntheticModel
from privclust.clustering.tables import Tables, check_tables
from privclust.exceptions import ReleaseError
from privclust.release.facts import (
    MISSING_ARRAYS,
    Facts,
    Listing,
    missing_listing,
    missing_values,
)
from privclust.release.kinds import (
    ReleaseKind,
    check_centres,
    check_coordinates,
    check_not_negative,
    register_kind,
)
from privclust.release.signal import with_notes, without_note
from privclust.reports.findings import RowGroups
from privclust.reports.values import (
    TWO_ERRORS,
    coordinate_facts,
    coordinate_labels,
    counted_missing,
    describe_about,
    describe_size,
)
from privclust.schema.coordinates import Coordinates
from privclust.schema.schema import Schema

if TYPE_CHECKING:
    from privclust.release.release import Release


# The kind "kmeans": its content and how it labels rows.

_ERRORS = ("cluster_centers_error",)  # older releases have none


def column_scales(release: Release) -> Floats:
    """Return the length that counts as one in each coordinate, in the metric of the model."""
    return Coordinates(release.schema).scales(**scaling_of(release))


def scaling_of(release: Release) -> dict[str, Any]:
    """Return how much columns count, see ``Coordinates.scales``; older releases have no gap."""
    parameters = release.parameters
    return {"rescale": bool(parameters.get("rescale")), "gap": parameters.get("category_gap")}


def scaling_parameters(*, rescale: bool, gap: float | None) -> dict[str, Any]:
    """Return the parameters of a release from which :func:`scaling_of` reads the same again."""
    return {"rescale": rescale} | ({} if gap is None else {"category_gap": gap})


def centers_error(release: Release) -> Floats | None:
    """Return the errors of the noise of the centres; older releases have none."""
    return release.arrays.get(*_ERRORS)


def cluster_arrays(
    centers: Floats, centers_error: Floats | None, sizes: Floats, sizes_error: Floats
) -> dict[str, Floats]:
    """Return the arrays that every release of the kind has, and the errors of centres if known."""
    errors = {} if centers_error is None else dict.fromkeys(_ERRORS, centers_error)
    return errors | {
        "cluster_centers": centers,
        "cluster_sizes": sizes,
        "cluster_sizes_error": sizes_error,
    }


def labels(release: Release, X: Any) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the index of the nearest centre for every row."""
    from privclust.holder.answers import OwnPoints
    from privclust.opening.rows import open_points

    arrays = release.arrays
    with open_points(X, schema=release.schema, ignore=None) as opened:
        own = OwnPoints(opened, **scaling_of(release))
        if "value_points" not in arrays:
            yield from own.label_parts(arrays["cluster_centers"])
            return
        own.use_value_points(arrays["value_points"])
        yield from own.label_parts(arrays["cluster_places"])


def check_scaling(release: Release) -> None:
    """Raise unless the gap of categories, if there is one, is a number above zero."""
    gap = scaling_of(release)["gap"]
    number = isinstance(gap, int | float) and not isinstance(gap, bool)
    if gap is not None and not (number and gap > 0):
        raise ReleaseError("The parameter 'category_gap' must be a number above zero; correct it.")


def metric_arrays(learned: LearnedCenters, schema: Schema) -> dict[str, npt.NDArray[Any]]:
    """Return what a learned metric adds to a release: itself, values and centres on its axes."""
    places = {"cluster_places": learned.places, "value_points": learned.values}
    return places | release_arrays(learned.metric, schema, learned.cell_error)


def has_metric(release: Release) -> bool:
    """Return whether a release has distances between categories; before 0.3 none has."""
    return release.kind == "kmeans" and "coordinates" in release.arrays


def _check_kmeans(release: Release) -> None:
    check_scaling(release)
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
    missing = [name for name in METRIC_ARRAYS if name not in arrays]
    if 0 < len(missing) < len(METRIC_ARRAYS):
        raise ReleaseError(f"The learned metric lacks the array {missing[0]!r}; fit it again.")
    if not missing:
        check_metric(release)


def total_rows(arrays: Mapping[str, Any]) -> tuple[float, float]:
    """Return the noisy number of all rows of clusters, and its standard error."""
    sizes, errors = arrays["cluster_sizes"], arrays["cluster_sizes_error"]
    return float(sizes.sum()), float(np.linalg.norm(errors))


def _kmeans_facts(release: Release) -> Facts:
    from privclust.clustering.shown import cluster_listings

    arrays, coordinates = release.arrays, Coordinates(release.schema)
    attributes = attributes_of(release) if has_metric(release) else {}
    errors, verdict = centers_error(release), release.parameters.get("verdict")
    parts = ("cluster_sizes", "cluster_sizes_error", "cluster_centers")
    values = []
    for label, (size, error, center) in enumerate(
        zip(*(arrays[part].tolist() for part in parts), strict=True)
    ):
        value = {"size": size, "size_error": error, "center": coordinates.describe(center)}
        if errors is not None:
            value["center_error"] = coordinates.describe(errors[label].tolist())
        if release.about.names:
            value["name"] = release.about.names[label]
        values.append(value)
    return Facts(
        summary=[
            ("clusters", str(len(values))),
            ("columns", str(len(release.schema))),
            ("rows, with noise", describe_size(*total_rows(arrays))),
        ],
        listings=[
            *cluster_listings(release),
            *([metric_listing(attributes)] if attributes else []),
        ],
        values={
            "clusters": values,
            "sentences": cluster_sentences(release),
            "columns": [asdict(part) for part in column_parts(release)],
        }
        | ({"attributes": attributes} if attributes else {})
        | ({"verdict": verdict} if verdict else {})
        | missing_values(release),
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
        check=_check_kmeans,
        facts=_kmeans_facts,
        template="clustering/kmeans.html.j2",
        details="clustering/details.html.j2",
        context="privclust.clustering.report:kmeans_context",
        tables="privclust.clustering.shown:kmeans_tables",
        plot="privclust.clustering.shown:plot_centres",
        labels=labels,
        named=("cluster", "cluster_sizes"),
    )
)


# The clusters of a k-means release in words.


def groups_of(release: Release) -> RowGroups:
    """Return the clusters as groups of a report."""
    arrays, errors = release.arrays, centers_error(release)
    return RowGroups(
        release.schema,
        arrays["cluster_centers"].astype(np.float64),
        None if errors is None else errors.astype(np.float64),
        arrays["cluster_sizes"].astype(np.float64),
        arrays["cluster_sizes_error"].astype(np.float64),
        release.about.names,
        missing=counted_missing(release),
    )


def cluster_sentences(release: Release) -> list[str]:
    """Return a sentence for each cluster; none if the errors of the centres are not known."""
    known = centers_error(release) is not None and release.signal != "none"
    return groups_of(release).sentences if known else []


def column_parts(release: Release) -> list[ColumnPart]:
    """Return what columns have to do with the clusters; none if noise hides them all."""
    arrays = release.arrays
    known = release.signal != "none" and "value_points" not in arrays
    if not known or len(arrays["cluster_centers"]) < 2 or len(release.schema) < 2:
        return []
    coordinates = Coordinates(release.schema)
    scales = coordinates.scales(**scaling_of(release))
    centers, sizes = arrays["cluster_centers"], arrays["cluster_sizes"]
    return separation_shares(coordinates, scales, centers, sizes)


# The kind "summary": its content, and the k-means releases made from it.

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


def arrays_from_cells(cells: Cells, places: Floats) -> dict[str, Any]:
    """Return the arrays of a release; ``places`` are the cells in the units of the data."""
    arrays: dict[str, Any] = {}
    for name in _ARRAYS:
        value = getattr(cells, name)
        arrays[name] = np.array([value]) if name in _NUMBERS else np.array(value)
    arrays |= {name: arrays[name].astype(np.int64) for name in _PLACES}
    return {**arrays, "cells": places}


def cells_from_release(release: Release) -> Cells:
    """Return the cells of a release in the metric of the model."""
    arrays: dict[str, Any] = {name: release.arrays[name] for name in _ARRAYS}
    arrays |= {name: float(arrays[name][0]) for name in _NUMBERS}
    arrays["cells"] = arrays["cells"] / column_scales(release)
    return Cells(**arrays)


def clusters_of(release: Release, n_clusters: int) -> tuple[Clusters, Schema]:
    """Return clusters of a summary, and the schema whose weights rows are nearest by."""
    gap = scaling_of(release)["gap"] if release.signal == "seen" else None
    return cluster_by_agreement(cells_from_release(release), n_clusters, release.schema, gap)


@lru_cache(maxsize=4)
def synthetic_model(release: Release) -> SyntheticModel | None:
    """Return the model of a release's synthetic rows; None if it has cells alone."""
    tables = Tables.of(release.arrays)
    if tables is None:
        return None
    seen = release.signal == "seen"
    return SyntheticModel(
        release.schema, cells_from_release(release), column_scales(release), tables, seen=seen
    )


NO_SIGNAL = (
    "Noise hid the rows when this summary was made, so that synthetic rows say nothing about them; "
    "summarise with a larger budget."
)
NO_TABLES = (
    "Synthetic rows of this summary come from cells alone: numbers are right in place but not in "
    "spread, and two columns together may be further off than independent ones; fit with "
    "synthetic=True."
)


def sample_notes(release: Release) -> tuple[str, ...]:
    """Return how far synthetic rows can be trusted, a sentence each."""
    model = synthetic_model(release)
    told = () if release.signal == "seen" else (NO_SIGNAL,)
    if model is not None:
        return (*told, *model.sentences)
    return (*told, NO_TABLES) if release.schema.numeric else told


def cell_labels(release: Release, X: Any) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the label of the cell that is nearest to every row."""
    yield from labels_by_cell(release, X, scaling_of(release))


def kmeans_release(release: Release, n_clusters: int) -> Release:
    """Return k centres of a summary as a k-means release; its digest names the summary."""
    from privclust.release.release import Release

    clusters, schema = clusters_of(release, n_clusters)
    scales, model = column_scales(release), synthetic_model(release)
    of_cells = centers = Coordinates(schema).project(clusters.centers * scales)
    if model is not None:
        weights = Coordinates(release.schema).scales(True) / Coordinates(schema).scales(True)
        stepped = model.step(clusters.centers, clusters.centers_error, weights)
        centers = Coordinates(schema).project(stepped * scales)
    parameters = {
        "n_clusters": len(clusters.sizes),
        "method": "summary",
        **scaling_parameters(**scaling_of(release)),
        "summary": release.digest,
        **_signal_and_notes(release, schema, centers, clusters.sizes),
    }
    return Release(
        kind="kmeans",
        arrays=cluster_arrays(
            centers, clusters.centers_error * scales, clusters.sizes, clusters.sizes_error
        )
        | _profiles_of(release, of_cells)
        | {name: array for name, array in release.arrays.items() if name in MISSING_ARRAYS},
        schema=schema,
        parameters=parameters,
        privacy=release.privacy,
        created=release.created,
        about=replace(release.about, names=()),
    )


def _signal_and_notes(
    release: Release, schema: Schema, centers: Floats, sizes: Floats
) -> dict[str, Any]:
    """Return signal and notes: those of the summary, and what these clusters say of columns."""
    # That note is about the inertia alone, which a k-means release does not have.
    parameters = without_note(release, "far-rows-missed")
    scaling = scaling_of(release)
    if scaling["gap"] is None or parameters.get("signal") != "seen":
        return parameters
    coordinates = Coordinates(schema)
    parts = separation_shares(coordinates, coordinates.scales(**scaling), centers, sizes)
    return with_notes(parameters, column_notes(parts))


def _profiles_of(release: Release, centers: Floats) -> dict[str, Any]:
    """Return the histograms that were paid for, if they are those of the same clusters."""
    arrays = release.arrays
    if not np.array_equal(arrays.get("profile_centers", np.empty(0)), centers):
        return {}
    return {name: arrays[name] for name in PROFILE_ARRAYS}


def _check_summary(release: Release) -> None:
    check_scaling(release)
    arrays = release.arrays
    check_coordinates(release, arrays["cells"].shape[1], "cells")
    if any(len(arrays[name]) != 1 for name in _NUMBERS):
        raise ReleaseError("A summary has one number of rows and one of each error; correct it.")
    check_profiles(release, len(arrays.get("profile_centers", ())))
    check_tables(release)
    check_cell_labels(release, len(arrays["cells"]))
    for name, target in _PLACES.items():
        places, most = arrays[name], len(arrays[target])
        if places.dtype.kind != "i" or ((places < 0) | (places >= most)).any():
            raise ReleaseError(f"The array {name!r} points beyond {target!r}; correct it.")
    check_not_negative(
        release, "counts", "variances", "column_shares", "group_variances", *_NUMBERS
    )
    if not (arrays["counts"] > 0).any() or arrays["n_rows"][0] < 1:
        raise ReleaseError("A summary needs at least one cell with rows; fit it again.")


def _summary_facts(release: Release) -> Facts:
    cells, facts = cells_from_release(release), coordinate_facts(release.schema)
    order = np.argsort(-cells.counts, kind="stable")[:20]
    places, notes = release.arrays["cells"], sample_notes(release)
    errors = np.sqrt(cells.noise) * column_scales(release)
    return Facts(
        summary=[
            ("cells", str(most_clusters(cells))),
            ("columns", str(len(release.schema))),
            ("rows, with noise", describe_size(cells.n_rows, cells.n_rows_error)),
            *clusterer_fact(release),
        ],
        listings=[
            Listing(
                ["cell", f"rows {TWO_ERRORS}", *coordinate_labels(release.schema)],
                [
                    [
                        str(j),
                        describe_size(float(cells.counts[j]), cells.counts_error),
                        *map(describe_about, facts, places[j].tolist(), errors[j].tolist()),
                    ]
                    for j in order
                ],
            ),
            *missing_listing(release),
            *([Listing(["synthetic rows"], [[note] for note in notes])] if notes else []),
        ],
        values={
            "cells": most_clusters(cells),
            "rows": cells.n_rows,
            "rows_error": cells.n_rows_error,
            "synthetic_rows": list(notes),
            **missing_values(release),
        },
    )


register_kind(
    ReleaseKind(
        name="summary",
        title="Private summary",
        arrays=_ARRAYS,
        check=_check_summary,
        facts=_summary_facts,
        template="clustering/summary.html.j2",
        details="clustering/summary_details.html.j2",
        context="privclust.clustering.report:summary_context",
        tables="privclust.clustering.shown:summary_tables",
        plot="privclust.clustering.shown:plot_cells",
        labels=cell_labels,
    )
)
