"""Clusters of any shape: private densities, trees and clusterers against those without privacy.

``python benchmarks/shapes.py PART`` measures one part and writes a file to ``benchmarks/results``:

- ``shapes [--runs 10] [--rivals 10] [--only held ...]``: sets by formula, ``shapes.csv``;
- ``real [--data FOLDER] [--runs 10]``: three tables and four maps of towns, ``shapes-real.csv``;
- ``trees [--runs 10]``: Ward's tree of a summary, ``shapes-trees.csv``;
- ``times``: seconds of a fit by the number of rows, ``shapes-times.csv``;
- ``page``: fills the tables of the pages from the files;
- ``picture``: draws the comparison of clusterers and the pictures of the guide.

Every fit has rows and noise of its own, and ``seconds`` are CPU seconds of all fits of a line. Of
sets of one cluster the score is the share of fits that call them one; of all others it is the
adjusted Rand index of all rows, noise included.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.cluster import DBSCAN, HDBSCAN, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors, kneighbors_graph, radius_neighbors_graph

from keeping import Row, origin, put_table, read_rows, replace_rows, write_rows
from privclust import PrivateDensity, PrivateSummary, Schema
from privclust.density.answers import fill_labels
from privclust.density.grid_counts import CountedGrid
from privclust.density.persistence import find_clusters
from privclust.density.release import counts_from_release
from privclust.density.smooth import smooth
from privclust.exceptions import ParameterError
from shapes_output import (
    OWN,
    SETTINGS,
    draw_comparison,
    draw_guide,
    main_table,
    mixture_table,
    real_table,
    set_table,
    short_table,
    time_table,
    tree_table,
)
from shapes_sets import (
    GROUPS,
    HELD,
    MAPS,
    SOLID,
    TOY,
    Sets,
    TownMap,
    declared_bounds,
    real_tables,
)

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "research" / "shapes.md"
GUIDE = ROOT / "docs" / "guides" / "shapes.md"
FIGURE = ROOT / "docs" / "figures" / "shapes.png"
MOST_SCORED = 3000
SIZES = 10**5, 10**6, 10**7
TOWN_ROWS, TREE_ROWS = (10_000, 100_000), 10_000


def nearest(points: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the nearest point of each row."""
    found = NearestNeighbors(n_neighbors=1).fit(points).kneighbors(rows, return_distance=False)
    return np.asarray(found[:, 0])


def without_noise(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return labels with that of the nearest point in place of -1."""
    if (labels < 0).all():
        return np.zeros(len(labels), int)
    known = labels >= 0
    return labels[known][nearest(points[known], points)]


class Fit:
    """One fit to one set: rows and noise of its own, and what methods make of them."""

    def __init__(self, maker: Any, k: int, n: int, epsilon: float, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.rows, self.truth = maker(rng, n)
        self.k, self.epsilon, self.seed, self.n = k, epsilon, seed % 2**31, n
        self.bounds = declared_bounds(self.rows)
        chosen = rng.choice(len(self.rows), min(len(self.rows), MOST_SCORED), replace=False)
        self.seen, self.labels = self.rows[chosen], self.truth[chosen]
        start = time.process_time()
        model = self._density(self.epsilon)
        self.seconds = time.process_time() - start
        self.model, self.counted = model, counts_from_release(model.release())
        smoothed = smooth(self.counted)
        fore = smoothed.foreground(0.01 * self.counted.n_rows)
        self.cells, self.weights = np.argwhere(fore), smoothed.density[fore]
        self.widths = self.counted.grid.widths

    def _density(self, epsilon: float) -> PrivateDensity:
        return PrivateDensity(epsilon=epsilon, bounds=self.bounds, random_state=self.seed).fit(
            self.rows
        )

    def score(self, found: np.ndarray) -> float:
        """Return how good labels of the rows that are scored are."""
        if self.k == 1:
            return float(len(np.unique(found)) == 1)
        return float(adjusted_rand_score(self.labels, found))

    def of_grid(self, labels: np.ndarray) -> np.ndarray:
        """Return the labels of rows by those of the cells of the grid."""
        grid, filled = self.counted.grid, fill_labels(labels)
        columns = zip(grid.cuts, self.seen.T, strict=True)
        return filled[tuple(np.searchsorted(cuts, values, "right") for cuts, values in columns)]

    def of_cells(self, labels: np.ndarray) -> np.ndarray:
        """Return the labels of rows by those of the cells that stand out."""
        places = (self.seen - self.counted.grid.low) / self.widths - 0.5
        return without_noise(self.cells, labels)[nearest(self.cells, places)]


def density_found(fit: Fit) -> np.ndarray:
    """Return the clusters that stand out."""
    return fit.of_grid(fit.model.clusters().cell_labels)


def density_given(fit: Fit) -> np.ndarray:
    """Return as many clusters as there are; if it has fewer peaks, all of them."""
    try:
        return fit.of_grid(fit.model.clusters(fit.k).cell_labels)
    except ParameterError:
        return density_found(fit)


def dbscan_of_cells(fit: Fit) -> np.ndarray:
    """Return DBSCAN of the grid's cells, with weights."""
    least = max(1, int(8 * np.median(fit.weights)))
    found = DBSCAN(eps=1.5, min_samples=least).fit_predict(fit.cells, sample_weight=fit.weights)
    return fit.of_cells(found)


def hdbscan_of_rows(fit: Fit, *, may_be_one: bool = True) -> np.ndarray:
    """Return HDBSCAN of synthetic rows of the density."""
    rows = fit.model.sample(2000, random_state=0)
    clusterer = HDBSCAN(
        min_cluster_size=100, min_samples=5, allow_single_cluster=may_be_one, copy=True
    )
    return without_noise(rows, clusterer.fit_predict(rows))[nearest(rows, fit.seen)]


def hdbscan_never_one(fit: Fit) -> np.ndarray:
    """Return the same where one cluster is no answer."""
    return hdbscan_of_rows(fit, may_be_one=False)


def spectral(graph: Any, k: int) -> np.ndarray:
    """Return spectral clusters of a graph."""
    model = SpectralClustering(
        k, affinity="precomputed", assign_labels="cluster_qr", random_state=0
    )
    return np.asarray(model.fit_predict(graph))


def spectral_of_cells(fit: Fit) -> np.ndarray:
    """Return spectral clusters of the grid's cells."""
    graph = radius_neighbors_graph(fit.cells, 1.5).tocoo()
    weights = np.maximum(fit.weights, 1e-3)
    graph.data = weights[graph.row] * weights[graph.col]
    return fit.of_cells(spectral(graph.tocsr(), fit.k))


def spectral_of_summary(fit: Fit) -> np.ndarray:
    """Return spectral clusters of the cells of a summary."""
    model = PrivateSummary(epsilon=fit.epsilon, bounds=fit.bounds, random_state=fit.seed).fit(
        fit.rows
    )
    cells = model.cells_[model.counts_ > 2 * model.counts_error_]
    graph = kneighbors_graph(cells, min(6, len(cells) - 1))
    return spectral(((graph + graph.T) > 0).astype(float), fit.k)[nearest(cells, fit.seen)]


def density_without_privacy(fit: Fit) -> np.ndarray:
    """Return the clusters of the exact counts of the same cells."""
    grid = fit.counted.grid
    edges = [
        low + width * np.arange(side + 1)
        for low, width, side in zip(grid.low, grid.widths, grid.sides, strict=True)
    ]
    exact = np.histogramdd(fit.rows, edges)[0]
    counted = CountedGrid(grid, exact, 1e-3, float(len(fit.rows)), 0.0)
    return fit.of_grid(find_clusters(counted, None, 0.01).labels)


def hdbscan_without_privacy(fit: Fit) -> np.ndarray:
    """Return HDBSCAN of the rows, which is never one cluster, as scikit-learn has it."""
    found = HDBSCAN(min_cluster_size=max(5, len(fit.seen) // 20), copy=True)
    return without_noise(fit.seen, found.fit_predict(fit.seen))


def spectral_without_privacy(fit: Fit) -> np.ndarray:
    """Return spectral clusters of some rows."""
    rows = fit.seen[:1500]
    graph = kneighbors_graph(rows, 10)
    return spectral(((graph + graph.T) > 0).astype(float), fit.k)[nearest(rows, fit.seen)]


Method = Callable[[Fit], np.ndarray]
# Of each method whether it is told the number of clusters, and whether it takes seconds.
METHODS: dict[str, tuple[Method, bool, bool]] = {
    "density, k found": (density_found, False, False),
    "density, k given": (density_given, True, False),
    "DBSCAN of the density": (dbscan_of_cells, False, False),
    "HDBSCAN of the density": (hdbscan_of_rows, False, True),
    "HDBSCAN of the density, never one": (hdbscan_never_one, False, True),
    "spectral of the density, k given": (spectral_of_cells, True, True),
    "spectral of a summary, k given": (spectral_of_summary, True, True),
    "no privacy: density, k found": (density_without_privacy, False, False),
    "no privacy: HDBSCAN": (hdbscan_without_privacy, False, True),
    "no privacy: spectral, k given": (spectral_without_privacy, True, True),
}


def measure_sets(
    group: str, sets: Sets, n: int, epsilon: float, runs: int, rivals: int, seed: int
) -> Iterator[Row]:
    """Yield the mean score of every method on every set of a group."""
    for place, (name, (maker, k)) in enumerate(sets.items()):
        scores: dict[str, list[float]] = {}
        seconds: dict[str, float] = {}
        for run in range(runs):
            own = np.random.SeedSequence([seed, len(group), place, run, n, round(10 * epsilon)])
            fit = Fit(maker, k, n, epsilon, int(own.generate_state(1)[0]))
            for method, (find, told, slow) in METHODS.items():
                if (told and k == 1) or (slow and run >= rivals):
                    continue
                if fit.seen.shape[1] > 2 and method not in OWN:
                    continue
                start = time.process_time()
                labels = find(fit)
                spent = time.process_time() - start
                if "density" in method and not method.startswith("no privacy"):
                    spent += fit.seconds
                seconds[method] = seconds.get(method, 0.0) + spent
                scores.setdefault(method, []).append(fit.score(labels))
        about = {"group": group, "set": name, "rows": n, "epsilon": epsilon}
        for method, found in scores.items():
            spread = np.std(found, ddof=1) / np.sqrt(len(found)) if len(found) > 1 else 0.0
            yield {
                **about,
                "method": method,
                "runs": len(found),
                "score": round(float(np.mean(found)), 4),
                "error": round(float(spread), 4),
                "seconds": round(seconds[method], 3),
            }


def shapes(options: argparse.Namespace) -> None:
    """Measure sets by formula."""
    found: list[Row] = []
    for group, sets in GROUPS.items():
        if options.only and group not in options.only:
            continue
        settings = SETTINGS[:2] if group == "toy" else SETTINGS
        for n, epsilon in settings:
            rows = [
                *measure_sets(group, sets, n, epsilon, options.runs, options.rivals, options.seed)
            ]
            found += rows
            for method in METHODS:
                own = [row["score"] for row in rows if row["method"] == method]
                if own:
                    print(
                        f"{group:28} {n:6} {epsilon:4} {method:36} {np.mean(own):.3f}", flush=True
                    )
    about = origin(options.seed, f"runs {options.runs}")
    replace_rows("shapes", [row | about for row in found], by=("group",))


# Real tables, which have no true clusters: how far the private clusters are those without noise.


def real(options: argparse.Namespace) -> None:
    """Measure real tables against exact counts, and maps against groups of their places."""
    found: list[Row] = []
    for name, rows, schema in real_tables(options.data):
        for epsilon in (1.0, 0.2):
            scores = [_agreement(rows, schema, epsilon, run) for run in range(options.runs)]
            agreed, number, exact = np.array(scores).T
            found.append(
                {
                    "set": name,
                    "rows": len(rows),
                    "epsilon": epsilon,
                    "method": "density, k found",
                    "runs": options.runs,
                    "score": round(float(agreed.mean()), 3),
                    "error": round(float(agreed.std(ddof=1) / np.sqrt(len(agreed))), 3),
                    "clusters": round(float(number.mean()), 2),
                    "clusters_without_noise": round(float(exact.mean()), 2),
                }
            )
            print(found[-1], flush=True)
    for name in MAPS:
        for n in TOWN_ROWS:
            found += _maps(name, n, options.runs)
    write_rows("shapes-real", found, seed=0, setting=f"runs {options.runs}")


def _agreement(
    rows: np.ndarray, schema: Schema, epsilon: float, seed: int
) -> tuple[float, int, int]:
    """Return the agreement with clusters of exact counts, and both numbers of clusters."""
    model = PrivateDensity(epsilon=epsilon, schema=schema, random_state=seed).fit(rows)
    counted = counts_from_release(model.release())
    exact = np.histogramdd(np.clip(rows, schema.low, schema.high), model.edges_)[0]
    without = CountedGrid(counted.grid, exact, 1e-3, float(len(rows)), 0.0)
    private, plain = model.clusters(), find_clusters(without, None, 0.01)
    weights = exact.ravel() > 0
    cells = np.repeat(np.arange(exact.size)[weights], exact.ravel()[weights].astype(int))
    labels = [fill_labels(one).ravel()[cells] for one in (private.cell_labels, plain.labels)]
    return adjusted_rand_score(*labels), private.n_clusters, plain.n_clusters


def _maps(name: str, n: int, runs: int) -> Iterator[Row]:
    """Yield how well small groups of a map are found."""
    scores: dict[str, list[tuple[float, int]]] = {}
    for run in range(runs):
        rng = np.random.default_rng(run)
        made = MAPS[name](n, rng)
        seen = rng.choice(n, min(n, 4000), replace=False)
        for method, found in _map_labels(made, made.rows[seen], run):
            score = adjusted_rand_score(made.truth[seen], found), len(np.unique(found))
            scores.setdefault(method, []).append(score)
    for method, values in scores.items():
        agreed, number = np.array(values).T
        row = {
            "set": name,
            "rows": n,
            "epsilon": 1.0,
            "method": method,
            "runs": len(values),
            "score": round(float(agreed.mean()), 3),
            "error": round(float(agreed.std(ddof=1) / np.sqrt(len(agreed))), 3),
            "clusters": round(float(number.mean()), 2),
            "clusters_without_noise": "",
        }
        print(row, flush=True)
        yield row


def _map_labels(made: TownMap, seen: np.ndarray, run: int) -> Iterator[tuple[str, np.ndarray]]:
    given = {"bounds": (made.low, made.high), "random_state": run}
    for least in (None, 0.01, 0.002, 0.001):
        model = PrivateDensity(least=least, **given).fit(made.rows)
        told = "" if least is None else f"least={least:g}"
        yield f"PrivateDensity({told})", model.clusters().predict(seen, noise=False)
    summary = PrivateSummary(epsilon=1.0, **given).fit(made.rows)
    centres = summary.centers(min(made.n_groups, len(summary.cells_) // 2))
    yield "k-means of a summary", nearest(centres, seen)
    plain = HDBSCAN(min_cluster_size=20, min_samples=5, copy=True).fit_predict(seen)
    yield "no privacy: HDBSCAN", without_noise(seen, plain)


# Trees: how near the private one is to Ward's tree of rows.

TREES: Sets = {name: TOY[name] for name in ("varied", "aniso", "blobs")} | {
    "lsun": HELD["lsun"],
    "hepta": SOLID["hepta"],
}


def trees(options: argparse.Namespace) -> None:
    """Measure trees of a summary against Ward's tree of 1000 rows."""
    found = []
    for name, (maker, k) in TREES.items():
        scores: dict[tuple[str, float], list[tuple[float, float]]] = {}
        for run in range(options.runs):
            rng = np.random.default_rng([options.seed, run])
            rows, truth = maker(rng, TREE_ROWS)
            few = min(1000, len(rows) // 2)
            chosen = rng.choice(len(rows), 2 * few, replace=False)
            seen, other, labels = rows[chosen[:few]], rows[chosen[few:]], truth[chosen[:few]]
            wanted = hierarchy.cophenet(hierarchy.ward(seen))
            plain = hierarchy.ward(other)
            keys = [("no privacy: 1000 other rows", 0.0)]
            of_trees = [(plain, nearest(other, seen), hierarchy.fcluster(plain, k, "maxclust"))]
            for epsilon in (1.0, 0.2):
                model = PrivateSummary(
                    epsilon=epsilon, bounds=declared_bounds(rows), random_state=run
                ).fit(rows)
                live = model.cells_[model.counts_ > 0]
                tree = model.dendrogram()
                bare = hierarchy.ward(live)
                at = nearest(live, seen)
                keys += [("dendrogram()", epsilon), ("Ward without weights", epsilon)]
                of_trees += [
                    (tree.linkage, at, tree.labels(k)),
                    (bare, at, hierarchy.fcluster(bare, k, "maxclust")),
                ]
            for key, (linkage, at, groups) in zip(keys, of_trees, strict=True):
                own = squareform(hierarchy.cophenet(linkage))[np.ix_(at, at)]
                correlation = np.corrcoef(wanted, squareform(own, checks=False))[0, 1]
                agreed = adjusted_rand_score(labels, groups[at])
                scores.setdefault(key, []).append((float(correlation), agreed))
        for (method, epsilon), values in scores.items():
            correlation, agreed = np.mean(values, axis=0)
            row = {
                "set": name,
                "method": method,
                "epsilon": epsilon,
                "runs": len(values),
                "correlation": round(float(correlation), 4),
                "score": round(float(agreed), 4),
            }
            print(row, flush=True)
            found.append(row)
    write_rows("shapes-trees", found, seed=options.seed, setting=f"runs {options.runs}")


def times(options: argparse.Namespace) -> None:
    """Measure seconds of a fit and of its clusters by the number of rows."""
    found = []
    for columns in (2, 3):
        for n in SIZES:
            rows = np.random.default_rng(0).normal(size=(n, columns))
            start = time.process_time()
            model = PrivateDensity(bounds=(-5, 5)).fit(rows)
            fitted = time.process_time()
            model.clusters()
            row = {
                "columns": columns,
                "rows": n,
                "fit": round(fitted - start, 2),
                "clusters": round(time.process_time() - fitted, 2),
            }
            print(row, flush=True)
            found.append(row)
    write_rows("shapes-times", found, seed=0, setting="CPU seconds")


def fill_pages(_: argparse.Namespace) -> None:
    """Fill the tables of the pages from the files."""
    rows = read_rows("shapes")
    put_table(PAGE, "shapes", main_table(rows))
    put_table(PAGE, "shapes-sets", set_table(rows))
    put_table(PAGE, "shapes-real", real_table(read_rows("shapes-real")))
    put_table(PAGE, "shapes-trees", tree_table(read_rows("shapes-trees")))
    put_table(PAGE, "shapes-times", time_table(read_rows("shapes-times")))
    put_table(GUIDE, "shapes-expected", short_table(rows))
    put_table(GUIDE, "mixture-expected", mixture_table(read_rows("mixture-expected")))
    print(short_table(rows))


def draw_pictures(_: argparse.Namespace) -> None:
    """Draw the comparison of clusterers and the pictures of the guide."""
    draw_comparison(FIGURE)
    draw_guide(FIGURE.with_name("shapes-guide.png"))
    print(f"2 pictures: {FIGURE.parent}")


PARTS = {
    "shapes": shapes, "real": real, "trees": trees, "times": times, "page": fill_pages,
    "picture": draw_pictures,
}  # fmt: skip


def main() -> None:
    """Measure one part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--rivals", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", choices=GROUPS)
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        PARTS[options.part](options)


if __name__ == "__main__":
    main()
