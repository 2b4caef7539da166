"""Profiles and synthetic rows of a private summary: how far they are from those of the rows.

``python benchmarks/summary_profiles.py [profiles | sample] [--data FOLDER] [--full] [--seed 0]``
prints a table, writes every run to ``benchmarks/results/summary-TABLE.csv`` and fills the table of
``docs/research/summary.md``. The census set Adult is read from the folder, if there is one; the
others are generated from the seed. The noise is the system's. The small setting takes some minutes.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import ks_2samp
from sklearn.cluster import KMeans

from keeping import markdown, put_table, write_rows
from privclust import Box, Categories, PrivateKMeans, PrivateSummary, Schema
from privclust.papers.datasets.points import clumps
from privclust.schema.coordinates import CATEGORY_GAP, Coordinates

PAGE = Path(__file__).parents[1] / "docs" / "research" / "summary.md"
BUDGETS = ((0.2, 0), (1.0, 0), (0.2, 1e-6), (1.0, 1e-6))
SHARES = (0.05, 0.1, 0.2)
# Of the generated sets.
N_ROWS = 20_000
NUMBERS = {"age": (17, 90), "education-num": (1, 16), "hours-per-week": (1, 99)}
CATEGORIES = ("workclass", "marital-status", "occupation", "relationship", "race", "sex")
Row = dict[str, Any]


@dataclass(frozen=True)
class MixedSet:
    """Rows, what is declared about them, and for how many clusters they are profiled."""

    name: str
    rows: pd.DataFrame
    schema: Schema
    n_clusters: int

    @property
    def points(self) -> Any:
        """The rows as points: numbers in declared widths, categories by typical gaps."""
        coordinates, parts = Coordinates(self.schema), []
        for column in coordinates.columns:
            values = self.rows[column.name]
            if column.labels is None:
                parts.append(np.asarray(values, float)[:, None])
            else:
                parts.append(np.asarray(values)[:, None] == np.array(column.labels))
        return np.concatenate(parts, axis=1) / coordinates.scales(True, CATEGORY_GAP)


def main() -> None:
    """Run one table and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", nargs="?", choices=[*TABLES], default="profiles")
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = list(mixed_sets(options.data, options.seed))
    rows = list(TABLES[options.table](sets, 6 if options.full else 2))
    setting = "full" if options.full else "small"
    write_rows(f"summary-{options.table}", rows, seed=options.seed, setting=setting)
    table = SHOWN[options.table](rows)
    print(table)
    put_table(PAGE, options.table, table)


def mixed_sets(folder: Path | None, seed: int) -> Iterator[MixedSet]:
    """Yield the census, if it is at hand, generated mixed rows, and numbers alone."""
    if folder is not None and (path := Path(folder) / "adult.csv.gz").exists():
        read = pd.read_csv(path).fillna("?").astype(dict.fromkeys(CATEGORIES, str))
        listed = {name: Categories(sorted(read[name].unique())) for name in CATEGORIES}
        schema = Schema({name: Box(*ends) for name, ends in NUMBERS.items()} | listed)
        yield MixedSet("adult", read[list(schema)].reset_index(drop=True), schema, 6)
    yield _planted(N_ROWS, seed)
    for n, d in ((N_ROWS, 4), (N_ROWS, 12)):
        rows = pd.DataFrame(clumps(n, d, 6, seed=seed), columns=[f"x{j}" for j in range(d)])
        yield MixedSet(f"{n} x {d}, numbers", rows, Schema.from_bounds(-1, 1, list(rows)), 6)


def _planted(n: int, seed: int) -> MixedSet:
    """Return rows of six groups, each with its own means and its own shares of categories."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(6, n, p=rng.dirichlet(np.full(6, 5.0)))
    columns: dict[str, Any] = {}
    for name in "ab":
        columns[name] = np.clip(rng.uniform(0.1, 0.9, 6)[groups] + rng.normal(0, 0.08, n), 0, 1)
    facts: dict[str, Any] = {name: Box(0, 1) for name in columns}
    for name, size in (("p", 3), ("q", 4), ("r", 6)):
        shares = rng.dirichlet(np.full(size, 0.5), 6).cumsum(axis=1)[groups]
        codes = np.minimum((rng.random(n)[:, None] > shares).sum(axis=1), size - 1)
        labels = [f"{name}{i}" for i in range(size)]
        columns[name], facts[name] = np.array(labels)[codes], Categories(labels)
    return MixedSet(f"{n} x 5, mixed", pd.DataFrame(columns), Schema(facts), 6)


# Profiles.
def profiles(sets: list[MixedSet], runs: int) -> Iterator[Row]:
    """Compare free shares of categories, and paid histograms of numbers, with those of the rows."""
    for made in sets:
        for epsilon, delta in BUDGETS:
            for run in range(runs):
                budget = {"epsilon": epsilon, "delta": delta, "schema": made.schema}
                about = {"set": made.name, "epsilon": epsilon, "delta": delta, "run": run}
                if made.schema.categorical:
                    summary = PrivateSummary(**budget).fit(made.rows)
                    release = summary.kmeans(made.n_clusters)
                    errors, right = _free(made, release)
                    yield {**about, "what": "shares, free", **_points(errors), "top_three": right}
                for share in SHARES:
                    model = PrivateKMeans(made.n_clusters, profile_share=share, **budget)
                    errors = _paid(made, model.fit(made.rows))
                    what = f"histograms, {share:g}"
                    yield {**about, "what": what, **_points(errors), "top_three": np.nan}


def _points(errors: Any) -> Row:
    return {"error": 100 * float(errors.mean()), "within_5": float((errors <= 0.05).mean())}


def _free(made: MixedSet, release: Any) -> tuple[Any, float]:
    """Return the errors of the shares, and how many of the three telling columns are found."""
    labels, centers = release.predict(made.rows), release.arrays["cluster_centers"]
    errors, right = [], []
    for k in range(len(centers)):
        own = made.rows[labels == k]
        if len(own) < 200:
            continue
        told, true = [], []
        for column in Coordinates(made.schema).categorical:
            exact, overall = (_shares(part[column.name], column) for part in (own, made.rows))
            shares = centers[k, column.places]
            errors.append(np.abs(shares - exact))
            told.append(np.abs(shares - overall).sum())
            true.append(np.abs(exact - overall).sum())
        best = [{*np.argsort(gaps)[-3:].tolist()} for gaps in (told, true)]
        right.append(len(best[0] & best[1]) / len(best[1]))
    return np.concatenate(errors), float(np.mean(right))


def _shares(values: Any, column: Any) -> Any:
    return (np.asarray(values)[:, None] == np.array(column.labels)).mean(axis=0)


def _paid(made: MixedSet, model: Any) -> Any:
    """Return the errors of the histograms, as shares of the rows of their cluster."""
    labels, errors = model.predict(made.rows), []
    for k in range(model.n_clusters):
        own = made.rows[labels == k]
        if len(own) < 200:
            continue
        for j, name in enumerate(made.schema.numeric):
            edges = model.profile_edges_[j]
            exact = np.histogram(np.clip(own[name], edges[0], edges[-1]), edges)[0] / len(own)
            noisy = np.maximum(model.profile_counts_[k, j], 0)
            errors.append(np.abs(noisy / max(noisy.sum(), 1.0) - exact))
    return np.concatenate(errors)


def show_profiles(rows: list[Row]) -> str:
    """Return errors in points, and the share of entries within five points."""
    lines = []
    for key in dict.fromkeys((r["set"], r["epsilon"], r["delta"]) for r in rows):
        own = [r for r in rows if (r["set"], r["epsilon"], r["delta"]) == key]
        cells = []
        for what in ("shares, free", *(f"histograms, {share:g}" for share in SHARES)):
            found = [r for r in own if r["what"] == what]
            mean = {name: np.mean([r[name] for r in found]) for name in ("error", "within_5")}
            cells.append(f"{mean['error']:.1f} ({mean['within_5']:.2f})" if found else "")
        right = [r["top_three"] for r in own if r["what"] == "shares, free"]
        cells.append(f"{np.mean(right):.2f}" if right else "")
        lines.append([key[0], f"{key[1]:g}, {key[2]:g}", *cells])
    paid = [f"histograms, share {share:g}" for share in SHARES]
    return markdown(["set", "ε, δ", "shares, free", *paid, "top three columns"], lines)


# Synthetic rows.
def sample(sets: list[MixedSet], runs: int) -> Iterator[Row]:
    """Compare synthetic rows with the rows: one column, two columns, and their clusters."""
    for made in sets:
        best = KMeans(made.n_clusters, n_init=3, random_state=0).fit(made.points)
        for epsilon, delta in BUDGETS:
            for run in range(runs):
                summary = PrivateSummary(epsilon=epsilon, delta=delta, schema=made.schema)
                drawn = summary.fit(made.rows).sample(20_000)
                rows = (
                    pd.DataFrame(drawn, columns=list(made.rows))
                    if isinstance(drawn, np.ndarray)
                    else drawn.to_pandas()
                )
                drawn_set = MixedSet(made.name, rows, made.schema, made.n_clusters)
                found = KMeans(made.n_clusters, n_init=3, random_state=0).fit(drawn_set.points)
                yield {
                    "set": made.name,
                    "epsilon": epsilon,
                    "delta": delta,
                    "run": run,
                    **_marginals(made, rows),
                    "inertia": -found.score(made.points) / best.inertia_,
                }


def _marginals(made: MixedSet, rows: pd.DataFrame) -> Row:
    numbers, categories = list(made.schema.numeric), Coordinates(made.schema).categorical
    ks = [ks_2samp(made.rows[name], rows[name]).statistic for name in numbers]
    true, drawn = (np.atleast_2d(np.cov(part[numbers].T)) for part in (made.rows, rows))
    pairs, alone = [], []
    for i, one in enumerate(categories):
        for other in categories[:i]:
            exact, seen = (
                pd.crosstab(part[one.name], part[other.name], normalize=True)
                .reindex(index=one.labels, columns=other.labels, fill_value=0)
                .to_numpy()
                for part in (made.rows, rows)
            )
            pairs.append(np.abs(exact - seen).sum() / 2)
            alone.append(np.abs(exact - np.outer(exact.sum(axis=1), exact.sum(axis=0))).sum() / 2)
    return {
        "ks": float(np.mean(ks)),
        "covariance": float(np.linalg.norm(true - drawn) / np.linalg.norm(true)),
        "pairs_tv": float(np.mean(pairs)) if pairs else np.nan,
        "pairs_tv_independent": float(np.mean(alone)) if alone else np.nan,
    }


def show_sample(rows: list[Row]) -> str:
    """Return how far synthetic rows are from the rows."""
    names = ("ks", "covariance", "pairs_tv", "pairs_tv_independent", "inertia")
    lines = []
    for key in dict.fromkeys((r["set"], r["epsilon"], r["delta"]) for r in rows):
        own = [r for r in rows if (r["set"], r["epsilon"], r["delta"]) == key]
        means = [float(np.mean([r[name] for r in own])) for name in names]
        shown = ["" if np.isnan(mean) else f"{mean:.3f}" for mean in means]
        lines.append([key[0], f"{key[1]:g}, {key[2]:g}", *shown])
    heads = ["set", "ε, δ", "KS of numbers", "covariance", "pairs, TV", "independent", "inertia"]
    return markdown(heads, lines)


TABLES = {"profiles": profiles, "sample": sample}
SHOWN = {"profiles": show_profiles, "sample": show_sample}

if __name__ == "__main__":
    main()
