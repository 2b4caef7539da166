"""The model of noisy tables as ``mbi`` of the package index estimates it.

Only the estimate is mbi's, by its mirror descent; the weights that it finds are handed to a
``TablesModel``, whose exact inference gives the same tables and whose rows are drawn as ours are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mbi import CliqueVector, Domain, Factor, LinearMeasurement, estimation, marginal_oracles
from tables_model import Columns, JunctionTree, Measured, TablesModel
from tables_model import estimate as estimate_by_ours

__all__ = ["estimate", "estimate_at_the_end"]

STEPS, LAST_STEPS = 1000, 2500  # of a round, and at the end, as the authors of AIM have them


def estimate(
    sizes: list[int],
    known: dict[Columns, Measured],
    total: float,
    before: TablesModel | None = None,
    *,
    last: bool = False,
) -> TablesModel:
    """Return the model of some tables, beginning from the one before."""
    domain = Domain([str(column) for column in range(len(sizes))], sizes)
    given = [
        LinearMeasurement(one.table.ravel(), _names(columns), one.precision**-0.5)
        for columns, one in known.items()
    ]
    options = {
        "known_total": total,
        "iters": LAST_STEPS if last else STEPS,
        # Compiled in a third of the time of mbi's usual way.
        "marginal_oracle": marginal_oracles.message_passing_stable,
    }
    start = _potentials(domain, before)
    found = estimation.mirror_descent(domain, given, potentials=start, **options)
    weights = {columns: np.zeros(one.table.shape) for columns, one in known.items()}
    for names, factor in found.potentials.arrays.items():
        weights[tuple(int(name) for name in names)] = np.asarray(factor.values, dtype=float)
    return TablesModel(JunctionTree(sizes, known), weights, total)


def estimate_at_the_end(*given: Any, last: bool = False) -> TablesModel:
    """Return our model while tables are picked, and that of mbi once all of them are there."""
    by = estimate if last else estimate_by_ours
    return by(*given, last=last)


def _names(columns: Columns) -> tuple[str, ...]:
    return tuple(str(column) for column in columns)


def _potentials(domain: Domain, before: TablesModel | None) -> CliqueVector | None:
    if before is None:
        return None
    factors = {
        _names(columns): Factor(domain.project(_names(columns)), weights)
        for columns, weights in before.weights.items()
    }
    return CliqueVector(domain, [*factors], factors)
