"""Agreement: a column of categories counts in full only as far as the other columns predict it.

The cells are clustered without each column in turn. What these clusters explain of the column left
out says how far it belongs with the rest. A coin toss among measurements is explained by nothing,
and would otherwise cut every cluster in two. Numbers keep their weight: one of them alone may
separate two groups. It is post-processing of released cells, with public seeds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from privclust._typing import Floats
from privclust.clustering.from_cells import Clusters, cluster_cells, most_clusters
from privclust.clustering.result import Cells
from privclust.clustering.weighted_kmeans import nearest_centre, weighted_kmeans
from privclust.schema.coordinates import Column, Coordinates
from privclust.schema.schema import Schema

_RESTARTS = 4
# The squared weight of a column that the others do not predict at all.
_LEAST = 0.2
# Of fewer cells to a cluster the clusters without a column say little.
_FEWEST_CELLS = 2
# Among more columns none decides alone.
_MOST_COLUMNS = 32


def cluster_by_agreement(
    cells: Cells, n_clusters: int, schema: Schema, gap: float | None
) -> tuple[Clusters, Schema]:
    """Return clusters of the cells, and the schema whose weights they are nearest by.

    Without a gap (numbers alone, categories alone, an older release, or synthetic cells where noise
    hides the rows) weights stay.
    """
    weighed = schema if gap is None else agreement_weights(cells, n_clusters, schema, gap)
    if weighed is schema:
        return cluster_cells(cells, n_clusters), schema
    factors = Coordinates(schema).scales(True) / Coordinates(weighed).scales(True)
    return cluster_cells(cells, n_clusters, factors), weighed


def agreement_weights(cells: Cells, n_clusters: int, schema: Schema, gap: float | None) -> Schema:
    """Return the schema with the weights of categories by agreement; itself if none changes."""
    explained = predictability(cells, n_clusters, schema, gap)
    if not explained:
        return schema
    usual = max(float(np.mean(list(explained.values()))), 1e-9)
    facts = dict(schema.columns)
    for name in schema.categorical:
        factor = _LEAST + (1 - _LEAST) * min(1.0, explained[name] / usual)
        facts[name] = replace(facts[name], weight=facts[name].weight * float(np.sqrt(factor)))
    return schema.with_columns(facts)


def predictability(
    cells: Cells, n_clusters: int, schema: Schema, gap: float | None
) -> dict[str, float]:
    """Return the share of each column that clusters of the others explain; empty if unknown."""
    columns = Coordinates(schema).columns
    few = most_clusters(cells) < _FEWEST_CELLS * n_clusters
    if few or n_clusters < 2 or not 2 <= len(columns) <= _MOST_COLUMNS:
        return {}
    live = cells.counts > 0
    places, weights = cells.cells[live], cells.counts[live]
    scales = Coordinates(schema).scales(True, gap)
    return {
        column.name: _share_explained(
            places, weights, n_clusters, column, float(scales[column.start])
        )
        for column in columns
    }


def _share_explained(
    places: Floats, weights: Floats, n_clusters: int, column: Column, scale: float
) -> float:
    """Return which share of the square of a column clusters of the others explain."""
    others = np.delete(places, np.arange(column.start, column.start + column.size), axis=1)
    others = others - np.average(others, axis=0, weights=weights)
    rng = np.random.default_rng(n_clusters)  # public choices; the answer is the same every time
    centers = weighted_kmeans(others, weights, n_clusters, rng, restarts=_RESTARTS)
    members = np.eye(n_clusters)[nearest_centre(others, centers)] * weights[:, None]
    own = places[:, column.places]
    sizes, middle = members.sum(axis=0), np.average(own, axis=0, weights=weights)
    means = members.T @ own / np.maximum(sizes, 1e-300)[:, None]
    between = float(sizes @ ((means - middle) ** 2).sum(axis=1))
    if column.labels is None:
        whole = float(weights @ ((own - middle) ** 2).sum(axis=1))
    else:  # rows have one category each, so that their square is known from the shares
        shares = np.clip(middle * scale, 0, 1)
        whole = float(weights.sum() * (shares * (1 - shares)).sum()) / scale**2
    return float(np.clip(between / max(whole, 1e-300), 0, 1))
