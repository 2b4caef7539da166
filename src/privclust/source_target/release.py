"""The kind "source_target": chosen centres and a sanitised source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from privclust._typing import Floats
from privclust.data.sites.distances import METRICS
from privclust.exceptions import DataError, ReleaseError
from privclust.release.facts import Facts, Listing, place_table
from privclust.release.kinds import ReleaseKind, check_centres, register_kind
from privclust.reports.axes import draw_bubbles, pick_columns
from privclust.reports.values import significant

if TYPE_CHECKING:
    from privclust.release.release import Release


def labels(release: Release, X: Any) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the number of the nearest chosen centre for every public point."""
    from privclust.opening.rows import public_rows

    if not METRICS[release.parameters["metric"]].has_coordinates:
        raise ReleaseError(
            "A release of precomputed distances cannot measure new rows; compare your own "
            "distances to the candidates in 'medoid_indices'."
        )
    for batch in public_rows(X, release.schema.numeric):
        if not np.isfinite(batch).all():
            raise DataError("The rows have missing or infinite numbers; leave them out.")
        yield distances_to_centres(release, batch).argmin(axis=1)


def distances_to_centres(release: Release, rows: Floats) -> Floats:
    """Return the distance of each row to each centre, as the fitted model measures it."""
    metric = METRICS[release.parameters["metric"]]
    return metric.distances(metric.embed(rows), metric.embed(release.arrays["centers"]))


def tables(release: Release) -> dict[str, pa.Table]:
    """Return the chosen centres, with the numbers of their candidates."""
    arrays = release.arrays
    numbered = {"candidate": arrays["medoid_indices"]}
    return {"centres.csv": place_table(release.schema, arrays["centers"], **numbered)}


def plot_centres(release: Release, ax: Any, columns: Sequence[str] | None) -> None:
    """Draw the chosen centres in two columns."""
    centers = release.arrays["centers"]
    weights = np.ones(len(centers))
    names = pick_columns(release.schema, columns, centers, weights)
    draw_bubbles(ax, release.schema, names, centers, weights, named=True)


def _check(release: Release) -> None:
    check_centres(release, "centers")
    missing = {"metric", "method", "cost_estimate", "served_estimate", "n_targets"} - set(
        release.parameters
    )
    if missing:
        raise ReleaseError(f"A source_target release needs the parameter {min(missing)!r}; add it.")
    if release.parameters["metric"] not in METRICS:
        raise ReleaseError(
            f"The parameter 'metric' of a source_target release must be one of "
            f"{', '.join(METRICS)}; correct it."
        )


def _facts(release: Release) -> Facts:
    arrays, columns, names = release.arrays, release.schema.numeric, release.about.names
    summary = [
        ("new centres", str(len(arrays["centers"]))),
        ("targets", f"{release.parameters['n_targets']:,}"),
    ]
    if "source_counts" in arrays:
        counted = float(arrays["source_counts"].sum())
        summary.append(("sources located, with noise", f"{counted:,.0f}"))
    candidates, places = arrays["medoid_indices"].tolist(), arrays["centers"].tolist()
    shown_names = names or [str(candidate) for candidate in candidates]
    lines = [
        [str(number), name, *(significant(value, 4) for value in place)]
        for number, (name, place) in enumerate(zip(shown_names, places, strict=True), start=1)
    ]
    centres = [
        {"candidate": candidate, "center": dict(zip(columns, place, strict=True))}
        for candidate, place in zip(candidates, places, strict=True)
    ]
    for centre, name in zip(centres, names, strict=False):
        centre["name"] = name
    shared = ("cost_estimate", "cost_bound", "served_estimate", "n_targets", "warnings")
    values = {name: value for name, value in release.parameters.items() if name in shared}
    values.setdefault("warnings", [])
    headings = ["centre", "name" if names else "target", *columns]
    return Facts(summary, [Listing(headings, lines)], {"centers": centres, **values})


register_kind(
    ReleaseKind(
        name="source_target",
        title="New centres, given private existing ones",
        arrays={
            "centers": ("k", "d"),
            "medoid_indices": ("k",),
            "order": ("k",),
            "source_positions": ("p", "q"),
        },
        check=_check,
        facts=_facts,
        template="source_target/report.html.j2",
        details="source_target/details.html.j2",
        context="privclust.source_target.report:source_target_context",
        tables="privclust.source_target.release:tables",
        plot="privclust.source_target.release:plot_centres",
        labels=labels,
        named=("centre", "medoid_indices"),
    )
)
