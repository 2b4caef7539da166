"""Goodman and Kruskal's τ of a table of block totals, and the rule that raises it.

τ of the rows given the columns says by how much knowing the column cluster of a count reduces the
error of predicting its row cluster. It is not normalised here unless the name says so.
"""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats

# A sum below this many standard errors is lost in noise.
_LOST = 2.0


def tau(table: Floats) -> float:
    """Return τ of the rows given the columns: Σ t_kl² / (T t_.l) - Σ t_k.² / T².

    For τ of the columns given the rows pass the transposed table. Negative entries, which noise
    can leave, count as zero.
    """
    table = np.maximum(table, 0)
    total = table.sum()
    if total <= 0:
        return 0.0
    shares = table / total
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    filled = columns > 0
    return float((shares[:, filled] ** 2 / columns[filled]).sum() - (rows**2).sum())


def noisy_tau(table: Floats, error: float) -> float:
    """Return an estimate of τ from a table whose cells have independent noise.

    Squares of noise are positive, so τ of a noisy table is too large: even pure noise has a τ.
    Their expectation is subtracted. Column clusters whose totals are lost in noise are ignored.

    ``table``: (n_row_clusters, n_column_clusters).
    """
    total, rows, columns = float(table.sum()), table.sum(axis=1), table.sum(axis=0)
    height = len(table)
    if total <= _LOST * error * np.sqrt(table.size):
        return 0.0
    clear = columns > _LOST * error * np.sqrt(height)
    seen = ((table[:, clear] ** 2).sum(axis=0) - height * error**2) / (total * columns[clear])
    by_rows = float((rows**2).sum() - table.size * error**2) / total**2
    unseen = float(columns[~clear].sum()) / total * by_rows
    return max(0.0, float(seen.sum()) + unseen - by_rows)


def normalised_tau(table: Floats) -> float:
    """Return τ divided by the largest error it can remove, so that 1 means certainty."""
    table = np.maximum(table, 0)
    rows = table.sum(axis=1) / max(table.sum(), 1e-300)
    error = 1 - float((rows**2).sum())
    return tau(table) / error if error > 0 else 0.0


def tau_weights(table: Floats) -> Floats:
    """Return how much one count in each column cluster favours each row cluster.

    The weights are t_kl / t_.l - t_k. / T. The row cluster with the largest sum of weights over the
    counts of a row is the one that raises τ most. A column cluster without counts has no weight.
    """
    table = np.maximum(table, 0)
    total, columns = table.sum(), table.sum(axis=0)
    if total <= 0:
        return np.zeros_like(table)
    filled = columns > 0
    weights = table / np.where(filled, columns, 1) - table.sum(axis=1, keepdims=True) / total
    return np.where(filled, weights, 0.0)
