"""Exact statistics of one block of grid rows, for the questions of papers and rivals.

As in ``data/points/kernels.py`` every number that is added up is an integer held in a float of
enough digits. Intermediate values that are not integers, the loadings, are computed for each row by
itself in elementwise steps, so that no other row affects their last bit, and then rounded.

The clusters are those of public centres, and so are all balls and candidates. Every number is an
integer held in float64, as in ``kernels.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privclust._typing import Floats, Indices, Integers
from privclust.data.encode import GRID_RADIUS, clip_to_ball
from privclust.data.papers.public import Critic, Zones
from privclust.data.points.kernels import ProjectionGrid, as_line, nearest, sums_by_label
from privclust.data.points.mixed import GridPiece, dense
from privclust.data.points.public import WHOLE, Projection
from privclust.data.question import Pick, Question, Scores, Term

# Rows and loadings of a factorisation are on a grid of this many steps to a length of one.
FACTOR_STEPS = 2**10
# Gradients are integers of at most this length.
GRADIENT_STEPS = 2**14
# Rounds of coordinate descent over the loadings of a row.
_SWEEPS = 5
# Distances held at a time.
_DISTANCES = 2**20


@dataclass(frozen=True)
class SwapCosts:
    """Minus the k-means cost of public centres as they are, and after each possible swap."""

    # How the rows are seen; it clips them, so that no two of its points are further apart than
    # twice its radius.
    frame: Projection
    centres: Floats  # (n_centres, frame.dimension)
    candidates: Floats  # (n_candidates, frame.dimension)

    def __post_init__(self) -> None:
        if self.frame.radius >= WHOLE:  # rounding may take unclipped rows beyond it
            raise ValueError("Swaps need a frame that clips rows; give it a radius below 2.")

    @cached_property
    def grid(self) -> ProjectionGrid:
        """The grid that rows, centres and candidates are put on."""
        return ProjectionGrid(self.frame)

    @property
    def largest(self) -> int:
        """The largest squared distance of two points of the frame, in squared steps."""
        return 4 * self.grid.steps**2

    @property
    def pick(self) -> Pick:
        """A row adds to every score minus the squared distance of two points of the frame."""
        words = f"{{title}} among {1 + len(self.centres) * len(self.candidates)} swaps"
        return Pick("best_swap", Scores(-self.largest, 0), words=words)

    def __call__(self, rows: GridPiece) -> Integers:
        """Return the scores of a piece: first without a swap, then centre by centre."""
        seen = self.grid.rows(rows).astype(np.float64)
        here, there = (self.grid.centres(part) for part in (self.centres, self.candidates))
        stay, gain = 0, np.zeros((len(here), len(there)), np.int64)
        # Few enough rows that floats hold the sums of their squares exactly.
        height = max(1, min(_DISTANCES // len(there), 2**53 // self.largest))
        for start in range(0, len(seen), height):
            part = seen[start : start + height]
            first, second, labels = _two_nearest(part, here, float(self.largest))
            away = _squares(part, there)
            before, after = (np.minimum(away, edge[:, None]) for edge in (first, second))
            stay += int(first.sum())
            moved = before.sum(axis=0) + sums_by_label(after - before, labels, len(here))
            gain += moved.astype(np.int64)
        return -np.concatenate([[stay], gain.ravel()])[None, :]


def _two_nearest(rows: Floats, centres: Floats, largest: float) -> tuple[Floats, Floats, Indices]:
    """Return the squared distances to the two nearest centres, and the number of the nearest."""
    squares = _squares(rows, centres)
    labels = squares.argmin(axis=1)
    lines = np.arange(len(rows))
    first = squares[lines, labels]
    squares[lines, labels] = largest  # with a single centre there is no second one
    return first, squares.min(axis=1), labels


def _squares(rows: Floats, points: Floats) -> Floats:
    """Return squared distances, exactly: all numbers are integers below 2^53."""
    lengths = np.einsum("ij,ij->i", rows, rows), np.einsum("ij,ij->i", points, points)
    return np.asarray(lengths[0][:, None] + lengths[1] - 2 * (rows @ points.T))


@dataclass(frozen=True)
class FactorSums:
    """Products of rows with their own non-negative loadings on public components."""

    components: Floats  # (n_components, n_features): non-negative, of length one

    @property
    def length(self) -> int:
        """A bound on the length of what one row adds: h hᵀ above the diagonal, and h vᵀ.

        Its square is at most |h|⁴ + |h|² |v|², and both lengths are at most ``FACTOR_STEPS``.
        """
        return int(np.ceil(np.sqrt(2) * FACTOR_STEPS**2))

    @property
    def question(self) -> Question:
        """No entry of what a row adds is larger than the product of two lengths."""
        n_components, n_features = self.components.shape
        dimension = len(self.upper[0]) + n_components * n_features
        term = Term.vector(self.length, -(FACTOR_STEPS**2), FACTOR_STEPS**2)
        return Question("factor_sums", term, as_line, step=1 / FACTOR_STEPS**2, dimension=dimension)

    @property
    def upper(self) -> tuple[Indices, Indices]:
        """The indices of the products of loadings that are kept, each pair once."""
        return np.triu_indices(len(self.components))

    def __call__(self, rows: GridPiece) -> Integers:
        """Return what a piece of grid rows adds, as one vector."""
        seen = on_factor_grid(dense(rows))
        found = np.rint(loadings_of(seen, self.components) * FACTOR_STEPS)
        found = clip_to_ball(found, FACTOR_STEPS)
        squares = found.T @ found
        whole = np.concatenate([squares[self.upper], (found.T @ seen).ravel()])
        return whole.astype(np.int64)


def on_factor_grid(rows: Floats) -> Floats:
    """Return grid rows in whole steps, ``FACTOR_STEPS`` to a length of one."""
    return clip_to_ball(np.rint(rows * (FACTOR_STEPS / GRID_RADIUS)), FACTOR_STEPS)


def loadings_of(seen: Floats, components: Floats) -> Floats:
    """Return the non-negative loadings of rows on ``FACTOR_STEPS``, each row by itself.

    Coordinate descent for the least squares of v ≈ Σ h_k w_k with h ≥ 0. The products of rows and
    components are exact integers; all later steps are elementwise.
    """
    whole = np.rint(components * FACTOR_STEPS)
    products = seen @ whole.T
    gram = whole @ whole.T
    found = np.zeros(products.shape)
    # Scaled so that a row equal to a component has a loading of about one.
    for _ in range(_SWEEPS):
        for k in range(len(whole)):
            left = products[:, k].copy()
            for j in range(len(whole)):
                if j != k:
                    left -= found[:, j] * gram[j, k]
            found[:, k] = np.maximum(left, 0) / max(gram[k, k], 1.0)
    return found


@dataclass(frozen=True)
class CriticGradients:
    """The sum of the gradients of a public network at each row, each clipped by itself."""

    critic: Critic
    clip: float  # the length to which the gradient of a row is clipped

    @property
    def question(self) -> Question:
        """A row adds a clipped vector."""
        term, step = Term.vector(GRADIENT_STEPS), self.clip / GRADIENT_STEPS
        dimension = len(self.critic.flat)
        return Question("critic_gradients", term, as_line, step=step, dimension=dimension)

    def __call__(self, rows: GridPiece) -> Integers:
        """Return what a piece of grid rows adds."""
        total = np.zeros(len(self.critic.flat))
        height = max(1, _DISTANCES // len(total))
        every = dense(rows)
        for start in range(0, len(every), height):
            total += self._gradients(every[start : start + height]).sum(axis=0)
        return total.astype(np.int64)

    def _gradients(self, rows: Floats) -> Floats:
        """Return the gradient of each row in whole steps."""
        seen = on_factor_grid(rows)
        weights = np.rint(self.critic.weights * FACTOR_STEPS)
        shifts = np.rint(self.critic.shifts * FACTOR_STEPS**2)
        # Products and sums of integers are exact, so no other row affects what follows.
        inputs = (seen @ weights.T + shifts) / FACTOR_STEPS**2
        gradients = self.critic.gradients(inputs, seen / FACTOR_STEPS)
        whole = np.rint(gradients * (GRADIENT_STEPS / self.clip))
        return clip_to_ball(whole, GRADIENT_STEPS)


# Exact counts of one block of grid rows inside zones: a ball per cluster, with candidates in it.


@dataclass(frozen=True)
class ZoneCounts:
    """The numbers of rows that lie in each zone, nearest to each of its candidates."""

    zones: Zones

    question = Question("zone_cells", Term.cells())
    pick = Pick("choices", Scores(0, 1), words="{title}, scale {scale:.3g} rows")

    @cached_property
    def _on_grid(self) -> Zones:
        return on_grid(self.zones)

    def __call__(self, rows: GridPiece) -> Integers:
        """Return what a piece of grid rows adds."""
        return zone_counts(dense(rows), self._on_grid)


def on_grid(zones: Zones) -> Zones:
    """Return zones in whole steps of the grid of rows."""
    grid = ProjectionGrid(Projection(np.zeros(zones.centres.shape[1])))
    flat = zones.candidates.reshape(-1, zones.centres.shape[1])
    return Zones(
        grid.centres(zones.centres),
        grid.centres(zones.middles),
        np.array([grid.length(radius) for radius in zones.radii], np.float64),
        grid.centres(flat).reshape(zones.candidates.shape),
    )


def zone_counts(rows: Floats, zones: Zones) -> Integers:
    """Count, for each cluster and candidate, the cluster's rows in its zone nearest to it.

    ``rows``: (n_rows, n_features). Returns (n_clusters, n_candidates).
    """
    n_clusters, n_candidates, _ = zones.candidates.shape
    labels = nearest(rows, zones.centres)
    gaps = rows - zones.middles[labels]
    inside = np.einsum("ij,ij->i", gaps, gaps) <= zones.radii[labels] ** 2
    rows, labels = rows[inside], labels[inside]
    counts = np.zeros((n_clusters, n_candidates), np.int64)
    for cluster in range(n_clusters):
        closest = nearest(rows[labels == cluster], zones.candidates[cluster])
        counts[cluster] = np.bincount(closest, minlength=n_candidates)
    return counts
