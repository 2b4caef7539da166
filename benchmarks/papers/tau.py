"""The figures of Battaglia and Pensa (2025), DP-τCC: text and supplement."""

from __future__ import annotations

import time
import warnings
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from given import Given, Row, row, spread
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import (
    adjusted_rand_score,
    normalized_mutual_info_score,
    pairwise_distances_argmin,
)

from coclustering import (
    averaged,
    by_choice_share,
    by_columns,
    by_epsilon,
    by_rounds,
    private_models,
    scored,
)
from kmeans import PEER, diffprivlib
from privclust import Ball, PrivateKMeans, Schema
from privclust.papers.datasets.matrices import MatrixSet, biclusters
from privclust.papers.datasets.named import matrix_set
from privclust.papers.datasets.points import PointSet
from privclust.papers.rivals.high_dim import PrivateHighDimKMeans
from privclust.papers.rivals.nmf import PrivateNMF, ask_factors
from privclust.papers.tau.published import TauCoclustering

MATRICES = ("classic3", "cstr", "tr11", "tr41", "hitech", "k1b", "reviews")
# The fourteen of Figure 2.
PAPERS_EPSILONS = (*(round(0.1 * n, 1) for n in range(1, 11)), 1.5, 2.0, 2.5, 3.0)
DELTA = 1e-5
# Rivals hold the matrix with all its zeros; beyond this many entries they are left out.
MOST_DENSE = 8 * 10**7
# Columns of biclusters beyond which the rivals, which are slow, are not run.
MOST_COLUMNS = 1000
SHOWN = (
    "tables",
    "DP-tauCC, paper's noise, 4 rounds",
    "DP-tauCC, repaired, 4 rounds",
    "DP-tauCC, repaired, rounds by ε",
)


def open_matrix(name: str, folder: Path | None) -> MatrixSet:
    """Return a matrix; the pixels of scikit-learn's digits, counts from 0 to 16, need no file."""
    if name != "digits":
        return matrix_set(name, folder)
    found = load_digits()
    return MatrixSet("digits", sparse.csr_array(found.data.astype(np.int64)), found.target)


def matrices(given: Given) -> Iterator[MatrixSet]:
    """Yield the matrices of the setting that are there."""
    names = given.pick(("digits",), ("digits", "cstr"), ("digits", *MATRICES))
    return given.opened(names, open_matrix)


def models(k: int, epsilon: float) -> dict[str, Any]:
    """Return DP-τCC at the paper's rounds and at ours, and the table method."""
    return {name: model for name, model in private_models(k, epsilon).items() if name in SHOWN}


def told(found: Row, runs: int, by: Any, at: Any, measures: tuple[str, ...]) -> Iterator[Row]:
    """Yield the measures of one line of the co-clustering benchmark as rows."""
    keys = {"set": found["data"], "method": found["method"], "by": by, "at": at}
    for measure in measures:
        yield row(measure, found[measure], found.get(f"{measure}_error", np.nan), runs, **keys)


def leakage(given: Given) -> Iterator[Row]:
    """Figure 1: T and T' of two matrices that differ by one unit; the best of twenty starts."""
    bought = np.array(
        [[2, 3, 1, 0, 0, 0], [2, 2, 0, 0, 0, 1], [0, 0, 0, 2, 2, 3], [0, 0, 1, 0, 5, 2]]
    )
    more = bought.copy()
    more[2, 2] += 1
    for name, matrix in (("A", bought), ("A'", more)):
        fits = [TauCoclustering(2, 2, random_state=seed).fit(matrix) for seed in range(20)]
        best = max(fits, key=lambda model: model.tau_)
        # Clusters have no order: the one with the first customer, and the first product, is first.
        rows, columns = (
            np.argsort([labels[0] != label for label in range(2)], kind="stable")
            for labels in (best.row_labels_, best.column_labels_)
        )
        for i, j in np.ndindex(2, 2):
            total = best.block_totals_[rows[i], columns[j]]
            yield row("block total", total, 0, 1, set=name, by=i + 1, at=j + 1)
        with_first = best.column_labels_[2] == best.column_labels_[0]
        yield row("third product beside the first", with_first, 0, 1, set=name)


def epsilon(given: Given) -> Iterator[Row]:
    """Figures 2 and S1: NMI and ARI by ε on documents and words."""
    epsilons = given.pick((1.0,), (0.5, 1.0, 3.0), PAPERS_EPSILONS)
    for data in matrices(given):
        for found in by_epsilon(data, given.runs, epsilons, models):
            at = "" if np.isinf(found["epsilon"]) else found["epsilon"]
            yield from told(found, given.runs, "", at, ("nmi", "ari", "tau", "seconds"))


def rivals(given: Given) -> Iterator[Row]:
    """The rivals of Figures 2 and S1, made private for whole rows, which are scaled to length 1."""
    runs = given.often(1, 2, 10)
    names = given.pick(("digits",), ("digits",), ("digits", *MATRICES))
    for data in given.opened(names, open_matrix):
        if np.prod(data.counts.shape) > MOST_DENSE:
            print(f"{data.name} is left out: the rivals would need all its zeros in memory.")
            continue
        rows = unit_rows(data)
        for at in given.pick((1.0,), (1.0, 3.0), (0.5, 1.0, 3.0)):
            for method, centres in rival_centres(rows, at, runs):
                labels = [pairwise_distances_argmin(rows.points, found) for found in centres]
                keys = {"set": data.name, "method": method, "at": at}
                for measure, score in (
                    ("nmi", normalized_mutual_info_score),
                    ("ari", adjusted_rand_score),
                ):
                    yield spread(measure, [score(data.classes, one) for one in labels], **keys)


def unit_rows(data: MatrixSet) -> PointSet:
    """Return the rows of a matrix scaled to length one, as the rivals take them."""
    dense = np.asarray(data.counts.todense(), np.float64)
    points = dense / np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-12)
    width = points.shape[1]
    schema = Schema.from_bounds(0, 1, n_columns=width, ball=Ball(1.0, [0.0] * width))
    return PointSet(data.name, points, data.n_classes, schema)


class FromExactStart(PrivateNMF):
    """DPNMF from components of the exact rows, as its authors start it. NOT PRIVATE."""

    start: Any = None

    def _ask_clusters(self, view: Any, share: Any, rng: np.random.Generator) -> Any:
        steps = int(self.n_steps)
        return ask_factors(view, share, int(self.n_clusters), rng, n_steps=steps, start=self.start)


def exact_components(points: np.ndarray, k: int) -> np.ndarray:
    """Return the leading directions of the rows, made non-negative."""
    return np.abs(TruncatedSVD(k, random_state=0).fit(points).components_) + 1e-9


def rival_centres(rows: PointSet, epsilon: float, runs: int) -> Iterator[tuple[str, list[Any]]]:
    """Yield the centres of each rival; diffprivlib only where `make peers` was run."""
    k, budget = rows.n_clusters, {"epsilon": epsilon, "delta": DELTA, "schema": rows.schema}
    from_exact = FromExactStart(k, radius=1.0, **budget)
    from_exact.start = exact_components(rows.points, k)
    for method, model in {
        "DP-KMeans (DPLloyd), whole rows": PrivateKMeans(k, method="lloyd", **budget),
        "DPHD, whole rows": PrivateHighDimKMeans(k, **budget),
        "DPNMF, whole rows": PrivateNMF(k, radius=1.0, **budget),
        "DPNMF, whole rows, exact start, not private": from_exact,
    }.items():
        yield method, [model.fit(rows.points).cluster_centers_ for _ in range(runs)]
    if PEER.exists():
        asked = Namespace(runs=runs, peer=PEER)
        found = [centres for centres, _ in diffprivlib(rows, epsilon, asked)]
        if found:
            yield "DP-KMeans (diffprivlib), whole rows, δ = 0", found


def rounds(given: Given) -> Iterator[Row]:
    """Figures 3 and S2: τ of the released table by the number of rounds; NMI of the same runs."""
    epsilons = given.pick((1,), (1, 3), (0.1, 1, 3, 10))
    for data in matrices(given):
        for found in by_rounds(data, given.runs, epsilons, "published"):
            yield from told(found, given.runs, "", found["rounds"], ("tau", "nmi"))


def choice_share(given: Given) -> Iterator[Row]:
    """Figure S3: τ of the released table by h, at the paper's four rounds."""
    epsilons = given.pick((1,), (1, 3), (0.1, 1, 3, 10))
    for data in matrices(given):
        for found in by_choice_share(data, given.runs, epsilons, "published"):
            yield from told(found, given.runs, "", found["h"], ("tau", "nmi"))


def columns(given: Given) -> Iterator[Row]:
    """Figures S4 to S6: NMI, ARI and CPU seconds by ε and by the number of columns."""
    widths = given.pick((12,), (10, 100, 1000), (10, 100, 500, 1000, 2000, 5000, 10_000))
    epsilons = given.pick((1,), (0.1, 1), (0.1, 0.5, 1, 3))
    runs = given.often(1, 2, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for found in by_columns(runs, widths, epsilons, models):
            by, found["data"] = found["data"], "biclusters"
            yield from told(found, runs, by, found["columns"], ("nmi", "ari", "seconds"))
        for width in widths:
            yield from fast_and_rivals(width, epsilons, runs)


def fast_and_rivals(width: int, epsilons: Sequence[float], runs: int) -> Iterator[Row]:
    """Yield Fast-τCC, which is not private, and the rivals for whole rows on biclusters."""
    drawn = [biclusters(width, seed=width + run) for run in range(runs)]
    found = averaged([scored(TauCoclustering(3, 3), data, 1) for data in drawn])
    found |= {"data": "biclusters", "method": "Fast-tauCC, not private"}
    for epsilon in epsilons:
        by = f"ε = {epsilon:g}"
        yield from told(found, runs, by, width, ("nmi", "ari", "seconds"))
        if width > MOST_COLUMNS:
            continue
        scores: dict[str, list[tuple[float, float, float]]] = {}
        for data in drawn:
            rows = unit_rows(data)
            start = time.process_time()
            for method, centres in rival_centres(rows, epsilon, 1):
                taken, start = time.process_time() - start, time.process_time()
                labels = pairwise_distances_argmin(rows.points, centres[0])
                nmi = normalized_mutual_info_score(data.classes, labels)
                ari = adjusted_rand_score(data.classes, labels)
                scores.setdefault(method, []).append((nmi, ari, taken))
        for method, values in scores.items():
            keys = {"set": "biclusters", "by": by, "method": method, "at": width}
            for measure, column in zip(
                ("nmi", "ari", "seconds"), zip(*values, strict=True), strict=True
            ):
                yield spread(measure, column, **keys)
