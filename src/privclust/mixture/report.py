"""What the report of a mixture shows: weights, ellipses, what overlaps, means and widths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privclust._typing import Floats
from privclust.mixture.model import Gaussians
from privclust.mixture.release import gaussians_of
from privclust.reports.findings import RowGroups, missing_sentences
from privclust.reports.plots import label_axis
from privclust.reports.svg import GROUPS, INK, MUTED, WIDTH, inline_svg, is_narrow, short_name
from privclust.reports.values import (
    HIDDEN,
    column_label,
    counted_missing,
    describe,
    describe_share,
    describe_width,
    missing_words,
    percent_of,
)
from privclust.schema.facts import Box
from privclust.schema.schema import Schema

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privclust.release.release import Release

_MOST_COMPONENTS, _MOST_COLUMNS = 8, 16
# Made-up rows that overlaps are counted with, and the share of rows that is worth a line.
_DRAWN, _OVERLAP, _MOST_OVERLAPS = 20_000, 0.05, 12
# Deviations to which an ellipse reaches, and how many points it is drawn with.
_REACHES, _AROUND = (1.0, 2.0), np.linspace(0, 2 * np.pi, 73)


def context(release: Release) -> dict[str, Any]:
    """Return what the templates need; components that never saw the rows are not drawn."""
    mixture, groups = gaussians_of(release), groups_of(release)
    found = release.signal != "none" and bool(groups.order)
    k, d = mixture.means.shape
    columns = _by_spread(mixture)[:_MOST_COLUMNS]
    shown = groups.order[:_MOST_COMPONENTS]
    return {
        "k": k,
        "d": d,
        "found": found,
        "groups": groups.context(),
        "shapes": _SHAPES[str(release.parameters["covariance_type"])],
        "background": percent_of(mixture.background) if mixture.background else "",
        "weights": _weights(release, groups),
        "picture": _picture(groups, mixture) if found else None,
        "overlaps": _overlaps(groups, mixture) if found and len(groups.order) > 1 else [],
        "names": [groups.name(i) for i in shown],
        "lines": [_line(groups, mixture, j, shown) for j in columns],
        "missing": missing_sentences(release.schema, groups.missing),
    }


_SHAPES = {
    "full": "Every component has a shape of its own.",
    "tied": "All components share one shape.",
    "diag": "Components stretch along the columns.",
    "spherical": "Components are round.",
}


def groups_of(release: Release) -> RowGroups:
    """Return the components as groups of a report; noise hides those that it kept in place."""
    arrays, n_rows = release.arrays, max(float(release.arrays["n_rows"][0]), 1.0)
    sizes = n_rows * arrays["weights"].astype(np.float64)
    errors = n_rows * arrays["weights_error"].astype(np.float64)
    return RowGroups(
        release.schema,
        arrays["means"].astype(np.float64),
        arrays["means_error"].astype(np.float64),
        sizes,
        np.where(arrays["hidden"].astype(bool), np.maximum(sizes, errors), errors),
        release.about.names,
        "component",
        counted_missing(release),
    )


def _weights(release: Release, groups: RowGroups) -> list[dict[str, str]]:
    arrays = release.arrays
    told = zip(arrays["weights"].tolist(), arrays["weights_error"].tolist(), strict=True)
    return [
        {
            "name": groups.name(label),
            "weight": describe_share(weight, error) if groups.clear[label] else HIDDEN,
        }
        for label, (weight, error) in enumerate(told)
    ]


def _line(groups: RowGroups, mixture: Gaussians, j: int, shown: list[int]) -> dict[str, Any]:
    """Return the means and widths of the components in one column."""
    name, fact = _box(groups.schema, j)
    errors = groups.centers if groups.errors is None else groups.errors
    widths = np.sqrt(mixture.covariances[:, j, j])
    return {
        "name": column_label(name, fact),
        "missing": missing_words(name, fact, groups.missing),
        "alike": name in groups.columns_alike,
        "values": [
            {
                "mean": describe(fact, float(groups.centers[i, j]), float(errors[i, j])),
                "width": describe_width(fact, float(widths[i])),
            }
            for i in shown
        ],
    }


def _box(schema: Schema, j: int) -> tuple[str, Box]:
    boxes = [(name, fact) for name, fact in schema.columns.items() if isinstance(fact, Box)]
    return boxes[j]


def _by_spread(mixture: Gaussians) -> list[int]:
    """Return the columns, those first in which components differ most for their widths."""
    middle = mixture.weights @ mixture.means
    between = mixture.weights @ (mixture.means - middle) ** 2
    within = mixture.weights @ np.diagonal(mixture.covariances, axis1=1, axis2=2)
    return [int(j) for j in np.argsort(-between / within, kind="stable")]


def _overlaps(groups: RowGroups, mixture: Gaussians) -> list[dict[str, str]]:
    """Return pairs of components whose rows are often more probable in the other one."""
    rows, labels = mixture.draw(_DRAWN, np.random.default_rng(0))
    k = mixture.n_components
    told = mixture.joint(rows)[:, :k].argmax(axis=1)
    confused = np.bincount(labels * k + told, minlength=k * k).reshape(k, k)
    both = confused.sum(axis=1)[:, None] + confused.sum(axis=1)
    shares = (confused + confused.T) / np.maximum(both, 1)
    seen = sorted(groups.order)
    pairs = [(float(shares[i, j]), i, j) for i in seen for j in seen if j < i]
    pairs = sorted((pair for pair in pairs if pair[0] > _OVERLAP), reverse=True)
    return [
        {"one": groups.name(j), "other": groups.name(i), "share": percent_of(share)}
        for share, i, j in pairs[:_MOST_OVERLAPS]
    ]


def _picture(groups: RowGroups, mixture: Gaussians) -> str:
    """Draw the components in the two columns in which they differ most, or along one column."""
    columns = _by_spread(mixture)[:2]
    boxes = [_box(groups.schema, j) for j in columns]
    names = [short_name(column_label(*box)) for box in boxes]
    shown = groups.order[:_MOST_COMPONENTS]

    def draw(figure: Figure) -> None:
        ax = figure.subplots()
        for label, colour in zip(shown, GROUPS, strict=False):
            for line, alpha in zip(_outlines(mixture, label, columns), (0.35, 0.18), strict=False):
                ax.fill(*line, facecolor=colour, alpha=alpha, linewidth=0)
                ax.plot(*line, color=colour, linewidth=1.2)
            at = mixture.means[label, columns]
            height = float(at[1]) if len(columns) > 1 else 0.0
            ax.annotate(
                str(label), (float(at[0]), height), ha="center", va="center", color=INK,
                fontsize=10, fontweight="bold",
            )  # fmt: skip
        ax.set_xlabel(names[0], color=MUTED)
        ax.set_ylabel(names[1] if len(names) > 1 else "share of the rows", color=MUTED)
        ax.tick_params(length=0, labelcolor=MUTED, labelsize=7 if is_narrow(figure) else 9)
        for axis, (_, fact) in zip((ax.xaxis, ax.yaxis), boxes, strict=False):
            label_axis(axis, fact)
        if len(columns) == 1:
            ax.set_yticks([])

    what = "Ellipses" if len(columns) > 1 else "Densities"
    alt = f"{what} of {len(shown)} components in {' and '.join(names)}, around their means."
    return inline_svg("components", alt, (WIDTH, 4.4), draw, narrow_height=3.4)


def _outlines(mixture: Gaussians, label: int, columns: list[int]) -> list[tuple[Floats, Floats]]:
    """Return the lines of one component: ellipses, or the curve of its density."""
    mean = mixture.means[label, columns]
    covariance = mixture.covariances[label][np.ix_(columns, columns)]
    if len(columns) == 1:
        width = float(np.sqrt(covariance[0, 0]))
        along = np.linspace(-3, 3, 73)
        height = mixture.weights[label] * np.exp(-(along**2) / 2) / (width * np.sqrt(2 * np.pi))
        return [(mean[0] + width * along, height)]
    circle = np.stack([np.cos(_AROUND), np.sin(_AROUND)])
    round_the_mean = np.linalg.cholesky(covariance) @ circle
    lines = [mean[:, None] + reach * round_the_mean for reach in _REACHES]
    return [(line[0], line[1]) for line in lines]
