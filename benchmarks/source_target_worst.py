"""How far single runs of rings fall below ignoring the source.

``python benchmarks/source_target_worst.py [SET ...] [--epsilon .5] [--runs 30] [--data FOLDER]``
fits rings on each set and writes the mean share of the gap, the share of all runs together and the
worst runs to ``benchmarks/results/source-target-worst.csv``; ``--name`` writes another file, such
as that of an earlier commit, and ``--page docs/research/source-target.md`` draws both as one
table. A run in which the solver without privacy does not beat ignoring the source has no gap and no
share; its costs are in the share of all runs together. ``worst_of_mean`` is the worst run in mean
gaps.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from keeping import RESULTS, Row, markdown, put_table, read_rows, write_rows
from privclust.papers.metrics import share_of_gap, source_target_curve
from privclust.source_target.estimator import PrivateSourceTargetMedoids
from source_target import NUMBERS, pair_maker, reference_curves

SETS = "Synthetic 1", "Synthetic 2", "Synthetic 3", "digits 1→7"


def main() -> None:
    """Fit, write, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.5])
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--name", default="source-target-worst")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--drawn", action="store_true", help="run nothing, draw from the files")
    parser.add_argument("--page", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.drawn:
        setting = f"{options.runs} runs"
        found = list(measured(options))
        write_rows(options.name, found, seed=0, setting=setting, folder=options.output)
    if options.page:
        put_table(options.page, "source-target-worst", drawn(options.output))


def measured(options: argparse.Namespace) -> Iterator[Row]:
    """Yield the shares of the gap of many seeded runs."""
    for name in options.sets or SETS:
        pairs = [pair_maker(name, options.data)(seed) for seed in range(options.runs)]
        numbers = [k for k in NUMBERS if k < len(pairs[0][1])]
        ends = [reference_curves(*pair, numbers) for pair in pairs]
        alone, best = (np.array(side) for side in zip(*ends, strict=True))
        for epsilon in options.epsilon:
            costs = []
            for seed, (source, target) in enumerate(pairs):
                model = PrivateSourceTargetMedoids(max(numbers), epsilon=epsilon, random_state=seed)
                order = model.fit(target, source=source).order_
                costs.append(source_target_curve(source, target, order, numbers))
            found = np.array(costs)
            runs = list(zip(found, alone, best, strict=True))
            shares = [100 * share_of_gap(*run) for run in runs if (run[1] - run[2]).sum() > 0]
            gap = (alone - best).sum() / options.runs
            row: Row = {"set": name, "epsilon": epsilon, "runs": options.runs}
            row |= {"whole": 100 * share_of_gap(found, alone, best), "mean": np.mean(shares)}
            row |= {"error": np.std(shares, ddof=1) / np.sqrt(len(shares))}
            row |= {"worst": min(shares), "below": sum(share < 0 for share in shares)}
            row |= {"worst_of_mean": 100 * (alone - found).sum(axis=1).min() / gap}
            row |= {"with_gap": len(shares)}
            print(row, flush=True)
            yield row


def drawn(folder: Path) -> str:
    """Return both files as a table in Markdown."""
    before = {(r["set"], r["epsilon"]): r for r in read_rows("source-target-worst-before", folder)}
    heads = ["set", "ε", "all runs, %", "mean, %", "worst run, %", "runs below 0"]
    lines = []
    for row in read_rows("source-target-worst", folder):
        old = before.get((row["set"], row["epsilon"]))
        if old is None:
            continue
        cells = [f"{float(old[c]):.0f} → {float(row[c]):.0f}" for c in ("whole", "mean", "worst")]
        below = f"{old['below']} → {row['below']} of {row['with_gap']}"
        lines.append([row["set"], row["epsilon"], *cells, below])
    return markdown(heads, lines)


if __name__ == "__main__":
    main()
