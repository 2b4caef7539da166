"""The kind "mixture": what it holds, how it labels rows, what it says in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from privclust.exceptions import ReleaseError
from privclust.mixture.model import COVARIANCE_TYPES, Gaussians
from privclust.release.facts import Facts, Listing, cluster_tables, missing_listing, missing_values
from privclust.release.kinds import (
    ReleaseKind,
    check_centres,
    check_not_negative,
    register_kind,
)
from privclust.reports.axes import draw_bubbles, pick_columns
from privclust.reports.values import (
    TWO_ERRORS,
    column_label,
    describe,
    describe_share,
    describe_size,
    describe_width,
)
from privclust.schema.facts import Box

if TYPE_CHECKING:
    from privclust.release.release import Release


def gaussians_of(release: Release) -> Gaussians:
    """Return the mixture of a release, in the units of the data."""
    arrays, schema = release.arrays, release.schema
    components = arrays["weights"], arrays["means"], arrays["covariances"]
    volume = float(np.prod(schema.high - schema.low))
    return Gaussians(*components, float(arrays["background_weight"][0]), volume)


def labels(release: Release, X: Any) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the most probable component of every row."""
    from privclust.holder.answers import OwnPoints
    from privclust.opening.rows import open_points

    with open_points(X, schema=release.schema, ignore=None) as opened:
        yield from OwnPoints(opened).of_each(gaussians_of(release).label)


def tables(release: Release) -> dict[str, pa.Table]:
    """Return the means and the sizes of the components."""
    arrays = release.arrays
    rows = max(0.0, float(arrays["n_rows"][0]))
    sizes = rows * arrays["weights"], rows * arrays["weights_error"]
    return cluster_tables(
        release.schema, arrays["means"], arrays["means_error"], *sizes, release.about.names
    )


def plot_components(release: Release, ax: Any, columns: Sequence[str] | None) -> None:
    """Draw the means in two columns, as large as their weights, with one and two deviations."""
    arrays, schema = release.arrays, release.schema
    names = pick_columns(schema, columns, arrays["means"], arrays["weights"])
    places = [schema.numeric.index(name) for name in names]
    draw_bubbles(ax, schema, names, arrays["means"], arrays["weights"], named=True)
    if len(places) < 2:
        ax.set_ylabel("weight")
        return
    angles = np.linspace(0, 2 * np.pi, 73)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    for mean, covariance in zip(arrays["means"], arrays["covariances"], strict=True):
        around = np.linalg.cholesky(covariance[np.ix_(places, places)]) @ circle
        for reach in (1, 2):
            ax.plot(*(mean[places, None] + reach * around), color="0.4", linewidth=0.8)


def _check(release: Release) -> None:
    arrays = release.arrays
    check_centres(release, "means")
    check_not_negative(release, "weights", "weights_error", "means_error")
    covariances = arrays["covariances"]
    if release.parameters.get("covariance_type") not in COVARIANCE_TYPES:
        raise ReleaseError(
            f"The parameter 'covariance_type' must be one of {', '.join(COVARIANCE_TYPES)}; "
            "correct it."
        )
    if not (arrays["weights"] > 0).all() or abs(float(arrays["weights"].sum()) - 1) > 1e-6:
        raise ReleaseError("The array 'weights' must be above zero and add up to one; correct it.")
    if not 0 <= float(arrays["background_weight"][0]) < 1:
        raise ReleaseError("The array 'background_weight' must be from 0 to below 1; correct it.")
    symmetric = np.allclose(covariances, covariances.swapaxes(1, 2))
    if not symmetric or np.linalg.eigvalsh(covariances).min() <= 0:
        raise ReleaseError(
            "The array 'covariances' must hold symmetric matrices with variances above zero; "
            "correct it."
        )


def _facts(release: Release) -> Facts:
    arrays, names = release.arrays, release.schema.numeric
    boxes = [fact for fact in release.schema.columns.values() if isinstance(fact, Box)]
    deviations = np.sqrt(np.diagonal(arrays["covariances"], axis1=1, axis2=2))
    background = float(arrays["background_weight"][0])
    number = (float(arrays[name][0]) for name in ("n_rows", "n_rows_error"))
    lines, values = [], []
    for label, (weight, error) in enumerate(
        zip(arrays["weights"], arrays["weights_error"], strict=True)
    ):
        mean, noise = arrays["means"][label], arrays["means_error"][label]
        told = zip(boxes, mean.tolist(), noise.tolist(), deviations[label].tolist(), strict=True)
        shown = [f"{describe(box, m, e)}, wide {describe_width(box, s)}" for box, m, e, s in told]
        name = release.about.names[label] if release.about.names else str(label)
        lines.append([name, describe_share(float(weight), float(error)), *shown])
        values.append(
            {
                "weight": float(weight),
                "weight_error": float(error),
                "mean": dict(zip(names, mean.tolist(), strict=True)),
                "mean_error": dict(zip(names, noise.tolist(), strict=True)),
                "covariance": arrays["covariances"][label].tolist(),
                "hidden": bool(arrays["hidden"][label]),
            }
        )
    return Facts(
        summary=[
            ("components", str(len(lines))),
            ("columns", str(len(names))),
            ("rows, with noise", describe_size(*number)),
            *([("in no component", f"{100 * background:.1f} %")] if background else []),
        ],
        listings=[
            Listing(["component", f"weight {TWO_ERRORS}", *map(column_label, names, boxes)], lines),
            *missing_listing(release),
        ],
        values={"components": values, "background_weight": background} | missing_values(release),
    )


register_kind(
    ReleaseKind(
        name="mixture",
        title="Gaussian mixture",
        arrays={
            "weights": ("k",),
            "weights_error": ("k",),
            "means": ("k", "d"),
            "means_error": ("k", "d"),
            "covariances": ("k", "d", "d"),
            "hidden": ("k",),
            "background_weight": ("one",),
            "n_rows": ("one",),
            "n_rows_error": ("one",),
        },
        check=_check,
        facts=_facts,
        template="mixture/report.html.j2",
        details="mixture/details.html.j2",
        context="privclust.mixture.report:context",
        tables="privclust.mixture.release:tables",
        plot="privclust.mixture.release:plot_components",
        labels=labels,
        named=("component", "weights"),
    )
)
