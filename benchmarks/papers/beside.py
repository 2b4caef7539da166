"""The papers' settings beside ours: figure by figure, with the sets and runs that the files hold.

Where there are fewer runs than in the paper, the table says what its number would cost, by the CPU
seconds that were kept beside the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from given import SPENT
from pivoting import Line, Rows

from keeping import markdown

__all__ = ["BESIDE", "beside"]


class Beside(NamedTuple):
    """Figures of a paper, its setting and how often it ran, what differs here, and the file."""

    figures: str
    papers: str
    runs: int
    here: str
    file: str
    values: str = ""  # what stands in the column ``at``, if how many of them there are matters
    fewer: dict[str, int] = {}  # noqa: RUF012  # sets that the paper itself ran less often


BESIDE = {
    "tau": (
        Beside(
            "2, S1",
            "eight CLUTO matrices, fourteen ε; DP-KMeans, DPHD and DPNMF as published",
            10,
            "seven of the matrices (sports is not to be had) and scikit-learn's digits",
            "tau-epsilon",
            "ε",
        ),
        Beside(
            "2, S1: rivals",
            "the same",
            10,
            "made private for whole rows; ε = .5, 1, 3; DPNMF from a blind start, and from the "
            "exact rows, as its authors start it",
            "tau-rivals",
        ),
        Beside("3, S2", "I = 2 to 10", 10, "to the letter; ε = .1, 1, 3, 10", "tau-rounds", "I"),
        Beside("S3", "h = .1 to .9", 10, "to the letter; ε = .1, 1, 3, 10", "tau-h", "h"),
        Beside(
            "S4 to S6",
            "biclusters of 1000 rows, 10 to 10 000 columns",
            10,
            "the same, another matrix in each run; rivals up to 1000 columns",
            "tau-columns",
        ),
    ),
    "zones": (
        Beside(
            "3, 4",
            "four sets, internal k = 2 to 5",
            30,
            "the same, with all readings of the text beside",
            "zones-gaps",
            fewer={"digits": 10},
        ),
    ),
    "targets": (
        Beside(
            "3, 6, 57 to 104",
            "three synthetic and 24 real pairs, d = 8, ε = 3 and ρ = 3, t = 150, C = .05",
            30,
            "the same pairs and all sources; at most 1500 targets; on synthetic pairs ε = .5 and 1 "
            "and ρ = .5 too",
            "targets-costs",
        ),
        Beside("4, 5", "t = 75, 150, 300", 30, "the same", "targets-nearest"),
        Beside(
            "7 to 56",
            "NAS and NNA with and without a coreset",
            30,
            "the same, with the paper's halving and with a greedy net",
            "targets-coreset",
        ),
        Beside(
            "105 to 176",
            "ClusterT, Private Kmeans (Balcan and others, MATLAB), DP-GAN, with and without a "
            "coreset; ε = √(ρ/2) under ρ",
            30,
            "the same rivals, made private, at the whole ρ; the coreset is the paper's halving, a "
            "site counts as all its targets, and only numbers of centres below that of the sites "
            "are compared",
            "targets-rivals",
        ),
        Beside(
            "177 to 200",
            "seconds, one core and a GPU",
            1,
            "CPU seconds, one core; 20 centres",
            "targets-times",
        ),
    ),
    "dilca": (
        Beside(
            "Figures 2, 3, 8",
            "eight sets, ten ε on each target; contexts have all of it, distances h = .3, k = 3",
            30,
            "ε among those of its tables; six of its sets, without two IPUMS extracts, which "
            "are not to be had; scikit-learn's wine in five bins beside them",
            "dilca-values",
            "ε",
        ),
        Beside(
            "Figure 9, Tables 3 to 5",
            "the same; Mann and Whitney, Page, Friedman, Nemenyi",
            30,
            "the same six sets and wine, to the letter; ε of its tables",
            "dilca-tests",
        ),
        Beside("Figure 4", "ε in all, Ward, all rows", 30, "at most 1000 rows", "dilca-ward"),
        Beside(
            "Figure 5",
            "ε in all, 5-NN, four folds, all rows",
            30,
            "at most 1500 rows",
            "dilca-neighbours",
        ),
        Beside("Figure 6", "Synth-A to D", 100, "the same", "dilca-synthetic"),
        Beside(
            "Figure 7",
            "all sets, k from 1",
            30,
            "k = 1 to 4; max-dependency only where it has at most 6000 sets to compare",
            "dilca-size",
        ),
        Beside("Figures 10, 11", "ε in all, all rows", 30, "at most 500 rows", "dilca-objects"),
        Beside(
            "Figure 12",
            "diffprivlib's k-means for all three curves, 2 for the clusters and .1 to 2.5 for the "
            "metric",
            100,
            "one k-means for all three, DPLloyd and ours; the same totals",
            "dilca-kmeans",
        ),
        Beside(
            "Table 6",
            "seconds on the authors' machine",
            1,
            "CPU seconds here, and those of the authors' code here",
            "dilca-times",
        ),
        Beside("Tables 7, 8", "adult, ε = .5, contexts alone", 30, "the same", "dilca-examples"),
    ),
}


def beside(paper: str) -> Callable[[Rows], str]:
    """Return the table of a paper's settings and ours."""

    def make(rows: Rows) -> str:
        if not any(line.file in rows for line in BESIDE[paper]):
            return "*No results yet: `make papers` writes them.*"
        spent = rows.get(SPENT, [])
        lines = [
            [line.figures, line.papers, _times(line), line.here, _held(line, rows, spent)]
            for line in BESIDE[paper]
        ]
        return markdown(["figures", "the paper", "its runs", "here", "sets and runs here"], lines)

    return make


def _times(line: Beside) -> str:
    less = "".join(f"; {runs} on {name}" for name, runs in line.fewer.items())
    return "not said" if line.runs == 1 else f"{line.runs}{less}"


def _held(line: Beside, rows: Rows, spent: list[Line]) -> str:
    """Return how many sets and runs a file holds, and what keeps it from the paper's number."""
    often: dict[str, int] = {}
    values: dict[str, set[str]] = {}
    for row in rows.get(line.file, []):
        if row["set"] == "all":  # what is said of the sets together
            continue
        often[row["set"]] = max(often.get(row["set"], 0), int(row["runs"]))
        values.setdefault(row["set"], set()).update({row["at"]} - {""})
    if not often:
        return "none yet"
    sets, runs = (
        ("set" if len(often) == 1 else "sets"),
        ("run" if {*often.values()} == {1} else "runs"),
    )
    counts = f"{_ends(map(len, values.values()))} {line.values}, " if line.values else ""
    told = f"{len(often)} {sets}, {counts}{_ends(often.values())} {runs}"
    return told + _missing(line, often, spent)


def _ends(numbers: Iterable[int]) -> str:
    """Return the least and the most of some numbers, or the one there is."""
    ends = sorted(set(numbers))
    return " to ".join(map(str, (ends[0], ends[-1])[: len(ends)]))


def _missing(line: Beside, often: dict[str, int], spent: list[Line]) -> str:
    """Return on how many sets there are fewer runs than the paper's, and what its would cost.

    Sets whose seconds were not kept are taken for as dear as the others.
    """
    fewer = {name for name, runs in often.items() if runs < line.fewer.get(name, line.runs)}
    if not fewer:
        return ""
    own = [row for row in spent if row["experiment"] == line.file and row["set"] in fewer]
    told = f"; fewer than its {line.runs} on {len(fewer)}"
    if not own:
        return told
    each = sum(float(row["seconds"]) / int(row["runs"]) for row in own) / len(own)
    minutes = each * line.runs * len(fewer) / 60
    return f"{told}, where it would take about {max(minutes, 1):.0f} minutes of a processor"
