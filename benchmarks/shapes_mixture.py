"""Private Gaussian mixtures against scikit-learn's, private k-means and what else one might try.

``python benchmarks/shapes_mixture.py [fits | expected | kinds | errors | numbers | clip | time]
[--runs 10] [--sets NAME,NAME] [--data FOLDER] [--page docs/research/mixture.md] [--drawn]`` writes
every run to ``benchmarks/results/mixture-TABLE.csv`` and prints a table. Runs of a set replace
those that stand there. Data are generated from the seed, or split by it into rows to fit and rows
held out; the noise is the system's, and ``seconds`` are CPU seconds of a fit. A gap is what a row
held out loses of its log likelihood against scikit-learn's mixture of the same rows, in nats: less
is better. *off* is how far a number of components is from that by the BIC of the same rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

import privclust.mixture.ask_mixture as rules
from keeping import Row, markdown, origin, put_table, read_rows, replace_rows, run_line
from mixture_rivals import noisy_em
from mixture_sets import GENERATED, MixtureSet, real_sets
from privclust import Budget, PrivateGaussianMixture, PrivateKMeans, PrivateSummary
from privclust.mixture.clipping import Clip

DELTAS = {"δ": 1e-6, "pure": 0.0}
KINDS = ("full", "tied", "diag", "spherical")
MANY_ROWS = 5000
EPSILONS = (0.2, 1, 3)
# Of the measured times.
ROWS = (10**5, 10**6, 10**7)


def main() -> None:
    """Run one table and write it down, or draw it again from its file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", nargs="?", choices=[*TABLES], default="fits")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--sets", default="")
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--drawn", action="store_true", help="run nothing, draw from the file")
    parser.add_argument("--page", type=Path, default=None, help="a page to put the table on")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    name = f"mixture-{options.table}"
    sets: dict[str, Any] = {**GENERATED, **real_sets(options.data)}
    chosen = options.sets.split(",") if options.sets else list(sets)
    chosen = chosen[:1] if options.table == "time" else chosen  # which has rows of its own
    for one in [] if options.drawn else chosen:
        about = origin(0, "full" if options.runs >= 10 else "small")
        rows = [
            {"set": one, "run": run} | row | about
            for run in range(options.runs)
            for row in TABLES[options.table](sets[one](np.random.default_rng([7, run])), run)
        ]
        replace_rows(name, rows, by=("set",))
        print(f"{one}: {len(rows)} lines", flush=True)
    if options.table == "expected":
        return  # the guide's table, which ``shapes.py page`` fills
    measured = read_rows(name)
    table = show(options.table, measured) + "\n\n" + run_line(measured, name)
    print(table)
    if options.page:
        put_table(options.page, name, table)


def mixture(data: MixtureSet, delta: float, **options: Any) -> PrivateGaussianMixture:
    """Return a mixture, with ε = 1 unless told otherwise."""
    given = {"n_components": data.k, "bounds": (data.low, data.high), "rescale": True} | options
    return PrivateGaussianMixture(**{"epsilon": 1, "delta": delta} | given).fit(data.rows)


def plain(data: MixtureSet, rows: Any = None, kind: str = "full") -> GaussianMixture:
    """Return scikit-learn's mixture, the best of several starts."""
    rows = data.rows if rows is None else rows
    n_init = 10 if len(rows) <= MANY_ROWS else 3 if len(rows) <= 4 * MANY_ROWS else 1
    return GaussianMixture(data.k, covariance_type=kind, n_init=n_init, random_state=0).fit(rows)


def told(data: MixtureSet, best: GaussianMixture, model: Any) -> Row:
    """Return how far a model agrees with the classes, or with the plain mixture, and its gap."""
    wanted = best.predict(data.held) if data.classes is None else data.classes
    gap = best.score(data.held) - model.score(data.held) if hasattr(model, "score") else ""
    gap = "" if isinstance(model, PrivateKMeans) else gap
    label = model.label if hasattr(model, "label") else model.predict
    return {"ari": adjusted_rand_score(wanted, label(data.held)), "gap": gap}


def timed(fit: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a fit returns, and its CPU seconds."""
    start = time.process_time()
    model = fit()
    return model, round(time.process_time() - start, 4)


def kmeans(data: MixtureSet, delta: float, epsilon: float = 1) -> PrivateKMeans:
    """Return private k-means of the same rows."""
    bounds = {"bounds": (data.low, data.high), "rescale": True}
    return PrivateKMeans(data.k, epsilon=epsilon, delta=delta, **bounds).fit(data.rows)


def of_sample(data: MixtureSet, delta: float) -> GaussianMixture:
    """Return scikit-learn's mixture of synthetic rows of a summary."""
    bounds = {"bounds": (data.low, data.high), "rescale": True}
    summary = PrivateSummary(epsilon=1, delta=delta, **bounds).fit(data.rows)
    return plain(data, summary.sample(len(data.rows)))


# What is measured with and without δ.
PRIVATE: dict[str, Callable[[MixtureSet, float], Any]] = {
    "mixture": mixture,
    "with background": lambda data, delta: mixture(data, delta, background=True),
    "sample": of_sample,
    "k-means": kmeans,
}


def fits(data: MixtureSet, run: int) -> Iterator[Row]:
    """Yield every method with and without δ."""
    best, seconds = timed(lambda: plain(data))
    known = {"scikit-learn": (best, seconds)} | (
        {} if data.law is None else {"the law": (data.law, "")}
    )
    for method, (model, spent) in known.items():
        yield {"method": method, "budget": "none", **told(data, best, model), "seconds": spent}
    for budget, delta in DELTAS.items():
        for method, fit in PRIVATE.items():
            model, seconds = timed(partial(fit, data, delta))
            found = told(data, best, model)
            yield {"method": method, "budget": budget, **found, "seconds": seconds}
    rho, rng = float(Budget(1, 1e-6).amount), np.random.default_rng(run)
    ends = data.low, data.high
    rival, seconds = timed(lambda: noisy_em(data.rows, *ends, data.k, rho, rng))
    yield {"method": "noisy EM", "budget": "δ", **told(data, best, rival), "seconds": seconds}


def expected(data: MixtureSet, run: int) -> Iterator[Row]:
    """Yield what to expect of a mixture and of k-means at several ε."""
    best, seconds = timed(lambda: plain(data))
    found = {"ari": told(data, best, best)["ari"], "seconds": seconds}
    yield {"method": "scikit-learn", "budget": "none", "epsilon": "", **found}
    for epsilon in EPSILONS:
        for budget, delta in DELTAS.items():
            ways = {"mixture": partial(mixture, data, delta, epsilon=epsilon)}
            ways["k-means"] = partial(kmeans, data, delta, epsilon)
            for method, fit in ways.items():
                model, seconds = timed(fit)
                found = {"ari": told(data, best, model)["ari"], "seconds": seconds}
                yield {"method": method, "budget": budget, "epsilon": epsilon, **found}


def kinds(data: MixtureSet, run: int) -> Iterator[Row]:
    """Yield every type of covariance."""
    for kind in KINDS:
        best = plain(data, kind=kind)
        for budget, delta in DELTAS.items():
            model, seconds = timed(partial(mixture, data, delta, covariance_type=kind))
            found = told(data, best, model)
            yield {"method": kind, "budget": budget, **found, "seconds": seconds}


def errors(data: MixtureSet, run: int) -> Iterator[Row]:
    """Yield how often two errors hold what plain steps from the same mixture would give."""
    for budget, delta in DELTAS.items():
        model, seconds = timed(partial(mixture, data, delta))
        start = {"weights_init": model.weights_, "means_init": model.means_}
        start |= {"precisions_init": model.precisions_, "tol": 0}
        row: Row = {"budget": budget}
        for steps in (8, 40):
            better = GaussianMixture(data.k, reg_covar=1e-9, max_iter=steps, **start).fit(data.rows)
            means = np.abs(better.means_ - model.means_) <= 2 * model.means_error_
            weights = np.abs(better.weights_ - model.weights_) <= 2 * model.weights_error_
            row[f"means, {steps} steps"] = float(means.mean())
            row[f"weights, {steps} steps"] = float(weights.mean())
        yield {**row, "seconds": seconds}


def numbers(data: MixtureSet, run: int) -> Iterator[Row]:
    """Yield the numbers of components that are chosen, by the rows and by released cells."""
    rows, tried = data.rows[:MANY_ROWS], range(1, rules.MOST_CHOSEN + 1)
    known: Row = {"true": "" if data.number is None else data.number}

    def by_rows() -> int:
        plain = (GaussianMixture(k, random_state=0).fit(rows) for k in tried)
        return int(np.argmin([one.bic(rows) for one in plain])) + 1

    best, seconds = timed(by_rows)
    found: Row = {"k": best, "off": "", "seconds": seconds}
    yield {"budget": "none", "method": "BIC of rows"} | known | found
    for budget, delta in DELTAS.items():
        model, seconds = timed(partial(mixture, data, delta, n_components="auto"))
        chosen = model.n_components_
        found = {"k": chosen, "off": abs(chosen - best), "seconds": seconds}
        yield {"budget": budget, "method": "auto"} | known | found


def clip(data: MixtureSet, run: int) -> Iterator[Row]:
    """Yield clips of several widths, which a fit chooses by its noise."""
    best, rule = plain(data), rules.choose_clip

    def of_width(width: float) -> Callable[..., Clip]:
        return lambda view, share, rows, dimension, kind: Clip(dimension, kind, width)

    ways = {"rule": rule} | {str(width): of_width(width) for width in (1.0, 1.5, 2.0, 3.0)}
    for budget, delta in DELTAS.items():
        for name, way in ways.items():
            rules.choose_clip = way
            model, seconds = timed(partial(mixture, data, delta))
            found = told(data, best, model)
            yield {"method": name, "budget": budget, **found, "seconds": seconds}
    rules.choose_clip = rule


def times(data: MixtureSet, run: int) -> Iterator[Row]:
    """Yield seconds of a mixture of eight and of k-means on as many made-up rows of six columns."""
    rng = np.random.default_rng(run)
    places = rng.uniform(-0.6, 0.6, (8, 6))
    for n_rows in ROWS:
        rows = np.clip(rng.normal(places[rng.integers(8, size=n_rows)], 0.08), -1, 1)
        for method, kind in {"k-means": PrivateKMeans, "mixture": PrivateGaussianMixture}.items():
            before, worked = time.perf_counter(), time.process_time()
            kind(8, epsilon=1, delta=1e-6, bounds=(-1, 1)).fit(rows)
            seconds, cpu = time.perf_counter() - before, time.process_time() - worked
            told = {"set": "6 columns, k = 8", "method": method, "rows": n_rows}
            yield {**told, "seconds": seconds, "CPU seconds": cpu}


TABLES: dict[str, Callable[[MixtureSet, int], Iterator[Row]]] = {
    "fits": fits,
    "expected": expected,
    "kinds": kinds,
    "errors": errors,
    "numbers": numbers,
    "clip": clip,
    "time": times,
}
# What tells lines of a table apart, and the numbers that it shows.
BY = {
    "errors": ("budget",),
    "numbers": ("budget", "method"),
    "time": ("method", "rows"),
}
SHOWN = {
    "errors": tuple(f"{one}, {n} steps" for n in (8, 40) for one in ("means", "weights")),
    "numbers": ("right", "k", "off"),
    "time": ("seconds", "CPU seconds"),
}


def show(table: str, rows: list[Row]) -> str:
    """Return means and standard errors, a line for each set and way."""
    if table in ("fits", "clip", "kinds"):
        return side_by_side(rows)
    by, shown = BY[table], SHOWN[table]
    keys = list(dict.fromkeys((row["set"], *(row[name] for name in by)) for row in rows))
    lines = []
    for key in keys:
        own = [r for r in rows if (r["set"], *(r[name] for name in by)) == key]
        for row in own:
            if "true" in row:
                row["right"] = float(int(row["k"]) == int(row["true"])) if row["true"] else ""
        lines.append([*key, *(mean_of(own, name) for name in shown), str(len(own))])
    return markdown(["set", *by, *shown, "runs"], lines)


def side_by_side(rows: list[Row]) -> str:
    """Return a line for each set and budget, with agreement and gap of every method."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    pairs = list(dict.fromkeys((row["set"], row["budget"]) for row in rows))
    lines = []
    for name, budget in pairs:
        if budget == "none":
            continue
        cells = []
        for method in methods:
            own = [
                row
                for row in rows
                if (row["set"], row["method"]) == (name, method)
                and row["budget"] in (budget, "none")
            ]
            gap = mean_of(own, "gap") if method != "scikit-learn" else ""
            cells.append("; ".join(text for text in (mean_of(own, "ari"), gap) if text))
        runs = len({row["run"] for row in rows if row["set"] == name})
        lines.append([name, budget, *cells, str(runs)])
    return markdown(["ari; gap", "budget", *methods, "runs"], lines)


def mean_of(rows: list[Row], name: str) -> str:
    """Return a mean with its standard error."""
    found = np.array([float(row[name]) for row in rows if row.get(name, "") != ""])
    if not len(found):
        return ""
    error = found.std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else 0.0
    return f"{found.mean():.3f} ± {error:.3f}" if error else f"{found.mean():.3g}"


if __name__ == "__main__":
    main()
