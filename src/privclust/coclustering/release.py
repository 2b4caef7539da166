"""The kind "coclustering": its content and how it labels rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from privclust.exceptions import ReleaseError
from privclust.release.facts import Facts, Listing
from privclust.release.kinds import ReleaseKind, check_not_negative, register_kind
from privclust.reports.axes import draw_table, refuse_columns
from privclust.reports.values import TWO_ERRORS, describe_size
from privclust.unit import matrix_unit_from

if TYPE_CHECKING:
    from privclust.release.release import Release


def column_names(release: Release) -> list[str]:
    """Return the names of the columns, or their numbers if the release has no names."""
    count = len(release.arrays["column_labels"])
    return list(release.about.names) or [f"column {j}" for j in range(count)]


def group_names(release: Release) -> tuple[list[str], list[str]]:
    """Return what the clusters of rows and of columns are called: R0, C0, or a name."""
    about, (rows, columns) = release.about, release.arrays["block_totals"].shape
    return (
        list(about.row_groups) or [f"R{n}" for n in range(rows)],
        list(about.column_groups) or [f"C{n}" for n in range(columns)],
    )


def labels(
    release: Release, X: Any, shape: tuple[int, int] | None = None
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the row cluster of every row of a matrix with the same columns."""
    from privclust.holder.answers import OwnMatrix
    from privclust.opening.matrices import open_matrix

    unit = matrix_unit_from(dict(release.privacy.unit))
    with open_matrix(X, unit=unit, shape=shape) as opened:
        yield from OwnMatrix(opened).label_parts(release.arrays["column_weights"])


def tables(release: Release) -> dict[str, pa.Table]:
    """Return a line for each block: its clusters of rows and columns, and its total."""
    totals, errors = (release.arrays[f"block_totals{end}"] for end in ("", "_error"))
    rows, columns = np.indices(totals.shape)
    blocks = {"row cluster": rows.ravel(), "column cluster": columns.ravel()}
    named = zip(("row name", "column name"), _given_names(release), (rows, columns), strict=True)
    blocks |= {name: np.array(names)[at.ravel()] for name, names, at in named if names}
    blocks |= {"total": totals.ravel(), "± total": 2 * errors.ravel()}
    return {"clusters.csv": pa.table(blocks)}


def _given_names(release: Release) -> tuple[Sequence[str], Sequence[str]]:
    return release.about.row_groups, release.about.column_groups


def plot_blocks(release: Release, ax: Any, columns: Sequence[str] | None) -> None:
    """Draw the totals of the blocks as a map."""
    refuse_columns(release.kind, columns)
    totals = release.arrays["block_totals"]
    draw_table(ax, totals, *group_names(release))


def _check(release: Release) -> None:
    arrays = release.arrays
    k, n_clusters = arrays["block_totals"].shape
    if not k or not n_clusters:
        raise ReleaseError("A coclustering release needs at least one cluster; fit it again.")
    labels = arrays["column_labels"]
    if labels.dtype.kind not in "iu" or not 0 <= labels.min() <= labels.max() < n_clusters:
        raise ReleaseError("The array 'column_labels' names no cluster of columns; correct it.")
    check_not_negative(release, "block_totals_error")


def _facts(release: Release) -> Facts:
    arrays, tau = release.arrays, float(release.parameters.get("tau", 0.0))
    totals, errors = (arrays[f"block_totals{end}"].tolist() for end in ("", "_error"))
    rows, columns = group_names(release)
    lines = [
        [name, *(describe_size(n, error) for n, error in zip(*line, strict=True))]
        for name, *line in zip(rows, totals, errors, strict=True)
    ]
    headings = [f"total {TWO_ERRORS}", *columns]
    given = {"column_names": release.about.names} | dict(
        zip(("row_groups", "column_groups"), _given_names(release), strict=True)
    )
    return Facts(
        summary=[
            ("row clusters", str(len(totals))),
            ("column clusters", str(len(totals[0]))),
            ("columns", f"{len(arrays['column_labels']):,}"),
            ("τ of the block totals", f"{tau:.3f}"),
        ],
        listings=[Listing(headings, lines)],
        values={
            "tau": tau,
            "block_totals": totals,
            "block_totals_error": errors,
            "column_labels": arrays["column_labels"].tolist(),
            **{name: list(names) for name, names in given.items() if names},
        },
    )


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
        facts=_facts,
        template="coclustering/report.html.j2",
        details="coclustering/details.html.j2",
        context="privclust.coclustering.report:coclustering_context",
        tables="privclust.coclustering.release:tables",
        plot="privclust.coclustering.release:plot_blocks",
        labels=labels,
        takes_triples=True,
        named=("column", "column_labels"),
        also_named={
            "row_groups": ("row cluster", lambda it: it.arrays["block_totals"].shape[0]),
            "column_groups": ("column cluster", lambda it: it.arrays["block_totals"].shape[1]),
        },
    )
)
