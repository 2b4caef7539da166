"""How metrics on categories are compared: matrices, contexts, distances between rows."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist

from privclust import Schema
from privclust.categorical.metric import AttributeMetric, CategoricalMetric
from privclust.data.table.door import TableRows


class MetricOnly:
    """A metric with the methods of a fitted estimator."""

    def __init__(self, metric: CategoricalMetric, schema: Schema) -> None:
        self.metric_, self._schema = metric, schema
        self.contexts_ = {name: part.context for name, part in metric.attributes.items()}

    def transform(self, rows: pd.DataFrame) -> np.ndarray:
        with TableRows(rows, self._schema) as opened:
            return opened.coordinates(self.metric_.tables())


def hamming(name: str, labels: tuple[str, ...]) -> AttributeMetric:
    """Return the metric that only tells match from mismatch, at distance one."""
    size = len(labels)
    coordinates = np.eye(size) / np.sqrt(2) if size > 1 else np.zeros((1, 0))
    return AttributeMetric(name, labels, (), coordinates)


def hamming_points(schema: Schema) -> MetricOnly:
    """Plain mismatch."""
    parts = {name: hamming(name, fact.labels) for name, fact in schema.columns.items()}
    return MetricOnly(CategoricalMetric(schema.names, parts), schema)


def off_diagonal_pearson(model: Any, exact: Any) -> float:
    """Mean correlation of the distance matrices, without diagonals and without binary columns.

    A matrix without any contrast correlates with nothing: it counts as zero.
    """
    values = []
    for name, part in exact.metric_.attributes.items():
        if len(part.labels) > 2:
            above = np.triu_indices(len(part.labels), 1)
            right, found = part.distances()[above], model.metric_[name].distances()[above]
            if right.std() > 1e-12:
                flat = found.std() <= 1e-12
                values.append(0.0 if flat else float(np.corrcoef(right, found)[0, 1]))
    return float(np.mean(values))


def l1_distance(model: Any, exact: Any) -> float:
    """Mean absolute difference of the distance matrices; ``None`` stands for Hamming."""
    values = []
    for name, part in exact.metric_.attributes.items():
        other = hamming(name, part.labels) if model is None else model.metric_[name]
        values.append(float(np.abs(part.distances() - other.distances()).mean()))
    return float(np.mean(values))


def chance_f(m: int) -> dict[int, tuple[float, float]]:
    """Return by the size of the right context the expected F of a random one.

    First of a random context of the same size, then of a random set of any size.
    """
    others = m - 1
    table = {}
    for right in range(1, others + 1):
        fixed = sum(
            comb(right, hit) * comb(others - right, right - hit) * hit / right
            for hit in range(max(0, 2 * right - others), right + 1)
        ) / comb(others, right)
        weights, total = 0.0, 0.0
        for hit in range(right + 1):
            for miss in range(others - right + 1):
                if hit + miss:
                    ways = comb(right, hit) * comb(others - right, miss)
                    total += ways
                    weights += ways * 2 * hit / (right + hit + miss)
        table[right] = fixed, weights / total
    return table


def adjusted_f(model: Any, exact: Any, *, chance: dict[int, tuple[float, float]]) -> float:
    """Mean F-score of the contexts, adjusted for chance as in the paper."""
    scores, expected = [], []
    sizes = {len(context) for context in exact.contexts_.values()}
    for name, right in exact.contexts_.items():
        found = model.contexts_[name]
        scores.append(2 * len(set(right) & set(found)) / (len(right) + len(found)))
        expected.append(chance[len(right)][0 if len(sizes) == 1 else 1])
    mean, by_chance = float(np.mean(scores)), float(np.mean(expected))
    return (mean - by_chance) / (1 - by_chance)


def object_pearson(model: Any, exact: Any, *, rows: pd.DataFrame) -> float:
    """Correlation of the distances between rows."""
    return float(np.corrcoef(pdist(model.transform(rows)), pdist(exact.transform(rows)))[0, 1])
