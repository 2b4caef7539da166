"""Metrics that look like fitted models: of noisy tables, and plain mismatch."""

from __future__ import annotations

from collections import OrderedDict

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
        codes = codes_of(rows, self._schema)
        parts = [table[codes[:, column]] for column, table in self.metric_.tables()]
        return np.concatenate(parts, axis=1)


# The last rows that were asked for, and their codes; the rows are kept, so that no others take
# their place in memory.
_KNOWN: OrderedDict[int, tuple[pd.DataFrame, np.ndarray]] = OrderedDict()
_MOST_KNOWN = 20


def codes_of(rows: pd.DataFrame, schema: Schema) -> np.ndarray:
    """Return the codes of rows, which are read once for all metrics and must not change."""
    if id(rows) not in _KNOWN:
        with open_table(rows, schema) as opened:
            _KNOWN[id(rows)] = rows, OwnTable(opened).codes()
    _KNOWN.move_to_end(id(rows))
    while len(_KNOWN) > _MOST_KNOWN:
        _KNOWN.popitem(last=False)
    return _KNOWN[id(rows)][1]


def hamming(name: str, labels: tuple[str, ...]) -> AttributeMetric:
    """Return the metric that only tells match from mismatch, at distance one."""
    size = len(labels)
    coordinates = np.eye(size) / np.sqrt(2) if size > 1 else np.zeros((1, 0))
    return AttributeMetric(name, labels, (), coordinates)


def hamming_points(schema: Schema) -> MetricOnly:
    """Plain mismatch."""
    parts = {name: hamming(name, fact.labels) for name, fact in schema.columns.items()}
    return MetricOnly(CategoricalMetric(schema.names, parts), schema)
