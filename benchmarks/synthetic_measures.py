"""How close synthetic rows come to the rows: tables, correlations, clusters, and what they teach.

Numbers are cut into 16 equal bins of their declared width, a value on an edge belongs above it.
Pairs are also compared with numbers cut where sixteenths of the rows end, so that a skewed column,
nearly all of which lies in one bin of its width, counts as much as others. These edges lie halfway
between two values, so that what is drawn next to a frequent value is taken for it.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier

from privclust.papers.metrics import inertia
from privclust.schema.coordinates import Coordinates, category_gap
from synthetic_sets import SyntheticSet

__all__ = ["Judge"]

BINS, TRIPLES = 16, 60
LEARNED, ASKED = 20_000, 10_000
CLUSTERS = 6, 12


class Judge:
    """Compares synthetic rows with those of a set."""

    def __init__(self, of: SyntheticSet, starts: int = 5, *, rescale: bool = True) -> None:
        self.of, self._starts, self._rescale = of, starts, rescale
        self._quantiles = [_edges_between(of.rows[name].to_numpy(float)) for name in of.numbers]
        self.codes, self.sizes = self._binned(of.rows)
        self._by_quantiles = self._cut(of.rows)
        d = len(self.sizes)
        every = list(combinations(range(d), 3))
        picked = np.random.default_rng(0).permutation(len(every))[:TRIPLES]
        self.sets = {
            "one": [(j,) for j in range(d)],
            "two": list(combinations(range(d), 2)),
            "three": [every[place] for place in picked],
        }
        self._best: dict[int, float] = {}

    def tables(self, rows: pd.DataFrame) -> dict[str, float]:
        """Return the mean total variation of columns, of pairs (twice) and of some triples."""
        codes, _ = self._binned(rows)
        found = {
            name: self._mean_variation(self.codes, codes, sets)
            for name, sets in self.sets.items()
            if sets
        }
        pairs = self.sets["two"]
        found["quantiles"] = self._mean_variation(self._by_quantiles, self._cut(rows), pairs)
        return found

    def correlations(self, rows: pd.DataFrame) -> float:
        """Return the mean absolute error of the correlations between coordinates of columns."""
        widths = [1] * len(self.of.numbers) + [len(v) for v in self.of.values.values()]
        owner = np.repeat(np.arange(len(widths)), widths)
        gaps = np.abs(_correlated(self.points(self.of.rows)) - _correlated(self.points(rows)))
        return float(gaps[owner[:, None] < owner].mean())

    def ties(self, rows: pd.DataFrame) -> float | str:
        """Return the largest error, over whole numbers, of the share of their heaviest value."""
        gaps = []
        for name, (_, _, whole) in self.of.numbers.items():
            if whole:
                shares = self.of.rows[name].value_counts(normalize=True)
                gaps.append(abs(shares.iloc[0] - np.mean(rows[name] == shares.index[0])))
        return float(max(gaps)) if gaps else ""

    def learning(self, rows: pd.DataFrame) -> float:
        """Return how often boosted trees that learned from synthetic rows are right about rows."""
        test = self.of.rows.sample(min(len(self.of.rows), ASKED), random_state=1)
        (x, y), (asked, truth) = self._example(rows.iloc[:LEARNED]), self._example(test)
        if len(np.unique(y)) < 2:
            return float((truth == y[0]).mean())
        model = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(x, y)
        return float((model.predict(asked) == truth).mean())

    def clusters(self, centers: dict[int, np.ndarray]) -> dict[str, float]:
        """Return the inertia of centres, given for each k, over the best that is known."""
        rows = self.points(self.of.rows)
        return {f"k{k}": inertia(rows, at) / self._best_of(k, rows) for k, at in centers.items()}

    def centers_of(self, rows: pd.DataFrame) -> dict[int, np.ndarray]:
        """Return the centres that k-means finds in synthetic rows."""
        points = self.points(rows)[:LEARNED]
        return {
            k: KMeans(k, n_init=2, random_state=0).fit(points).cluster_centers_ for k in CLUSTERS
        }

    def points(self, rows: pd.DataFrame) -> np.ndarray:
        """Return rows in the metric of a summary: declared widths, and gaps of categories."""
        parts = [rows[name].to_numpy(float)[:, None] for name in self.of.numbers]
        for name, values in self.of.values.items():
            parts.append(rows[name].to_numpy()[:, None] == np.array(values))
        return self.scaled(np.hstack(parts).astype(float))

    def scaled(self, coordinates: np.ndarray) -> np.ndarray:
        """Return numbers and shares, of released centres or of rows, in that metric."""
        schema, rescale = self.of.schema, self._rescale
        return coordinates / Coordinates(schema).scales(rescale, category_gap(schema, rescale))

    def _best_of(self, k: int, points: np.ndarray) -> float:
        if k not in self._best:
            found = KMeans(k, n_init=self._starts, random_state=0).fit(points)
            self._best[k] = float(found.inertia_)
        return self._best[k]

    def _binned(self, rows: pd.DataFrame) -> tuple[np.ndarray, list[int]]:
        codes, sizes = [], []
        for name, (low, high, _) in self.of.numbers.items():
            places = (rows[name].to_numpy(float) - low) / (high - low) * BINS + 1e-9
            codes.append(np.clip(places.astype(int), 0, BINS - 1))
            sizes.append(BINS)
        for name, values in self.of.values.items():
            codes.append(pd.Categorical(rows[name], categories=values).codes.astype(int))
            sizes.append(len(values))
            assert (codes[-1] >= 0).all(), f"{name} has values that were not declared"
        return np.array(codes), sizes

    def _cut(self, rows: pd.DataFrame) -> np.ndarray:
        """Return codes with numbers cut at the quantiles of the rows."""
        cut = [
            np.searchsorted(edges, rows[name].to_numpy(float), side="right")
            for name, edges in zip(self.of.numbers, self._quantiles, strict=True)
        ]
        return np.array([*cut, *self._binned(rows)[0][len(cut) :]])

    def _mean_variation(
        self, rows: np.ndarray, others: np.ndarray, sets: list[tuple[int, ...]]
    ) -> float:
        return float(np.mean([self._variation(rows, others, chosen) for chosen in sets]))

    def _variation(self, rows: np.ndarray, others: np.ndarray, chosen: tuple[int, ...]) -> float:
        shape = [self.sizes[j] for j in chosen]
        shares = []
        for table in (rows, others):
            flat = np.ravel_multi_index(tuple(table[list(chosen)]), shape)
            shares.append(np.bincount(flat, minlength=int(np.prod(shape))) / table.shape[1])
        return float(np.abs(shares[0] - shares[1]).sum() / 2)

    def _example(self, rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        target, columns = self.of.target, {}
        for name in self.of.numbers:
            columns[name] = rows[name].to_numpy(float)
        for name, values in self.of.values.items():
            columns[name] = pd.Categorical(rows[name], categories=values).codes.astype(float)
        told = columns.pop(target)
        if target in self.of.numbers:  # above the median or not
            told = told > np.median(self.of.rows[target])
        return np.array(list(columns.values())).T, told.astype(int)


def _edges_between(numbers: np.ndarray) -> np.ndarray:
    """Return where sixteenths of numbers end, halfway down to the value before."""
    values = np.unique(numbers)
    parts = np.linspace(0, 1, BINS + 1)[1:-1]
    ends = np.unique(np.quantile(numbers, parts, method="lower"))
    places = np.searchsorted(values, ends)
    return np.asarray((values[places[places > 0] - 1] + values[places[places > 0]]) / 2)


def _correlated(points: np.ndarray) -> np.ndarray:
    centred = points - points.mean(axis=0)
    spread = centred.std(axis=0)
    centred = centred / np.where(spread > 0, spread, 1)
    return centred.T @ centred / len(points)
