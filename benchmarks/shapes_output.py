"""Tables and pictures of ``shapes.py``: what its files hold, on pages."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import make_blobs, make_moons

from keeping import markdown, run_line
from privclust import PrivateDensity, PrivateGaussianMixture, PrivateSummary
from shapes_sets import declared_bounds

EXAMPLE = Path(__file__).parents[1] / "examples" / "gallery" / "plot_compare_clusterers.py"
COLOURS = np.array(["#377eb8", "#ff7f00", "#4daf4a", "#f781bf"])
SETTINGS = ((10_000, 1.0), (10_000, 0.2), (2000, 1.0), (100_000, 1.0))
PLANE = ("held", "fresh", "new", "untouched", "last", "one cluster")
SOLID = ("three columns", "three columns, one cluster")
OWN = ("density, k found", "density, k given", "no privacy: density, k found")


def _mean(measured: list[dict[str, str]], /, **wanted: str) -> str:
    """Return the mean score over sets with its error, or a dash."""
    own = [row for row in measured if all(row[name] == value for name, value in wanted.items())]
    if not own:
        return "–"
    error = np.sqrt(sum(float(row["error"]) ** 2 for row in own)) / len(own)
    return f"{np.mean([float(row['score']) for row in own]):.2f} ± {error:.2f}"


def main_table(rows: list[dict[str, str]]) -> str:
    """Return mean scores by method and group of sets, a table for each setting."""
    methods = dict.fromkeys(row["method"] for row in rows)
    tables = []
    for n, epsilon in SETTINGS:
        told = {"rows": f"{n}", "epsilon": f"{epsilon}"}
        lines = [
            [method, *(_mean(rows, method=method, group=group, **told) for group in PLANE)]
            for method in methods
        ]
        tables.append(markdown([f"{n:,} rows, ε = {epsilon:g}", *PLANE], lines))
    return "\n\n".join([*tables, run_line(rows, "shapes")])


def set_table(rows: list[dict[str, str]]) -> str:
    """Return the scores of the density on every set."""
    own = [row for row in rows if row["method"] in OWN[:2]]
    keys = dict.fromkeys((row["group"], row["set"]) for row in own)
    settings = [(f"{n}", f"{e}") for n, e in SETTINGS]
    heads = ["set", *(f"{int(n):,}, ε = {float(e):g}" for n, e in settings)]
    lines = []
    for group, name in keys:
        cells = []
        for n, e in settings:
            told = {"group": group, "set": name, "rows": n, "epsilon": e}
            pair = [_mean(own, method=method, **told).split(" ")[0] for method in OWN[:2]]
            cells.append(" / ".join(part for part in pair if part != "–") or "–")
        lines.append([f"{name} ({group})", *cells])
    return markdown(heads, lines)


def real_table(rows: list[dict[str, str]]) -> str:
    """Return what was found in real tables."""
    heads = ["table", "rows", "ε", "method", "agreement", "clusters", "without noise"]
    lines = [
        [
            row["set"], f"{int(row['rows']):,}", f"{float(row['epsilon']):g}", row["method"],
            f"{float(row['score']):.2f} ± {float(row['error']):.2f}", row["clusters"],
            row["clusters_without_noise"] or "–",
        ]
        for row in rows
    ]  # fmt: skip
    return markdown(heads, lines) + "\n\n" + run_line(rows, "shapes-real")


def tree_table(rows: list[dict[str, str]]) -> str:
    """Return how near trees are to Ward's tree of rows."""
    keys = dict.fromkeys((row["method"], row["epsilon"]) for row in rows)
    lines = []
    for method, epsilon in keys:
        own = [row for row in rows if (row["method"], row["epsilon"]) == (method, epsilon)]
        means = [np.mean([float(row[part]) for row in own]) for part in ("correlation", "score")]
        shown = f"{float(epsilon):g}" if float(epsilon) else "–"
        lines.append([method, shown, *(f"{mean:.3f}" for mean in means)])
    heads = ["tree", "ε", "cophenetic correlation", "ARI at the planted k"]
    return markdown(heads, lines) + "\n\n" + run_line(rows, "shapes-trees")


def clusterer_table(rows: list[dict[str, str]]) -> str:
    """Return the mean agreement of any clusterer, by what it was fitted to."""
    places = dict.fromkeys(row["on"] for row in rows)
    lines = [
        [method, *(_mean(rows, method=method, on=place) for place in places)]
        for method in dict.fromkeys(row["method"] for row in rows)
    ]
    return markdown(["clusterer", *places], lines) + "\n\n" + run_line(rows, "shapes-clusterers")


def time_table(rows: list[dict[str, str]]) -> str:
    """Return seconds of a fit."""
    lines = [[row["columns"], f"{int(row['rows']):,}", row["fit"], row["clusters"]] for row in rows]
    heads = ["columns", "rows", "fit, s", "clusters(), s"]
    return markdown(heads, lines) + "\n\n" + run_line(rows, "shapes-times")


def short_table(rows: list[dict[str, str]]) -> str:
    """Return what to expect of a density, for the guide."""
    wanted = {"density, k found": "k found", "density, k given": "k given"}
    groups = {"2": (PLANE[:-1], "one cluster"), "3": (SOLID[:1], SOLID[1])}
    lines = []
    for columns, (shapes, alone) in groups.items():
        for n, e in sorted(SETTINGS):
            told = {"rows": f"{n}", "epsilon": f"{e}"}
            own = [row for row in rows if row["group"] in shapes]
            cells = [_mean(own, method=method, **told).split(" ")[0] for method in wanted]
            cells.append(_mean(rows, method=OWN[0], group=alone, **told).split(" ")[0])
            lines.append([f"{n:,}", columns, f"{e:g}", *cells])
    heads = ["rows", "columns", "ε", *wanted.values(), "one cluster called one"]
    return markdown(heads, lines)


def mixture_table(rows: list[dict[str, str]]) -> str:
    """Return what to expect of a mixture, for the guide."""
    told = {
        "300x3": ("300", "3"), "500x2": ("500", "2"), "1000x2": ("1,000", "2"),
        "2000x4": ("2,000", "4"), "5000x6": ("5,000", "6"),
        "unbalanced": ("10,000", "4, unbalanced"), "overlapping": ("10,000", "4, overlapping"),
    }  # fmt: skip
    ways = {
        "mixture, with δ": ("mixture", "δ"), "mixture": ("mixture", "pure"),
        "k-means, with δ": ("k-means", "δ"), "k-means": ("k-means", "pure"),
    }  # fmt: skip
    plain = {"without privacy": ("scikit-learn", "none")}
    found: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        key = row["set"], row["epsilon"], row["method"], row["budget"]
        found.setdefault(key, []).append(float(row["ari"]))
    lines = [
        [
            *told[name], epsilon,
            *(f"{np.mean(found[name, epsilon, *way]):.2f}" for way in ways.values()),
            f"{np.mean(found[name, '', *plain['without privacy']]):.2f}",
        ]
        for name in told
        for epsilon in dict.fromkeys(row["epsilon"] for row in rows if row["epsilon"])
    ]  # fmt: skip
    heads = ["rows", "columns", "ε", *ways, *plain]
    return markdown(heads, lines) + "\n\n" + run_line(rows, "mixture-expected")


def draw_comparison(path: Path) -> None:
    """Run the example of the gallery and keep its picture."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    runpy.run_path(str(EXAMPLE))
    plt.gcf().savefig(path, dpi=75)
    plt.close("all")


def draw_guide(path: Path, n_rows: int = 10_000) -> None:
    """Draw four small pictures, each from a release of its own."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 4, figsize=(12, 3.2))
    round_ones = make_blobs(n_rows, centers=3, cluster_std=1.1, random_state=30)[0]
    long_ones = make_blobs(n_rows, centers=3, random_state=170)[0] @ [[0.6, -0.6], [-0.4, 0.8]]
    bounds = declared_bounds(round_ones)
    model = PrivateSummary(epsilon=1.0, bounds=bounds).fit(round_ones)
    sizes = np.clip(15 * model.counts_ / np.quantile(model.counts_, 0.9), 1, 30)
    labels = model.kmeans(3).predict(model.cells_)
    panels[0].scatter(*model.cells_.T, s=sizes, c=COLOURS[labels], linewidths=0)
    panels[0].set_title("round: k-means")
    mixture = PrivateGaussianMixture(3, epsilon=1.0, bounds=declared_bounds(long_ones))
    drawn, labels = mixture.fit(long_ones).sample(1500, random_state=0)
    panels[1].scatter(*drawn.T, s=4, c=COLOURS[labels], linewidths=0)
    panels[1].set_title("long: mixture")
    curved = make_moons(n_rows, noise=0.06, random_state=0)[0]
    nothing = np.random.default_rng(0).random((n_rows, 2))
    for panel, rows, title in zip(
        panels[2:], (curved, nothing), ("curved: density", "none: density says one"), strict=True
    ):
        model = PrivateDensity(epsilon=1.0, bounds=declared_bounds(rows)).fit(rows)
        found = model.clusters().cell_labels
        places = np.argwhere(found >= 0)
        panel.scatter(*places.T, s=4, marker="s", c=COLOURS[found[found >= 0] % 4], linewidths=0)
        panel.set_title(title)
    for panel in panels:
        panel.set(xticks=[], yticks=[])
    figure.tight_layout()
    figure.savefig(path, dpi=75)
    plt.close(figure)
