"""One summary against a fit for each k, the choice of k, and the errors of the noise.

``python benchmarks/summary.py [any-k | choose-k | real-k | errors] [--full] [--seed 0]`` prints a
table and writes every run to ``benchmarks/results/summary-TABLE.csv`` with seed, commit, date and
machine (``--add`` keeps what stands there of other seeds); of real-k ``--data`` names the folder of
public tables, see ``mixed_sets.py``;
``--page docs/research/summary.md`` puts the table there, ``--drawn`` draws it from its file. The
small setting takes a minute or two; ``--full`` is for a quiet machine. Data are generated from the
seed; the noise is the system's.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from keeping import Row, markdown, origin, put_table, read_rows, replace_rows, write_rows
from mixed_sets import FILES, SETS, MixedSet
from privclust import Ball, PrivateKMeans, PrivateSummary, Schema
from privclust.clustering.choose_k import Choice
from privclust.exceptions import ParameterError
from privclust.papers.datasets.points import clumps
from privclust.papers.metrics import inertia

BUDGETS = ((0.2, 0), (1.0, 0), (0.2, 1e-6), (1.0, 1e-6))


def main() -> None:
    """Run one table and write it down, or draw it again from its file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", nargs="?", choices=[*TABLES], default="any-k")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--add", action="store_true", help="keep the rows of other seeds")
    parser.add_argument("--drawn", action="store_true", help="run nothing, draw from the file")
    parser.add_argument("--page", type=Path, default=None, help="a page to put the table on")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    name = f"summary-{options.table}"
    if not options.drawn:
        if options.table == "real-k":
            rows = list(real_k(options.data, options.full))
        else:
            rows = list(TABLES[options.table](options.seed, options.full))
        setting = "full" if options.full else "small"
        about = origin(options.seed, setting)
        if options.add:
            replace_rows(name, [{**row, **about} for row in rows], by=("seed",))
        else:
            write_rows(name, rows, seed=options.seed, setting=setting)
    table = SHOWN[options.table]([as_numbers(row) for row in read_rows(name)])
    print(table)
    if options.page:
        put_table(options.page, name, table)


def as_numbers(row: dict[str, str]) -> Row:
    """Return a row of a file with numbers as numbers."""
    texts = ("set", "shortlist", "setting", "commit", "date", "machine")
    return {k: v if k in texts or not v else float(v) for k, v in row.items()}


# One summary against a fit for each k


def point_sets(seed: int, full: bool) -> dict[str, tuple[np.ndarray, Schema]]:
    """Return clumps in the unit ball, none of which the algorithm was tuned on."""
    shapes = [(10**4, 2, 5), (3 * 10**4, 6, 12), (2 * 10**4, 16, 8)]
    if full:
        shapes += [(5 * 10**4, 3, 20), (3 * 10**4, 12, 15), (3 * 10**4, 30, 15)]
    sets = {}
    for n, d, k in shapes:
        schema = Schema.from_bounds(-1, 1, n_columns=d, ball=Ball(1.0, [0.0] * d))
        rows = clumps(n, d, k, balanced=False, seed=1000 + seed)
        sets[f"{n}x{d}, {k} clumps"] = rows, schema
    return sets


def any_k(seed: int, full: bool) -> Iterator[Row]:
    """Yield the inertia of summary, dedicated fit, DPLloyd and k-means, for many k."""
    ks, runs = ((3, 5, 8, 12, 20, 32), 1) if full else ((3, 8, 20), 2)
    for name, (rows, schema) in point_sets(seed, full).items():
        best = {k: KMeans(k, n_init=3, random_state=seed).fit(rows).inertia_ for k in ks}
        for epsilon, delta in BUDGETS:
            given = {"epsilon": epsilon, "delta": delta, "schema": schema}
            for run in range(runs):
                summary = PrivateSummary(**given).fit(rows)
                for k in ks:
                    fits = {
                        "summary": centers_of(summary, k),
                        "dedicated": PrivateKMeans(k, **given).fit(rows).cluster_centers_,
                        "lloyd": PrivateKMeans(k, method="lloyd", **given)
                        .fit(rows)
                        .cluster_centers_,
                    }
                    found = {way: inertia(rows, at) / best[k] for way, at in fits.items()}
                    about = {"set": name, "epsilon": epsilon, "delta": delta, "k": k, "run": run}
                    yield about | found


def centers_of(summary: PrivateSummary, k: int) -> np.ndarray:
    """Return k centres, or as many as there are cells."""
    return summary.centers(min(k, int((summary.counts_ > 0).sum())))


def show_any_k(rows: list[Row]) -> str:
    """Return geometric means over all k, relative to k-means without privacy."""
    lines: list[list[str]] = []
    keys = list(dict.fromkeys((row["set"], row["epsilon"], row["delta"]) for row in rows))
    for key in [*keys, *(("all sets", *budget) for budget in BUDGETS)]:
        of_set = [row for row in rows if key[0] in (row["set"], "all sets")]
        these = [row for row in of_set if (row["epsilon"], row["delta"]) == key[1:]]
        means = [geometric(row[way] for row in these) for way in ("summary", "dedicated", "lloyd")]
        ratios = np.log([row["summary"] / row["dedicated"] for row in these])
        error = ratios.std(ddof=1) / np.sqrt(len(ratios))
        drawn = [f"{mean:.3f}" for mean in means]
        last = f"{np.exp(ratios.mean()):.3f} ± {error:.3f}"
        lines.append([key[0], f"{key[1]:g}", f"{key[2]:g}", *drawn, last])
    heads = ["set", "ε", "δ", "summary", "a fit for each k", "DPLloyd", "summary / fit"]
    return markdown(heads, lines)


def geometric(values: Iterator[float]) -> float:
    return float(np.exp(np.mean(np.log(list(values)))))


# The choice of k


def planted(n: int, d: int, k: int, spread: float, seed: int, even: float) -> np.ndarray:
    """Return round clumps that are well apart, of about equal or of unequal sizes."""
    rng = np.random.default_rng(seed)
    weights = np.maximum(rng.dirichlet(np.full(k, even)), 0.02)
    while True:
        centres = rng.uniform(-0.8, 0.8, (k, d))
        gaps = np.linalg.norm(centres[:, None] - centres, axis=2) + 9 * np.eye(k)
        if gaps.min() > 4.5 * spread:
            break
    rows = centres[rng.choice(k, n, p=weights / weights.sum())]
    return np.clip(rows + spread * rng.standard_normal((n, d)), -1, 1)


def odd(kind: str, n: int, d: int, k: int, seed: int, spread: float) -> np.ndarray:
    """Return clumps that are no round normals: long ones, or such with heavy tails."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(k, 5.0))
    while True:
        centres = rng.uniform(-0.7, 0.7, (k, d))
        gaps = np.linalg.norm(centres[:, None] - centres, axis=2) + 9 * np.eye(k)
        if gaps.min() > 6 * spread:
            break
    own, scatter = rng.choice(k, n, p=weights), rng.standard_normal((n, d))
    if kind == "long":
        turned = [np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(k)]
        axes = np.array(turned) * np.r_[2.0, np.full(d - 1, 0.6)]
        scatter = np.einsum("ni,nji->nj", scatter, axes[own])
    else:
        scatter = 0.7 * scatter / np.sqrt(rng.chisquare(3, (n, 1)) / 3)
    return np.clip(centres[own] + spread * scatter, -1, 1)


def shapeless(kind: str, n: int, d: int, seed: int) -> np.ndarray:
    """Return rows in one piece."""
    rng = np.random.default_rng(seed)
    if kind == "uniform":
        return rng.uniform(-1, 1, (n, d))
    if kind == "skew":
        return np.clip(rng.exponential(0.2, (n, d)) - 0.6, -1, 1)
    widths = np.linspace(0.3, 0.06, d) if kind == "stretched" else 0.25
    return np.clip(widths * rng.standard_normal((n, d)), -1, 1)


def sets_to_choose(seed: int, full: bool) -> Iterator[tuple[str, int, np.ndarray]]:
    """Yield name, planted number and rows: 120 sets, or a few of them."""
    shapes = [(20_000, 3, 0.09), (50_000, 8, 0.16), (10_000, 2, 0.05), (40_000, 16, 0.2)]
    ks, times = ((3, 5, 8, 12), 2) if full else ((3, 8), 1)
    for n, d, spread in shapes if full else shapes[::2]:
        for number in range(1000 * seed, 1000 * seed + times):
            for k in ks:
                yield "balanced", k, planted(n, d, k, spread, 70_000 + 100 * k + number, 5.0)
                yield "unbalanced", k, planted(n, d, k, spread, 80_000 + 200 * k + number, 1.0)
            for kind in ("uniform", "normal", "stretched", "skew"):
                yield kind, 1, shapeless(kind, n, d, 900 + number)
            for k in (3, 5, 8) if d in (3, 8) and full else ():
                for kind in ("long", "heavy tails"):
                    spread_of_odd = 0.06 if d == 3 else 0.1
                    yield kind, k, odd(kind, n, d, k, 60_000 + 10 * k + number, spread_of_odd)


def choose_k(seed: int, full: bool) -> Iterator[Row]:
    """Yield the number that is chosen, and the planted one."""
    for name, k, rows in sets_to_choose(seed, full):
        for epsilon in (0.2, 1.0):
            model = PrivateSummary(epsilon=epsilon, delta=1e-6, bounds=(-1, 1)).fit(rows)
            start = time.process_time()
            choice = model.choose_k()
            yield {
                "set": f"{name} {rows.shape[0]}x{rows.shape[1]}",
                "epsilon": epsilon,
                "planted": k,
                **answers(choice),
                "seconds": round(time.process_time() - start, 3),
            }


def answers(choice: Choice) -> Row:
    """Return what a choice says: the number if it is clear, the suggestion and the shortlist."""
    listed = " ".join(str(candidate.n_clusters) for candidate in choice.shortlist)
    found = "" if choice.n_clusters is None else choice.n_clusters
    return {"chosen": found, "suggested": choice.suggestion, "shortlist": listed}


def show_choose_k(rows: list[Row]) -> str:
    """Return how many answers are right, wrong and unclear."""
    kinds = list(dict.fromkeys(row["set"].rpartition(" ")[0] for row in rows))
    parts = {kind: [r for r in rows if r["set"].rpartition(" ")[0] == kind] for kind in kinds}
    for seed in dict.fromkeys(row["seed"] for row in rows):
        parts[f"all of seed {seed:g}"] = [row for row in rows if row["seed"] == seed]
    lines: list[list[str]] = []
    for told, part in parts.items():
        for epsilon in (0.2, 1.0):
            these = [row for row in part if row["epsilon"] == epsilon]
            right = sum(row["chosen"] == row["planted"] for row in these)
            unclear = sum(row["chosen"] == "" for row in these)
            suggested = sum(row["suggested"] == row["planted"] for row in these)
            within = sum(f"{row['planted']:g}" in row["shortlist"].split() for row in these)
            counts = right, len(these) - right - unclear, unclear, suggested, within
            lines.append([told, f"{epsilon:g}", *map(str, counts)])
    heads = ["right", "wrong", "no clear number", "suggestion right", "within three"]
    return markdown(["rows", "ε", *heads], lines)


REAL = ("penguins, sex", "iris, coin", "wine, coin", "breast cancer, 2 coins")
REAL_BUDGETS = ((1.0, 0), (5.0, 0), (3.0, 1e-6))


def real_k(folder: Path, full: bool) -> Iterator[Row]:
    """Yield what is answered for public tables, of numbers alone and with categories."""
    runs = 8 if full else 4
    for name, load in {**{name: SETS[name] for name in REAL}, **FILES}.items():
        table = load(folder)
        numbers = f"{name.split(',')[0]}, numbers"
        for told, part in ((numbers, table.only_numbers), (name, table)):
            for epsilon, delta in REAL_BUDGETS:
                for run in range(runs if len(table.frame) < LARGE else 1):
                    yield {"set": told, **real_choice(part, epsilon, delta), "run": run}


LARGE = 20_000  # rows, beyond which one run tells as much


def real_choice(table: MixedSet, epsilon: float, delta: float) -> Row:
    """Return what is answered for one table."""
    schema = table.schema()
    model = PrivateSummary(epsilon=epsilon, delta=delta, schema=schema, metric="mismatch")
    model.fit(table.frame)
    classes = "" if table.classes is None else table.k
    about = {"epsilon": epsilon, "delta": delta, "classes": classes}
    about["cells"] = int((model.counts_ > 0).sum())
    try:
        return about | answers(model.choose_k())
    except ParameterError:  # too few cells to choose by
        return about | {"chosen": "", "suggested": 1, "shortlist": "1"}


def show_real_k(rows: list[Row]) -> str:
    """Return verdicts, suggestions and first shortlists of each table, with how often."""
    lines: list[list[str]] = []
    for key in dict.fromkeys((row["set"], row["epsilon"], row["delta"]) for row in rows):
        these = [row for row in rows if (row["set"], row["epsilon"], row["delta"]) == key]
        chosen = [f"{r['chosen']:g}" if r["chosen"] != "" else "none" for r in these]
        suggested = [f"{row['suggested']:g}" for row in these]
        shortlists = [row["shortlist"].replace(" ", ", ") for row in these]
        classes = these[0]["classes"]
        cells = f"{np.mean([row['cells'] for row in these]):.0f}"
        told = [often(chosen), often(suggested), often(shortlists)]
        about = [key[0], f"{key[1]:g}", f"{key[2]:g}", f"{classes:g}" if classes != "" else ""]
        lines.append([*about, cells, *told])
    heads = ["table", "ε", "δ", "classes", "cells", "verdict", "suggestion", "shortlist"]
    return markdown(heads, lines)


def often(answers: list[str]) -> str:
    """Return answers from the most frequent on, with how often they were given if they differ."""
    counts = Counter(answers).most_common()
    if len(counts) == 1:
        return counts[0][0]
    return "; ".join(f"{answer} ({times})" for answer, times in counts)


# Errors of the noise


def errors(seed: int, full: bool) -> Iterator[Row]:
    """Yield how often two errors cover the truth, and the inertia over the true one."""
    ks, runs = (5, 12), 1
    for name, (rows, schema) in point_sets(seed, full).items():
        for epsilon, delta in BUDGETS:
            for run in range(runs):
                given = {"epsilon": epsilon, "delta": delta, "schema": schema}
                model = PrivateSummary(**given).fit(rows)
                for k in (k for k in ks if k <= (model.counts_ > 0).sum()):
                    about = {"set": name, "epsilon": epsilon, "delta": delta, "k": k, "run": run}
                    own = {
                        f"{way}_centers": dedicated_coverage(rows, k, way, **given)
                        for way in ("cells", "lloyd")
                    }
                    yield about | coverage(model, rows, k) | own


def coverage(model: PrivateSummary, rows: np.ndarray, k: int) -> Row:
    """Compare what is released for k clusters with the rows nearest to its centres."""
    release, centers = model.kmeans(k), model.centers(k)
    labels = release.predict(rows)
    sizes, true = np.bincount(labels, minlength=k), inertia(rows, centers)
    off = abs(model.inertia(k) - true)
    return {
        "centers": covered(rows, labels, centers, model.centers_error(k)),
        "sizes": (np.abs(sizes - model.sizes(k)) <= 2 * model.sizes_error(k)).mean(),
        "sizes_error": (model.sizes_error(k) / np.maximum(sizes, 1)).mean(),
        "inertia": model.inertia(k) / true,
        "inertia_covered": float(off <= 2 * model.inertia_error(k)),
    }


def dedicated_coverage(rows: np.ndarray, k: int, method: str, **given: object) -> float:
    """Return how often two errors of a fit's own centres cover the mean of the nearest rows."""
    model = PrivateKMeans(k, method=method, **given).fit(rows)
    return covered(rows, model.predict(rows), model.cluster_centers_, model.cluster_centers_error_)


def covered(rows: np.ndarray, labels: np.ndarray, centers: np.ndarray, error: np.ndarray) -> float:
    """Return the share of coordinates that lie within two errors of the rows' mean."""
    used = np.flatnonzero(np.bincount(labels, minlength=len(centers)))
    means = np.array([rows[labels == label].mean(axis=0) for label in used])
    return float((np.abs(means - centers[used]) <= 2 * error[used]).mean())


def show_errors(rows: list[Row]) -> str:
    """Return mean coverage by two errors, by set and budget, and inertias within a tenth."""
    parts = ("centers", "sizes", "inertia_covered", "cells_centers", "lloyd_centers")
    lines: list[list[str]] = []
    keys = list(dict.fromkeys((row["set"], row["epsilon"], row["delta"]) for row in rows))
    for key in [*keys, ("all", "", "")]:
        same = [(r["set"], r["epsilon"], r["delta"]) == key or key[0] == "all" for r in rows]
        these = [row for row, taken in zip(rows, same, strict=True) if taken]
        means = [f"{np.mean([row[part] for row in these]):.2f}" for part in parts]
        close = sum(abs(row["inertia"] - 1) <= 0.1 for row in these)
        lines.append([*map(str, key), *means, f"{close} of {len(these)}"])
    covers = ["centres", "sizes", "inertia", "centres by cells", "centres by lloyd"]
    return markdown(["set", "ε", "δ", *covers, "inertia within 10 %"], lines)


TABLES = {"any-k": any_k, "choose-k": choose_k, "real-k": real_k, "errors": errors}
SHOWN = {
    "any-k": show_any_k,
    "choose-k": show_choose_k,
    "real-k": show_real_k,
    "errors": show_errors,
}

if __name__ == "__main__":
    main()
