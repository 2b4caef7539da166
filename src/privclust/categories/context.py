"""Which attributes describe a target: association of pairs, and the rules that choose a context.

The rules know nothing of privacy: they run on estimated tables of any origin, exact or noisy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.categories.pair_tables import PairTableCells
from privclust.categories.shrinkage import Estimate

Context = tuple[int, ...]


@dataclass(frozen=True)
class Association:
    """Mutual information in bits and symmetric uncertainty of all pairs, zero where unknown."""

    # (n_attributes, n_attributes).
    information: Floats
    uncertainty: Floats
    known: NDArray[np.bool_]  # (n_attributes, n_attributes): which pairs have a table


def association(estimate: Estimate) -> Association:
    """Return the association of every pair with a table in ``estimate``.

    The uncertainty of a table adds to its expected information, to second order.
    """
    cells = PairTableCells(estimate.layout)
    totals = np.maximum(cells.per_table(estimate.counts), 1e-9)
    joint = estimate.counts / cells.spread(totals)
    rows = cells.per_table(_surprise(cells.row_sums(joint), joint))
    columns = cells.per_table(_surprise(cells.column_sums(joint), joint))
    information = rows + columns - cells.per_table(_surprise(joint, joint))
    doubt = np.minimum(
        estimate.variances / np.maximum(estimate.counts, 1), np.maximum(estimate.counts, 1)
    )
    information += cells.per_table(doubt) / (2 * np.log(2) * estimate.n_rows)
    both = rows + columns
    shares = np.where(both > 1e-9, 2 * information / np.maximum(both, 1e-9), 0)
    ones = np.ones(len(information))
    return Association(
        _square(cells, information), _square(cells, shares), _square(cells, ones) > 0
    )


def _surprise(chances: Floats, weights: Floats) -> Floats:
    return np.asarray(-weights * np.log2(np.where(chances > 0, chances, 1)))


def _square(cells: PairTableCells, per_table: Floats) -> Floats:
    matrix = np.zeros((len(cells.sizes), len(cells.sizes)))
    first, second = cells.pairs.T
    matrix[first, second] = per_table
    matrix[second, first] = per_table
    return matrix


def choose_context(
    rule: str, target: int, pairs: Association, size: int, sigma: float = 1.0
) -> Context:
    """Return the context of a target, in the order of the attributes.

    ``rule``: attributes whose symmetric uncertainty is at least ``sigma`` times the mean; relevant
    ones that no better one makes redundant; the ``size`` most informative ones; or all.
    """
    candidates = np.flatnonzero(pairs.known[target])
    if rule == "all":
        return tuple(candidates.tolist())
    if rule == "max-relevance":
        order = np.argsort(-pairs.information[target, candidates], kind="stable")
        return tuple(sorted(candidates[order[:size]].tolist()))
    shares = pairs.uncertainty[target, candidates]
    if rule == "mean-su":
        return above_mean(candidates.tolist(), shares, sigma)
    return _not_redundant(candidates[np.argsort(-shares, kind="stable")], target, pairs)


def above_mean(candidates: Sequence[int], shares: Floats, sigma: float) -> Context:
    """Return the candidates with a share of at least ``sigma`` times the mean; never none."""
    chosen = [
        c for c, share in zip(candidates, shares, strict=True) if share >= sigma * shares.mean()
    ]
    return tuple(chosen or [candidates[int(np.argmax(shares))]])


def _not_redundant(order: NDArray[np.intp], target: int, pairs: Association) -> Context:
    """Keep an attribute unless a kept one says as much about it as it does about the target."""
    kept: list[int] = []
    for attribute in order.tolist():
        by_kept = [pairs.uncertainty[attribute, other] for other in kept]
        if not by_kept or pairs.uncertainty[attribute, target] > max(by_kept):
            kept.append(attribute)
    return tuple(sorted(kept))
