"""What releases of clusters and summaries are on a terminal, in spreadsheets, and on axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from privclust.clustering.release import centers_error, cluster_sentences, column_parts, groups_of
from privclust.release.facts import Listing, cluster_tables, missing_listing, place_table
from privclust.reports.axes import draw_bubbles, pick_columns
from privclust.reports.values import (
    TWO_ERRORS,
    column_label,
    coordinate_facts,
    coordinate_labels,
    describe,
    describe_size,
    percent_of,
)

if TYPE_CHECKING:
    from privclust.release.release import Release


_MOST_PARTS = 12


def cluster_listings(release: Release) -> list[Listing]:
    """Return the clusters as tables for a terminal."""
    return [
        _center_listing(release),
        *_sentence_listing(release),
        *_column_listing(release),
        *missing_listing(release),
    ]


def _center_listing(release: Release) -> Listing:
    """Return sizes and centres as a table for a terminal, unless noise hid the rows."""
    if release.signal == "none":
        return Listing(["found"], [["Nothing: noise hides the rows, and no centre saw them."]])
    groups, headings = groups_of(release), ["cluster", f"rows {TWO_ERRORS}"]
    told = zip(groups.tags, groups.sizes.tolist(), groups.sizes_error.tolist(), strict=True)
    lines = [[tag, describe_size(size, error)] for tag, size, error in told]
    facts = coordinate_facts(release.schema)
    for label, center in enumerate(groups.centers.tolist()):
        noise = [None] * len(center) if groups.errors is None else groups.errors[label].tolist()
        lines[label] += [describe(*it) for it in zip(facts, center, noise, strict=True)]
    return Listing([*headings, *coordinate_labels(release.schema)], lines)


def _sentence_listing(release: Release) -> list[Listing]:
    """Return the sentences as a table for a terminal, if there are any."""
    told = zip(groups_of(release).tags, cluster_sentences(release), strict=False)
    lines = [*map(list, told)]
    return [Listing(["cluster", "what sets it apart"], lines)] if lines else []


def _column_listing(release: Release) -> list[Listing]:
    """Return the same as a table for a terminal, of the columns that matter most."""
    lines = [[part["name"], part["share"], part["tau"]] for part in shown_parts(release)]
    headings = ["column", "share of what separates", "predicted by the clusters"]
    return [Listing(headings, lines)] if lines else []


def shown_parts(release: Release) -> list[dict[str, str]]:
    """Return the columns that matter most in words, with their shares in percent."""
    return [
        {
            "name": column_label(part.name, release.schema[part.name]),
            "share": percent_of(part.share),
            "tau": "" if part.tau is None else percent_of(part.tau),
        }
        for part in column_parts(release)[:_MOST_PARTS]
    ]


def kmeans_tables(release: Release) -> dict[str, pa.Table]:
    """Return the centres and the sizes of the clusters."""
    arrays = release.arrays
    sizes = arrays["cluster_sizes"], arrays["cluster_sizes_error"]
    centres = arrays["cluster_centers"], centers_error(release)
    return cluster_tables(release.schema, *centres, *sizes, release.about.names)


def plot_centres(release: Release, ax: Any, columns: Sequence[str] | None) -> None:
    """Draw the centres in two columns, as large as their clusters."""
    centers, sizes = (release.arrays[f"cluster_{name}"] for name in ("centers", "sizes"))
    names = pick_columns(release.schema, columns, centers, sizes)
    draw_bubbles(ax, release.schema, names, centers, sizes, named=True)


def summary_tables(release: Release) -> dict[str, pa.Table]:
    """Return the cells, with about how many rows each represents."""
    counts = release.arrays["counts"]
    return {"cells.csv": place_table(release.schema, release.arrays["cells"], rows=counts)}


def plot_cells(release: Release, ax: Any, columns: Sequence[str] | None) -> None:
    """Draw the cells in two columns, as large as their counts."""
    cells, counts = release.arrays["cells"], np.asarray(release.arrays["counts"])
    names = pick_columns(release.schema, columns, cells, counts)
    live = counts > 0
    draw_bubbles(ax, release.schema, names, cells[live], counts[live], named=False)
