"""What an audit of categorical clustering runs, on made-up neighbours."""

from __future__ import annotations

from typing import Any

from privclust.audit.neighbours import NeighbourPair, table_pairs
from privclust.clustering.categorical import PrivateCategoricalKMeans
from privclust.schema.facts import Categories
from privclust.schema.schema import Schema

_DOMAIN = {"a": ["u", "v", "w"], "b": ["no", "yes"], "c": ["no", "yes"]}


def subject(epsilon: float, delta: float) -> tuple[Any, list[NeighbourPair]]:
    """Return a model, and pairs of neighbouring data sets for it."""
    facts = {name: Categories(values, missing="category") for name, values in _DOMAIN.items()}
    model = PrivateCategoricalKMeans(3, epsilon=epsilon, delta=delta, schema=Schema(facts))
    return model, table_pairs([*_DOMAIN.values()])
