"""The learned metric: coordinates for the values of every column, distances, principal axes.

The rows of P(y | x) over the values x of all context attributes, divided by the root of their
number, are coordinates whose Euclidean distances are those of the paper's equation (1); an SVD
leaves at most one axis fewer than there are values. A category for missing or unlisted values that
cannot be distinguished from an empty one is left out of contexts: noise alone would separate the
values of the target. Objects are compared by the sum of squared distances over the attributes, so
their coordinates are concatenated.

The tables of all pairs give the covariance of the coordinates of the rows, and so their principal
axes; no question is asked for them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.categories.pair_tables import PairTableCells
from privclust.categories.shrinkage import Estimate
from privclust.data.table.public import ValuePoints

# Attributes with more values get no axes for their uncertainty.
_MOST_DOUBTED = 500
_LEAST_SPREAD = 1e-3


@dataclass(frozen=True)
class AttributeMetric:
    """Coordinates of the values of one attribute."""

    name: str
    labels: tuple[str, ...]  # what the values are called
    context: tuple[str, ...]  # the attributes that the distances were learned from
    coordinates: Floats  # (n_values, n_axes)

    def distances(self) -> Floats:
        """Return the distances between all values, of shape (n_values, n_values)."""
        gram = self.coordinates @ self.coordinates.T
        squares = np.diag(gram)
        square = squares[:, None] + squares[None, :] - 2 * gram
        np.fill_diagonal(square, 0)
        return np.sqrt(np.maximum(square, 0))


@dataclass(frozen=True)
class CategoricalMetric:
    """A metric on rows of categories."""

    names: tuple[str, ...]  # the columns of the rows, in order
    attributes: Mapping[str, AttributeMetric]  # the columns that count, in order

    @property
    def n_axes(self) -> int:
        """Number of coordinates of a row."""
        return sum(part.coordinates.shape[1] for part in self.attributes.values())

    def __getitem__(self, name: str) -> AttributeMetric:
        if name not in self.attributes:
            raise KeyError(
                f"No distances were learned for {name!r}; choose one of {list(self.attributes)}."
            )
        return self.attributes[name]

    def tables(self) -> list[tuple[int, Floats]]:
        """Return the number of each column with distances, and the coordinates of its values."""
        return [
            (self.names.index(name), part.coordinates) for name, part in self.attributes.items()
        ]

    def points(self) -> list[Floats]:
        """Return for every column the coordinates of its values in the space of all attributes."""
        start, points = 0, []
        for name in self.names:
            part = self.attributes.get(name)
            if part is None:
                points.append(np.zeros((1, self.n_axes)))
                continue
            block = np.zeros((len(part.labels), self.n_axes))
            end = start + part.coordinates.shape[1]
            block[:, start:end] = part.coordinates
            points.append(block)
            start = end
        return points


def attribute_metric(
    estimate: Estimate,
    target: int,
    context: Sequence[int],
    names: Sequence[str],
    labels: Sequence[str],
    *,
    ordinal: bool = False,
    n_listed: Sequence[int] | None = None,
) -> AttributeMetric:
    """Return the metric of one attribute, learned from its context.

    ``estimate``: tables of the target with every attribute of the context. ``ordinal``: compare P(Y
    <= y | x), so that the order of the values counts. ``n_listed``: how many values of each
    attribute are listed. Those after them are declared in case some are missing or unlisted, and
    are left out of contexts unless they clearly occur.
    """
    parts = [_conditional_on(estimate, target, other, n_listed) for other in context]
    chances = np.concatenate([chances for chances, _ in parts], axis=1)
    doubt = np.concatenate([doubt for _, doubt in parts])
    points = np.concatenate([chances, _uncertainty_axes(chances, doubt)], axis=1)
    points /= np.sqrt(chances.shape[1])
    if ordinal:  # steps between neighbouring values add up, and so does their uncertainty
        points = np.cumsum(points, axis=0)
    context_names = tuple(names[other] for other in context)
    return AttributeMetric(names[target], tuple(labels), context_names, _fewest_axes(points))


def _conditional_on(
    estimate: Estimate, target: int, other: int, n_listed: Sequence[int] | None
) -> tuple[Floats, Floats]:
    """Return P(target given other) and its uncertainty, over the values that are kept."""
    chances, doubt = estimate.conditional(target, other)
    if n_listed is None:
        return chances, doubt
    counts = estimate.distinct_values(other)
    counts[: n_listed[other]] = True
    return (chances, doubt) if counts.all() else (chances[:, counts], doubt[counts])


def _uncertainty_axes(chances: Floats, doubt: Floats) -> Floats:
    """Return axes that add the expected effect of uncertainty to every squared distance.

    A column of chances p that is uncertain by a share c of the most it can be has the covariance
    c (diag p - p p') of a Dirichlet distribution; the axes are a root of the sum over the columns.
    """
    if not doubt.any() or len(chances) > _MOST_DOUBTED:
        return np.zeros((len(chances), 0))
    covariance = np.diag(chances @ doubt) - (chances * doubt) @ chances.T
    strengths, axes = np.linalg.eigh(covariance)
    return np.asarray(axes * np.sqrt(np.maximum(strengths, 0)))


def _fewest_axes(points: Floats) -> Floats:
    """Return coordinates with the same distances in as few axes as possible."""
    centred = points - points.mean(axis=0)
    left, strengths, _ = np.linalg.svd(centred, full_matrices=False)
    # Probabilities are shares of one: anything far smaller is rounding error.
    needed = strengths > 1e-9 * max(float(strengths.max(initial=0)), _LEAST_SPREAD)
    return np.asarray(left[:, needed] * strengths[needed])


# The few axes along which embedded rows spread most, at no cost from the estimated tables.

# Rows further from the mean than this many times the usual distance are moved to that distance.
RADIUS_IN_SPREADS = 2.0
_FEWEST_AXES, MOST_AXES = 3, 5


def usual_axes(n_clusters: int) -> int:
    """Return how many axes separate clusters, as a rule."""
    return int(np.clip(n_clusters, _FEWEST_AXES, MOST_AXES))


def principal_axes(
    metric: CategoricalMetric, estimate: Estimate, n_axes: int
) -> tuple[ValuePoints, float]:
    """Return the values as points on the leading axes, and a radius that contains most rows."""
    cells = PairTableCells(estimate.layout)
    shares = estimate.margins / max(estimate.n_rows, 1.0)
    sizes = estimate.layout.sizes
    points = np.concatenate(metric.points())
    if not points.shape[1]:  # no distance was learned: all rows are one point
        points = np.zeros((len(points), 1))
    own = np.repeat(np.arange(len(sizes)), sizes)
    means = np.stack([shares[own == a] @ points[own == a] for a in range(len(sizes))])
    points = points - means[own]
    joint = cells.square(estimate.counts / max(estimate.n_rows, 1.0)) + np.diag(shares)
    # The points are centred, so products of shares drop out of the covariance.
    values, vectors = np.linalg.eigh(points.T @ joint @ points)
    kept = [axis for axis in range(len(values))[::-1] if values[axis] > 1e-12][:n_axes]
    if not kept:
        kept = [len(values) - 1]
    spread = math.sqrt(max(float(values[kept].sum()), 1e-12))
    ends = np.cumsum(sizes)[:-1]
    return ValuePoints(np.split(points @ vectors[:, kept], ends)), RADIUS_IN_SPREADS * spread
