"""Any clusterer of scikit-learn on a summary and on a density, next to the same on some rows.

``python benchmarks/shapes_clusterers.py [--runs 10] [--drawn]`` writes
``benchmarks/results/shapes-clusterers.csv`` and the table of ``docs/research/shapes.md``. Every fit
has noise of its own.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from keeping import Row, put_table, read_rows, write_rows
from privclust import PrivateDensity, PrivateSummary
from shapes_output import clusterer_table
from shapes_sets import HELD, TOY, Sets, declared_bounds
from sklearn import cluster, mixture

CLUSTERED: Sets = {name: TOY[name] for name in ("moons", "varied", "aniso")} | {
    name: HELD[name] for name in ("lsun", "target")
}
N_ROWS, FEW = 10_000, 1000
NAME, PAGE = "shapes-clusterers", Path(__file__).parents[1] / "docs" / "research" / "shapes.md"


def estimators(k: int) -> dict[str, Any]:
    """Return clusterers at one setting each; lengths are in widths of the bounds."""
    graph = {"affinity": "nearest_neighbors", "assign_labels": "cluster_qr", "random_state": 0}
    return {
        "KMeans": cluster.KMeans(k, n_init=3, random_state=0),
        "BisectingKMeans": cluster.BisectingKMeans(k, random_state=0),
        "DBSCAN": cluster.DBSCAN(eps=0.03, min_samples=5),
        "HDBSCAN": cluster.HDBSCAN(min_cluster_size=50, copy=True),
        "SpectralClustering": cluster.SpectralClustering(k, **graph),
        "GaussianMixture": mixture.GaussianMixture(k, random_state=0),
        "MeanShift": cluster.MeanShift(bandwidth=0.12, bin_seeding=True),
        "Birch": cluster.Birch(threshold=0.05, n_clusters=k),
        "Agglomerative, Ward": cluster.AgglomerativeClustering(k),
        "Agglomerative, single": cluster.AgglomerativeClustering(k, linkage="single"),
    }


def measure_one(maker: Any, k: int, seed: int) -> Iterator[tuple[str, str, float]]:
    """Yield the agreement of every clusterer on a summary, on a density, and on some rows."""
    rng = np.random.default_rng(seed)
    rows, truth = maker(rng, N_ROWS)
    low, high = declared_bounds(rows)
    given = {"bounds": (low, high), "random_state": seed}
    summary = PrivateSummary(rescale=True, **given)
    releases = {"summary": summary, "density": PrivateDensity(**given)}
    chosen = rng.choice(len(rows), min(FEW, len(rows)), replace=False)
    seen, wanted = rows[chosen], truth[chosen]
    for where, model in releases.items():
        model.fit(rows)
        for name, estimator in estimators(k).items():
            found = model.cluster(estimator, n_rows=FEW).predict(seen)
            yield name, where, adjusted_rand_score(wanted, found)
    for name, estimator in estimators(k).items():
        plain = estimator.fit_predict((seen - low) / (high - low))
        yield name, f"no privacy: {FEW} rows", adjusted_rand_score(wanted, plain)


def measure(runs: int) -> Iterator[Row]:
    """Yield the mean agreement of every clusterer on every set."""
    for place, (name, (maker, k)) in enumerate(CLUSTERED.items()):
        scores: dict[tuple[str, str], list[float]] = {}
        for run in range(runs):
            for method, where, score in measure_one(maker, k, 1000 * place + run):
                scores.setdefault((method, where), []).append(score)
        for (method, where), values in scores.items():
            spread = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
            yield {
                "set": name,
                "method": method,
                "on": where,
                "runs": len(values),
                "score": round(float(np.mean(values)), 4),
                "error": round(float(spread), 4),
            }
        print(name, "done", flush=True)


def main() -> None:
    """Measure, or draw the table again from the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--drawn", action="store_true", help="run nothing, draw from the file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.drawn:
        write_rows(NAME, [*measure(options.runs)], seed=0, setting=f"runs {options.runs}")
    table = clusterer_table(read_rows(NAME))
    put_table(PAGE, NAME, table)
    print(table)


if __name__ == "__main__":
    main()
