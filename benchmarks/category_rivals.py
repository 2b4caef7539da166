"""Two plain ways to use noisy tables of all pairs, which the default must not fall behind.

``raw_pairs`` takes the tables as they come out; ``shrunk_pairs`` shrinks each of them towards
independence by itself, by moments, and adds nothing for what is uncertain.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from category_measures import MetricOnly
from privclust import Schema
from privclust.budget import Budget
from privclust.categorical.cells import Cells
from privclust.categorical.context import association, choose_context
from privclust.categorical.estimate import Estimate, plain_estimate
from privclust.categorical.margins import combined_margins, number_of_rows
from privclust.categorical.metric import CategoricalMetric, attribute_metric
from privclust.data.points import Noisy
from privclust.data.table import NoisyTables
from privclust.data.table_door import TableRows
from privclust.privacy.meter import Meter
from privclust.unit import unit_from

HISTOGRAMS = 0.2


def raw_pairs(
    rows: pd.DataFrame, schema: Schema, epsilon: float, delta: float, unit: str
) -> MetricOnly:
    """All pair tables with noise and nothing else, then the most relevant contexts."""
    budget = Budget(epsilon, delta)
    with TableRows(rows, schema, unit=unit_from(unit)) as opened:
        view = opened.private(Meter(budget), None)
        pairs = list(combinations(range(view.n_attributes), 2))
        estimate = plain_estimate(view.pair_tables("tables", pairs, budget.whole))
    return _metric(estimate, schema)


def shrunk_pairs(
    rows: pd.DataFrame, schema: Schema, epsilon: float, delta: float, unit: str
) -> MetricOnly:
    """Histograms and all pair tables, every table shrunk by itself."""
    budget = Budget(epsilon, delta)
    for_histograms, for_tables = budget.whole.split([HISTOGRAMS, 1 - HISTOGRAMS])
    with TableRows(rows, schema, unit=unit_from(unit)) as opened:
        view = opened.private(Meter(budget), None)
        pairs = list(combinations(range(view.n_attributes), 2))
        histograms = view.histograms("histograms", for_histograms)
        tables = view.pair_tables("tables", pairs, for_tables)
    return _metric(_shrunk(histograms, tables), schema)


def _shrunk(histograms: Noisy, tables: NoisyTables) -> Estimate:
    """Prior variance N p q (1 - p)(1 - q) + t N^2 (p q)^1.5, with t by moments of each table."""
    cells = Cells(tables.layout)
    n_rows = number_of_rows(histograms, tables, cells)
    margins = combined_margins(histograms, tables, cells, n_rows)
    first, second = margins[cells.first], margins[cells.second]
    wide, high = cells.spread(cells.widths), cells.spread(cells.heights)
    level = tables.cells + (first - cells.row_sums(tables.cells)) / wide
    level += (second - cells.column_sums(level)) / high
    residuals = level - first * second / n_rows
    noise = tables.standard_error**2 * (1 - 1 / wide) * (1 - 1 / high) + 1e-9
    p, q = (np.maximum(part / n_rows, 0.5 / n_rows) for part in (first, second))
    sampling = n_rows * p * q * np.maximum((1 - p) * (1 - q), 1e-6)
    shape = n_rows**2 * (p * q) ** 1.5
    found = cells.per_table(shape * (residuals**2 - noise - sampling))
    prior = sampling + cells.spread(np.maximum(found / cells.per_table(shape**2), 0)) * shape
    counts = np.maximum(first * second / n_rows + residuals * prior / (prior + noise), 0)
    nothing = np.zeros(len(cells.pairs))
    return Estimate(tables.layout, n_rows, margins, counts, np.zeros_like(counts), nothing)


def _metric(estimate: Estimate, schema: Schema) -> MetricOnly:
    known = association(estimate)
    parts = {
        name: attribute_metric(
            estimate,
            target,
            choose_context("max-relevance", target, known, 3),
            schema.names,
            fact.labels,
        )
        for target, (name, fact) in enumerate(schema.columns.items())
    }
    return MetricOnly(CategoricalMetric(schema.names, parts), schema)
