"""Does agreement help a fit of k-means as it helps a summary? Tried in two ways, neither built.

``python benchmarks/mixed_agreement.py [--data FOLDER] [--runs 4]`` writes every run to
``benchmarks/results/mixed-agreement.csv`` and puts a table on ``docs/research/mixed.md``. *Seeds*:
the cells of the fit are clustered by the weights of agreement before the Lloyd steps, which costs
nothing. *Weights*: a summary for 35 % of the budget finds the weights, and a fit by these gets the
rest. The agreement with classes is the adjusted Rand index; noise is seeded alike for all ways.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.metrics import adjusted_rand_score

from keeping import Row, markdown, put_table, read_rows, run_line, write_rows
from mixed import tables_at_hand
from mixed_sets import FRESH, SETS, MixedSet
from privclust import PrivateKMeans, PrivateSummary, Schema
from privclust.clustering import seeds
from privclust.clustering.agreement import _LEAST, _share_explained, agreement_weights
from privclust.clustering.weighted_kmeans import nearest_centre, weighted_kmeans
from privclust.data.points.door import region_of
from privclust.schema.coordinates import Coordinates, category_gap

BUDGETS = ((3.0, 0), (1.0, 1e-6), (3.0, 1e-6))
FOR_WEIGHTS = 0.35
WAYS = ("as it is", "seeds", "weights")
# Left out: too large for many fits, or clustered by no rule.
LEFT_OUT = ("adult", "digits, 3 coins", "flchain", "chile", "zoo", "dermatology")
PAGE = Path(__file__).parents[1] / "docs" / "research" / "mixed.md"


def main() -> None:
    """Run all sets and write them down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--drawn", action="store_true", help="run nothing, draw from the file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.drawn:
        rows = list(compared(options.data, options.runs))
        write_rows("mixed-agreement", rows, seed=0, setting=f"{options.runs} runs")
    rows = read_rows("mixed-agreement")
    print(table(rows))
    put_table(PAGE, "mixed-agreement", f"{table(rows)}\n\n{run_line(rows, 'mixed-agreement')}")


def compared(folder: Path, runs: int) -> Iterator[Row]:
    """Yield the agreement with classes of each way."""
    kept = {name: load for name, load in {**SETS, **FRESH}.items() if name not in LEFT_OUT}
    for name, found in tables_at_hand(kept, folder):
        for epsilon, delta in BUDGETS:
            for run in range(runs):
                about = {"set": name, "epsilon": epsilon, "delta": delta, "run": run}
                given = {"epsilon": epsilon, "delta": delta, "random_state": run}
                yield about | {way: f"{ari:.4f}" for way, ari in fits(found, given)}


def fits(found: MixedSet, given: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the adjusted Rand index of each way."""

    def ari(schema: Schema, **changes: Any) -> float:
        model = PrivateKMeans(found.k, schema=schema, **(given | changes)).fit(found.frame)
        return float(adjusted_rand_score(found.classes, model.predict(found.frame)))

    schema = found.schema()
    yield WAYS[0], ari(schema)
    with patch.object(seeds, "_cluster_cells", by_agreement(schema)):
        yield WAYS[1], ari(schema)
    half = {"delta": given["delta"] / 2}
    first = {"epsilon": FOR_WEIGHTS * given["epsilon"], **half}
    summary = PrivateSummary(schema=schema, metric="mismatch", **(given | first)).fit(found.frame)
    gap = summary.release().parameters.get("category_gap")
    weighed = agreement_weights(summary._cells, found.k, schema, gap)
    yield WAYS[2], ari(weighed, epsilon=(1 - FOR_WEIGHTS) * given["epsilon"], **half)


def by_agreement(schema: Schema) -> Callable[..., seeds.Seeds]:
    """Return the stage that finds seeds, with categories weighed by agreement."""
    original, columns = seeds._cluster_cells, Coordinates(schema).columns
    region = region_of(schema, rescale=True, gap=category_gap(schema, True))
    lengths = region.radius * region.scales

    def find(seen: Any, spread: Any, axes: Any, n_clusters: int, rng: Any) -> seeds.Seeds:
        found = original(seen, spread, axes, n_clusters, rng)
        live = found.sketch.weights > 0
        if live.sum() < 2 * n_clusters:
            return found
        cells, weights = found.sketch.cells[live], found.sketch.weights[live]
        places = region.in_data_units(cells) / lengths
        explained = {
            column.name: _share_explained(
                places, weights, n_clusters, column, float(lengths[column.start])
            )
            for column in columns
        }
        usual, factors = max(float(np.mean([*explained.values()])), 1e-9), np.ones(len(lengths))
        for column in columns:
            if column.labels is not None:
                kept = _LEAST + (1 - _LEAST) * min(1.0, explained[column.name] / usual)
                factors[column.places] = np.sqrt(kept)
        around = (places - np.average(places, axis=0, weights=weights)) * factors
        labels = nearest_centre(around, weighted_kmeans(around, weights, n_clusters, rng))
        members = np.eye(n_clusters)[labels] * weights[:, None]
        if not members.any(axis=0).all():
            return found
        return replace(found, centres=members.T @ cells / members.sum(axis=0)[:, None])

    return find


def table(rows: list[dict[str, str]]) -> str:
    """Return means over the sets, and gains over the fit as it is with errors over sets."""
    lines = []
    for epsilon, delta in BUDGETS:
        these = [r for r in rows if (float(r["epsilon"]), float(r["delta"])) == (epsilon, delta)]
        names = list(dict.fromkeys(row["set"] for row in these))
        means = np.array(
            [[np.mean([float(r[w]) for r in these if r["set"] == n]) for w in WAYS] for n in names]
        )
        gains = means - means[:, :1]
        errors = gains.std(axis=0, ddof=1) / np.sqrt(len(names)) if len(names) > 1 else gains[0]
        told = [f"{mean:.3f}" for mean in means.mean(axis=0)]
        more = [f"{gains[:, j].mean():+.3f} ± {errors[j]:.3f}" for j in (1, 2)]
        lines.append([f"{epsilon:g}", f"{delta:g}", str(len(names)), *told, *more])
    heads = ["ε", "δ", "sets", *WAYS, *(f"{way} - as it is" for way in WAYS[1:])]
    return markdown(heads, lines)


if __name__ == "__main__":
    main()
