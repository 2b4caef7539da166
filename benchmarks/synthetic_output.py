"""The tables and the picture of the page on synthetic rows, drawn from the file of results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from keeping import markdown, put_table, run_line

__all__ = ["budget_table", "main_table", "publish", "short_table", "side_by_side"]

Rows = Sequence[dict[str, str]]
WORDS = {
    "tables": "**tables**",
    "cells": "cells alone",
    "mst": "MST",
    "mst-mbi": "MST, by `mbi`",
    "aim": "AIM",
    "aim-mbi": "AIM, by `mbi`",
    "aim-mbi-last": "AIM, `mbi` at the end",
    "independent": "independent, with noise",
    "shuffled": "true columns, shuffled",
    "bootstrap": "bootstrap",
}
# Words and colours of the picture; MST and AIM with mbi's model of all tables.
DRAWN = {
    "tables": ("tables", "C0"),
    "cells": ("cells alone", "C3"),
    "mst-mbi": ("MST", "C1"),
    "aim-mbi-last": ("AIM", "C4"),
    "shuffled": ("true columns, shuffled", "0.5"),
}
TOLD = ("adult9", "diamonds", "insurance")  # in the README
UNSEEN = ("insurance", "vietnam", "contacts")  # in the guide
MEASURES = (
    "one",
    "two",
    "quantiles",
    "three",
    "ties",
    "correlation",
    "learning",
    "k6",
    "k12",
    "seconds",
)
PAIRS = "two", "quantiles"
HEADS = (
    "one column",
    "two",
    "two, by quantiles",
    "three",
    "heaviest",
    "correlations",
    "learning",
    "k = 6",
    "k = 12",
    "CPU s",
)


def at(rows: Rows, **wanted: str) -> list[dict[str, str]]:
    """Return the lines that have these values."""
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def numbers(rows: Rows, measure: str) -> np.ndarray:
    """Return a measure of some lines, without those that do not have it."""
    return np.array([float(row[measure]) for row in rows if row[measure]])


def shown(values: np.ndarray, digits: int = 3, *, error: bool = False) -> str:
    """Return a mean and, if wanted, its standard error."""
    if not len(values):
        return ""
    told = f"{values.mean():.{digits}f}"
    if error and len(values) > 1:
        told += f" ± {values.std(ddof=1) / len(values) ** 0.5:.{digits}f}"
    return told


def main_table(rows: Rows) -> str:
    """Return all measures of all methods at ε = 1 with a δ."""
    usual, lines = at(rows, epsilon="1", delta="1e-06"), []
    for name in dict.fromkeys(row["set"] for row in usual):
        for method, words in WORDS.items():
            these = at(usual, set=name, method=method)
            if these:
                found = [
                    shown(numbers(these, m), 2 if m == "seconds" else 4, error=m in PAIRS)
                    for m in MEASURES
                ]
                lines.append([name, words, len(these), *found])
    return markdown(["set", "rows of", "runs", *HEADS], lines)


def budget_table(rows: Rows) -> str:
    """Return the error of pairs by budget: ours, its columns shuffled, and independent columns."""
    budgets = list(dict.fromkeys((row["epsilon"], row["delta"]) for row in rows))
    budgets.sort(key=lambda pair: (float(pair[1]) == 0, -float(pair[0])))
    names, lines = dict.fromkeys(row["set"] for row in rows), []
    for name in names:
        cells = []
        for epsilon, delta in budgets:
            these = at(rows, set=name, epsilon=epsilon, delta=delta)
            ours = at(these, method="tables")
            alone = numbers(at(these, method="independent"), "two")
            own = shown(numbers(ours, "two")), shown(numbers(ours, "shuffled"))
            cells.append(f"{own[0]} ({own[1]}; {shown(alone)})" if ours else "")
        lines.append([name, *cells])
    heads = [f"ε = {e}, δ = {d}" if float(d) else f"ε = {e}" for e, d in budgets]
    return markdown(["set", *heads], lines)


def short_table(rows: Rows) -> str:
    """Return the errors of one, two and three columns, in points, for a guide.

    Of the sets that were not used while constants were chosen; the others are in the notes.
    """
    usual, lines = at(rows, epsilon="1", delta="1e-06"), []
    for name in UNSEEN:
        cells = []
        for method in ("tables", "cells", "shuffled", "bootstrap"):
            these = at(usual, set=name, method=method)
            points = [f"{100 * numbers(these, m).mean():.1f}" for m in ("one", "two", "three")]
            cells.append(", ".join(points))
        lines.append([name, *cells])
    heads = ["set", "`synthetic=True`", "cells alone", "true columns, shuffled", "another sample"]
    return markdown(heads, lines)


def line(rows: Rows) -> str:
    """Return a sentence for the README: points off in pairs, beside what a user would pick."""
    others = {"aim-mbi-last": "AIM", "mst-mbi": "MST", "shuffled": "columns shuffled"}
    usual = [row for row in at(rows, epsilon="1", delta="1e-06") if row["set"] in TOLD]
    usual, told = [row for row in usual if row["method"] in ("tables", *others)], []
    for name in (it for it in TOLD if at(usual, set=it, method="tables")):
        these = {m: numbers(at(usual, set=name, method=m), "two") for m in ("tables", *others)}
        points = {m: f"{100 * found.mean():.1f}" for m, found in these.items() if len(found)}
        beside = ", ".join(f"{others[m]} {text}" for m, text in points.items() if m in others)
        told.append(f"{points['tables']} points on {name} ({beside})")
    words = "Synthetic rows at ε = 1, δ = 1e-06: two columns together are off by"
    return f"{words} {'; '.join(told)}.\n\n{run_line(usual, 'synthetic')}"


def picture(rows: Rows, path: Path) -> None:
    """Draw the error of pairs of each method on each set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    usual = at(rows, epsilon="1", delta="1e-06")
    names = list(dict.fromkeys(row["set"] for row in usual))
    figure, axes = plt.subplots(figsize=(8, 3.4))
    for method, (words, color) in DRAWN.items():
        found = [numbers(at(usual, set=name, method=method), "two") for name in names]
        places = [place for place, values in enumerate(found) if len(values)]
        means = [100 * found[place].mean() for place in places]
        axes.plot(places, means, "o", color=color, label=words, markersize=6, alpha=0.9)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_ylabel("two columns together:\npoints off (total variation)")
    axes.set_ylim(0, None)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def side_by_side(
    panels: dict[str, dict[str, pd.DataFrame]], pairs: dict[str, tuple[str, str]], path: Path
) -> None:
    """Draw two columns of some sets together: rows and synthetic rows, in the same shades."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import LogNorm

    width = max(map(len, panels.values()))
    figure, axes = plt.subplots(len(panels), width, figsize=(2.7 * width, 2.6 * len(panels)))
    for line, (name, frames) in zip(axes, panels.items(), strict=True):
        first, second = pairs[name]
        rows = next(iter(frames.values()))
        edges = [np.linspace(*rows[c].quantile([0, 0.995]), 36) for c in (first, second)]
        most = np.histogram2d(rows[first], rows[second], edges)[0].max()
        for place, (title, frame) in zip(line, frames.items(), strict=True):
            counts = np.histogram2d(frame[first], frame[second], edges)[0].T
            place.pcolormesh(*edges, counts, norm=LogNorm(1, most), cmap="viridis")
            place.set_title(title, fontsize=9)
            place.set_xlabel(first, fontsize=8)
            place.tick_params(labelsize=7)
        line[0].set_ylabel(second, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def publish(rows: Rows, page: Path | None) -> None:
    """Put the tables on the page and the picture beside it."""
    print(main_table(rows))
    if page is None:
        return
    put_table(page, "synthetic", main_table(rows) + "\n\n" + run_line(rows, "synthetic"))
    put_table(page, "synthetic-budgets", budget_table(rows))
    picture(rows, page.parents[1] / "figures" / "synthetic-pairs.png")
    guide, readme = page.parents[1] / "synthetic.md", page.parents[2] / "README.md"
    if guide.exists():
        put_table(guide, "synthetic-points", short_table(rows))
    if readme.exists():
        put_table(readme, "synthetic-line", line(rows))
