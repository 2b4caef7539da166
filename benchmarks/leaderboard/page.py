"""The page of the leaderboard and its plot, drawn from the results file and from nothing else."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import twelve
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from keeping import markdown, put_table, run_line

# In the README.
SHORT = ("S1-like", "Birch1-like", "blobs 100000 x 10", "blobs 100000 x 100", "digits", "adult")
NOT_PRIVATE = "k-means, not private"
IN_SHORT = (
    *("privclust", "PE-means", "LSH clustering", "FastLloyd", "DPLloyd", "diffprivlib"),
    NOT_PRIVATE,
)

Cells = dict[tuple[str, str, float], list[tuple[float, float]]]


def cells_from_release(rows: list[dict[str, str]]) -> Cells:
    """Return ratios and seconds of all runs, by set, method and ε."""
    cells: Cells = defaultdict(list)
    best = best_known(rows)
    for row in rows:
        key = row["set"], row["method"], float(row["epsilon"])
        cells[key].append((float(row["inertia"]) / best[row["set"]], float(row["seconds"])))
    return cells


def best_known(rows: list[dict[str, str]]) -> dict[str, float]:
    """Return the least inertia of each set: of the starts of k-means, or of a run with k centres.

    Runs with more than k centres do not count.
    """
    best: dict[str, float] = {}
    for row in rows:
        allowed = int(row["centres"]) <= int(row["k"])
        found = min(float(row["best"]), float(row["inertia"]) if allowed else np.inf)
        best[row["set"]] = min(found, best.get(row["set"], np.inf))
    return best


def mend_best(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return rows whose column ``best`` is the best known of their set, whenever they were run."""
    best = best_known(rows)
    return [{**row, "best": f"{best[row['set']]:.8g}"} for row in rows]


def ranked(rows: list[dict[str, str]]) -> dict[tuple[str, float], dict[str, float]]:
    """Return the mean ratios of private methods with at most k centres, by set and ε."""
    too_many = {
        (row["set"], row["method"]) for row in rows if int(row["centres"]) > int(row["k"])
    }  # fmt: skip
    means: dict[tuple[str, float], dict[str, float]] = defaultdict(dict)
    for (name, method, epsilon), runs in cells_from_release(rows).items():
        if method != NOT_PRIVATE and (name, method) not in too_many:
            means[name, epsilon][method] = float(np.mean([run[0] for run in runs]))
    return means


def verdicts(rows: list[dict[str, str]]) -> dict[str, list[int]]:
    """Return how often each method wins, ties and loses, over all sets and ε with a rival."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for means in ranked(rows).values():
        for method, mean in means.items():
            others = [value for other, value in means.items() if other != method]
            if others:
                tied, won = mean <= min(others) * twelve.TIE, mean * twelve.TIE < min(others)
                counts[method][0 if won else 1 if tied else 2] += 1
    return counts


def summary(rows: list[dict[str, str]]) -> str:
    """Return the table of wins, ties and losses."""
    counts = verdicts(rows)
    heads = ["method", "best by more than 2 %", "within 2 % of the best", "behind"]
    lines = sorted(counts.items(), key=lambda item: (-item[1][0], -item[1][1]))
    return markdown(heads, [[method, *found] for method, found in lines])


def verdict(rows: list[dict[str, str]], ours: str = "privclust") -> str:
    """Return the wins, ties and losses of ours as a sentence."""
    won, tied, behind = verdicts(rows)[ours]
    return (
        f"Of {won + tied + behind} pairs of a set and an ε, from 0.1 to 100, {ours} is the best "
        f"private method by more than 2 % on {won}, within 2 % of the best on {tied}, and behind "
        f"on {behind}. Not every method was run on every pair; the leaderboard names those missing."
    )


def lost(rows: list[dict[str, str]], ours: str = "privclust") -> str:
    """Return where another private method is ahead of ours by more than a tie, and how far."""
    told = []
    for (name, epsilon), means in ranked(rows).items():
        best = min(means, key=lambda method: means[method])
        if ours in means and means[ours] > means[best] * twelve.TIE:
            gap = f"{means[best]:.3g} against {means[ours]:.3g}"
            told.append(f"{name} at ε = {epsilon:g} ({best}, {gap})")
    return f"{ours} is behind on {'; '.join(told)}." if told else f"{ours} is behind on none."


def tables(rows: list[dict[str, str]]) -> str:
    """Return a table for each set: methods by ε, and the CPU seconds of one fit."""
    cells = cells_from_release(rows)
    sets, methods, epsilons = (list(dict.fromkeys(key[i] for key in cells)) for i in range(3))
    drawn, means = [], ranked(rows)
    for name in sets:
        about = next(row for row in rows if row["set"] == name)
        lines = [
            [
                method + other_centres(rows, name, method),
                *(
                    marked(ratio(cells.get((name, method, e))), means[name, e], method)
                    for e in epsilons
                ),
                seconds,
            ]
            for method in methods
            if (seconds := usual_seconds(cells, name, method))
        ]
        heads = ["inertia ÷ best known", *(f"ε = {e:g}" for e in epsilons), "CPU s"]
        title = f"{name}: {about['n']} points, {about['d']} dimensions, k = {about['k']}"
        drawn.append(f"**{title}**\n\n{markdown(heads, lines)}\n")
    return "\n".join(drawn)


def marked(text: str, means: dict[str, float], method: str) -> str:
    """Return a cell in bold if no private method with k centres is better."""
    best = min(means.values(), default=np.nan)
    return f"**{text}**" if text and means.get(method) == best else text


def other_centres(rows: list[dict[str, str]], name: str, method: str) -> str:
    """Return how many centres a method has, if it does not have k: more of them cost less."""
    these = [row for row in rows if (row["set"], row["method"]) == (name, method)]
    numbers = [int(row["centres"]) for row in these]
    if all(number == int(these[0]["k"]) for number in numbers):
        return ""
    return f" ({min(numbers)} to {max(numbers)} centres)"


def ratio(runs: list[tuple[float, float]] | None) -> str:
    """Return mean and standard error of the ratio."""
    if not runs:
        return ""
    found = [run[0] for run in runs]
    if len(found) == 1:
        return f"{found[0]:.3g}"
    return f"{np.mean(found):.3g} ± {np.std(found, ddof=1) / np.sqrt(len(found)):.2g}"


def usual_seconds(cells: Cells, name: str, method: str) -> str:
    """Return the median of the seconds of all runs of a method on a set."""
    times = [run[1] for key, runs in cells.items() if key[:2] == (name, method) for run in runs]
    return f"{np.median(times):.2g}" if times else ""


def style_of(method: str, methods: list[str]) -> dict[str, object]:
    """Return how the line of a method looks: ours thick and black, the exact one grey."""
    if method == "privclust":
        return {"color": "black", "lw": 2, "marker": "."}
    if method == NOT_PRIVATE:
        return {"color": "0.6", "lw": 1, "ls": "--"}
    place = [other for other in methods if other not in ("privclust", NOT_PRIVATE)].index(method)
    return {"color": f"C{place % 10}", "lw": 1, "marker": ".x"[place // 10 % 2]}


def draw(rows: list[dict[str, str]], path: Path) -> None:
    """Draw the mean ratio by ε: a panel for each set, a line for each method."""
    cells = cells_from_release(rows)
    sets, methods, epsilons = (list(dict.fromkeys(key[i] for key in cells)) for i in range(3))
    across = min(3, len(sets))
    down = -(-len(sets) // across)
    # 800 pixels wide, at which it is shown: text of nine points can be read there.
    figure = Figure(figsize=(8, 2.4 * down + 0.9), layout="constrained")
    axes = np.atleast_1d(figure.subplots(down, across, squeeze=False)).ravel()
    for ax, name in zip(axes, sets, strict=False):
        for method in methods:
            line = [(e, cells[name, method, e]) for e in epsilons if (name, method, e) in cells]
            means = [np.mean([run[0] for run in runs]) for _, runs in line]
            ax.plot([e for e, _ in line], means, label=method, **style_of(method, methods))
        ax.set(xscale="log", yscale="log", xlabel="ε")
        low, high = ax.get_ylim()
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 30 else (1,)))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axis.set_minor_formatter(NullFormatter())
        ax.set_title(name, fontsize=10)
        ax.tick_params(labelsize=9)
    for ax in axes[len(sets) :]:
        ax.set_visible(False)
    axes[0].set_ylabel("inertia ÷ best known")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)


def origin(rows: list[dict[str, str]], methods: list[str]) -> str:
    """Return where the rows of each method come from, and what is missing among them."""
    cells: dict[str, dict[tuple[str, str], int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        cells[row["method"]][row["set"], row["epsilon"]] += 1
    lines = []
    for method, runs in cells.items():
        own = [row for row in rows if row["method"] == method]
        told = (", ".join(dict.fromkeys(row[key] for row in own)) for key in ("commit", "date"))
        sets, least, most = len({name for name, _ in runs}), min(runs.values()), max(runs.values())
        lines.append([method, sets, f"{least}" if least == most else f"{least} to {most}", *told])
    heads = ["method", "sets", "runs at each ε", "commits", "dates"]
    about = ", ".join(dict.fromkeys(f"{row['machine']}, δ = {row['delta']}" for row in rows))
    return f"{markdown(heads, lines)}\n\n*{about}.*\n\n{missing(rows, methods)}"


def missing(rows: list[dict[str, str]], methods: list[str]) -> str:
    """Return which methods have no rows on which sets."""
    found = {(row["set"], row["method"]) for row in rows}
    sets = list(dict.fromkeys(row["set"] for row in rows))
    told = [
        f"{method} on {', '.join(left)}"
        for method in methods
        if (left := [name for name in sets if (name, method) not in found])
    ]
    if not told:
        return "Every method was run on every set."
    return f"Missing, because a method cannot take a set or was not run on it: {'; '.join(told)}."


def short(rows: list[dict[str, str]], epsilon: float = 1.0) -> str:
    """Return the table of the README: some sets by methods at one ε."""
    cells = cells_from_release(rows)
    methods = [name for name in IN_SHORT if any(row["method"] == name for row in rows)]
    lines = []
    for name in SHORT:
        about = next((row for row in rows if row["set"] == name), None)
        if about is not None:
            told = f"{name} ({about['n']} x {about['d']}, k = {about['k']})"
            lines.append([told, *(ratio(cells.get((name, method, epsilon))) for method in methods)])
    return markdown([f"ε = {epsilon:g}, δ = {rows[0]['delta']}", *methods], lines)


def publish(
    rows: list[dict[str, str]],
    of_twelve: list[dict[str, str]],
    page: Path,
    methods: list[str],
    readme: Path,
) -> None:
    """Fill the tables of both pages and draw the plot; name which methods are missing."""
    shown = [row for row in rows if row["set"] in SHORT and row["method"] == "privclust"]
    told = f"{short(rows)}\n\n{verdict(rows)}\n\n{run_line(shown, 'leaderboard')}"
    put_table(readme, "leaderboard-short", told)
    put_table(page, "leaderboard-origin", origin(rows, methods))
    put_table(page, "leaderboard-summary", f"{summary(rows)}\n\n{lost(rows)}")
    put_table(page, "leaderboard", tables(rows))
    put_table(page, "leaderboard-twelve", twelve.table(of_twelve))
    draw(rows, page.parent / "figures" / "leaderboard.png")
