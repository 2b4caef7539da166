"""Distances between categories if the schema also has some for missing and unlisted values.

``python benchmarks/category_unused.py [SET ...] [--data FOLDER] [--runs 10] [--seed 0]`` declares
them in every column. No row has them (``unused``), or the rows with the rarest value of each column
of three and more are the missing ones (``rare``). Distances between the listed values are compared
with exact ones, twice from the same noise: with every value of a context (``all``), and without
those for missing and unlisted values that are not clearly there (``clear``), as the library does.
Means and standard errors, and those of the changes, go to
``benchmarks/results/category-unused.csv``, in place of those of the same sets; ``--page
docs/research/categorical.md`` draws a table, ``--drawn`` nothing else.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

from category_measures import MetricOnly
from category_signal import level, pair_of, table
from keeping import Row, markdown, origin, put_table, read_rows, replace_rows
from privclust import Categories, Schema
from privclust.budget import Budget
from privclust.categories import shrinkage
from privclust.categories.learn import METHODS, MetricTables, Options
from privclust.categories.metric import CategoricalMetric, attribute_metric
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.view import TableRows
from privclust.exceptions import DataError
from privclust.holder.answers import OwnTable
from privclust.opening.rows import open_table
from privclust.papers.dilca.published import Dilca
from privclust.papers.metrics import distance_l1, distance_pearson
from privclust.privacy.meter import Meter

NAME = "category-unused"
SETS = "wine", "cmc", "nltcs", "soybean", "mushroom", "adult"
EPSILONS = 0.1, 0.5, 1.0, 2.5
SHOWN = "0.1", "1.0"  # on the page
DELTAS = 0, 1e-6
MEASURES = "level", "l1", "pearson"


def main() -> None:
    """Fit, write, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", default=SETS)
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--epsilon", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=None)
    parser.add_argument("--drawn", action="store_true", help="run nothing, draw from the file")
    parser.add_argument("--page", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in [] if options.drawn else options.sets:
        try:
            rows, sizes = coded(name, options.data)
        except DataError as error:
            print(f"{name} is left out: {error}")
            continue
        found = [*measured(name, rows, sizes, options)]
        replace_rows(NAME, found, folder=options.output)
    if options.page:
        put_table(options.page, NAME, drawn(options.output))


def coded(name: str, folder: Path | None) -> tuple[pd.DataFrame, tuple[int, ...]]:
    """Return a table with its values as numbers, the rarest last, and how many each column has."""
    rows, schema, _ = table(name, folder)
    with open_table(rows, schema) as opened:
        own = OwnTable(opened)
        codes, coder = own.codes(), own.coder
    ranked = {}
    for column, own, size in zip(coder.names, codes.T, coder.sizes, strict=True):
        falling = np.argsort(-np.bincount(own, minlength=size), kind="stable")
        ranked[column] = np.argsort(falling)[own].astype(str)
    return pd.DataFrame(ranked), coder.sizes


def measured(
    name: str, rows: pd.DataFrame, sizes: Sequence[int], options: argparse.Namespace
) -> Iterator[Row]:
    """Yield means and standard errors for both cases and each budget."""
    about = origin(options.seed, f"{options.runs} runs")
    for case in CASES:
        given, schema, needed = CASES[case](rows, sizes)
        exact = Dilca("max-relevance", schema=needed).fit(given)
        for delta, epsilon in product(DELTAS, options.epsilon):
            before, after = [], []
            for seed in np.random.SeedSequence(options.seed).spawn(options.runs):
                learned = learn(given, schema, Budget(epsilon, delta), seed)
                after.append(scores_of(learned, schema, sizes, exact))
                with patch.object(shrinkage, "_CLEARLY_THERE", 0.0):
                    before.append(scores_of(learned, schema, sizes, exact))
            row: Row = {"set": name, "rows": len(rows), "case": case}
            row |= {"epsilon": epsilon, "delta": delta, "true_level": level(exact)}
            row |= compared(np.array(before), np.array(after))
            print({key: f"{v:.4f}" if isinstance(v, float) else v for key, v in row.items()})
            yield row | about


def nobody_missing(rows: pd.DataFrame, sizes: Sequence[int]) -> tuple[pd.DataFrame, Schema, Schema]:
    """Return rows, a schema with categories for missing and unlisted values, and one without."""
    listed = {c: listed_values(size) for c, size in zip(rows.columns, sizes, strict=True)}
    spare = {c: Categories(v, missing="category", unknown="other") for c, v in listed.items()}
    return rows, Schema(spare), Schema({c: Categories(v) for c, v in listed.items()})


def rarest_missing(rows: pd.DataFrame, sizes: Sequence[int]) -> tuple[pd.DataFrame, Schema, Schema]:
    """Return rows in which the rarest values are missing, and their schema, twice."""
    rows, facts = rows.copy(), {}
    for column, size in zip(rows.columns, sizes, strict=True):
        facts[column] = Categories(listed_values(size))
        if size > 2:
            rows[column] = rows[column].where(rows[column] != str(size - 1), None)
            facts[column] = Categories(listed_values(size - 1), missing="category")
    return rows, Schema(facts), Schema(facts)


def listed_values(size: int) -> list[str]:
    return [str(value) for value in range(size)]


CASES = {"unused": nobody_missing, "rare": rarest_missing}


def learn(
    rows: pd.DataFrame, schema: Schema, budget: Budget, seed: np.random.SeedSequence
) -> MetricTables:
    """Return what the default method learns."""
    with open_table(rows, schema) as opened:
        view = TableRows(opened).private(Meter(budget), seed)
        method = METHODS["pairs" if budget.delta else "tree"]
        return method(view, budget.whole, Options(targets=tuple(range(len(schema)))))


def scores_of(
    learned: MetricTables, schema: Schema, sizes: Sequence[int], exact: Dilca
) -> tuple[float, float, float]:
    """Return the measures of the distances between the values that are used."""
    parts, n_listed = {}, CategoryCoder(schema).n_listed
    for place, (name, fact) in enumerate(schema.columns.items()):
        estimate, context = learned.estimates[place], learned.contexts[place]
        part = attribute_metric(
            estimate, place, context, schema.names, fact.labels, n_listed=n_listed
        )
        used = slice(sizes[place])
        parts[name] = replace(part, labels=part.labels[used], coordinates=part.coordinates[used])
    model = MetricOnly(CategoricalMetric(schema.names, parts), schema)
    pearson = distance_pearson(model, exact) if max(sizes) > 2 else np.nan
    return level(model), distance_l1(model, exact), pearson


def compared(before: np.ndarray, after: np.ndarray) -> Row:
    """Return means and standard errors of both, and of what changes."""
    row: Row = {}
    changes = after - before
    for ending, values in (("all", before), ("clear", after), ("change", changes)):
        errors = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        for measure, mean, error in zip(MEASURES, values.mean(axis=0), errors, strict=True):
            row |= {f"{measure}_{ending}": float(mean), f"{measure}_{ending}_error": float(error)}
    return row


def drawn(folder: Path | None) -> str:
    """Return a table in Markdown: with every value of a context → with those clearly there."""
    found = read_rows(NAME, folder)
    found.sort(key=lambda row: SETS.index(row["set"]) if row["set"] in SETS else len(SETS))
    heads = ["set", "ε", "δ", "missing", "true level", "level", "L1", "Pearson"]
    lines = []
    for row in (row for row in found if row["epsilon"] in SHOWN):
        about = [row[key] for key in ("set", "epsilon", "delta", "case")]
        cells = [pair_of(row[f"{m}_all"], row[f"{m}_clear"]) for m in MEASURES]
        lines.append([*about, f"{float(row['true_level']):.2f}", *cells])
    return markdown(heads, lines)


if __name__ == "__main__":
    main()
