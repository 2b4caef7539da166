"""The kind "bounds": a schema found in the rows, how many rows it covers, and its report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from privclust.exceptions import ReleaseError
from privclust.release.facts import Facts, Listing
from privclust.release.kinds import ReleaseKind, check_not_negative, register_kind
from privclust.reports.axes import draw_bars, refuse_columns
from privclust.reports.values import (
    HIDDEN,
    column_label,
    describe_count,
    describe_range,
    describe_size,
)

if TYPE_CHECKING:
    from privclust.release.release import Release


_ARRAYS = {
    "found": ("d",),
    "inside": ("d",),
    "inside_error": ("d",),
    "missing": ("d",),
    "missing_error": ("d",),
    "n_rows": ("one",),
    "n_rows_error": ("one",),
}


def lines_of(release: Release) -> list[dict[str, Any]]:
    """Return what is known about each column, for people."""
    arrays, schema = release.arrays, release.schema
    return [
        {
            "name": column_label(name, schema[name]),
            "range": describe_range(schema[name]) if arrays["found"][i] else HIDDEN,
            "inside": describe_size(float(arrays["inside"][i]), float(arrays["inside_error"][i])),
            "missing": describe_size(
                float(arrays["missing"][i]), float(arrays["missing_error"][i])
            ),
        }
        for i, name in enumerate(schema.names)
    ]


def tables(release: Release) -> dict[str, pa.Table]:
    """Return the bounds of the columns that were found, with the rows within them."""
    arrays, schema = release.arrays, release.schema
    written = {
        "column": list(schema.names),
        "found": arrays["found"],
        "low": schema.low,
        "high": schema.high,
        "rows within": np.rint(arrays["inside"]).astype(np.int64),
        "± rows within": 2 * arrays["inside_error"],
    }
    return {"bounds.csv": pa.table(written)}


def plot_rows_within(release: Release, ax: Any, columns: Sequence[str] | None) -> None:
    """Draw how many rows lie within the bounds of each column."""
    refuse_columns(release.kind, columns)
    arrays = release.arrays
    names, words = list(release.schema.names), "rows within the bounds"
    draw_bars(ax, names, arrays["inside"], arrays["inside_error"], words)


def _check(release: Release) -> None:
    arrays, schema = release.arrays, release.schema
    if schema.categorical or len(arrays["found"]) != len(schema.numeric):
        raise ReleaseError(
            "The columns of a bounds release do not fit its schema; give one entry per Box column."
        )
    if arrays["found"].dtype.kind != "b":
        raise ReleaseError("The array 'found' of a bounds release must have booleans; correct it.")
    if len(arrays["n_rows"]) != 1:
        raise ReleaseError("A bounds release has one number of rows; correct it.")
    share = release.parameters.get("outside_share")
    if not isinstance(share, int | float) or not 0 < share < 1:
        raise ReleaseError(
            "A bounds release needs the parameter 'outside_share', a number above 0 and below 1; "
            "add it."
        )
    check_not_negative(release, "inside_error", "missing_error", "n_rows_error")


def _facts(release: Release) -> Facts:
    arrays, schema = release.arrays, release.schema
    shown = [[*line.values()] for line in lines_of(release)]
    told = (float(arrays[name][0]) for name in ("n_rows", "n_rows_error"))
    return Facts(
        summary=[
            ("columns", str(len(schema.numeric))),
            ("columns found", str(int(arrays["found"].sum()))),
            ("rows, with noise", describe_size(*told)),
        ],
        listings=[Listing(["column", "bounds", "rows within", "missing"], shown)],
        values={
            "schema": schema.to_dict(),
            "found": arrays["found"].tolist(),
            "inside": arrays["inside"].tolist(),
            "missing": arrays["missing"].tolist(),
            "n_rows": float(arrays["n_rows"][0]),
        },
    )


register_kind(
    ReleaseKind(
        name="bounds",
        title="Bounds of columns",
        arrays=_ARRAYS,
        check=_check,
        facts=_facts,
        template="bounds/report.html.j2",
        context="privclust.bounds.release:bounds_context",
        tables="privclust.bounds.release:tables",
        plot="privclust.bounds.release:plot_rows_within",
    )
)


# What the report of private bounds shows: the range of each column.


def bounds_context(release: Release) -> dict[str, Any]:
    """Return what the template needs."""
    arrays = release.arrays
    return {
        "lines": lines_of(release),
        "rows": describe_count(float(arrays["n_rows"][0]), float(arrays["n_rows_error"][0])),
        "hidden": int((~arrays["found"]).sum()),
        "outside": f"{100 * float(release.parameters['outside_share']):g} %",
    }
