"""One set of tables from those of single targets, which the published variants measure apart."""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats
from privclust.categorical.cells import PairCells
from privclust.categorical.result import Learned
from privclust.categorical.shrinkage import Estimate
from privclust.data.table.public import PairLayout

__all__ = ["joined_estimate"]


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
