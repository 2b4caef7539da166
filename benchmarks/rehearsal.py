"""The tables of the rehearsal, a rule for the choice of a method that was tried and left out.

Its runs are in ``benchmarks/results/rehearsal.csv``. They came from a prototype that is not part of
the project, so nothing here runs it again; these functions draw what the file holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

import numpy as np

from keeping import markdown

RULE = "the rule"
WAYS = ("rehearsal, grid as a plan", "rehearsal after a first round")
# The lines that had to be kept, and the largest error that was allowed for each.
KNOWN = {
    ("2500x2k25", 0.2, 1e-6): 3.1,
    ("30000x12k12unb", 0.2, 0.0): 1.6,
    ("100x3k3", 0.2, 0.0): 4.8,
    ("G2", 0.2, 0.0): 1.4,
}
Line = tuple[str, float, float]


def ratios_of(rows: Sequence[dict[str, str]], way: str) -> dict[Line, list[float]]:
    """Return the errors of a way by set, ε and δ."""
    found: dict[Line, list[float]] = defaultdict(list)
    for row in rows:
        if row["way"] == way:
            line = row["set"], float(row["epsilon"]), float(row["delta"])
            found[line].append(float(row["ratio"]))
    return found


def table(rows: Sequence[dict[str, str]]) -> str:
    """Return each way against the rule: over all lines, with the error over sets."""
    rule = ratios_of(rows, RULE)
    heads = ["way", "lines", "its inertia / that of the rule", "worse by two errors", "better"]
    lines = []
    for way in WAYS:
        own = ratios_of(rows, way)
        apart = {line: np.mean(own[line]) / np.mean(rule[line]) for line in own if line in rule}
        by_set = [np.mean([r for line, r in apart.items() if line[0] == s]) for s in _sets(apart)]
        error = np.std(by_set, ddof=1) / np.sqrt(len(by_set))
        gaps = [_gap(own[line], rule[line]) for line in apart]
        mean = f"{np.mean([*apart.values()]):.3f} ± {error:.3f}"
        worse, better = (sum(sign * gap > 2 for gap in gaps) for sign in (1, -1))
        lines.append([way, len(apart), mean, worse, better, f"{_seconds(rows, way):.3f}"])
    lines.append([RULE, len(rule), "", "", "", f"{_seconds(rows, RULE):.3f}"])
    return markdown([*heads, "CPU seconds, median"], lines)


def known_table(rows: Sequence[dict[str, str]]) -> str:
    """Return the lines that had to be kept."""
    found = {way: ratios_of(rows, way) for way in (RULE, *WAYS)}
    lines = []
    for line, wanted in KNOWN.items():
        name, epsilon, delta = line
        errors = [_told(found[way].get(line, [])) for way in found]
        lines.append([name, f"{epsilon:g}", f"{delta:g}", f"{wanted:g}", *errors])
    return markdown(["set", "ε", "δ", "at most", *found], lines)


def _sets(lines: dict[Line, float]) -> list[str]:
    return sorted({line[0] for line in lines})


def _gap(own: list[float], other: list[float]) -> float:
    """Return the difference of means, in standard errors."""
    spread = np.hypot(*(np.std(x, ddof=1) / np.sqrt(len(x)) for x in (own, other)))
    return float((np.mean(own) - np.mean(other)) / max(spread, 1e-12))


def _seconds(rows: Sequence[dict[str, str]], way: str) -> float:
    return median(float(row["cpu_seconds"]) for row in rows if row["way"] == way)


def _told(errors: list[float]) -> str:
    if not errors:
        return "not run"
    return f"{np.mean(errors):.2f} ± {np.std(errors, ddof=1) / np.sqrt(len(errors)):.2f}"
