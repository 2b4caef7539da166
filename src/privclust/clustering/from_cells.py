"""What released cells give for free: clusters for any k with their errors, and synthetic rows.

All of it is post-processing. The same cells and the same k give the same clusters every time, with
the data or without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import ndtr

from privclust._typing import Floats, Indices, Mask
from privclust.clustering.result import Cells
from privclust.clustering.weighted_kmeans import nearest_centre, squares, weighted_kmeans
from privclust.exceptions import ParameterError
from privclust.parameters import WHOLE
from privclust.release.facts import in_declared_form
from privclust.schema.coordinates import Column, Coordinates
from privclust.schema.facts import Box, Categories, Fact
from privclust.schema.schema import Schema

# Clusters of released cells, for any k, and the errors that the noise leaves in them.

# Squared factors, measured: of rows in doubt at the border of a cluster, and of the noise that
# lengthens distances.
_CROSSING, _LENGTHENED = 0.75**2, 0.5**2


@dataclass(frozen=True)
class Clusters:
    """k clusters of the cells, largest first."""

    # (k, n_features): the errors are standard errors of the noise alone.
    centers: Floats
    centers_error: Floats
    # (k,): numbers of rows; they may be negative. Their errors also cover rows at the border of two
    # clusters, which may be counted in the wrong one.
    sizes: Floats
    sizes_error: Floats
    # The approximate sum of squared distances of the rows to their nearest centre. The error
    # includes what noise in the cells' places may have added to it.
    inertia: float
    inertia_error: float


def most_clusters(cells: Cells) -> int:
    """Return the number of cells that have rows, which no k can exceed."""
    return int((cells.counts > 0).sum())


def check_n_clusters(cells: Cells, n_clusters: int) -> int:
    """Return k as a plain number; raise unless the cells have that many clusters."""
    WHOLE.check("n_clusters", n_clusters)
    most = most_clusters(cells)
    if n_clusters > most:
        raise ParameterError(
            f"n_clusters must be at most {most}, the number of cells that stand out from the "
            f"noise, got {n_clusters}; ask for fewer clusters, or summarise with a larger budget."
        )
    return int(n_clusters)


def cluster_cells(cells: Cells, n_clusters: int, factors: Floats | None = None) -> Clusters:
    """Return ``n_clusters`` clusters by weighted k-means of the cells.

    Factors multiply coordinates while clusters are found; the inertia is that without them.
    """
    k = check_n_clusters(cells, n_clusters)
    middle = np.average(cells.cells, axis=0, weights=cells.counts)
    around = cells.cells - middle
    seen = around if factors is None else around * factors
    centers = weighted_kmeans(seen, cells.counts, k, np.random.default_rng(k))
    centers = centers[np.argsort(-_sizes(cells, seen, centers)[0], kind="stable")]
    labels = nearest_centre(seen, centers)
    sizes, sizes_error = _sizes(cells, seen, centers)
    centers = centers if factors is None else centers / factors
    gaps = squares(around, centers)[np.arange(len(around)), labels]
    inertia, inertia_error = _inertia(cells, gaps)
    errors = _centers_error(cells, around, centers, labels)
    return Clusters(centers + middle, errors, sizes, sizes_error, inertia, inertia_error)


def _sizes(cells: Cells, around: Floats, centers: Floats) -> tuple[Floats, Floats]:
    """Add up the raw counts of each cluster, and what noise and borders make doubtful of them."""
    by_cell = _rows_by_cell(cells)
    by_cluster = by_cell @ np.eye(len(centers))[nearest_centre(around, centers)]
    rows = np.maximum(cells.raw_counts @ by_cell, 0)
    at_borders = rows[:, None] * _doubt(cells, around, centers)
    by_noise = cells.raw_counts_error**2 * np.maximum((by_cluster**2).sum(axis=0), 1)
    error = np.sqrt(by_noise + _CROSSING * (at_borders**2).sum(axis=0))
    return cells.raw_counts @ by_cluster, error


def _rows_by_cell(cells: Cells) -> Floats:
    """Return which share of the rows of each raw count belongs to each cell.

    A raw count is that of one cell, or of a group whose cells share it by their counts. Cells in
    which noise hides the rows have raw counts too, which go to the cell nearest to them.
    """
    n_raw, every = len(cells.raw_counts), np.arange(len(cells.cells))
    shares = np.zeros((n_raw, len(every)))
    grouped = n_raw == len(cells.group_variances)
    if grouped and (cells.groups[cells.raw_cells] == np.arange(n_raw)).all():
        shares[cells.groups, every] = cells.counts
    empty = shares.sum(axis=1) == 0
    shares[np.flatnonzero(empty), cells.raw_cells[empty]] = 1
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _doubt(cells: Cells, around: Floats, centers: Floats) -> Floats:
    """Return which share of a cell's rows may be on the wrong side of the border of a cluster.

    Rows are counted by their cell and belong to their nearest centre. The rows of a cell are taken
    to scatter across the border with all of their spread, which is more than they do.
    """
    gaps, spread = squares(around, centers), max(np.sqrt(cells.within), 1e-300)
    own, every = gaps.argmin(axis=1), np.arange(len(around))
    apart = np.sqrt(np.maximum(squares(centers, centers)[own], 1e-300))
    beyond = ndtr(-(gaps - gaps[every, own][:, None]) / (2 * apart) / spread)
    beyond[every, own] = 0
    beyond[every, own] = np.maximum(1 - beyond.sum(axis=1), 0)
    beyond /= beyond.sum(axis=1, keepdims=True)
    return np.asarray(np.minimum(beyond, 1 - beyond))


def _centers_error(cells: Cells, around: Floats, centers: Floats, labels: Indices) -> Floats:
    """Return how far noise alone moves the weighted mean of each cluster.

    Noise of a count moves weight between cells; noise of a place moves a cell; and noise of a
    group's move moves all its cells together.
    """
    k, weights = len(centers), cells.counts
    variance = np.zeros(centers.shape)
    by_counts = cells.counts_error**2 * (around - centers[labels]) ** 2
    by_places = (weights**2 * cells.variances)[:, None] * cells.column_shares
    np.add.at(variance, labels, np.where(weights[:, None] > 0, by_counts + by_places, 0))
    together = np.zeros((k, len(cells.group_variances)))
    np.add.at(together, (labels, cells.groups), weights)
    variance += (together**2 @ cells.group_variances)[:, None]
    totals = np.maximum(np.bincount(labels, weights, k), 1)
    return np.asarray(np.sqrt(variance) / totals[:, None])


def _inertia(cells: Cells, gaps: Floats) -> tuple[float, float]:
    """Return the inertia of centres at such squared distances from the cells, and its error."""
    weights, total = cells.counts, cells.counts.sum()
    between = float(weights @ gaps / total)
    each = between + cells.within
    spread = (gaps - between)[weights > 0]
    by_counts = cells.counts_error**2 * float(spread @ spread) * (cells.n_rows / total) ** 2
    by_rows = (each * cells.n_rows_error) ** 2
    by_within = (cells.n_rows * cells.within_error) ** 2
    # Noise of a cell's place lengthens distances; how much of it is left is known roughly.
    lengthened = weights @ np.minimum(cells.noise.sum(axis=1), gaps) / total
    by_places = _LENGTHENED * (cells.n_rows * lengthened) ** 2
    error = float(np.sqrt(by_counts + by_rows + by_within + by_places))
    return cells.n_rows * each, error


# Synthetic rows from released cells: a cell by its count, and normal scatter around it.


def sample_rows(cells: Cells, n_rows: int, rng: np.random.Generator) -> Floats:
    """Return rows in the model's metric; they may lie a little beyond the declared bounds."""
    d = cells.cells.shape[1]
    drawn = rng.choice(len(cells.cells), n_rows, p=cells.counts / cells.counts.sum())
    scatter = rng.standard_normal((n_rows, d)) * np.sqrt(cells.within / d)
    return np.asarray(cells.cells[drawn] + scatter)


def pull_into_bounds(rows: Floats, schema: Schema) -> Floats:
    """Return rows of numbers within box and ball; whole numbers are whole."""
    facts = schema.columns.values()
    whole = np.array([isinstance(fact, Box) and fact.form == "integer" for fact in facts])
    rows = np.where(whole, np.rint(rows), rows)
    if schema.ball is not None:
        rows = _pull_into_ball(rows, whole, np.array(schema.ball.center), schema.ball.radius)
    return np.clip(rows, schema.low, schema.high)


def _pull_into_ball(rows: Floats, whole: Mask, center: Floats, radius: float) -> Floats:
    """Pull rows towards the centre, whole numbers to the next whole one on the way."""
    far = np.linalg.norm(rows - center, axis=1) > radius
    gaps = rows[far] - center
    pulled = center + gaps * (radius / np.linalg.norm(gaps, axis=1, keepdims=True))
    nearest = np.rint(center)
    inwards = np.where(
        gaps > 0, np.maximum(np.floor(pulled), nearest), np.minimum(np.ceil(pulled), nearest)
    )
    # Beside a centre that is not whole this may lead outwards, by less than one.
    still = ((inwards - center)[:, whole] ** 2).sum(axis=1) > radius**2
    inwards[still] = nearest
    taken = (np.where(whole, inwards - center, 0) ** 2).sum(axis=1)
    others = np.linalg.norm(np.where(whole, 0, gaps), axis=1)
    room = np.sqrt(np.maximum(radius**2 - taken, 0))
    shrunk = gaps * np.minimum(1, room / np.maximum(others, 1e-300))[:, None]
    rows = rows.copy()
    rows[far] = np.where(whole, inwards, center + shrunk)
    return rows


# Synthetic rows of mixed tables, as a table whose columns are written as they were declared.

# Of the spread within cells, what numbers keep at least: noise may give all of it to categories.
_LEAST = 0.01


def sample_table(
    cells: Cells, schema: Schema, scales: Floats, n_rows: int, rng: np.random.Generator
) -> pa.Table:
    """Return rows of numbers and categories: a cell by its count, and what its centre says.

    Numbers scatter around those of the cell, categories are drawn by its shares. What the spread
    within cells has beyond that of the categories is the scatter of the numbers.
    """
    coordinates = Coordinates(schema)
    centers = coordinates.project(cells.cells * scales)
    weights = cells.counts / cells.counts.sum()
    drawn = rng.choice(len(centers), n_rows, p=weights)
    left = cells.within
    columns: dict[str, Indices] = {}
    for column in coordinates.categorical:
        shares = centers[:, column.places]
        left -= float(weights @ (1 - (shares**2).sum(axis=1))) / scales[column.start] ** 2
        columns[column.name] = _draw_codes(shares, drawn, column, rng)
    n_numbers = max(len(coordinates.numbers), 1)
    scatter = np.sqrt(max(left, _LEAST * cells.within) / n_numbers)
    rows = centers[drawn][:, coordinates.numbers]
    rows = rows + rng.standard_normal(rows.shape) * scatter * scales[coordinates.numbers]
    rows = np.clip(rows, schema.low, schema.high)
    numbers = dict(zip(schema.numeric, rows.T, strict=True))
    return as_table(schema, numbers | columns, rng)


def _draw_codes(
    shares: Floats, drawn: Indices, column: Column, rng: np.random.Generator
) -> Indices:
    """Return a code for each row; what the shares fall short of one is left out."""
    ends = np.cumsum(shares, axis=1)[drawn]
    codes = (rng.random(len(drawn))[:, None] >= ends).sum(axis=1)
    return np.asarray(np.minimum(codes, column.size - (not column.omits)))


def as_table(schema: Schema, columns: dict[str, Any], rng: np.random.Generator) -> pa.Table:
    """Return numbers and codes as the columns that the schema declares."""
    facts = schema.columns.items()
    return pa.table({name: _in_declared_form(columns[name], fact, rng) for name, fact in facts})


def _in_declared_form(values: Any, fact: Fact, rng: np.random.Generator) -> pa.Array:
    if isinstance(fact, Box):
        return (
            pa.array(np.rint(values), pa.int64())
            if fact.form == "integer"
            else in_declared_form(values, fact)
        )
    if isinstance(fact, Categories):
        last: list[str | None] = [None] * (fact.missing == "category")
        last += ["(other)" if fact.kind == "text" else None] * (fact.unknown == "other")
        return pa.array([*fact.values, *last, None]).take(pa.array(values))
    edges = np.array([*fact.edges, fact.edges[-1]])
    bins = np.minimum(values, len(fact.edges) - 1)
    inside = edges[bins] + rng.random(len(bins)) * (edges[bins + 1] - edges[bins])
    inside = np.floor(inside) if fact.form == "integer" else inside
    return in_declared_form(inside, fact, missing=values >= len(fact.edges) - 1)
