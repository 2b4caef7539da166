"""The kind "density": noisy counts of a grid, how it labels rows, and what it says in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from privclust._typing import Floats, Indices
from privclust.clustering.labelled_cells import check_cell_labels, clusterer_fact
from privclust.density.grid_counts import CountedGrid, Grid
from privclust.density.task import DENSITY, USUAL_LEAST
from privclust.exceptions import ReleaseError
from privclust.notes import Note
from privclust.release.facts import Facts, Listing, missing_listing, missing_values, size_table
from privclust.release.kinds import ReleaseKind, check_not_negative, register_kind
from privclust.reports.axes import label_axes, pick_columns
from privclust.reports.values import TWO_ERRORS, count_of, describe_size

if TYPE_CHECKING:
    from privclust.release.release import Release

_ARRAYS = {
    "counts": ("m",),
    "counts_error": ("one",),
    "n_rows": ("one",),
    "n_rows_error": ("one",),
    "sides": ("d",),
    "low": ("d",),
    "widths": ("d",),
}
_LABELS = "cell_labels"
_MOST_CELLS = 2**20


def arrays_from_counts(counted: CountedGrid) -> dict[str, Any]:
    """Return the arrays of a release; the counts stand in a row, the last column fastest."""
    return {
        "counts": counted.counts.ravel(),
        "counts_error": np.array([counted.counts_error]),
        "n_rows": np.array([counted.n_rows]),
        "n_rows_error": np.array([counted.n_rows_error]),
        "sides": np.array(counted.grid.sides, np.int64),
        "low": counted.grid.low,
        "widths": counted.grid.widths,
    }


def counts_from_release(release: Release) -> CountedGrid:
    """Return the counts of a release."""
    arrays = release.arrays
    sides = tuple(int(side) for side in arrays["sides"])
    hidden = (Note("clusters-hidden", ""),) if release.signal != "seen" else ()
    return CountedGrid(
        Grid(arrays["low"], arrays["widths"], sides),
        arrays["counts"].astype(np.float64).reshape(sides),
        float(arrays["counts_error"][0]),
        float(arrays["n_rows"][0]),
        float(arrays["n_rows_error"][0]),
        float(release.parameters.get("least", USUAL_LEAST)),
        hidden,
    )


def with_cell_labels(release: Release, labels: Indices, clusterer: str) -> Release:
    """Return a density whose cells are labelled by a clusterer; its digest names the first."""
    from privclust.release.release import Release

    return Release(
        kind="density",
        arrays={**release.arrays, _LABELS: labels.ravel().astype(np.int64)},
        schema=release.schema,
        parameters={**release.parameters, "clusterer": clusterer, "density": release.digest},
        privacy=release.privacy,
        created=release.created,
        about=replace(release.about, names=()),
    )


def grid_labels(release: Release) -> Indices:
    """Return the cluster of each cell: by the clusterer that labelled it, else by persistence."""
    from privclust.density.answers import clusters_of_density

    if _LABELS in release.arrays:
        sides = tuple(int(side) for side in release.arrays["sides"])
        return np.asarray(release.arrays[_LABELS].reshape(sides), np.intp)
    return clusters_of_density(release).cell_labels


def labels(release: Release, X: Any) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the cluster of the cell of every row; -1 is noise."""
    from privclust.density.predicting import label_by_cell

    grid = counts_from_release(release).grid
    yield from label_by_cell(X, release.schema, grid, grid_labels(release))


def tables(release: Release) -> dict[str, pa.Table]:
    """Return the sizes of the clusters."""
    return {"clusters.csv": size_table(*sizes_of_clusters(release), release.about.names)}


def plot_density(release: Release, ax: Any, columns: Sequence[str] | None) -> None:
    """Draw the noisy counts of the cells, seen along the other columns, as a line or a map."""
    counted, schema = counts_from_release(release), release.schema
    grid = counted.grid
    names = list(schema.names[:2]) if columns is None else pick_columns(schema, columns)
    places = [schema.names.index(name) for name in names]
    others = tuple(axis for axis in range(len(schema)) if axis not in places)
    shown = np.maximum(counted.counts.sum(axis=others), 0)
    edges = [
        low + width * np.arange(side + 1)
        for low, width, side in zip(grid.low, grid.widths, grid.sides, strict=True)
    ]
    if len(places) == 1:
        ax.stairs(shown, edges[places[0]], fill=True)
        ax.set_ylabel("rows of a cell")
    else:
        seen = shown if places[0] < places[1] else shown.T
        ax.pcolormesh(edges[places[0]], edges[places[1]], seen.T)
    label_axes(ax, schema, names)


def sizes_of_clusters(release: Release) -> tuple[Floats, Floats]:
    """Return the noisy number of rows in the cells of each cluster, and its standard error."""
    counted, labels = counts_from_release(release), grid_labels(release)
    seen, count = labels >= 0, int(labels.max()) + 1
    sizes = np.bincount(labels[seen], counted.counts[seen], count).astype(np.float64)
    return sizes, counted.counts_error * np.sqrt(np.bincount(labels[seen], minlength=count))


def verdict_of(release: Release, n_clusters: int, by_persistence: str) -> str:
    """Return what was found in a sentence, by a clusterer if one labelled the cells."""
    if _LABELS not in release.arrays:
        return by_persistence
    return f"The clusterer found {count_of(n_clusters, 'cluster')}."


def _check(release: Release) -> None:
    arrays, columns = release.arrays, len(release.schema)
    if release.schema.categorical or not 1 <= columns <= (DENSITY.most or 0):
        raise ReleaseError("A density has one to three columns of numbers; correct its schema.")
    sides, cells = arrays["sides"], len(arrays["counts"])
    if len(sides) != columns or sides.dtype.kind != "i" or (sides < 1).any():
        raise ReleaseError("A density needs a number of cells for each column; correct 'sides'.")
    if cells > _MOST_CELLS or int(np.prod(sides.astype(object))) != cells:
        raise ReleaseError("The counts of a density do not fit its 'sides'; correct them.")
    if (arrays["widths"] <= 0).any():
        raise ReleaseError("The cells of a density are wider than 0; correct 'widths'.")
    if any(len(arrays[name]) != 1 for name in ("counts_error", "n_rows", "n_rows_error")):
        raise ReleaseError("A density has one number of rows and one of each error; correct it.")
    least = release.parameters.get("least", USUAL_LEAST)
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0 < least < 1:
        raise ReleaseError("The least share of a cluster is above 0 and below 1; correct 'least'.")
    check_not_negative(release, "counts_error", "n_rows", "n_rows_error")
    check_cell_labels(release, cells)


def _facts(release: Release) -> Facts:
    from privclust.density.answers import clusters_of_density

    counted, found = counts_from_release(release), clusters_of_density(release)
    cells, names = " × ".join(map(str, counted.grid.sides)), release.about.names
    sizes, errors = sizes_of_clusters(release)
    lines = [
        [names[label] if names else str(label), describe_size(float(size), float(error))]
        for label, (size, error) in enumerate(zip(sizes, errors, strict=True))
    ]
    merges = () if _LABELS in release.arrays else found.persistence
    verdict = verdict_of(release, len(sizes), found.verdict)
    return Facts(
        summary=[
            ("cells", cells),
            ("columns", str(len(release.schema))),
            ("rows, with noise", describe_size(counted.n_rows, counted.n_rows_error)),
            ("clusters", str(len(sizes))),
            *clusterer_fact(release),
        ],
        listings=[
            Listing(["found"], [[verdict]]),
            Listing(["cluster", f"rows {TWO_ERRORS}"], lines),
            *missing_listing(release),
        ],
        values={
            "n_clusters": len(sizes),
            "verdict": verdict,
            "sizes": sizes.tolist(),
            "sizes_error": errors.tolist(),
            "significance": [merge.significance for merge in merges if merge.apart],
            **missing_values(release),
        },
    )


register_kind(
    ReleaseKind(
        name="density",
        title="Density",
        arrays=_ARRAYS,
        check=_check,
        facts=_facts,
        template="density/report.html.j2",
        details="density/details.html.j2",
        context="privclust.density.report:density_context",
        tables="privclust.density.release:tables",
        plot="privclust.density.release:plot_density",
        labels=labels,
        named=("cluster", lambda release: len(sizes_of_clusters(release)[0])),
    )
)
