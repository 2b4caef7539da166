"""Many fits of private metrics on the same rows, which are read and counted once.

Besides the methods of the library there are two plain ways to use noisy tables of all pairs, which
the default must not fall behind: ``raw`` takes the tables as they come out; ``shrunk`` shrinks each
of them towards independence by itself, by moments, and adds nothing for what is uncertain.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from category_measures import MetricOnly
from privclust import Schema
from privclust.budget import Budget
from privclust.categories.context import association, choose_context
from privclust.categories.learn import METHODS, USUAL_CONTEXT, ask_metric, usual_method
from privclust.categories.metric import CategoricalMetric, attribute_metric
from privclust.categories.pair_tables import PairTableCells, combine_margins, number_of_rows
from privclust.categories.shrinkage import Estimate, clip_tables
from privclust.data.engines.base import CountedSum
from privclust.data.public import Noisy
from privclust.data.table.asked import Contexts, Entropies, TableCounts
from privclust.data.table.public import NoisyTables
from privclust.data.table.view import TableRows
from privclust.opening.rows import open_table
from privclust.papers.dilca.private import BY_TARGET, ContextOptions
from privclust.papers.dilca.private import METHODS as PUBLISHED
from privclust.papers.dilca.published import Dilca
from privclust.privacy.meter import Meter
from privclust.unit import unit_from

HISTOGRAMS = 0.2


class Fits:
    """Private metrics of some rows.

    Parameters
    ----------
    rows : DataFrame
    schema : Schema
    unit : str
    per_target : bool
        Whether ε is that of every single target, as in the paper's figures, or of all together.
    """

    def __init__(
        self, rows: pd.DataFrame, schema: Schema, unit: str, *, per_target: bool = False
    ) -> None:
        self._rows, self._schema, self._per_target = rows, schema, per_target
        opened = open_table(rows, schema, unit=unit_from(unit))
        self._view = TableRows(opened).private(Meter(Budget(1)), None)
        # Exact answers are those of every fit; only noise is drawn anew.
        self._view._sum = _remembered(self._view._sum)  # type: ignore[method-assign]
        self._kept: dict[tuple[str, float, float, bool], list[MetricOnly]] = {}
        self.exact = cache(self._exact)

    def __call__(
        self,
        method: str,
        epsilon: float,
        delta: float = 0,
        context_size: int | str = 3,
        targets: tuple[int, ...] | None = None,
        *,
        contexts: bool = False,
    ) -> MetricOnly:
        """Fit once, within a budget of its own.

        A method may say whose noise it has, ``max-relevance/published``. With ``contexts`` the
        whole of ε goes to contexts, as where the paper measures nothing else: as in its authors'
        code, by half of twice the budget.
        """
        chosen = targets or tuple(range(self._view.n_attributes))
        method, _, noise = method.partition("/")
        only_contexts = contexts and method in BY_TARGET
        epsilon = 2 * epsilon if only_contexts else epsilon
        apart = len(chosen) if self._per_target and method in BY_TARGET else 1
        budget = Budget(epsilon, delta) if apart == 1 else _together(epsilon, delta, apart)
        self._view._meter = Meter(budget)  # the counts stay, the budget is new
        if method in ("raw", "shrunk"):
            return self._rival(method, budget)
        options = ContextOptions(
            targets=chosen,
            context_size=USUAL_CONTEXT if context_size == "auto" else int(context_size),
            fits_noise=context_size == "auto",
            selection_share=0.5 if only_contexts else 0.3,
            noise=noise or "exact",
        )
        if method == "auto":
            method = usual_method(budget.currency)
        ask = (METHODS | PUBLISHED)[method]
        metric = ask_metric(self._view, budget.whole, ask, options).metric
        return MetricOnly(metric, self._schema)

    def many(
        self, method: str, epsilon: float, delta: float = 0, *, runs: int, contexts: bool = False
    ) -> list[MetricOnly]:
        """Return so many fits of all targets; those of an earlier call serve again."""
        kept = self._kept.setdefault((method, epsilon, delta, contexts), [])
        kept += [self(method, epsilon, delta, contexts=contexts) for _ in range(runs - len(kept))]
        return kept[:runs]

    def _exact(self, rule: str, context_size: int = 3) -> Dilca:
        """Return the metric without noise."""
        return Dilca(rule, context_size=context_size, schema=self._schema).fit(self._rows)

    def _rival(self, method: str, budget: Budget) -> MetricOnly:
        view, whole = self._view, budget.whole
        pairs = list(combinations(range(view.n_attributes), 2))
        if method == "raw":
            return _metric(clip_tables(view.ask_pair_tables("tables", pairs, whole)), self._schema)
        for_histograms, for_tables = whole.split([HISTOGRAMS, 1 - HISTOGRAMS])
        histograms = view.ask_histograms("histograms", for_histograms)
        tables = view.ask_pair_tables("tables", pairs, for_tables)
        return _metric(_shrunk(histograms, tables), self._schema)


def _remembered(add_up: Callable[[Any], CountedSum[Any]]) -> Callable[[Any], CountedSum[Any]]:
    """Return the exact answers of a view, each computed once."""
    known: dict[tuple[Any, ...], CountedSum[Any]] = {}

    def found(kernel: Any) -> CountedSum[Any]:
        if not isinstance(kernel, TableCounts | Entropies | Contexts):
            return add_up(kernel)
        scale, target, top = (getattr(kernel, key, None) for key in ("scale", "target", "top"))
        sets = tuple(kernel.sets)
        if isinstance(kernel, Contexts):  # all that have what the first and the last share
            sets = len(sets), sets[0], sets[-1]
        key = type(kernel), sets, scale and scale.n_rows, target, top
        if key not in known:
            known[key] = add_up(kernel)
            known[key].total.flags.writeable = False
        return known[key]

    return found


def _together(epsilon: float, delta: float, n_targets: int) -> Budget:
    """Return what that many targets cost."""
    one = Budget(epsilon, delta)
    if delta:
        return Budget.of_rho(n_targets * one.amount, delta)
    return Budget(n_targets * one.epsilon)


def _shrunk(histograms: Noisy, tables: NoisyTables) -> Estimate:
    """Prior variance N p q (1 - p)(1 - q) + t N^2 (p q)^1.5, with t by moments of each table."""
    cells = PairTableCells(tables.layout)
    n_rows = number_of_rows(histograms, tables, cells)
    margins = combine_margins(histograms, tables, cells, n_rows)
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
