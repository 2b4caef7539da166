"""What the report of a mixture shows: weights, ellipses, what overlaps, means and widths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privclust._typing import Floats
from privclust.mixture.model import Gaussians
from privclust.mixture.release import gaussians_of
from privclust.reports.svg import ACCENT, INK, MUTED, WIDTH, inline_svg, is_narrow, short_name
from privclust.reports.words import format_error, give_or_take

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privclust.release.release import Release

_MOST_COMPONENTS, _MOST_COLUMNS = 40, 16
# Made-up rows that overlaps are counted with, and the share of rows that is worth a line.
_DRAWN, _OVERLAP, _MOST_OVERLAPS = 20_000, 0.05, 12
# Deviations to which an ellipse reaches, and how many points it is drawn with.
_REACHES, _AROUND = (1.0, 2.0), np.linspace(0, 2 * np.pi, 73)


def context(release: Release) -> dict[str, Any]:
    """Return what the template needs; components that never saw the rows are not drawn."""
    mixture, found = gaussians_of(release), release.signal != "none"
    k, d = mixture.means.shape
    columns = _by_spread(mixture)[:_MOST_COLUMNS]
    return {
        "k": k,
        "d": d,
        "found": found,
        "rows_in_all": f"{max(0.0, float(release.arrays['n_rows'][0])):,.0f}",
        "shapes": _SHAPES[str(release.parameters["covariance_type"])],
        "background": f"{100 * mixture.background:.1f} %" if mixture.background else "",
        "weights": _weights(release),
        "picture": _picture(release, mixture) if found else None,
        "overlaps": _overlaps(mixture) if found and k > 1 else [],
        "labels": list(range(min(k, _MOST_COMPONENTS))),
        "columns": [_column(release, int(j)) for j in columns],
        "in_table": min(k, _MOST_COMPONENTS),
    }


_SHAPES = {
    "full": "Every component has a shape of its own.",
    "tied": "All components share one shape.",
    "diag": "Components stretch along the columns.",
    "spherical": "Components are round.",
}


def _weights(release: Release) -> list[dict[str, Any]]:
    arrays = release.arrays
    told = zip(arrays["weights"], arrays["weights_error"], arrays["hidden"], strict=True)
    return [
        {
            "label": label,
            "weight": f"{100 * weight:.1f} %",
            "error": f"{format_error(200 * error)} points",
            "hidden": bool(hidden),
        }
        for label, (weight, error, hidden) in enumerate(told)
    ]


def _column(release: Release, j: int) -> dict[str, Any]:
    """Return the means and widths of all components in one column."""
    arrays = release.arrays
    widths = np.sqrt(arrays["covariances"][:_MOST_COMPONENTS, j, j])
    told = zip(arrays["means"][:, j], arrays["means_error"][:, j], widths, strict=False)
    return {
        "name": release.schema.numeric[j],
        "cells": [
            f"{give_or_take(f'{mean:.4g}', error)}; {width:.3g}" for mean, error, width in told
        ],
    }


def _by_spread(mixture: Gaussians) -> list[int]:
    """Return the columns, those first in which components differ most for their widths."""
    middle = mixture.weights @ mixture.means
    between = mixture.weights @ (mixture.means - middle) ** 2
    within = mixture.weights @ np.diagonal(mixture.covariances, axis1=1, axis2=2)
    return [int(j) for j in np.argsort(-between / within, kind="stable")]


def _overlaps(mixture: Gaussians) -> list[dict[str, Any]]:
    """Return pairs of components whose rows are often more probable in the other one."""
    rows, labels = mixture.draw(_DRAWN, np.random.default_rng(0))
    k = mixture.n_components
    told = mixture.joint(rows)[:, :k].argmax(axis=1)
    confused = np.bincount(labels * k + told, minlength=k * k).reshape(k, k)
    both = confused.sum(axis=1)[:, None] + confused.sum(axis=1)
    shares = (confused + confused.T) / np.maximum(both, 1)
    pairs = [(float(shares[i, j]), i, j) for i in range(k) for j in range(i)]
    pairs = sorted((pair for pair in pairs if pair[0] > _OVERLAP), reverse=True)
    return [
        {"one": j, "other": i, "share": f"{100 * share:.0f} %"}
        for share, i, j in pairs[:_MOST_OVERLAPS]
    ]


def _picture(release: Release, mixture: Gaussians) -> str:
    """Draw the components in the two columns in which they differ most, or along one column."""
    columns = _by_spread(mixture)[:2]
    names = [short_name(release.schema.numeric[j]) for j in columns]
    shown = range(min(mixture.n_components, _MOST_COMPONENTS))

    def draw(figure: Figure) -> None:
        ax = figure.subplots()
        for label in shown:
            strength = 0.35 + 0.65 * float(mixture.weights[label] / mixture.weights.max())
            for line in _outlines(mixture, label, columns):
                ax.plot(*line, color=ACCENT, alpha=strength, linewidth=1.2)
            at = mixture.means[label, columns]
            height = float(at[1]) if len(columns) > 1 else 0.0
            ax.annotate(str(label), (float(at[0]), height), ha="center", color=INK, fontsize=9)
        ax.set_xlabel(names[0], color=MUTED)
        ax.set_ylabel(names[1] if len(names) > 1 else "density", color=MUTED)
        ax.tick_params(length=0, labelcolor=MUTED, labelsize=7 if is_narrow(figure) else 9)

    what = "Ellipses" if len(columns) > 1 else "Densities"
    alt = f"{what} of {len(shown)} components in {' and '.join(names)}."
    return inline_svg("components", alt, (WIDTH, 5.0), draw, narrow_height=3.6)


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
