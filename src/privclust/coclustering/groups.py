"""Groups from a noisy table: directions above the noise, an embedding, k-means; free.

The rows of the table are rows, or columns, of the matrix, and its columns are sums over groups of
the other side. The expectation of a row of the table, its total times the common profile, is
subtracted; the residual is measured in units of its expected spread by counting and by noise, so
that pure noise is isotropic.

Whitened noise is isotropic, and the singular values of a large such table end at a known edge
(Marchenko and Pastur). Small tables exceed it now and then, more often if the tails of the noise
are heavy, as those of Laplace noise are. So tables without structure, of the same width, total and
noise, are simulated, and the strongest of them moves the edge. Post-processing only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats, Indices
from privclust.budget import Currency
from privclust.data.matrix.public import Groups
from privclust.data.public import Noisy
from privclust.distributions import noise_like

# Groups from a noisy table: embed its rows in few directions, then k-means. Post-processing only.

_MOST_ITERATIONS = 15
# Steps of k-means over all points, after the best start was found on a sample.
_LAST_ITERATIONS = 6
# k-means stops when fewer than this share of the points move.
_SETTLED = 1e-3
# Points in the sample for the starts.
_SOME = 2000
# Rows of the table whose total is lost in the noise weigh as if it were half the noise.
_LOST = 0.25


@dataclass(frozen=True)
class EmbeddedLines:
    """Rows of a table in few directions."""

    points: Floats  # (n_rows, n_directions): the rows along the strongest directions
    weights: Floats  # (n_rows,): the weight of each row, at most 1
    strengths: Floats  # (n_groups,): how strong each direction of the table is, the strongest first


def embed_lines(table: Noisy, n_directions: int, *, trust: float = 0.0) -> EmbeddedLines:
    """Return the rows of a noisy table along the directions in which they differ most.

    ``table``: (n_rows, n_groups). ``trust``: rows weigh in proportion to this power of their
    expected ratio of signal to noise. With 0 all weigh the same; 1 is best where the totals of rows
    differ widely, as those of words do.
    """
    values, error = table.value, table.standard_error
    width = values.shape[1]
    column_totals = np.maximum(values.sum(axis=0), 1e-9)
    profile = column_totals / column_totals.sum()
    # The total that fits the common profile best; a plain sum would carry the noise of all groups
    # into the heaviest of them.
    totals = values @ profile / (profile @ profile)
    lost = max(1.0, error / float(np.linalg.norm(profile)))
    # In place where possible: these tables are the largest objects in memory.
    spread = np.maximum(totals, lost)[:, None] * profile
    spread += error**2
    np.sqrt(spread, out=spread)
    whitened = values / spread
    expected = np.divide(profile, spread, out=spread)
    fit = np.einsum("ij,ij->i", whitened, expected) / np.einsum("ij,ij->i", expected, expected)
    expected *= fit[:, None]
    whitened -= expected
    weights = _signal_to_noise(totals, lost, error, width) ** trust
    weights /= weights.max()
    weighted = whitened if trust == 0 else whitened * weights[:, None]
    strengths, directions = np.linalg.eigh(weighted.T @ whitened)
    kept = directions[:, ::-1][:, : max(1, min(n_directions, width - 1))]
    return EmbeddedLines(whitened @ kept, weights, strengths[::-1])


def _signal_to_noise(totals: Floats, lost: float, error: float, width: int) -> Floats:
    """Return what to expect if rows differ from the profile in proportion to their totals."""
    known = np.maximum(totals, lost)
    ratios = known**2 / (known / width + error**2)
    return np.where(totals > lost, ratios, _LOST * ratios)


def group_lines(
    embedding: EmbeddedLines, n_groups: int, rng: np.random.Generator, *, n_starts: int
) -> Groups:
    """Return groups of rows whose directions are alike: k-means on the unit sphere."""
    points = embedding.points
    if points.shape[1] > 1:
        lengths: Floats = np.linalg.norm(points, axis=1, keepdims=True)
        points = points / np.maximum(lengths, 1e-12)
    n_groups = min(n_groups, len(points))
    return Groups(kmeans(points, embedding.weights, n_groups, rng, n_starts=n_starts), n_groups)


def kmeans(
    points: Floats, weights: Floats, n_groups: int, rng: np.random.Generator, *, n_starts: int
) -> Indices:
    """Return the labels of weighted k-means; the starts are tried on a sample of the points."""
    sample = points
    if len(points) > _SOME or weights.min() < weights.max():
        sample = points[rng.choice(len(points), min(len(points), _SOME), p=weights / weights.sum())]
    ones = np.ones(len(sample))
    centres = _best_of(sample, ones, n_groups, rng, n_starts)[1]
    return _lloyd(points, weights, centres, _LAST_ITERATIONS, rng)[2]


def merge_clusters(
    lines: Floats, weights: Floats, n_groups: int, rng: np.random.Generator, *, n_starts: int
) -> Indices:
    """Return the group of each weighted cluster; there are few, so none is left out.

    Lines are compared by their angles in the strongest directions, as many as there are groups.
    These separate the groups; the others are noise.

    ``lines``: (n_lines, n_columns). ``weights``: (n_lines,), the approximate number of rows in
    each; above zero.
    """
    spread = lines / np.sqrt(weights)[:, None]
    strengths, directions = np.linalg.eigh(spread @ spread.T)
    points = (directions * np.sqrt(np.maximum(strengths, 0)))[:, ::-1][:, :n_groups]
    lengths: Floats = np.linalg.norm(points, axis=1, keepdims=True)
    points = points / np.maximum(lengths, 1e-12)
    return _best_of(points, weights, n_groups, rng, n_starts)[2]


def _best_of(
    points: Floats, weights: Floats, n_groups: int, rng: np.random.Generator, n_starts: int
) -> tuple[float, Floats, Indices]:
    """Return the run of k-means with the least inertia."""
    runs = [
        _lloyd(points, weights, _seeds(points, n_groups, rng), _MOST_ITERATIONS, rng)
        for _ in range(n_starts)
    ]
    return min(runs, key=lambda run: run[0])


def _lloyd(
    points: Floats, weights: Floats, centres: Floats, n_steps: int, rng: np.random.Generator
) -> tuple[float, Floats, Indices]:
    """Return the inertia up to a constant, the centres and the labels."""
    axes = np.ascontiguousarray((points * weights[:, None]).T)
    gaps = _squared_distances(points, centres)
    labels: Indices = gaps.argmin(axis=1)
    for _ in range(n_steps):
        sizes = np.bincount(labels, weights, len(centres))
        sums = [np.bincount(labels, axis, len(centres)) for axis in axes]
        empty = sizes == 0
        centres = np.stack(sums, axis=1) / np.where(empty, 1, sizes)[:, None]
        if empty.any():
            centres[empty] = points[rng.integers(len(points), size=int(empty.sum()))]
        before = labels
        gaps = _squared_distances(points, centres)
        labels = gaps.argmin(axis=1)
        if np.count_nonzero(labels != before) <= _SETTLED * len(points):
            break
    return float(weights @ gaps.min(axis=1)), centres, labels


def _squared_distances(points: Floats, centres: Floats) -> Floats:
    """Return the squared distances of points and centres, less the squares of the points."""
    gaps: Floats = points @ (-2 * centres.T)
    gaps += (centres**2).sum(axis=1)
    return gaps


def _seeds(points: Floats, n_groups: int, rng: np.random.Generator) -> Floats:
    """Pick starting centres far apart, as k-means++ does."""
    own = np.einsum("ij,ij->i", points, points)
    chosen = [int(rng.integers(len(points)))]
    nearest = np.full(len(points), np.inf)
    for _ in range(1, n_groups):
        gaps = _squared_distances(points, points[chosen[-1:]])[:, 0]
        np.minimum(nearest, np.maximum(own + gaps, 0), out=nearest)
        up_to = np.cumsum(nearest)
        chosen.append(min(int(np.searchsorted(up_to, rng.random() * up_to[-1])), len(points) - 1))
    return points[chosen]


# Does a noisy table of rows show any structure? Its strongest directions compared with chance.

# This many tables are simulated: chance exceeds the strongest once in about thirty tables.
_MADE_UP = 29
# With more rows strengths vary less; more cells, or rows, than this are not simulated.
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

    ``last``: (n_rows, n_groups), sums over the best groups: if anything can be seen, it is here. It
    may seem to have structure because the groups were found in the same counts. ``first``: sums
    over random groups, which cannot. It decides where the last table does not. ``currency``: what
    the tables were paid for in, which says what noise they have.
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
        noise = noise_like(currency, error, shape, rng)
        return float(
            embed_lines(Noisy(rng.poisson(expected, shape) + noise, error), 1).strengths[0]
        )

    strongest = max(strongest_by_chance() for _ in range(_MADE_UP))
    by_chance = max(1.0, strongest / _round_edge(rows, width)) * _round_edge(n_rows, width)
    return int((embed_lines(table, 1).strengths > margin * by_chance).sum())


def _round_edge(n_rows: int, width: int) -> float:
    return float((np.sqrt(n_rows) + np.sqrt(width)) ** 2)
