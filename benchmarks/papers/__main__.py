"""The four papers: every figure and table, from one command.

``python benchmarks/papers run [NAME ...] [--setting small] [--output FOLDER]`` runs all, or the
papers and experiments that are named, writes one file of results for each, and fills the pages;
``... page`` only fills the pages from the files; ``... list`` says what each experiment repeats.
The small setting takes minutes and needs no data; the full one is for a machine of one's own. Data
sets are read from the folder of ``--data`` or PRIVCLUST_DATA; those that are not there are named
and left out. Without ``--output`` nothing that is committed changes: results and pages go to
``build/papers``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]

from experiments import EXPERIMENTS  # noqa: E402
from filling import fill  # noqa: E402
from given import SETTINGS, Given, keep_by_set  # noqa: E402

# The first word of the experiments of a paper.
PAPERS = {name.partition("-")[0] for name in EXPERIMENTS}


def main() -> None:
    """Run, fill or list."""
    options = arguments()
    if options.part == "list":
        for name, experiment in EXPERIMENTS.items():
            print(f"{name:20} {experiment.repeats}")
        return
    warnings.simplefilter("ignore")
    if options.part == "run":
        run(options)
    fill(options.output, options.pages)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="papers", description=__doc__)
    parser.add_argument("part", choices=["run", "page", "list"])
    parser.add_argument(
        "experiments", nargs="*", metavar="NAME", help="of a paper or an experiment; all by default"
    )
    parser.add_argument("--setting", choices=SETTINGS, default="small")
    parser.add_argument("--sets", nargs="+", default=(), help="only these data sets")
    parser.add_argument("--runs", type=int, default=None, help="at most so many runs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "papers" / "results")
    parser.add_argument("--pages", type=Path, default=None, help="where the pages are filled")
    options = parser.parse_args()
    if unknown := set(options.experiments) - EXPERIMENTS.keys() - PAPERS:
        there = ", ".join([*sorted(PAPERS), *EXPERIMENTS])
        parser.error(
            f"{', '.join(sorted(unknown))}: no such paper or experiment; there are {there}"
        )
    if options.runs is not None and options.runs < 1:
        parser.error("--runs must be at least 1")
    committed = options.output.resolve() == ROOT / "benchmarks" / "results"
    usual = ROOT / "docs" if committed else options.output.parent / "docs"
    options.pages = options.pages or usual
    return options


def chosen(names: list[str]) -> list[str]:
    """Return experiments by their names or by that of their paper; all if there are none."""
    wanted = names or [*PAPERS]
    return [name for name in EXPERIMENTS if name in wanted or name.partition("-")[0] in wanted]


def run(options: argparse.Namespace) -> None:
    """Run experiments and keep their rows."""
    for name in chosen(options.experiments):
        given = Given(options.setting, options.data, options.seed, options.sets, options.runs)
        begin = time.process_time()
        made = keep_by_set(name, EXPERIMENTS[name].rows(given), given, options.output)
        spent = time.process_time() - begin
        print(f"{name}: {made} rows, {spent:.0f} CPU seconds", flush=True)
        if not made:
            has = ", ".join(dict.fromkeys(given.offered))
            print(f"{name} kept nothing: of its sets ({has}) none is there and among --sets.")


if __name__ == "__main__":
    main()
