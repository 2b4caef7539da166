"""Does a noisy table of rows show any structure? Its strongest directions against those of chance.

Noise is round once it is whitened, and the strengths of a large round table end at a known edge
(Marchenko and Pastur). Small tables pass it now and then, the more so if the tails of the noise
are heavy, as those of Laplace noise are. So tables without structure, of the same width, total and
noise, are made up, and the strongest of them moves the edge. Post-processing only.
"""

from __future__ import annotations

import numpy as np

from privclust.budget import Currency
from privclust.coclustering.grouping import embed
from privclust.data.view import Noisy
from privclust.distributions import imitated_noise

__all__ = ["directions_above_noise"]


# This many tables are made up: chance passes the strongest of them once in about thirty tables.
_MADE_UP = 29
# The more rows, the less strengths vary; this many cells, and rows, stand for more of them.
_MOST_CELLS, _FEWEST_ROWS = 8000, 400
_MARGIN = 1.08
# Groups found in the same counts fit the chance variation of the counts, which looks like
# structure: not at all if counts vary by less than this part of what noise does, ...
_HIDDEN = 1 / 3
# ... and otherwise at most this many times as strongly as noise, times the squared share of the
# counts in all variation. Measured: up to 3 times, in the paper's matrices with their counts
# shuffled.
_FITTED = 4.0


def directions_above_noise(
    last: Noisy, first: Noisy, currency: Currency, rng: np.random.Generator
) -> int:
    """Return how many directions of a table are stronger than chance would make them.

    Parameters
    ----------
    last : Noisy, value of shape (n_rows, n_groups)
        Sums over the best groups: if anything can be seen, it is here. It may look as if there
        were structure because the groups were found in the same counts.
    first : Noisy
        Sums over blind groups, which cannot look so. It decides where the last table does not.
    currency : {"pure", "zcdp"}
        What the tables were paid for in, which says what noise they have.
    rng : Generator
        Makes up the tables without structure.
    """
    counting, noise = max(0.0, float(last.value.mean())), last.standard_error**2
    if counting < _HIDDEN * noise:
        return _above(last, currency, _MARGIN, rng)
    margin = _MARGIN + _FITTED * (counting / (counting + noise)) ** 2
    return _above(last, currency, margin, rng) or _above(first, currency, _MARGIN, rng)


def _above(table: Noisy, currency: Currency, margin: float, rng: np.random.Generator) -> int:
    n_rows, width = table.value.shape
    rows = min(n_rows, max(_FEWEST_ROWS, _MOST_CELLS // width))
    expected = np.maximum(table.value.sum(axis=0), 0) / n_rows

    def strongest_by_chance() -> float:
        shape, error = (rows, width), table.standard_error
        noise = imitated_noise(currency, error, shape, rng)
        return float(embed(Noisy(rng.poisson(expected, shape) + noise, error), 1).strengths[0])

    strongest = max(strongest_by_chance() for _ in range(_MADE_UP))
    by_chance = max(1.0, strongest / _round_edge(rows, width)) * _round_edge(n_rows, width)
    return int((embed(table, 1).strengths > margin * by_chance).sum())


def _round_edge(n_rows: int, width: int) -> float:
    return float((np.sqrt(n_rows) + np.sqrt(width)) ** 2)
