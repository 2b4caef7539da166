"""Mixed tables: how columns count, adult against k-means, metrics, the choice of k, the time.

``python benchmarks/mixed.py TABLE [--data FOLDER] [--full] [--seed 0]`` prints a table (classes,
bounds, adult, metrics, learned, both with summary-, kinds, speed), puts it on the page
``docs/research/mixed.md`` and writes ``benchmarks/results/mixed-TABLE.csv``. The folder holds the
public data sets, see ``mixed_sets.py``; kinds and speed need none, and of classes and bounds those
sets are left out that are not there. The noise is the system's.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from keeping import markdown, origin, put_table, read_rows, write_rows
from mixed_sets import FRESH, SETS, MixedSet
from privclust import Box, Budget, Categories, PrivateBounds, PrivateKMeans, PrivateSummary, Schema
from privclust.papers.datasets.categories import read_categories
from privclust.schema.coordinates import CATEGORY_GAP, Coordinates, category_gap

Row = dict[str, Any]
NUMBERS = {"age": (17, 90), "education-num": (1, 16), "hours-per-week": (1, 99)}
CATEGORIES = ("workclass", "marital-status", "occupation", "relationship", "race", "sex")
CATEGORY_SETS = ("adult", "mushroom", "soybean", "dermatology", "cmc", "nltcs")
PAGE = Path(__file__).parents[1] / "docs" / "research" / "mixed.md"
BUDGETS = ((0.2, 0), (1.0, 0), (0.2, 1e-6), (1.0, 1e-6))
# Numbers of clusters that adult is put into.
CLUSTERS = (6, 12)
# Rows of the timed fits.
SMALL, FULL = 10**5, 10**6
MODELS, COLUMNS = ("kmeans", "summary"), ("numbers", "mixed")


def main() -> None:
    """Run one table and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", nargs="?", choices=[*TABLES, "one-fit"], default="adult")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--drawn", action="store_true", help="run nothing, draw from the file")
    parser.add_argument("--about", nargs="*", help="Of one-fit: the model and the Parquet file.")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.table == "one-fit":
        one_fit(*options.about)
        return
    name, setting = f"mixed-{options.table}", "full" if options.full else "small"
    if options.drawn:
        rows = [as_numbers(row) for row in read_rows(name)]
    else:
        rows = list(TABLES[options.table](options))
        write_rows(name, rows, seed=options.seed, setting=setting)
    table = SHOWN.get(options.table, show_all)(rows)
    print(table)
    put_table(PAGE, name, table)


def as_numbers(row: dict[str, str]) -> Row:
    """Return a row of a file with numbers as numbers, without where it came from."""
    kept = {name: value for name, value in row.items() if name not in origin(0, "")}
    texts = ("set", "bounds_are", "columns", "model")
    return {name: value if name in texts else number(value) for name, value in kept.items()}


def number(text: str) -> float:
    """Return a number of a file; whole ones stay whole."""
    return int(text) if text.isdecimal() else float(text)


def show_all(rows: list[Row]) -> str:
    """Return all rows as they are."""
    return markdown([*rows[0]], [[shown(value) for value in row.values()] for row in rows])


def shown(value: Any) -> str:
    """Return a cell of the page's table."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# Classes: how columns count

ALL_SETS = {**SETS, **FRESH}
GENERATED = ("generated", "fresh")
# Of single sets the third and the last two are shown.
CLASS_BUDGETS = ((0.5, 0), (1.0, 0), (3.0, 0), (0.5, 1e-6), (1.0, 1e-6), (3.0, 1e-6))


def classes(options: argparse.Namespace) -> Iterator[Row]:
    """Yield the agreement with classes by mismatches of 1, by typical gaps, and of a summary."""
    runs = 6 if options.full else 3
    for name, table in tables_at_hand(ALL_SETS, options.data):
        before, now = table.schema(mismatches_of_one(table)), table.schema()
        for epsilon, delta in CLASS_BUDGETS:
            found: dict[str, list[float]] = {"mismatch_1": [], "kmeans": [], "summary": []}
            for _ in range(runs):
                given = {"epsilon": epsilon, "delta": delta}
                for way, schema in (("mismatch_1", before), ("kmeans", now)):
                    model = PrivateKMeans(table.k, metric="mismatch", schema=schema, **given)
                    found[way].append(agreement(table, model.fit(table.frame)))
                summary = PrivateSummary(metric="mismatch", schema=now, **given).fit(table.frame)
                most = min(table.k, int((summary.counts_ > 0).sum()))
                found["summary"].append(agreement(table, summary.kmeans(most)))
            gained = np.subtract(found["kmeans"], found["mismatch_1"])
            about = {"set": name, "rows": len(table.frame), "k": table.k}
            about |= {"epsilon": epsilon, "delta": delta, "runs": runs}
            means = {way: float(np.mean(values)) for way, values in found.items()}
            yield about | means | {"gain_error": float(gained.std(ddof=1) / np.sqrt(runs))}


def tables_at_hand(sets: Any, folder: Path) -> Iterator[tuple[str, MixedSet]]:
    """Yield the tables whose files are in the folder."""
    for name, load in sets.items():
        try:
            yield name, load(folder)
        except FileNotFoundError as error:
            print(f"{name} is left out: {error.filename} is not there", file=sys.stderr)


def mismatches_of_one(table: MixedSet) -> dict[str, float]:
    """Return weights by which two different categories are 1 apart, as they once were."""
    columns = Coordinates(table.schema()).categorical
    return {column.name: 1 / column.apart(CATEGORY_GAP) for column in columns}


def agreement(table: MixedSet, model: Any) -> float:
    return float(adjusted_rand_score(table.classes, model.predict(table.frame)))


def show_classes(rows: list[Row]) -> str:
    """Return the agreement on each set at three budgets, and means over sets at all of them."""
    names = list(dict.fromkeys(row["set"] for row in rows))
    groups = {name: [name] for name in names}
    groups |= {"mean of 16": names_of(SETS, names), "mean of fresh sets": names_of(FRESH, names)}
    lines, ways = [], ("mismatch_1", "kmeans", "summary")
    for name, members in groups.items():
        for budget in (
            CLASS_BUDGETS if name not in names else CLASS_BUDGETS[2:3] + CLASS_BUDGETS[4:]
        ):
            of_group = [row for row in rows if row["set"] in members]
            these = [row for row in of_group if (row["epsilon"], row["delta"]) == budget]
            if these:
                means = [f"{np.mean([row[way] for row in these]):.2f}" for way in ways]
                lines.append([name, f"{budget[0]:g}", f"{budget[1]:g}", *means])
    return markdown(["set", "ε", "δ", "k-means, 1 apart", "k-means", "summary"], lines)


def names_of(sets: Any, names: list[str]) -> list[str]:
    return [name for name in names if name in sets and name != "adult"]


# Bounds: what loose ones cost, and what cures it

BOUND_SETS = ("penguins, sex", "generated: both tell", "generated: weak", "generated: numbers tell")
BOUND_BUDGETS = ((1.0, 0), (3.0, 0), (1.0, 1e-6))
# Of the budget, for private bounds.
FOR_BOUNDS = 0.1


def bounds(options: argparse.Namespace) -> Iterator[Row]:
    """Yield the agreement with classes under bounds that fit, are loose, or are uneven."""
    runs = 6 if options.full else 3
    sets = {name: SETS[name] for name in BOUND_SETS}
    for name, fitting in tables_at_hand(sets, options.data):
        for kind, table in (*loose(fitting), *loose(fitting.only_numbers, "numbers only, ")):
            for epsilon, delta in BOUND_BUDGETS:
                found: dict[str, list[float]] = {"declared": [], "measured": [], "bounds": []}
                for _ in range(runs):
                    for way, scores in found.items():
                        scores.append(agreement(table, under(way, table, epsilon, delta)))
                means = {way: float(np.mean(values)) for way, values in found.items()}
                spread = np.subtract(found["bounds"], found["declared"]).std(ddof=1)
                about = {"set": name, "bounds_are": kind, "epsilon": epsilon, "delta": delta}
                yield about | {"runs": runs} | means | {"error": float(spread / np.sqrt(runs))}


def show_bounds(rows: list[Row]) -> str:
    """Return means over the budgets, for each set and kind of bounds."""
    lines, ways = [], ("declared", "measured", "bounds")
    for key in dict.fromkeys((row["set"], row["bounds_are"]) for row in rows):
        these = [row for row in rows if (row["set"], row["bounds_are"]) == key]
        means = [f"{np.mean([row[way] for row in these]):.2f}" for way in ways]
        error = np.sqrt(np.mean([row["error"] ** 2 for row in these]) / len(these))
        lines.append([*key, *means, f"{error:.2f}"])
    return markdown(["set", "bounds", "declared", "measured", "PrivateBounds", "error"], lines)


def loose(table: MixedSet, words: str = "") -> Iterator[tuple[str, MixedSet]]:
    """Yield a table with bounds as they are, four times too wide, and 1, 3 or 10 times."""
    names = [*table.numbers]
    yield f"{words}close", table
    yield f"{words}4 times too wide", table.loosened(dict.fromkeys(names, 4.0))
    uneven = {name: (1.0, 3.0, 10.0)[place % 3] for place, name in enumerate(names)}
    yield f"{words}uneven", table.loosened(uneven)


def under(way: str, table: MixedSet, epsilon: float, delta: float) -> Any:
    """Return a fit by declared bounds, by measured spreads, or by bounds found before it."""
    schema, budget = table.schema(), Budget(epsilon, delta)
    if way == "bounds":
        names = [*table.numbers]
        part, rest = budget_parts(budget)
        found = PrivateBounds(budget=part).fit(table.frame[names]).schema_
        schema = schema.with_columns({name: closer(schema[name], found[name]) for name in names})
        budget = rest
    scale = "measured" if way == "measured" else "declared"
    model = PrivateKMeans(table.k, budget=budget, schema=schema, metric="mismatch", scale=scale)
    return model.fit(table.frame)


def budget_parts(budget: Budget) -> tuple[Budget, Budget]:
    """Return what private bounds and the fit may spend."""
    epsilon, delta = float(budget.epsilon), float(budget.delta)
    parts = (FOR_BOUNDS, 1 - FOR_BOUNDS)
    first, second = (Budget(epsilon * part, delta * part) for part in parts)
    return first, second


def closer(declared: Any, found: Any) -> Box:
    """Return the part of a declared range that private bounds leave, or all of it."""
    low, high = max(declared.low, found.low), min(declared.high, found.high)
    return Box(low, high) if low < high else declared


# Adult: inertia, and how well shares are told


def adult(options: argparse.Namespace) -> Iterator[Row]:
    """Yield inertia relative to k-means without privacy, and the error of released shares."""
    frame = pd.read_csv(options.data / "adult.csv.gz", keep_default_na=False)
    frame = frame[[*NUMBERS, *CATEGORIES]]
    columns = {name: Box(*bounds) for name, bounds in NUMBERS.items()}
    lists = {name: Categories(sorted(frame[name].unique())) for name in CATEGORIES}
    schema = Schema({**columns, **lists})
    points, coordinates = written_out(frame, schema), Coordinates(schema)
    runs = 10 if options.full else 4
    for k in CLUSTERS:
        best = KMeans(k, n_init=5, random_state=options.seed).fit(points).inertia_
        for epsilon, delta in BUDGETS:
            given = {"epsilon": epsilon, "delta": delta, "schema": schema}
            found: dict[str, list[float]] = {"dedicated": [], "summary": [], "within_5": []}
            for _ in range(runs):
                model = PrivateKMeans(k, metric="mismatch", **given).fit(frame)
                found["dedicated"].append(-model.score(frame) / best)
                release = PrivateSummary(**given).fit(frame).kmeans(k)
                centers = release.arrays["cluster_centers"] / coordinates.scales(
                    True, category_gap(schema, True)
                )
                found["summary"].append(inertia(points, centers) / best)
                found["within_5"].append(shares_told(model, frame, points, coordinates))
            means = {name: float(np.mean(values)) for name, values in found.items()}
            error = float(np.std(found["dedicated"], ddof=1) / np.sqrt(runs))
            about = {"k": k, "epsilon": epsilon, "delta": delta, "runs": runs}
            yield about | means | {"dedicated_error": error}


def shares_told(model: Any, frame: Any, points: np.ndarray, coordinates: Coordinates) -> float:
    """Return how many released shares lie within 5 points of those of the cluster's rows."""
    labels, scales = model.predict(frame), coordinates.scales(True, CATEGORY_GAP)
    shares = np.setdiff1d(np.arange(coordinates.dimension), coordinates.numbers)
    true = np.array(
        [
            points[labels == label].mean(axis=0) * scales
            if (labels == label).any()
            else model.cluster_centers_[label]
            for label in range(len(model.cluster_centers_))
        ]
    )
    return float((np.abs(true - model.cluster_centers_)[:, shares] <= 0.05).mean())


def written_out(frame: pd.DataFrame, schema: Schema) -> np.ndarray:
    """Return public rows in the metric of mismatches."""
    coordinates = Coordinates(schema)
    rows = np.zeros((len(frame), coordinates.dimension))
    for column in coordinates.columns:
        fact = column.fact
        if isinstance(fact, Box):
            rows[:, column.start] = np.clip(frame[column.name], fact.low, fact.high)
            continue
        if isinstance(fact, Categories):
            codes = pd.Categorical(frame[column.name], categories=fact.values).codes
        else:
            codes = np.searchsorted(fact.edges[1:-1], frame[column.name], side="right")
        rows[np.arange(len(rows)), column.start + codes] = 1
    return rows / coordinates.scales(True, category_gap(schema, True))


def inertia(points: np.ndarray, centers: np.ndarray) -> float:
    squares = (points**2).sum(axis=1)[:, None] - 2 * points @ centers.T + (centers**2).sum(axis=1)
    return float(np.maximum(squares, 0).min(axis=1).sum())


# Mismatches against a learned metric, on tables of categories and on generated mixed ones

PURE, WITH_DELTA = ((0.5, 0), (1.0, 0), (3.0, 0)), ((1.0, 1e-6), (3.0, 1e-6))
GROWING = ((1.0, 0), (10.0, 0), (100.0, 0), (1.0, 1e-6), (10.0, 1e-6), (100.0, 1e-6))


def metrics(options: argparse.Namespace) -> Iterator[Row]:
    """Yield the agreement with the classes, and the inertia of the labels, by either metric."""
    summed, mixed = options.table.startswith("summary"), options.table.endswith("learned")
    budgets = GROWING if mixed else PURE if summed else PURE + WITH_DELTA
    runs = 8 if options.full else 3
    for name, frame, schema, classes in (mixed_tables if mixed else category_tables)(options.data):
        k = int(classes.max()) + 1 if classes is not None else 3
        points = written_out(frame, schema)
        best = KMeans(k, n_init=5, random_state=options.seed).fit(points)
        for epsilon, delta in budgets:
            row: Row = {"set": name, "rows": len(frame), "k": k, "epsilon": epsilon, "delta": delta}
            for metric in ("mismatch", "dilca"):
                agreement, cost = [], []
                for _ in range(runs):
                    given = {"epsilon": epsilon, "delta": delta, "schema": schema}
                    if summed:
                        model = PrivateSummary(metric=metric, **given).fit(frame)
                        most = min(k, int((model.counts_ > 0).sum()))
                        labels = model.kmeans(most).predict(frame)
                    else:
                        labels = PrivateKMeans(k, metric=metric, **given).fit_predict(frame)
                    reference = best.labels_ if classes is None else classes
                    agreement.append(adjusted_rand_score(reference, labels))
                    means = [points[labels == one].mean(axis=0) for one in np.unique(labels)]
                    cost.append(inertia(points, np.array(means)) / best.inertia_)
                row |= {f"ari_{metric}": np.mean(agreement), f"inertia_{metric}": np.mean(cost)}
            yield row | {"runs": runs}


def mixed_tables(folder: Path) -> Iterator[tuple[str, pd.DataFrame, Schema, Any]]:
    """Yield generated tables of numbers and categories with classes."""
    made = {name: load for name, load in ALL_SETS.items() if name.startswith(GENERATED)}
    for name, table in tables_at_hand(made, folder):
        yield name, table.frame, table.schema(), table.classes


def category_tables(folder: Path) -> Iterator[tuple[str, pd.DataFrame, Schema, Any]]:
    """Yield public tables of categories, with classes if they have any."""
    for name in CATEGORY_SETS:
        found = read_categories(folder / f"{name}.csv.gz")
        classes = found.classes if found.n_classes > 1 else None
        yield name, found.frame, found.schema, classes


# The choice of k

# Rows, kinds, numbers, sizes of the lists of categories, rows with the usual category of their
# kind, and the scatter of numbers; no table that the rule was made on is among them.
KINDS = (
    (15_000, 4, 3, (3, 5, 6), 0.85, 0.07),
    (25_000, 4, 2, (2, 4), 0.9, 0.06),
    (25_000, 5, 4, (4, 4, 4, 4), 0.8, 0.08),
    (20_000, 7, 2, (5, 6, 7, 8), 0.85, 0.06),
    (15_000, 4, 0, (3, 4, 5, 6, 7, 3), 0.8, 0.1),
    (20_000, 1, 3, (3, 5, 6), 0.85, 0.2),
    (25_000, 1, 2, (2, 4), 0.85, 0.2),
    (15_000, 1, 0, (3, 4, 5, 6, 7), 0.5, 0.2),
)


def kinds(options: argparse.Namespace) -> Iterator[Row]:
    """Yield how often the number of planted kinds is found."""
    runs = 4 if options.full else 2
    for number, shape in enumerate(KINDS):
        n_rows, k, n_numbers, sizes, *_ = shape
        for epsilon, delta in BUDGETS[1:]:
            found = []
            for run in range(runs):
                frame, schema = of_kinds(*shape, seed=options.seed + 500 + 10 * number + run)
                given = {"epsilon": epsilon, "delta": delta, "schema": schema}
                found.append(PrivateSummary(**given).fit(frame).choose_k().n_clusters)
            columns = f"{n_numbers} numbers, categories {'/'.join(map(str, sizes))}"
            right, unclear = found.count(k), found.count(None)
            yield {
                "rows": n_rows, "columns": columns, "planted": k, "epsilon": epsilon,
                "delta": delta, "right": right, "wrong": runs - right - unclear,
                "no_clear_number": unclear,
            }  # fmt: skip


def of_kinds(
    n: int, k: int, n_numbers: int, sizes: tuple[int, ...], usual: float, spread: float, seed: int
) -> tuple[pd.DataFrame, Schema]:
    """Return rows of kinds that differ in all columns."""
    rng = np.random.default_rng(seed)
    own, columns, facts = rng.integers(k, size=n), {}, {}
    for number in range(n_numbers):
        middles = rng.uniform(0.15, 0.85, k)[own]
        columns[f"x{number}"] = np.clip(middles + spread * rng.standard_normal(n), 0, 1)
        facts[f"x{number}"] = Box(0, 1)
    for number, size in enumerate(sizes):
        values = np.array([f"v{place}" for place in range(size)])
        often = (
            (np.arange(k) + rng.integers(size)) % size if k <= size else rng.integers(size, size=k)
        )
        codes = np.where(rng.random(n) < usual, often[own], rng.integers(size, size=n))
        columns[f"c{number}"], facts[f"c{number}"] = values[codes], Categories([*values])
    return pd.DataFrame(columns), Schema(facts)


# The time of a fit


def speed(options: argparse.Namespace) -> Iterator[Row]:
    """Yield time and memory of fits from Parquet, each in a process of its own."""
    n_rows = FULL if options.full else SMALL
    with tempfile.TemporaryDirectory() as folder:
        for kind in COLUMNS:
            made_up(kind, n_rows, options.seed, Path(folder) / f"{kind}.parquet")
        for model in MODELS:
            for kind in COLUMNS:
                path = Path(folder) / f"{kind}.parquet"
                command = [sys.executable, __file__, "one-fit", "--about", model, str(path)]
                told = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
                cpu, megabytes = map(float, told.stdout.split())
                yield {
                    "model": model, "columns": kind, "rows": n_rows,
                    "cpu_seconds": cpu, "megabytes": megabytes,
                }  # fmt: skip


SIZES = (2, 3, 5, 8, 12, 20)


def table_schema(kind: str) -> Schema:
    """Return twelve columns: numbers alone, or six numbers and six of 2 to 20 categories."""
    n_numbers = 12 if kind == "numbers" else 6
    numbers = {f"x{number}": Box(0, 1) for number in range(n_numbers)}
    lists = {f"c{size}": Categories([f"v{i}" for i in range(size)]) for size in SIZES}
    return Schema(numbers if kind == "numbers" else {**numbers, **lists})


def made_up(kind: str, n_rows: int, seed: int, path: Path) -> None:
    """Write rows in eight clumps."""
    rng, schema = np.random.default_rng(seed), table_schema(kind)
    clumps = rng.integers(8, size=n_rows)
    columns: dict[str, Any] = {}
    for name, fact in schema.columns.items():
        if isinstance(fact, Box):
            middle = rng.uniform(0.2, 0.8, 8)[clumps]
            columns[name] = np.clip(middle + 0.1 * rng.standard_normal(n_rows), 0, 1)
        else:
            usual = rng.integers(fact.size, size=8)[clumps]
            others = rng.integers(fact.size, size=n_rows)
            codes = np.where(rng.random(n_rows) < 0.7, usual, others)
            columns[name] = pa.array(fact.values).take(pa.array(codes))
    pq.write_table(pa.table(columns), path)


def one_fit(model: str, path: str) -> None:
    """Fit once, and print the CPU seconds and the megabytes that it took."""
    schema = table_schema(Path(path).stem)
    fit = PrivateKMeans(8, schema=schema) if model == "kmeans" else PrivateSummary(schema=schema)
    start = time.process_time()
    fit.fit(path)
    spent = time.process_time() - start
    print(spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


TABLES = {"classes": classes, "bounds": bounds}
TABLES |= {"adult": adult, "metrics": metrics, "summary-metrics": metrics}
TABLES |= {"learned": metrics, "summary-learned": metrics}
SHOWN = {"classes": show_classes, "bounds": show_bounds}
TABLES |= {"kinds": kinds, "speed": speed}

if __name__ == "__main__":
    main()
