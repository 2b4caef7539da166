"""What the source-target benchmark keeps of its runs, and the tables and figures made of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from privclust.papers.metrics import share_of_gap

__all__ = ["Results", "figures", "tables"]

COLOURS = {
    "NAS": "#b08a2e",
    "NNA as published": "#c78ab5",
    "NNA": "#8a4f9e",
    "k-means of S": "#6f9e4f",
    "snapped counts": "#4f9ea0",
    "rings": "#1f5fbf",
}
SHOWN = ["Synthetic 1", "Synthetic 2", "Synthetic 3", "cities", "digits 1→7"]


class Results:
    """Lines of one experiment, appended to ``FOLDER/EXPERIMENT.jsonl`` if there is a folder."""

    def __init__(self, folder: Path | None, experiment: str) -> None:
        self._path = None if folder is None else folder / f"{experiment}.jsonl"
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def add(self, **facts: Any) -> None:
        """Keep one line."""
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(facts, default=_plain, ensure_ascii=False) + "\n")


def _plain(value: Any) -> Any:
    return np.asarray(value).round(6).tolist()


def _read(folder: Path, experiment: str) -> list[dict[str, Any]]:
    path = folder / f"{experiment}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def tables(folder: Path) -> None:
    """Print the saved costs as Markdown: one table per set, and one for all pairs of digits."""
    lines = _read(folder, "costs")
    budgets = list(dict.fromkeys(line["budget"] for line in lines))
    methods = list(dict.fromkeys(line["method"] for line in lines))
    found = {(line["set"], line["method"], line["budget"]): line for line in lines}
    names = list(dict.fromkeys(line["set"] for line in lines))
    for name in [name for name in names if not name.startswith("digits")]:
        line = next(line for line in lines if line["set"] == name)
        ends = " to ".join(f"{np.mean(line[end]):.4f}" for end in ("alone", "best"))
        _print_table(
            f"{name}: {ends}", methods, budgets, lambda m, b, n=name: _cell(found.get((n, m, b)))
        )
    pairs = [name for name in names if name.startswith("digits")]

    def of_digits(method: str, budget: str) -> str:
        some = [found[name, method, budget] for name in pairs if (name, method, budget) in found]
        if not some:
            return ""
        shares = [_share(line) for line in some]
        cost = np.mean([np.mean(line["costs"]) for line in some])
        return f"{cost:.4f} ({np.median(shares):.0f}, {min(shares):.0f} %)"

    if pairs:
        _print_table(f"{len(pairs)} pairs of digits", methods, budgets, of_digits)


def _print_table(
    title: str, methods: list[str], budgets: list[str], cell: Callable[[str, str], str]
) -> None:
    print(f"\n| {title} | " + " | ".join(budgets) + " |")
    print("|---" * (len(budgets) + 1) + "|")
    for method in methods:
        print(f"| {method} | " + " | ".join(cell(method, budget) for budget in budgets) + " |")


def _cell(line: dict[str, Any] | None) -> str:
    return "" if line is None else f"{np.mean(line['costs']):.4f} ({_share(line):.0f} %)"


def _share(line: dict[str, Any]) -> float:
    return 100 * share_of_gap(line["costs"], line["alone"], line["best"])


def figures(folder: Path) -> None:
    """Draw what is saved: costs by k, the ablations, the times."""
    import matplotlib as mpl
    from PIL import Image

    mpl.use("Agg")
    for experiment, draw in {"costs": _costs, "coreset": _ablations, "times": _times}.items():
        if (folder / f"{experiment}.jsonl").exists():
            figure = draw(folder)
            path = folder / f"source-target-{experiment}.png"
            figure.savefig(path, dpi=65)
            Image.open(path).quantize(24).save(path, optimize=True)  # a few colours, a small file


def _costs(folder: Path) -> Any:
    """Cost by k, one column per set and one row per budget."""
    import matplotlib.pyplot as plt

    lines = _read(folder, "costs")
    sets = [name for name in SHOWN if any(line["set"] == name for line in lines)]
    budgets = list(dict.fromkeys(line["budget"] for line in lines))
    budgets = [budget for budget in ("ε=0.5", "ε=1", "ρ=3") if budget in budgets]
    figure, panels = plt.subplots(
        len(budgets), len(sets), figsize=(2.5 * len(sets), 2.3 * len(budgets)), squeeze=False,
        sharex=True, sharey="col", layout="constrained",
    )  # fmt: skip
    for row, budget in zip(panels, budgets, strict=True):
        for ax, name in zip(row, sets, strict=True):
            some = [line for line in lines if (line["set"], line["budget"]) == (name, budget)]
            for key, style, label in (("alone", "k:", "ClusterT"), ("best", "k-", "not private")):
                ax.plot(some[0]["k"], np.mean(some[0][key], axis=0), style, lw=1.2, label=label)
            for line in some:
                method = line["method"]
                ax.plot(
                    line["k"], np.mean(line["costs"], axis=0), color=COLOURS[method], label=method,
                    lw=2 if method == "rings" else 1,
                )  # fmt: skip
            ax.set(xscale="log", yscale="log", title=f"{name}, {budget}")
            ax.set_xticks([5, 10, 20, 50, 100], [5, 10, 20, 50, 100], minor=False)
            ax.minorticks_off()
            ax.title.set_fontsize(9)
            ax.tick_params(labelsize=7)
    for ax in panels[-1]:
        ax.set_xlabel("number of new centres", fontsize=8)
    for row in panels:
        row[0].set_ylabel("true mean distance", fontsize=8)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=8, fontsize=8, frameon=False)
    return figure


def _ablations(folder: Path) -> Any:
    """Mean cost by the reach of the coreset, and by t."""
    import matplotlib.pyplot as plt

    parts = [("coreset", "reach of the coreset"), ("nearest", "t, sources that NAS averages")]
    parts = [part for part in parts if (folder / f"{part[0]}.jsonl").exists()]
    figure, panels = plt.subplots(
        1, len(parts), figsize=(4.2 * len(parts), 3), squeeze=False, layout="constrained"
    )
    dashes = {"ε=1": ":", "ε=3": "--", "ρ=3": "-"}
    sets = {"Synthetic 1": "#1f5fbf", "Synthetic 2": "#b08a2e", "Synthetic 3": "#8a4f9e"}
    for ax, (experiment, label) in zip(panels[0], parts, strict=True):
        lines = _read(folder, experiment)
        for name, colour in sets.items():
            for budget, dash in dashes.items():
                for method, marker in (("nna", "o"), ("nas", "^")):
                    key = (name, budget, method)
                    some = [x for x in lines if (x["set"], x["budget"], x["method"]) == key]
                    ax.plot(
                        [x["value"] for x in some], [x["cost"] for x in some], dash,
                        color=colour, marker=marker, markersize=4, lw=1,
                    )  # fmt: skip
        ax.set_xlabel(label, fontsize=9)
        ax.set_ylabel("mean true cost", fontsize=9)
        ax.tick_params(labelsize=8)
    for name, colour in sets.items():
        panels[0, 0].plot([], [], color=colour, label=name)
    for budget, dash in dashes.items():
        panels[0, 0].plot([], [], dash, color="k", label=budget)
    for method, marker in (("NNA", "o"), ("NAS", "^")):
        panels[0, 0].plot([], [], "k", marker=marker, linestyle="", label=method)
    figure.legend(loc="outside lower center", ncols=8, fontsize=8, frameon=False)
    return figure


def _times(folder: Path) -> Any:
    """CPU seconds of one fit by method, and of the two solvers by k."""
    import matplotlib.pyplot as plt

    lines = _read(folder, "times")
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3), layout="constrained")
    sets = list(dict.fromkeys(line["set"] for line in lines))
    methods = list(dict.fromkeys(line["method"] for line in lines))
    for place, name in enumerate(sets):
        taken = [line["seconds"] for line in lines if line["set"] == name]
        left.barh(np.arange(len(methods)) + 0.25 * place, taken, 0.23, label=name)
    left.set_yticks(np.arange(len(methods)) + 0.25, methods, fontsize=8)
    left.set(xlabel="CPU seconds of one fit, k = 20, ε = 1", xscale="log")
    left.set_ylim(-0.4, len(methods) + 1)  # room for the legend above the bars
    left.legend(fontsize=8, frameon=False, loc="upper right")
    if (folder / "solver.jsonl").exists():
        solved = _read(folder, "solver")
        for key, label in (("akm", "AkM"), ("ours", "lazy greedy and swaps")):
            right.plot(
                [x["k"] for x in solved], [x[key][0] for x in solved], marker="o", label=label
            )
        right.set(xlabel="number of centres, 6 996 targets", ylabel="CPU seconds", yscale="log")
        right.legend(fontsize=8, frameon=False)
    return figure
