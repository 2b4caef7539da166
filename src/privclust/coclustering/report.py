"""What the report of a co-clustering shows: the block matrix, cluster sizes, typical columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privclust._typing import Floats
from privclust.coclustering.release import column_names, group_names
from privclust.reports.svg import ABOVE, BELOW, INK, LINE, WIDTH, inline_svg, is_narrow, short_name
from privclust.reports.values import count_of, describe_size, percent_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from privclust.release.release import Release


_TOP_COLUMNS = 10
# How many columns of a cluster, and clusters of columns, a sentence names.
_NAMED, _MOST_TRAITS = 4, 2
_WORTH_A_WORD = 1.2  # times as much as expected
# Colours are full at this many times the expected density, or its inverse.
_FULL_COLOUR = 4.0
# Blocks smaller than this share of the picture have no number; on a phone they must be wider.
_WRITTEN_WIDTH, _WRITTEN_ON_A_PHONE, _WRITTEN_HEIGHT = 0.05, 0.11, 0.06
# No block is drawn thinner than this share of the picture.
_THINNEST = 0.02


def coclustering_context(release: Release) -> dict[str, Any]:
    """Return what the templates show."""
    arrays, parameters = release.arrays, release.parameters
    totals = arrays["block_totals"]
    n_clusters = totals.shape[1]
    column_sizes = np.bincount(arrays["column_labels"], minlength=n_clusters)
    rows, tops = _row_sizes(release), _top_columns(release, n_clusters)
    groups, heads = _groups(release, rows, tops), _heads(release)
    found = release.signal == "seen"
    return {
        "found": found,
        "shape": {"rows": len(totals), "columns": n_clusters},
        "block_plot": block_plot(totals, rows, column_sizes) if found else None,
        "tau": f"{float(parameters.get('tau', 0)):.3f}",
        "rows_known": "row_labels" in arrays,
        "groups": groups,
        "apart": any(card["traits"] for card in groups["cards"]),
        "column_clusters": [
            {
                "label": heads[1][cluster],
                "size": f"{column_sizes[cluster]:,}",
                "top": top,
            }
            for cluster, top in enumerate(tops)
        ],
        "blocks": [
            [describe_size(value, error) for value, error in zip(*line, strict=True)]
            for line in zip(totals.tolist(), arrays["block_totals_error"].tolist(), strict=True)
        ],
        "heads": heads,
    }


def _heads(release: Release) -> tuple[list[str], list[str]]:
    """Return what tables call the clusters: their number in the picture, then their name."""
    names, given = group_names(release), (release.about.row_groups, release.about.column_groups)
    letters = zip("RC", names, given, strict=True)
    rows, columns = (
        [f"{letter}{n} {name}" if own else name for n, name in enumerate(listed)]
        for letter, listed, own in letters
    )
    return rows, columns


def _groups(release: Release, rows: Floats, tops: list[list[str]]) -> dict[str, Any]:
    """Return the row clusters as groups, each with the columns that its rows have more of."""
    shares = rows / max(float(rows.sum()), 1e-300)
    known, names = "row_labels" in release.arrays, group_names(release)[0]
    cards = []
    for label in np.argsort(-rows, kind="stable").tolist():
        size = count_of(round(float(rows[label])), "row")
        cards.append(
            {
                "name": names[label] if release.about.row_groups else f"row cluster R{label}",
                "number": f"R{label}",
                "colour": 0,
                "size": size if known else "",
                "share": percent_of(float(shares[label])),
                "part": float(shares[label]),
                "traits": [
                    {"words": words, "values": ", ".join(tops[cluster][:_NAMED])}
                    for cluster, words in _more_of(release, label)
                ],
            }
        )
    return {"noun": "row cluster", "cards": cards, "n_columns": 1, "rows_word": known}


def _more_of(release: Release, label: int) -> list[tuple[int, str]]:
    """Return the column clusters of which rows have surely more than expected, most first."""
    totals = np.maximum(release.arrays["block_totals"], 0).astype(np.float64)
    errors = release.arrays["block_totals_error"]
    expected = np.outer(totals.sum(axis=1), totals.sum(axis=0)) / max(float(totals.sum()), 1e-300)
    sure = totals[label] - expected[label] > 2 * errors[label]
    times = totals[label] / np.maximum(expected[label], 1e-9)
    ranked = np.argsort(-times, kind="stable").tolist()
    told = [j for j in ranked if sure[j] and times[j] >= _WORTH_A_WORD]
    heads = _heads(release)[1]
    return [
        (j, f"{times[j]:.1f} times as much as usual in {heads[j]}") for j in told[:_MOST_TRAITS]
    ]


def _row_sizes(release: Release) -> Floats:
    """Return the released numbers of rows, or the noisy totals where no row has a label."""
    totals: Floats = np.maximum(release.arrays["block_totals"].sum(axis=1), 0)
    if "row_labels" not in release.arrays:
        return totals
    return np.bincount(release.arrays["row_labels"], minlength=len(totals)).astype(np.float64)


def _top_columns(release: Release, n_clusters: int) -> list[list[str]]:
    """Return, for each column cluster, the columns of the largest noisy totals."""
    if "row_profiles" not in release.arrays:
        return [[] for _ in range(n_clusters)]
    weights = release.arrays["row_profiles"].sum(axis=0)
    labels = release.arrays["column_labels"]
    names = column_names(release)
    tops = []
    for cluster in range(n_clusters):
        members = np.flatnonzero(labels == cluster)
        best = members[np.argsort(-weights[members], kind="stable")[:_TOP_COLUMNS]]
        tops.append([short_name(names[j]) for j in best])
    return tops


def block_plot(totals: Floats, row_sizes: Floats, column_sizes: npt.NDArray[Any]) -> str:
    """Draw the matrix with its rows and columns sorted by cluster; one rectangle per block.

    Column clusters come in the order of the row clusters in which they are densest, so that
    matching clusters are on the diagonal.
    """
    ratios = _densities(totals)
    order = np.lexsort((-ratios.max(axis=0), ratios.argmax(axis=0)))
    ratios = ratios[:, order]
    tops, lefts = _edges(row_sizes), _edges(column_sizes[order])

    def draw(figure: Figure) -> None:
        from matplotlib.colors import to_rgba
        from matplotlib.patches import Rectangle

        ax = figure.subplots()
        written = _WRITTEN_ON_A_PHONE if is_narrow(figure) else _WRITTEN_WIDTH
        for (k, cluster), ratio in np.ndenumerate(ratios):
            corner = (float(lefts[cluster]), float(tops[k]))
            width, height = lefts[cluster + 1] - corner[0], tops[k + 1] - corner[1]
            depth = min(1.0, abs(float(ratio)) / np.log(_FULL_COLOUR))
            colour = to_rgba(ABOVE if ratio > 0 else BELOW, 0.05 + 0.85 * depth)
            ax.add_patch(
                Rectangle(
                    corner,
                    float(width),
                    float(height),
                    facecolor=colour,
                    edgecolor=LINE,
                    linewidth=0.5,
                )
            )
            if width > written and height > _WRITTEN_HEIGHT:
                middle = corner[0] + width / 2, corner[1] + height / 2
                ax.text(*middle, _times(float(ratio)), ha="center", va="center", color=INK)
        _label_blocks(ax, tops, lefts, order)

    k, n_clusters = totals.shape
    alt = (
        f"Block matrix of {k} row clusters by {n_clusters} column clusters: where there are more "
        "counts, or fewer, than the sizes alone explain. The totals are in the table that follows."
    )
    return inline_svg("blocks", alt, (WIDTH, 4.6), draw, narrow_height=3.6)


def _edges(sizes: npt.NDArray[Any]) -> Floats:
    shares = np.maximum(sizes / max(float(sizes.sum()), 1e-300), _THINNEST)
    return np.concatenate([[0.0], np.cumsum(shares / shares.sum())])


def _densities(totals: Floats) -> Floats:
    """Return the logarithm of each total over the one that its row and column sums explain."""
    positive = np.maximum(totals, 0)
    expected = np.outer(positive.sum(axis=1), positive.sum(axis=0)) / max(positive.sum(), 1e-300)
    pseudo = max(float(positive.mean()) * 0.01, 1e-9)
    return np.asarray(np.log((positive + pseudo) / (expected + pseudo)))


def _times(ratio: float) -> str:
    times = float(np.exp(ratio))
    return f"×{times:.1f}" if times < 10 else f"×{times:.0f}"


def _label_blocks(ax: Axes, tops: Floats, lefts: Floats, order: npt.NDArray[Any]) -> None:
    ax.set_xlim(0, 1)
    ax.set_ylim(1, 0)
    ax.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    ax.set_xticks((lefts[1:] + lefts[:-1]) / 2, [f"C{label}" for label in order])
    ax.set_yticks((tops[1:] + tops[:-1]) / 2, [f"R{label}" for label in range(len(tops) - 1)])
    for spine in ax.spines.values():
        spine.set_visible(False)
