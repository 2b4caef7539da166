"""The published DP-DILCA family (Battaglia, Celano, Pensa 2021): Algorithms 1 to 5.

Algorithm 1 noises all pair tables and goes on as if they were exact. Algorithm 2 divides the budget
by the targets; each spends a share on its context (Algorithm 3, 4 or 5) and the rest on the tables
with the attributes of that context. Sensitivities are the exact ones, so there is less noise than
in the paper, by a factor of up to four in the choice of contexts.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.categories.context import Context, above_mean, association, choose_context
from privclust.categories.learn import Learned, Options
from privclust.categories.pair_tables import PairCells
from privclust.categories.shrinkage import Estimate, plain_estimate
from privclust.data.table.public import PairLayout
from privclust.data.table.view import TableView

# One set of tables from those of single targets, which the published variants measure apart.


def joined_estimate(learned: Learned) -> Estimate:
    """Return the tables of all targets together; a pair that was measured twice is averaged.

    Where all targets share their tables, these are returned as they are. Ordinary arithmetic on
    released values.
    """
    estimates = {id(estimate): estimate for estimate in learned.estimates.values()}
    if len(estimates) == 1:
        return next(iter(estimates.values()))
    apart = [*estimates.values()]
    sizes = apart[0].layout.sizes
    pairs = sorted({pair for estimate in apart for pair in estimate.layout.pairs})
    layout = PairLayout(sizes, tuple(pairs))
    return Estimate(
        layout,
        float(np.mean([estimate.n_rows for estimate in apart])),
        _margins(apart, layout),
        _averaged(layout, [(estimate.layout, estimate.counts) for estimate in apart]),
        _averaged(layout, [(estimate.layout, estimate.variances) for estimate in apart]),
        np.zeros(len(pairs)),
    )


def _averaged(layout: PairLayout, parts: list[tuple[PairLayout, Floats]]) -> Floats:
    cells, times = np.zeros(layout.n_cells), np.zeros(layout.n_cells)
    for own, values in parts:
        for pair, place in own.places.items():
            to = slice(*layout.starts[layout.places[pair] : layout.places[pair] + 2])
            cells[to] += values[slice(*own.starts[place : place + 2])]
            times[to] += 1
    return cells / np.maximum(times, 1)


def _margins(apart: list[Estimate], layout: PairLayout) -> Floats:
    """Return the mean, over those that measured an attribute, of its margins."""
    sizes = layout.sizes
    sums, times = np.zeros(sum(sizes)), np.zeros(sum(sizes))
    for estimate in apart:
        measured = np.isin(np.arange(len(sizes)), PairCells(estimate.layout).pairs)
        sums += estimate.margins
        times += np.repeat(measured, sizes)
    return sums / np.maximum(times, 1)


# The published DP-DILCA family (Battaglia, Celano, Pensa 2021): Algorithms 1 to 5.

_COUNT_SHARE = 0.02

# From a target, about the number of rows, and a share, to a context.
ChooseContext = Callable[[int, float, Share], Context]


def ask_baseline(view: TableView, budget: Share, options: Options) -> Learned:
    """Algorithm 1: all pair tables, then the rule of DILCA_RR; all targets share the tables."""
    pairs = list(combinations(range(view.n_attributes), 2))
    tables = view.ask_pair_tables("pair tables", pairs, budget)
    estimate = plain_estimate(tables)
    known = association(estimate)
    contexts = {
        target: choose_context("relevant-non-redundant", target, known, options.context_size)
        for target in options.targets
    }
    estimates = dict.fromkeys(contexts, estimate)
    return Learned(contexts, estimates, tables.standard_error, tables.n_rows)


def ask_mean_su(view: TableView, budget: Share, options: Options) -> Learned:
    """Algorithms 2 and 3: contexts by noisy entropies, in numerator and denominator alike."""

    def ask_context(target: int, rows: float, share: Share) -> Context:
        others = [x for x in range(view.n_attributes) if x != target]
        sets: list[tuple[int, ...]] = [(target,), *((x,) for x in others)]
        sets += [(target, x) for x in others]
        name = f"entropies around {view.names[target]}"
        values = view.ask_entropies(name, sets, rows, share).value / rows
        own, single, joint = values[0], values[1 : len(others) + 1], values[len(others) + 1 :]
        both = own + single
        shares = np.where(np.abs(both) > 1e-9, 2 * (both - joint) / both, 0)
        return above_mean(others, shares, options.sigma)

    return _ask_by_target(view, budget, options, ask_context)


def ask_max_relevance(view: TableView, budget: Share, options: Options) -> Learned:
    """Algorithms 2 and 4: the k most relevant attributes, picked one after another."""
    return _ask_contexts(view, budget, options, view.ask_relevant_attributes)


def ask_max_dependency(view: TableView, budget: Share, options: Options) -> Learned:
    """Algorithms 2 and 5: the best set of k attributes, picked at once."""
    return _ask_contexts(view, budget, options, view.ask_relevant_context)


def _ask_contexts(
    view: TableView, budget: Share, options: Options, pick: Callable[..., Context]
) -> Learned:
    size = min(options.context_size, view.n_attributes - 1)

    def ask_context(target: int, rows: float, share: Share) -> Context:
        return pick(f"context of {view.names[target]}", target, size, rows, share)

    return _ask_by_target(view, budget, options, ask_context)


def _ask_by_target(
    view: TableView, budget: Share, options: Options, ask_context: ChooseContext
) -> Learned:
    """Algorithm 2 for every target."""
    for_count = budget.take(_COUNT_SHARE)
    number = view.ask_count("number of rows", for_count)
    rows = max(2.0, float(number.value[0]))
    contexts: dict[int, Context] = {}
    estimates: dict[int, Estimate] = {}
    errors = []
    rest = budget if view.n_rows_is_public else budget.remainder(for_count)
    shares = rest.split([1] * len(options.targets))
    for target, share in zip(options.targets, shares, strict=True):
        for_context = share.take(options.selection_share)
        chosen: Context = tuple(sorted(ask_context(target, rows, for_context)))
        name = f"tables of {view.names[target]}"
        tables = view.ask_pair_tables(
            name, [(target, other) for other in chosen], share.remainder(for_context)
        )
        contexts[target], estimates[target] = chosen, plain_estimate(tables)
        errors.append(tables.standard_error)
    return Learned(contexts, estimates, float(np.median(errors)), number)
