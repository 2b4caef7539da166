"""Metrics that look like fitted models: of noisy tables, and plain mismatch."""

from __future__ import annotations

import numpy as np
import pandas as pd

from privclust import Schema
from privclust.categories.metric import AttributeMetric, CategoricalMetric
from privclust.holder.answers import OwnTable
from privclust.opening.rows import open_table


class MetricOnly:
    """A metric with the methods of a fitted estimator."""

    def __init__(self, metric: CategoricalMetric, schema: Schema) -> None:
        self.metric_, self._schema = metric, schema
        self.contexts_ = {name: part.context for name, part in metric.attributes.items()}

    def transform(self, rows: pd.DataFrame) -> np.ndarray:
        with open_table(rows, self._schema) as opened:
            return OwnTable(opened).coordinates(self.metric_.tables())


def hamming(name: str, labels: tuple[str, ...]) -> AttributeMetric:
    """Return the metric that only tells match from mismatch, at distance one."""
    size = len(labels)
    coordinates = np.eye(size) / np.sqrt(2) if size > 1 else np.zeros((1, 0))
    return AttributeMetric(name, labels, (), coordinates)


def hamming_points(schema: Schema) -> MetricOnly:
    """Plain mismatch."""
    parts = {name: hamming(name, fact.labels) for name, fact in schema.columns.items()}
    return MetricOnly(CategoricalMetric(schema.names, parts), schema)
