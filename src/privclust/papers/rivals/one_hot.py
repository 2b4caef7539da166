"""``PrivateOneHotKMeans``: private k-means on one-hot columns, a baseline for categories."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget
from privclust.categories.estimator import Declared
from privclust.categories.learn import MetricResult, MetricTables
from privclust.categories.metric import AttributeMetric, CategoricalMetric
from privclust.categories.release import sizes_of
from privclust.categories.task import N_CLUSTERS
from privclust.clustering.cells import Method, ask_cells
from privclust.clustering.lloyd import ask_lloyd
from privclust.clustering.plan import INERTIA, Clumps, best_inertia, with_plain_numbers
from privclust.data.table.public import ValuePoints
from privclust.data.table.view import TableRows
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.papers.dilca.clusters import CategoricalClusterer, CategoricalClusters
from privclust.parameters import WHOLE, OneOf, Parameter, check_clusters
from privclust.plan import Plan, Rehearsal, rehearse
from privclust.schema.facts import Box
from privclust.schema.schema import Schema
from privclust.unit import Unit, row_unit
from privclust.unit.rows import RowUnit

_MOST_REHEARSED = 20_000
_METHODS: dict[str, Method] = {"lloyd": ask_lloyd, "cells": ask_cells}


class PrivateOneHotKMeans(CategoricalClusterer):
    """OH, a baseline: private k-means on one-hot columns. NOT RECOMMENDED.

    A row becomes a point with one coordinate for every value of every attribute, so that two rows
    are as far apart as they have mismatches. Nothing is learned about the values.
    ``PrivateKMeans(metric="dilca")`` is better where attributes depend on each other.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    method : {"lloyd", "cells"}, default="lloyd"
        DPLloyd, or the method of :class:`~privclust.PrivateKMeans`.
    epsilon, delta, budget, schema, unit, random_state, ledger, dataset
        See :class:`privclust.PrivateDilca`.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_values)
        Released centres, with a coordinate for every value.
    metric_, contexts_, cluster_sizes_, cluster_sizes_error_, value_points_, privacy_, warnings_
        See :class:`privclust.papers.dilca.PrivateContextKMeans`; the metric is mismatch, and all
        contexts are empty.
    cell_error_ : float
        Zero: the metric is public.
    schema_, n_features_in_, feature_names_in_
        The schema used, number and names of the columns.

    Examples
    --------
    >>> from privclust import Categories
    >>> from privclust.papers.rivals import PrivateOneHotKMeans
    >>> model = PrivateOneHotKMeans(2, schema=Categories(["a", "b", "c"]))
    >>> model.fit([["a", "a"], ["b", "c"], ["b", "b"]]).cluster_centers_.shape
    (2, 6)
    """

    _parameters: ClassVar[Any] = (
        N_CLUSTERS,
        Parameter("method", OneOf(tuple(_METHODS)), "lloyd", "The algorithm."),
    )

    # The metric has no context, so there is nothing to choose.
    context_rule = "all"
    context_size = 1

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        method: str = "lloyd",
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        schema: Declared | None = None,
        unit: Unit | str = "add-remove-row",
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.epsilon = epsilon
        self.delta = delta
        self.budget = budget
        self.schema = schema
        self.unit = unit
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def plan(self, n_rows: int = 10_000, n_features: int | None = None) -> Plan:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=10_000
            About how many rows the data have, from public knowledge; at most 20 000 are generated.
        n_features : int or None
            The number of columns, if the schema does not say.
        """
        self._check_parameters()
        WHOLE.check("n_rows", n_rows)
        schema, unit = with_plain_numbers(self._planned_schema(n_features)), row_unit(self.unit)
        count, n_clusters = min(int(n_rows), _MOST_REHEARSED), int(self.n_clusters)
        return rehearse(
            self,
            lambda seed: _synthetic(Clumps.make(schema, n_clusters, count, seed), unit, n_clusters),
            n_rows=int(n_rows),
            measure=INERTIA,
            known={"schema": schema},
        )

    def _check_before_charge(self, door: TableRows, public: Any = None) -> None:
        super()._check_before_charge(door, public)
        check_clusters(int(self.n_clusters), sum(sizes_of(door.schema)))

    def _ask(self, door: TableRows, run: Run, public: Any = None) -> CategoricalClusters:
        embedding = _one_hot(door.schema)
        # No row is longer: what one value adds is orthogonal to what the others add.
        longest = sum(float((part**2).sum(axis=1).max()) for part in embedding.points)
        points = door.private(run.meter, run.seed).as_points(embedding, math.sqrt(longest))
        cluster = _METHODS[self.method]
        found = cluster(points, run.budget.whole, int(self.n_clusters), run.public_rng)
        learning = MetricResult(_mismatch(door.schema), MetricTables({}, {}, 0.0, found.sizes))
        return CategoricalClusters(
            learning, embedding, points.domain.to_data_units(found.centres), found
        )


def _synthetic(made: Clumps, unit: RowUnit, n_clusters: int) -> Rehearsal:
    """Return rows in clumps; the error is the inertia of the released centres on them."""
    table, blocks = made.table(unit), _one_hot(made.schema).points
    points = sum(block[codes] for block, codes in zip(blocks, made.codes.T, strict=True))

    def error_ratio(model: Any) -> float:
        gaps = points - model.cluster_centers_[model.predict(table)]
        return float((gaps**2).sum() / best_inertia(points, n_clusters))

    return Rehearsal((table,), error_ratio)


def _one_hot(schema: Schema) -> ValuePoints:
    """Return a public point for every value: a coordinate of its own, around the mean of all."""
    sizes = sizes_of(schema)
    points, start = [], 0
    for size in sizes:
        block = np.zeros((size, sum(sizes)))
        block[:, start : start + size] = _mismatch_points(size)
        points.append(block)
        start += size
    return ValuePoints(points)


def _mismatch(schema: Schema) -> CategoricalMetric:
    """Return the metric of mismatches, at distance one."""
    parts = {
        name: AttributeMetric(name, tuple(fact.labels), (), _mismatch_points(len(fact.labels)))
        for name, fact in schema.columns.items()
        if not isinstance(fact, Box)
    }
    return CategoricalMetric(schema.names, parts)


def _mismatch_points(size: int) -> Floats:
    return np.asarray((np.eye(size) - 1 / size) / math.sqrt(2))
