"""How a metric on categories is learned: the methods "pairs" and "tree", and what they return.

``pairs`` measures every pair; choosing contexts then costs nothing. ``tree`` measures the m - 1
pairs of a privately grown spanning tree, with far less noise each, and gets the other pairs from
chains of conditional probabilities along the tree. Chains know less than the pairs, however small
the noise is, so that more budget ends in pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from privclust._typing import Floats
from privclust.budget import Currency, Share
from privclust.categories.context import Context, association, choose_context
from privclust.categories.dependence import signal_warning
from privclust.categories.metric import CategoricalMetric, attribute_metric
from privclust.categories.pair_tables import project_on_simplex
from privclust.categories.shrinkage import Estimate, shrink_tables
from privclust.data.public import Noisy
from privclust.data.table.public import NoisyTables, PairLayout, independent_tables
from privclust.data.table.view import TableView
from privclust.notes import Note

# What the categorical methods return: released values only.


@dataclass(frozen=True)
class MetricResult:
    """A learned metric, what it was made from, and reasons not to trust it, if any."""

    metric: CategoricalMetric
    learned: MetricTables
    notes: tuple[Note, ...] = ()


# The paper's size of a context, and the most that one of "auto" has.
USUAL_CONTEXT = 3


@dataclass(frozen=True)
class Options:
    """Choices that the methods share."""

    targets: tuple[int, ...]  # the attributes that get a distance
    context_size: int = (
        USUAL_CONTEXT  # k, the number of attributes in a context, where the rule fixes it
    )
    fits_noise: bool = False  # whether contexts are smaller where noise would hide their tables
    selection_share: float = 0.3  # h, the share of the budget of a target that its context may cost
    rule: str = "max-relevance"  # the rule that chooses contexts where that costs nothing
    sigma: float = 1.0  # the factor on the mean in the rule ``mean-su``


@dataclass(frozen=True)
class MetricTables:
    """What a method learned: for each target its context, and the tables to compare values with."""

    contexts: dict[int, Context]
    estimates: dict[int, Estimate]  # by target; several targets may share one
    cell_error: float  # the standard error of the noise on a cell of the tables
    n_rows: Noisy  # the noisy number of rows
    notes: tuple[Note, ...] = ()  # reasons not to trust the tables, if any


# Our own methods: measure tables once, use each for both of its attributes, shrink, then choose.

_HISTOGRAMS = 0.2
# Shares of the tree's budget for histograms, for the choice of edges, and for tables.
_TREE = (0.1, 0.3, 1 - 0.1 - 0.3)


def ask_pairs(view: TableView, budget: Share, options: Options) -> MetricTables:
    """Learn from all pair tables."""
    for_histograms, for_tables = budget.split([_HISTOGRAMS, 1 - _HISTOGRAMS])
    histograms = view.ask_histograms("histograms", for_histograms)
    return _ask_all_pairs(view, budget, histograms, for_tables, options)


def ask_tree(view: TableView, budget: Share, options: Options) -> MetricTables:
    """Learn from the tables along a spanning tree of strongly dependent pairs."""
    for_histograms, *rest = budget.split(_TREE)
    histograms = view.ask_histograms("histograms", for_histograms)
    return _ask_along_tree(view, budget, histograms, rest, options)


def ask_by_signal(view: TableView, budget: Share, options: Options) -> MetricTables:
    """Learn from all pair tables where their noise is no larger than that of sampling.

    Where it is larger, pairs are for zCDP, and a tree is for pure ε.
    """
    if budget.currency == "zcdp":
        return ask_pairs(view, budget, options)
    for_histograms, *rest = budget.split(_TREE)
    histograms = view.ask_histograms("histograms", for_histograms)
    for_tables = budget.remainder(for_histograms)
    if _sampling_outweighs_noise(view, histograms, for_tables):
        return _ask_all_pairs(view, budget, histograms, for_tables, options)
    return _ask_along_tree(view, budget, histograms, rest, options)


def _sampling_outweighs_noise(view: TableView, histograms: Noisy, share: Share) -> bool:
    """Return whether all pair tables have less noise than the rows, as a sample, have themselves.

    By sampling, the squared error of a table's counts is about the number of rows in all.
    """
    every = PairLayout.all_pairs(view.sizes)
    noise = view.table_error(share, len(every.pairs)) ** 2
    return noise * every.n_cells / len(every.pairs) <= _rough_row_count(view, histograms)


def _ask_all_pairs(
    view: TableView, budget: Share, histograms: Noisy, for_tables: Share, options: Options
) -> MetricTables:
    every = list(combinations(range(view.n_attributes), 2))
    tables = view.ask_pair_tables("pair tables", every, for_tables)
    estimate = shrink_tables(histograms, tables, budget.currency, _ask_row_count(view, budget))
    return _metric_tables(estimate, tables, options)


def _ask_along_tree(
    view: TableView, budget: Share, histograms: Noisy, rest: Sequence[Share], options: Options
) -> MetricTables:
    for_edges, for_tables = rest
    independent = independent_tables(_rough_margins(view, histograms))
    edges = view.ask_spanning_tree("tree", independent, for_edges)
    tables = view.ask_pair_tables("tables along the tree", edges, for_tables)
    along = shrink_tables(histograms, tables, budget.currency, _ask_row_count(view, budget))
    return _metric_tables(_chain_along_tree(along), tables, options)


def _ask_row_count(view: TableView, budget: Share) -> float | None:
    """Return the number of rows where it is public and costs nothing."""
    if not view.n_rows_is_public:
        return None
    return float(view.ask_count("number of rows", budget).value[0])


def _metric_tables(estimate: Estimate, tables: NoisyTables, options: Options) -> MetricTables:
    known = association(estimate)
    contexts = {
        target: choose_context(options.rule, target, known, options.context_size, options.sigma)
        for target in options.targets
    }
    estimates = dict.fromkeys(contexts, estimate)
    notes = signal_warning(estimate.signal)
    return MetricTables(contexts, estimates, tables.standard_error, tables.n_rows, notes)


def _rough_margins(view: TableView, histograms: Noisy) -> list[Floats]:
    n_rows = _rough_row_count(view, histograms)
    return [project_on_simplex(part, n_rows) for part in _of_columns(view, histograms)]


def _rough_row_count(view: TableView, histograms: Noisy) -> float:
    weights = 1 / np.array(view.sizes)
    totals = np.array([part.sum() for part in _of_columns(view, histograms)])
    return max(1.0, float(weights @ totals / weights.sum()))


def _of_columns(view: TableView, histograms: Noisy) -> list[Floats]:
    return np.split(histograms.value, np.cumsum(view.sizes)[:-1])


def _chain_along_tree(along: Estimate) -> Estimate:
    """Return tables of all pairs: products of conditional probabilities along the tree.

    The learned share of a pair is that of every edge between the two. Hidden dependence is as
    strong as it may be on any of these edges.
    """
    layout = PairLayout.all_pairs(along.layout.sizes)
    neighbours: dict[int, list[int]] = {x: [] for x in range(len(layout.sizes))}
    for i, j in along.layout.pairs:
        neighbours[i].append(j)
        neighbours[j].append(i)
    counts, variances = np.zeros(layout.n_cells), np.zeros(layout.n_cells)
    unlearned, credible = np.ones(len(layout.pairs)), np.zeros(len(layout.pairs))
    starts = np.cumsum((0, *layout.sizes))
    for given in neighbours:
        margin = along.margins[starts[given] : starts[given + 1]]
        for target, (chances, learned, hidden) in _table_from(along, given, neighbours).items():
            if given < target:
                layout.table(counts, (given, target))[:] = (chances * margin).T
                place = layout.places[given, target]
                unlearned[place], credible[place] = 1 - learned, hidden
    for i, j in along.layout.pairs:
        layout.table(counts, (i, j))[:] = along.layout.table(along.counts, (i, j))
        layout.table(variances, (i, j))[:] = along.layout.table(along.variances, (i, j))
    return replace(
        along,
        layout=layout,
        counts=counts,
        variances=variances,
        unlearned=unlearned,
        credible=credible,
    )


def _table_from(
    along: Estimate, given: int, neighbours: dict[int, list[int]]
) -> dict[int, tuple[Floats, float, float]]:
    """Walk outwards from ``given``.

    Return P(target | given), the learned share of it, and how strong the rest may be.
    """
    reached: dict[int, tuple[Floats, float, float]] = {}
    credible = np.broadcast_to(along.credible, along.unlearned.shape)
    waiting = [given]
    while waiting:
        here = waiting.pop()
        _, learned, hidden = reached.get(here, (None, 1.0, 0.0))
        for target in neighbours[here]:
            if target not in reached and target != given:
                edge = along.layout.places[min(here, target), max(here, target)]
                step = along.conditional(target, here)[0]
                chances = np.ascontiguousarray(step) if here == given else step @ reached[here][0]
                left = learned * (1 - float(along.unlearned[edge]))
                reached[target] = chances, left, max(hidden, float(credible[edge]))
                waiting.append(target)
    return reached


LearningMethod = Callable[[TableView, Share, Options], MetricTables]
# The methods by the names that estimators give them.
METHODS: dict[str, LearningMethod] = {"pairs": ask_pairs, "tree": ask_tree}


def usual_method(currency: Currency) -> str:
    """Return what ``"auto"`` means: all pairs where answers are cheap (zCDP), else a tree."""
    return "pairs" if currency == "zcdp" else "tree"


def ask_metric(
    view: TableView,
    share: Share,
    ask: LearningMethod,
    options: Options,
    ordinal: tuple[str, ...] = (),
) -> MetricResult:
    """Return the metric that a method learns within ``share``."""
    learned = ask(view, share, options)
    parts = {
        view.names[target]: attribute_metric(
            learned.estimates[target],
            target,
            context,
            view.names,
            view.labels[target],
            ordinal=view.names[target] in ordinal,
            n_listed=view.n_listed,
        )
        for target, context in learned.contexts.items()
    }
    return MetricResult(CategoricalMetric(view.names, parts), learned, learned.notes)
