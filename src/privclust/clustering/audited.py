"""What audits of clusterings run, on synthetic neighbours."""

from __future__ import annotations

from typing import Any

from privclust.audit.neighbours import NeighbourPair, point_pairs, table_pairs
from privclust.clustering.estimator import PrivateKMeans
from privclust.clustering.summary import PrivateSummary
from privclust.schema.facts import Box, Categories
from privclust.schema.schema import Schema

Subject = tuple[Any, list[NeighbourPair]]

_SQUARE = Schema({name: Box(0, 1, missing=0.5) for name in ("x", "y")})
_DOMAIN = {"a": ["u", "v", "w"], "b": ["no", "yes"], "c": ["no", "yes"]}


def kmeans_subject(epsilon: float, delta: float) -> Subject:
    """Return a model of k-means, and pairs of neighbouring data sets for it."""
    model = PrivateKMeans(3, epsilon=epsilon, delta=delta, schema=_SQUARE)
    return model, point_pairs([0, 0], [1, 1])


def summary_subject(epsilon: float, delta: float) -> Subject:
    """Return a summary, and pairs of neighbouring data sets for it."""
    model = PrivateSummary(epsilon=epsilon, delta=delta, schema=_SQUARE)
    return model, point_pairs([0, 0], [1, 1])


def categorical_subject(epsilon: float, delta: float) -> Subject:
    """Return a model of categorical clusters, and pairs of neighbouring data sets for it."""
    facts = {name: Categories(values, missing="category") for name, values in _DOMAIN.items()}
    schema = Schema(facts)
    model = PrivateKMeans(3, epsilon=epsilon, delta=delta, schema=schema, metric="dilca")
    return model, table_pairs([*_DOMAIN.values()])
