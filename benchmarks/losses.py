"""What we lose at, found in files of results: where somebody is ahead of us, and by what.

Another private method is ahead if its mean is better; a fit without privacy if it is by a tenth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from keeping import markdown, run_line

__all__ = [
    "Loss",
    "grouped",
    "lost_coclusters",
    "lost_distances",
    "lost_kmeans",
    "lost_mixtures",
    "lost_rows",
    "lost_shapes",
    "lost_targets",
    "lost_time",
    "lost_twelve",
    "table",
]

FAR = 1.1  # by so much a fit without privacy must be ahead to be listed
RAND = "adjusted Rand index"

Rows = Sequence[dict[str, str]]


class Loss(NamedTuple):
    """Where somebody is ahead of us, and by what."""

    where: str
    measure: str
    ours: float
    ahead: str
    theirs: float


def compared(
    at: tuple[str, str],
    ours: float,
    rivals: Mapping[str, float],
    exact: Mapping[str, float],
    *,
    less: bool = False,
    tie: float = 1.0,
) -> Iterator[Loss]:
    """Yield the best of the rivals and of the fits without privacy, each if it is ahead of us."""
    for found, by in ((rivals, tie), (exact, FAR)):
        best = (min if less else max)(found, key=lambda name: found[name], default=None)
        if best is not None:
            theirs = found[best]
            if theirs * by < ours if less else theirs > ours * by:
                yield Loss(*at, ours, best, theirs)


def grouped(rows: Rows, keys: Sequence[str]) -> dict[tuple[str, ...], Rows]:
    """Return rows by their values in some columns."""
    parts: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        parts[tuple(row[key] for key in keys)].append(row)
    return dict(parts)


def table(losses: Sequence[Loss], rows: Rows, file: str) -> str:
    """Return the table of what is lost, or that nothing is."""
    lines = [[x.where, x.measure, f"{x.ours:.4g}", x.ahead, f"{x.theirs:.4g}"] for x in losses]
    heads = ["set and budget", "measure", "privclust", "ahead", "theirs"]
    told = markdown(heads, lines) if lines else "Nothing in the file."
    return f"{told}\n\n{run_line(rows, file)}"


def lost_kmeans(rows: Rows, page: dict[str, object]) -> Iterator[Loss]:
    """Yield where another private method, or the best known without privacy, is ahead."""
    for (name, epsilon), means in page["ranked"](rows).items():  # type: ignore[operator]
        ours, exact = means.pop("privclust", None), {"k-means, not private": 1.0}
        if ours is not None:
            at = f"{name}, ε = {epsilon:g}", "inertia ÷ best known"
            tie = page["twelve"].TIE  # type: ignore[attr-defined]
            yield from compared(at, ours, means, exact, less=True, tie=tie)


def lost_twelve(rows: Rows, page: dict[str, object]) -> Iterator[Loss]:
    """Yield on which of PE-means' sets k-means without privacy is ahead, run here."""
    for (k, d), found in page["twelve"].integrals(rows).items():  # type: ignore[attr-defined]
        exact = {name: mean for name, (mean, _) in found.items() if name != "privclust"}
        at = f"PE-means' set of k = {k}, {d} columns", "its integral over ε"
        yield from compared(at, found["privclust"][0], {}, exact, less=True)


# Measures of synthetic rows, and whether less is better; and who else is asked.
ROWS_MEASURES = {
    "one": ("one column", True),
    "two": ("two columns", True),
    "quantiles": ("two columns, by quantiles", True),
    "three": ("three columns", True),
    "correlation": ("correlations", True),
    "learning": ("learning", False),
    "k6": ("inertia, k = 6", True),
    "k12": ("inertia, k = 12", True),
}
OTHERS = {
    "mst": "MST",
    "mst-mbi": "MST, by `mbi`",
    "aim-mbi": "AIM, by `mbi`",
    "aim-mbi-last": "AIM, `mbi` at the end",
    "aim": "AIM",
    "independent": "independent columns with noise",
    "cells": "cells alone (ours)",
}


def lost_rows(rows: Rows) -> Iterator[Loss]:
    """Yield where rows of another method are closer than those of tables."""
    means: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    for name, values in grouped(rows, ("set", "epsilon", "delta", "method")).items():
        for measure in ROWS_MEASURES:
            found = [float(row[measure]) for row in values if row[measure]]
            if found:
                means[(*name[:3], measure)][name[3]] = float(np.mean(found))
    for (name, epsilon, delta, measure), found in means.items():
        words, less = ROWS_MEASURES[measure]
        where = f"{name}, ε = {epsilon}" + (f", δ = {delta}" if float(delta) else "")
        for method, told in OTHERS.items():
            if "tables" in found and method in found:
                rival = {told: found[method]}
                yield from compared((where, words), found["tables"], rival, {}, less=less)


def lost_shapes(rows: Rows) -> Iterator[Loss]:
    """Yield where a clusterer without privacy is ahead of the density that finds k itself."""
    for (name, n, epsilon), found in grouped(rows, ("set", "rows", "epsilon")).items():
        scores = {row["method"]: float(row["score"]) for row in found}
        exact = {m: s for m, s in scores.items() if m.startswith("no privacy")}
        if "density, k found" in scores:
            at = f"{name}, {int(n):,} rows, ε = {float(epsilon):g}", RAND
            yield from compared(at, scores["density, k found"], {}, exact)


def lost_mixtures(rows: Rows) -> Iterator[Loss]:
    """Yield where scikit-learn's mixture, or noisy EM, is ahead of ours."""
    means = {
        key: float(np.mean([float(row["ari"]) for row in found]))
        for key, found in grouped(rows, ("set", "method", "budget")).items()
    }
    for (name, method, budget), ours in means.items():
        if method == "mixture":
            at = f"{name}, {'pure ε' if budget == 'pure' else 'with a δ'}", RAND
            rival = {"noisy EM": means.get((name, "noisy EM", budget), 0.0)}
            exact = {"scikit-learn's": means.get((name, "scikit-learn", "none"), 0.0)}
            yield from compared(at, ours, rival, exact)


def lost_time(rows: Rows) -> Iterator[Loss]:
    """Yield where MiniBatchKMeans takes less CPU time than we do."""
    times = {(row["size"], row["run"]): float(row["cpu"]) for row in rows if row["cpu"]}
    for (size, run), theirs in times.items():
        if run == "minibatch" and (size, "local") in times:
            at = f"{size}, 16 clusters", "CPU seconds"
            rival = {"MiniBatchKMeans": theirs}
            yield from compared(at, times[size, "local"], rival, {}, less=True)


# The papers: files of means, with a line for each set, method, place on the axis and measure.

Cells = dict[tuple[str, ...], dict[str, float]]


def cells_of(rows: Rows, measure: str, keys: Sequence[str] = ("set", "by", "at")) -> Cells:
    """Return the mean of every method in each cell of a table."""
    found: Cells = defaultdict(dict)
    for row in rows:
        if row["measure"] == measure:
            found[tuple(row[key] for key in keys)][row["method"]] = float(row["mean"])
    return found


def in_cells(
    cells: Cells, named: Mapping[tuple[str, ...], tuple[str, str]], ours: str, *, less: bool = False
) -> Iterator[Loss]:
    """Yield who is ahead in each cell that has a name; *not private* is said by a method's name."""
    for key, at in named.items():
        found = dict(cells[key])
        own = found.pop(ours, None)
        if own is not None:
            exact = {name: mean for name, mean in found.items() if "not private" in name}
            rivals = {name: mean for name, mean in found.items() if name not in exact}
            yield from compared(at, own, rivals, exact, less=less)


def lost_coclusters(sets: Rows, columns: Rows) -> Iterator[Loss]:
    """Yield where DP-τCC, a rival of its paper or Fast-τCC is ahead of tables."""
    for measure, words in (("nmi", "NMI"), ("ari", "ARI")):
        by_set = cells_of(sets, measure, ("set", "at"))
        for name, at in by_set:
            by_set[name, at] = by_set.get((name, ""), {}) | by_set[name, at]
        named = {(name, at): (f"{name}, ε = {at}", words) for name, at in by_set if at}
        yield from in_cells(by_set, named, "tables")
        by_width = cells_of(columns, measure)
        widths = {
            (name, by, at): (f"{name} of {at} columns, {by}", words) for name, by, at in by_width
        }
        yield from in_cells(by_width, widths, "tables")


def lost_targets(costs: Rows, rivals: Rows) -> Iterator[Loss]:
    """Yield where NAS, NNA, a clustering of one side or a fit without privacy beats rings."""
    measure = "cost, mean of all k"
    by_cost = cells_of(costs, measure, ("set", "by"))
    for name, by in by_cost:
        by_cost[name, by] = by_cost.get((name, ""), {}) | by_cost[name, by]
    named = {(name, by): (f"{name}, {by}", measure) for name, by in by_cost if by}
    yield from in_cells(by_cost, named, "rings", less=True)
    # Rivals of Section 5 have fewer draws, so the shares of the gap that they close are compared.
    ours = cells_of(costs, "share", ("set", "by"))
    shares = [row for row in rivals if row["measure"] == "share"]
    for (name, by), found in grouped(shares, ("set", "by")).items():
        if "rings" in ours[name, by]:
            at = f"{name}, {by}", "share of the gap, %"
            others = {f"{row['method']}, coreset: {row['at']}": float(row["mean"]) for row in found}
            yield from compared(at, ours[name, by]["rings"], others, {})


# Files of DILCA: measures, whether less is better, and which lines of the file have them.
DISTANCES = {
    "dilca-values": (
        ("Pearson", "distances of values, Pearson", False),
        ("adjusted F", "distances of values, adjusted F", False),
        ("L1", "distances of values, L1", True),
    ),
    "dilca-objects": (
        ("Pearson", "distances of rows, Pearson", False),
        ("L1", "distances of rows, L1", True),
    ),
    "dilca-ward": (("ARI", "Ward, ARI", False),),
    "dilca-neighbours": (("accuracy", "nearest neighbours, accuracy", False),),
}
DEFAULTS = {"tree (default)": "", "pairs, δ (default)": " with a δ"}


def lost_distances(files: Mapping[str, Rows]) -> Iterator[Loss]:
    """Yield where a variant of the paper, Hamming or what is not private beats our defaults."""
    for file, measures in DISTANCES.items():
        rows = [row for row in files[file] if row["by"] != "each target"]
        for measure, words, less in measures:
            cells = cells_of(rows, measure, ("set", "at"))
            for ours, told in DEFAULTS.items():
                others: Cells = {
                    (name, at): {
                        method: mean
                        for method, mean in (cells.get((name, ""), {}) | cells[name, at]).items()
                        if method == ours or method not in DEFAULTS
                    }
                    for name, at in cells
                    if at
                }
                named = {key: (f"{key[0]}, ε = {key[1]}{told}", words) for key in others}
                yield from in_cells(others, named, ours, less=less)
    yield from lost_categories(files["dilca-kmeans"])


def lost_categories(rows: Rows) -> Iterator[Loss]:
    """Yield where k-means of the paper, or by a metric that is not private, beats ours."""
    for (name, epsilon), found in grouped(rows, ("set", "at")).items():
        own = {row["by"]: float(row["mean"]) for row in found if row["method"] == "ours"}
        others = {
            f"{row['method']} ({row['by']})": float(row["mean"])
            for row in found
            if row["method"] != "ours"
        }
        exact = {label: mean for label, mean in others.items() if "not private" in label}
        rivals = {label: mean for label, mean in others.items() if label not in exact}
        for by, mean in own.items():
            delta = "" if by.endswith("= 0") else " with a δ"
            at = f"{name}, ε = {epsilon}{delta}", "k-means of categories, ARI"
            yield from compared(at, mean, rivals, exact)
