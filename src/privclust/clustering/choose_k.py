"""The choice of k from released cells: a number, 1, or no clear number.

Categories lie on a lattice: every combination of two or three columns is a clump of its own, well
apart from the others, even if the columns have nothing to do with each other. So clusters of mixed
cells are compared with those of cells whose columns are drawn independently of each other, from the
same cells. It is post-processing of released cells.

Three criteria look at the cells. *Stability*: half of the cells, with noise drawn again as large as
it is known to be, must give the same clusters. The index of Calinski and Harabasz compares the
spread between clusters with that within. The *BIC* is that of a mixture of round normal
distributions. The cells, not the rows, are the observations of both. If no k of at least 2 is
stable the answer is 1; if the other two agree on a stable one it is theirs; else there is no clear
number, and a shortlist and the curve must decide: both criteria cut a long piece into many round
ones, but noise drawn again cuts it elsewhere. Half of very few cells may lack a whole cluster, so
instability says nothing about them: then there is no clear number either.

The index is computed twice. Between the cells alone it is sharp where cells are many, and decides
with the BIC. But it grows without bound as k nears the number of cells, so what is shown, suggested
and listed is the index with the spread within cells, which is that of the rows.

Mixed rows are also compared with independent columns (``independence.py``). Clusters that are no
better than those give no clear number; and if clusters are better, but not stable, the answer is
not 1: half of the cells often lack a combination of categories. If a single number is stable,
it is enough that one of the other two agrees: categories lie on a lattice, and the index likes
every point of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from privclust._typing import Floats, Indices
from privclust.clustering.from_cells import Clusters, cluster_cells, most_clusters
from privclust.clustering.result import Cells
from privclust.clustering.shortlist import Candidate, shortlist_of
from privclust.clustering.weighted_kmeans import nearest_centre, squares, weighted_kmeans
from privclust.exceptions import ParameterError
from privclust.parameters import WHOLE
from privclust.reports.values import TWO_ERRORS, format_error, significant
from privclust.schema.coordinates import Coordinates
from privclust.schema.schema import Schema
from privclust.statement import html_table

# What the criteria for the number of clusters say together: a number, 1, or no clear number.

STABLE = 0.9  # mean adjusted Rand index over the redraws
_FEWEST_CELLS = 16  # below, clusters are unstable whether there are any or not


@dataclass(frozen=True)
class Verdicts:
    """The number that each criterion prefers, and what is known about stability."""

    by_separation: int
    by_rows: int  # by the separation with the spread within cells
    by_bic: int
    by_stability: int
    stable: tuple[int, ...]
    is_of_few: bool

    @classmethod
    def of(
        cls,
        ks: tuple[int, ...],
        separation: Floats,
        of_rows: Floats,
        bic: Floats,
        stability: Floats,
        n_cells: int,
    ) -> Verdicts:
        """Return what the criteria say of numbers ``ks``."""
        several = np.array(ks) > 1
        stable = np.array(ks)[several & (stability >= STABLE)]
        return cls(
            by_separation=ks[int(separation.argmax())],
            by_rows=ks[int(of_rows.argmax())],
            by_bic=ks[int(bic.argmax())],
            by_stability=ks[int(np.where(several, stability, -1).argmax())],
            stable=tuple(stable.tolist()),
            is_of_few=bool(several.any()) and n_cells < _FEWEST_CELLS,
        )

    def of_numbers(self) -> tuple[int | None, int]:
        """Return the number, if there is a clear one, and what to suggest."""
        if not self.stable:
            return (None, self.by_stability) if self.is_of_few else (1, 1)
        number = self.by_separation
        clear = number == self.by_bic and number in self.stable
        return (number, number) if clear else (None, self.by_rows)

    def of_mixed_rows(self, stand: Callable[[int], bool]) -> tuple[int | None, int]:
        """Return the same for mixed rows, given which clusters beat independent columns."""
        number, suggestion = self.of_numbers()
        if number is None:
            only = self.stable[0] if len(self.stable) == 1 else 1
            if only in (self.by_separation, self.by_bic) and stand(only):
                return only, only
            return None, suggestion
        if number == 1:
            return (None, self.by_bic) if stand(self.by_bic) else (1, 1)
        return (number if stand(number) else None), number


# Whether clusters of mixed rows are more than what each column shows by itself.

# Clusters beat them if they leave at most this much of what those of independent columns leave. On
# generated tables planted ones left a half at most, and those of independent columns nine tenths.
_LEFT = 0.75
_DRAWS = 2


def beat_independent_columns(
    places: Floats, weights: Floats, centers: Floats, columns: Sequence[slice]
) -> bool:
    """Return whether centres explain more of the cells than columns by themselves would.

    ``places``: (n_cells, n_features). ``weights``: (n_cells,). ``centers``: (n_clusters,
    n_features). ``columns``: where the coordinates of each column are.
    """
    rng = np.random.default_rng(len(centers))  # public choices; the answer is the same every time
    chances, equal = weights / weights.sum(), np.ones(len(places))
    left = []
    for _ in range(_DRAWS):
        drawn = np.empty_like(places)
        for column in columns:
            drawn[:, column] = places[rng.choice(len(places), len(places), p=chances), column]
        drawn -= drawn.mean(axis=0)
        found = weighted_kmeans(drawn, equal, len(centers), rng)
        left.append(_residual_share(drawn, equal, found))
    return _residual_share(places, weights, centers) <= _LEFT * float(np.mean(left))


def _residual_share(places: Floats, weights: Floats, centers: Floats) -> float:
    """Return which share of the squared distances from the mean the clusters leave."""
    whole = max(float(weights @ (places**2).sum(axis=1)), 1e-300)
    return float(weights @ squares(places, centers).min(axis=1)) / whole


DEFAULT_RANGE = range(1, 17)
_REDRAWS, _KEPT = 4, 0.5
_RESTARTS = 5
_ITERATIONS, _FINISHED = 40, 1e-5  # of the mixture; the relative gain at which it ends
_LEAST_VARIANCE = 1e-6, 0.25  # of a component: of all, and of the spread within the cells


@dataclass(frozen=True)
class Choice:
    """What the cells say about the number of clusters.

    Attributes
    ----------
    n_clusters : int or None
        The number; None if there is no clear one.
    suggestion : int
        The number, or what the index of Calinski and Harabasz says if there is no clear one; the
        most stable number if cells are too few for any to be stable.
    shortlist : tuple of Candidate
        Three numbers worth a look, best first: how stable they are, and what they split. A help
        where there is no clear number, and no verdict. Empty without the whole curve.
    ks : tuple of int
        The numbers that were looked at.
    inertia, inertia_error : ndarray of shape (len(ks),)
        The approximate inertia of each, and the error of the noise in it.
    separation : ndarray of shape (len(ks),)
        The index of Calinski and Harabasz of the rows; zero for k = 1.
    bic : ndarray of shape (len(ks),)
        The cells' BIC; larger is better.
    stability : ndarray of shape (len(ks),)
        The mean adjusted Rand index of redraws; one for k = 1.
    """

    n_clusters: int | None
    suggestion: int
    shortlist: tuple[Candidate, ...]
    ks: tuple[int, ...]
    inertia: Floats
    inertia_error: Floats
    separation: Floats
    bic: Floats
    stability: Floats

    @property
    def verdict(self) -> str:
        """The answer in a sentence."""
        if self.n_clusters is None:
            return "There is no clear number of clusters; choose one from the curve below."
        if self.n_clusters == 1:
            return "The rows are one cluster as far as the noise lets us tell."
        return f"The rows are in {self.n_clusters} clusters."

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the answer, the shortlist and the curve."""
        curve = zip(self.ks, self.inertia, self.inertia_error, self.stability, strict=True)
        lines = [
            (str(k), significant(i, 4), format_error(2 * e), f"{s:.2f}") for k, i, e, s in curve
        ]
        listed = "".join(f"<li>{escape(one.sentence)}</li>" for one in self.shortlist)
        look = f"<p>Worth a look, best first:</p><ul>{listed}</ul>" if listed else ""
        table = html_table(lines, ("k", "inertia", TWO_ERRORS, "stability"))
        return f"<div><p><b>{escape(self.verdict)}</b></p>{look}{table}</div>"

    def __str__(self) -> str:
        lines = [f"{'k':>4} {'inertia':>10} {TWO_ERRORS:>10} {'stability':>9}"]
        curve = zip(self.ks, self.inertia, self.inertia_error, self.stability, strict=True)
        lines += [
            f"{k:>4} {significant(i, 4):>10} {format_error(2 * e):>10} {s:>9.2f}"
            for k, i, e, s in curve
        ]
        numbers = [f"  {candidate.sentence}" for candidate in self.shortlist]
        listed = ["Worth a look, best first:", *numbers] if numbers else []
        return "\n".join([self.verdict, *listed, *lines])


def choose_n_clusters(
    cells: Cells,
    candidates: Iterable[int] = DEFAULT_RANGE,
    *,
    schema: Schema | None = None,
    whole_curve: bool = True,
) -> Choice:
    """Choose the number of clusters of the cells among candidates; it costs nothing.

    ``schema``: of the coordinates of the cells, if some of them are shares of categories.
    ``whole_curve``: otherwise the stability is NaN where the answer does not need it.
    """
    ks, columns = _valid_candidates(cells, candidates), _columns(schema)
    seen = _Criteria.of(cells, ks, every=whole_curve or bool(columns))
    best = Verdicts.of(
        ks, seen.between, seen.separation, seen.bic, seen.stability, len(seen.weights)
    )

    def stand(k: int) -> bool:
        found = seen.centers[ks.index(k)]
        return k > 1 and beat_independent_columns(seen.places, seen.weights, found, columns)

    number, suggestion = best.of_mixed_rows(stand) if columns else best.of_numbers()
    return Choice(
        number,
        suggestion,
        seen.shortlist(ks, suggestion) if whole_curve else (),
        ks,
        np.array([found.inertia for found in seen.clusters]),
        np.array([found.inertia_error for found in seen.clusters]),
        seen.separation,
        seen.bic,
        seen.stability,
    )


@dataclass(frozen=True)
class _Criteria:
    """The cells that have rows, around their mean, and what the criteria say of them for each k."""

    places: Floats
    weights: Floats
    clusters: list[Clusters]
    centers: list[Floats]
    between: Floats  # the separation of the cells alone
    separation: Floats
    bic: Floats
    stability: Floats

    @classmethod
    def of(cls, cells: Cells, ks: tuple[int, ...], *, every: bool) -> _Criteria:
        """Return what is seen; the stability of every number, or until one is stable."""
        live = cells.counts > 0
        places, weights, noise = cells.cells[live], cells.counts[live], cells.noise[live]
        middle = np.average(places, axis=0, weights=weights)
        places = places - middle
        clusters = [cluster_cells(cells, k) for k in ks]
        centers = [found.centers - middle for found in clusters]
        between, separation = (
            np.array([_separation(places, weights, found, within) for found in centers])
            for within in (0.0, cells.within)
        )
        bic = np.array([_bic(places, weights, found, cells.within) for found in centers])
        errors = cells.counts_error, np.sqrt(noise)
        stability = _stabilities(
            ks, between, lambda j: _stability(places, weights, centers[j], *errors), every=every
        )
        return cls(places, weights, clusters, centers, between, separation, bic, stability)

    def shortlist(self, ks: tuple[int, ...], suggestion: int) -> tuple[Candidate, ...]:
        """Return the shortlist."""
        pairs = zip(ks, self.centers, strict=True)
        labels = {k: nearest_centre(self.places, found) for k, found in pairs}
        return shortlist_of(ks, self.separation, self.stability, labels, self.weights, suggestion)


def _stabilities(
    ks: tuple[int, ...], separation: Floats, measured: Callable[[int], float], *, every: bool
) -> Floats:
    """Return the stability for each number; unless every one is wanted, until one is stable."""
    several = np.array(ks) > 1
    stability = np.where(several, np.nan, 1.0)
    for place in np.argsort(-separation, kind="stable"):  # the likeliest to be stable comes first
        if several[place] and (every or not (stability[several] >= STABLE).any()):
            stability[place] = measured(int(place))
    return stability


def _columns(schema: Schema | None) -> list[slice]:
    """Return where the coordinates of each column of mixed rows are; nothing for numbers alone."""
    if schema is None or not schema.categorical:
        return []
    return [column.places for column in Coordinates(schema).columns]


def _valid_candidates(cells: Cells, candidates: Iterable[int]) -> tuple[int, ...]:
    """Return the candidates that the cells can distinguish, in order."""
    if not isinstance(candidates, Iterable):
        raise ParameterError(
            "candidates must be several numbers of clusters, such as range(1, 17), got "
            f"{candidates!r}."
        )
    asked = list(candidates)
    for k in asked:
        WHOLE.check("Each number of clusters", k)
    if not any(k > 1 for k in asked):
        raise ParameterError(
            "There is nothing to choose among; give at least one number of clusters above 1."
        )
    ks = sorted({int(k) for k in asked if k < most_clusters(cells)} | {1})
    if len(ks) == 1:
        raise ParameterError(
            f"Only {most_clusters(cells)} cells stand out from the noise, which is too few to "
            "choose among these numbers of clusters; ask for smaller ones or raise the budget."
        )
    return tuple(ks)


def _separation(places: Floats, weights: Floats, centers: Floats, within: float) -> float:
    """Return the index of Calinski and Harabasz of cells with this spread within them."""
    (m, _), k = places.shape, len(centers)
    if k == 1:
        return 0.0
    left = float(weights @ squares(places, centers).min(axis=1))
    explained = float(weights @ (places**2).sum(axis=1)) - left
    all_left = max(left + within * float(weights.sum()), 1e-300)
    return float(explained / (k - 1) / (all_left / (m - k)))


def _bic(places: Floats, weights: Floats, centers: Floats, within: float) -> float:
    """Return the log-likelihood of a mixture of round normals, less what its parameters cost."""
    (m, d), k, n_rows = places.shape, len(centers), float(weights.sum())
    scale = max(float(weights @ (places**2).sum(axis=1)) / n_rows + within, 1e-300)
    least = _LEAST_VARIANCE[0] * scale + _LEAST_VARIANCE[1] * within / d
    members, fit = np.eye(k)[nearest_centre(places, centers)], -math.inf
    for _ in range(_ITERATIONS):
        shares = members * weights[:, None]
        sizes = np.maximum(shares.sum(axis=0), 1e-9)
        gaps = squares(places, shares.T @ places / sizes[:, None]) + within
        variances = np.maximum((shares * gaps).sum(axis=0) / sizes / d, least)
        logs = np.log(sizes / n_rows) - d / 2 * np.log(2 * np.pi * variances)
        logs = logs - gaps / (2 * variances)
        top = logs.max(axis=1, keepdims=True)
        members = np.exp(logs - top)
        each = top[:, 0] + np.log(members.sum(axis=1))
        members /= members.sum(axis=1, keepdims=True)
        before, fit = fit, float(weights @ each)
        if fit - before <= _FINISHED * abs(fit):
            break
    return float(fit * m / n_rows - 0.5 * (k * (d + 2) - 1) * math.log(m))


def _stability(
    places: Floats,
    weights: Floats,
    centers: Floats,
    counts_error: float,
    places_error: Floats,
) -> float:
    """Return how well clusters agree with those of half of the cells under noise drawn again."""
    k, labels = len(centers), nearest_centre(places, centers)
    rng = np.random.default_rng(k)  # public choices; the answer is the same every time
    found = []
    for _ in range(_REDRAWS):
        kept = rng.random(len(places)) < _KEPT
        redrawn = np.maximum(weights + counts_error * rng.standard_normal(len(places)), 0) * kept
        moved = places + places_error * rng.standard_normal(places.shape)
        if (redrawn > 0).sum() <= k:
            found.append(0.0)
            continue
        again = weighted_kmeans(moved, redrawn, k, rng, restarts=_RESTARTS)
        found.append(_rand_index(labels, nearest_centre(places, again), weights))
    return float(np.mean(found))


def _rand_index(one: Indices, other: Indices, weights: Floats) -> float:
    """Return the adjusted Rand index of two labellings of weighted cells."""
    table = np.zeros((int(one.max()) + 1, int(other.max()) + 1))
    np.add.at(table, (one, other), weights)
    rows, columns = (float((table.sum(axis=axis) ** 2).sum()) for axis in (1, 0))
    chance, most = rows * columns / table.sum() ** 2, (rows + columns) / 2
    if most <= chance * (1 + 1e-12):
        return 1.0
    return float(((table**2).sum() - chance) / (most - chance))
