"""The kind "kmeans": what it holds and how it labels rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privclust._typing import Floats
from privclust.exceptions import ReleaseError
from privclust.release.facts import Facts, Listing
from privclust.release.kinds import ReleaseKind, register_kind

if TYPE_CHECKING:
    from privclust.release.release import Release

__all__ = ["NEVER_SAW_THE_ROWS", "centers_error", "column_scales", "labels", "saw_the_rows"]


# Words in the warning of a fit whose centres were placed without looking at the rows.
NEVER_SAW_THE_ROWS = "never saw the rows"


def column_scales(release: Release) -> Floats:
    """Return the length that counts as one in each column, in the metric of the model."""
    schema = release.schema
    widths = schema.high - schema.low
    return widths if release.parameters.get("rescale") else np.ones_like(widths)


def saw_the_rows(release: Release) -> bool:
    """Tell whether the centres say anything about the rows; if not, a warning says so."""
    warnings = release.parameters.get("warnings", [])
    return not any(NEVER_SAW_THE_ROWS in str(warning) for warning in warnings)


def centers_error(release: Release) -> Floats | None:
    """Return the errors of the noise of the centres; older releases have none."""
    return release.arrays.get("cluster_centers_error")


def labels(release: Release, X: Any) -> Iterator[npt.NDArray[np.int64]]:
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
    errors = centers_error(release)
    if errors is not None and errors.shape != (k, d):
        raise ReleaseError(
            "The array 'cluster_centers_error' needs the shape of 'cluster_centers'; correct it."
        )
    for name in ("cluster_sizes_error", "cluster_centers_error"):
        if (release.arrays.get(name, np.zeros(0)) < 0).any():
            raise ReleaseError(f"The array {name!r} has negative entries; correct it.")


def _facts(release: Release) -> Facts:
    arrays, names = release.arrays, release.schema.numeric
    errors, verdict = centers_error(release), release.parameters.get("verdict")
    parts = ("cluster_sizes", "cluster_sizes_error", "cluster_centers")
    clusters = list(zip(*(arrays[part].tolist() for part in parts), strict=True))
    lines, values = [], []
    for label, (size, error, center) in enumerate(clusters):
        value = {"size": size, "size_error": error, "center": _named(names, center)}
        coordinates = [f"{x:.4g}" for x in center]
        if errors is not None:
            value["center_error"] = _named(names, errors[label].tolist())
            shown = zip(coordinates, errors[label], strict=True)
            coordinates = [f"{text} ± {noise:.2g}" for text, noise in shown]
        lines.append([str(label), f"{size:,.0f} ± {error:,.2g}", *coordinates])
        values.append(value)
    return Facts(
        summary=[
            ("clusters", str(len(clusters))),
            ("columns", str(len(names))),
            ("rows, with noise", f"{float(arrays['cluster_sizes'].sum()):,.0f}"),
        ],
        listings=[Listing(["cluster", "rows ± error", *names], lines)],
        values={"clusters": values} | ({"verdict": verdict} if verdict else {}),
    )


def _named(names: tuple[str, ...], values: list[float]) -> dict[str, float]:
    return dict(zip(names, values, strict=True))


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
        facts=_facts,
        labels=labels,
        template="kmeans/report.html.j2",
        context=_context,
    )
)
