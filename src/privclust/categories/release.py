"""A learned metric in a release, and the kind "categorical", which holds one.

Releases of this kind may hold clusters too: those of the paper's variants, and of versions before
0.3, in which clusters by a learned metric were not yet a kind of k-means.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from privclust._typing import Floats
from privclust.exceptions import ParameterError, ReleaseError
from privclust.release.facts import Facts, Listing, size_table
from privclust.release.kinds import ReleaseKind, register_kind
from privclust.reports.axes import draw_table
from privclust.reports.values import TWO_ERRORS, describe_size
from privclust.schema.facts import Box
from privclust.schema.schema import Schema

if TYPE_CHECKING:
    from privclust.categories.metric import CategoricalMetric
    from privclust.release.release import Release


METRIC_ARRAYS = {
    "coordinates": ("values", "axes"),
    "contexts": ("attributes", "attributes"),
    "learned": ("attributes",),
    "cell_error": ("one",),
}
_CLUSTERS = ("cluster_centers", "cluster_sizes", "cluster_sizes_error", "value_points")


def sizes_of(schema: Schema) -> list[int]:
    """Return the number of categories of every column; none of a number."""
    return [0 if isinstance(fact, Box) else fact.size for fact in schema.columns.values()]


def release_arrays(
    metric: CategoricalMetric, schema: Schema, cell_error: float
) -> dict[str, npt.NDArray[Any]]:
    """Return a metric as plain arrays: one line per value, in the order of the schema."""
    widest = max(part.coordinates.shape[1] for part in metric.attributes.values())
    sizes = sizes_of(schema)
    coordinates = np.zeros((sum(sizes), max(widest, 1)))
    contexts = np.zeros((len(sizes), len(sizes)), np.int64)
    learned = np.zeros(len(sizes), np.int64)
    starts = np.cumsum([0, *sizes])
    for name, part in metric.attributes.items():
        place = schema.names.index(name)
        learned[place] = 1
        contexts[place, [schema.names.index(other) for other in part.context]] = 1
        width = part.coordinates.shape[1]
        coordinates[starts[place] : starts[place + 1], :width] = part.coordinates
    return {
        "coordinates": coordinates,
        "contexts": contexts,
        "learned": learned,
        "cell_error": np.array([float(cell_error)]),
    }


def attribute_points(release: Release, place: int) -> Floats:
    """Return the coordinates of the values of one column."""
    starts = np.cumsum([0, *sizes_of(release.schema)])
    points: Floats = release.arrays["coordinates"][starts[place] : starts[place + 1]]
    return points.astype(np.float64)


def distances(points: Floats) -> Floats:
    """Return the distances between all points."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(points, points))


def tables(release: Release) -> dict[str, pa.Table]:
    """Return the sizes of the clusters, if there are any."""
    arrays = release.arrays
    if "cluster_sizes" not in arrays:
        return {}
    sizes = arrays["cluster_sizes"], arrays["cluster_sizes_error"]
    return {"clusters.csv": size_table(*sizes, release.about.names)}


def plot_distances(release: Release, ax: Any, columns: Sequence[str] | None) -> None:
    """Draw the distances between the categories of a column, by default the first one learned."""
    learned = [
        name
        for name, known in zip(release.schema.names, release.arrays["learned"], strict=True)
        if known
    ]
    named = learned[:1] if columns is None else [columns] if isinstance(columns, str) else columns
    if len(named) != 1 or named[0] not in learned:
        raise ParameterError(
            f"columns must be one of {', '.join(map(repr, learned))}, got {columns!r}; name one."
        )
    place = release.schema.names.index(named[0])
    fact = release.schema[named[0]]
    names = [] if isinstance(fact, Box) else list(fact.labels)
    draw_table(ax, distances(attribute_points(release, place)), names, names)
    ax.set_title(named[0], parse_math=False)


def labels(release: Release, X: Any) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the index of the nearest centre for every row."""
    if "cluster_centers" not in release.arrays:
        raise ReleaseError(
            "This release has a metric but no clusters; fit PrivateKMeans for labels."
        )
    from privclust.data.table.public import ValuePoints
    from privclust.holder.answers import OwnTable
    from privclust.opening.rows import open_table

    ends = np.cumsum(sizes_of(release.schema))[:-1]
    embedding = ValuePoints(np.split(release.arrays["value_points"], ends))
    with open_table(X, release.schema, ignore=None) as opened:
        yield from OwnTable(opened).label_parts(embedding, release.arrays["cluster_centers"])


def _check(release: Release) -> None:
    if release.schema.numeric:
        raise ReleaseError(
            f"Column {release.schema.numeric[0]!r} is declared as numbers in a categorical "
            "release; declare Bins or Categories."
        )
    check_metric(release)
    present = [name for name in _CLUSTERS if name in release.arrays]
    if present and len(present) < len(_CLUSTERS):
        absent = next(name for name in _CLUSTERS if name not in release.arrays)
        raise ReleaseError(f"The clusters lack the array {absent!r}; fit them again.")
    if present:
        _check_clusters(release)


def check_metric(release: Release) -> None:
    """Raise unless the arrays of a learned metric fit the columns."""
    arrays, values, columns = release.arrays, sum(sizes_of(release.schema)), len(release.schema)
    if len(arrays["coordinates"]) != values:
        raise ReleaseError(
            f"The array 'coordinates' has {len(arrays['coordinates'])} lines for "
            f"{values} declared values; give one line per value."
        )
    if arrays["learned"].shape != (columns,) or arrays["contexts"].shape != (columns, columns):
        raise ReleaseError(
            "The arrays 'contexts' and 'learned' do not fit the columns; correct them."
        )


def _check_clusters(release: Release) -> None:
    centers, points = release.arrays["cluster_centers"], release.arrays["value_points"]
    k = len(centers)
    fits = centers.ndim == points.ndim == 2 and centers.shape[1] == points.shape[1]
    fits = fits and len(points) == sum(sizes_of(release.schema))
    fits = fits and all(release.arrays[name].shape == (k,) for name in _CLUSTERS[1:3])
    if not fits:
        raise ReleaseError("The arrays of the clusters do not fit each other; fit them again.")


def _facts(release: Release) -> Facts:
    arrays, attributes = release.arrays, attributes_of(release)
    summary = [
        ("attributes with distances", str(len(attributes))),
        ("values", str(len(arrays["coordinates"]))),
    ]
    listings = [metric_listing(attributes)]
    values: dict[str, Any] = {"attributes": attributes}
    if "cluster_sizes" in arrays:
        sizes, errors = (arrays[f"cluster_sizes{end}"].tolist() for end in ("", "_error"))
        clusters = list(zip(sizes, errors, strict=True))
        total = describe_size(sum(sizes), math.hypot(*errors))
        summary += [("clusters", str(len(sizes))), ("rows, with noise", total)]
        shown = [describe_size(size, error) for size, error in clusters]
        lines = [[str(i), text] for i, text in enumerate(shown)]
        listings.append(Listing(["cluster", f"rows {TWO_ERRORS}"], lines))
        values["clusters"] = [{"size": size, "size_error": error} for size, error in clusters]
    return Facts(summary, listings, values)


def metric_listing(attributes: dict[str, dict[str, Any]]) -> Listing:
    """Return a table of what each attribute was compared by."""
    lines = [
        [name, str(len(part["values"])), ", ".join(part["context"])]
        for name, part in attributes.items()
    ]
    return Listing(["attribute", "values", "context"], lines)


def attributes_of(release: Release) -> dict[str, dict[str, Any]]:
    """Return context, values and distances of each attribute that has distances."""
    names, contexts = release.schema.names, release.arrays["contexts"]
    attributes = {}
    for place in np.flatnonzero(release.arrays["learned"]).tolist():
        fact = release.schema[names[place]]
        attributes[names[place]] = {
            "context": [names[other] for other in np.flatnonzero(contexts[place] > 0).tolist()],
            "values": [] if isinstance(fact, Box) else list(fact.labels),
            "distances": distances(attribute_points(release, place)).tolist(),
        }
    return attributes


register_kind(
    ReleaseKind(
        name="categorical",
        title="categorical metric",
        arrays=METRIC_ARRAYS,
        check=_check,
        facts=_facts,
        template="categories/report.html.j2",
        details="categories/metric.html.j2",
        context="privclust.categories.report:categorical_context",
        tables="privclust.categories.release:tables",
        plot="privclust.categories.release:plot_distances",
        labels=labels,
        named=("cluster", "cluster_sizes"),
    )
)
