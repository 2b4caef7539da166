"""The public side of a fit: targets, candidates, weights and bounds, checked one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from privclust._typing import Floats, Indices
from privclust.data.sites.distances import METRICS, Metric
from privclust.data.sites.public import TargetSpace
from privclust.exceptions import SchemaError
from privclust.schema.schema import Schema


@dataclass(frozen=True)
class PublicTargets:
    """Whom to serve, and from where."""

    # (n_targets, n_columns): the targets as given; distances between them if these are precomputed.
    table: Floats
    # (n_candidates, n_columns): where centres may be, as given; the targets themselves if nothing
    # else is given.
    candidates: Floats
    space: TargetSpace  # the targets as the metric sees them
    places: Floats  # (n_candidates, dimension): the candidates in that space
    weights: Floats  # (n_targets,)
    # Numbers of the candidates that may be chosen freely, and of those that must be.
    allowed: Indices
    forced: Indices
    names: tuple[str, ...] | None = None  # names of the columns of the targets, if they have any

    @classmethod
    def of(
        cls,
        target: Any,
        *,
        metric: str = "euclidean",
        candidates: Any = None,
        weights: ArrayLike | None = None,
        forbidden: Sequence[int] = (),
        forced: Sequence[int] = (),
        projection: int | None = None,
        rng: np.random.Generator | None = None,
    ) -> PublicTargets:
        """Return the targets, or raise with one sentence that says what to change."""
        if metric not in METRICS:
            raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}.")
        measure = METRICS[metric]
        table = check_public_table(target, "target", measure)
        others = table if candidates is None else _candidates(candidates, table, measure)
        space = _space(table, measure, projection, rng)
        places = space.place(others) if measure.has_coordinates else others
        heavy = _weights(weights, len(table))
        # As everywhere in scikit-learn, a row of weight zero counts as absent.
        possible = np.arange(len(others)) if candidates is not None else np.flatnonzero(heavy)
        free, must = _choice(possible, len(others), forbidden, forced)
        return cls(table, others, space, places, heavy, free, must, _column_names(target))

    @property
    def metric(self) -> Metric:
        """The metric of the distances."""
        return self.space.metric

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return len(self.weights)

    def check_centres(self, n_centers: Any) -> int:
        """Return the number of centres, or raise if there are fewer candidates."""
        whole = isinstance(n_centers, (int, np.integer)) and not isinstance(n_centers, bool)
        if not whole or n_centers < 1:
            raise ValueError(f"n_centers must be a whole number of at least 1, got {n_centers!r}.")
        if n_centers > len(self.allowed) + len(self.forced):
            raise ValueError(
                f"n_centers={n_centers} is more than the "
                f"{len(self.allowed) + len(self.forced)} candidates that may be chosen "
                f"(n_samples = {self.n_targets}); lower it."
            )
        if n_centers < len(self.forced):
            raise ValueError(
                f"n_centers={n_centers} is less than the {len(self.forced)} forced candidates; "
                "raise it or force fewer."
            )
        return int(n_centers)


def public_table(table: Any, name: str) -> Floats:
    """Return public points as an array, or raise with one sentence."""
    if sparse.issparse(table):
        raise ValueError(f"{name} is a sparse matrix; give a dense one, {name}.toarray().")
    array = _real_numbers(table, name)
    if array.ndim != 2:
        raise ValueError(
            f"Reshape your data: {name} must be a table with one row per point; a single column "
            f"is {name}.reshape(-1, 1)."
        )
    if not array.size:
        rows, columns = array.shape
        raise ValueError(
            f"{name} is empty, with {rows} sample(s) and {columns} feature(s) (shape=({rows}, "
            f"{columns})) while a minimum of 1 is required."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has missing or infinite numbers; fill them in or drop the rows.")
    return array


def _real_numbers(table: Any, name: str) -> Floats:
    """Return numbers in double precision, or raise the kind of error that NumPy has for them."""
    try:
        array = np.asarray(table)
        numbers = None if array.dtype.kind == "c" else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{name} must hold numbers only, but an argument must be a string or a number to be "
            "read as one; convert or drop other columns."
        ) from None
    if numbers is None:
        raise ValueError(f"{name} has complex numbers (Complex data not supported); give reals.")
    return numbers


def source_schema(public: PublicTargets, schema: Any, bounds: tuple[Any, Any] | None) -> Schema:
    """Return the bounds of the source columns: declared, or by default around the targets."""
    n_columns, metric = public.table.shape[1], public.metric
    names = public.names or metric.column_names
    drawn = schema is None and bounds is None
    low_high = metric.bounds_around(public.table) if drawn else bounds
    declared = Schema.of(schema, bounds=low_high, names=names, n_columns=n_columns)
    if len(declared.numeric) != n_columns or declared.categorical:
        raise SchemaError(
            f"The schema declares {len(declared.numeric)} numeric columns where target has "
            f"{n_columns}; declare a Box for each column of the target and nothing else."
        )
    if metric.limits is not None:
        low, high = metric.limits
        if (declared.low < low).any() or (declared.high > high).any():
            raise SchemaError(
                f"Bounds for {metric.name} distances must lie within {metric.limits_in_words}; "
                "narrow them."
            )
    return declared


def check_public_table(table: Any, name: str, metric: Metric) -> Floats:
    """Return public points that the metric can measure, or raise with one sentence."""
    array = public_table(table, name)
    metric.check(array, name)
    return array


def _candidates(candidates: Any, targets: Floats, metric: Metric) -> Floats:
    table = check_public_table(candidates, "candidates", metric)
    if table.shape[1] != targets.shape[1]:
        raise ValueError(
            f"candidates have {table.shape[1]} columns where target has {targets.shape[1]}; "
            "give both the same columns."
        )
    return table


def _space(
    table: Floats, metric: Metric, projection: int | None, rng: np.random.Generator | None
) -> TargetSpace:
    """Return the targets as the metric sees them."""
    if not metric.has_coordinates and table.shape[0] != table.shape[1]:
        raise ValueError(
            "Precomputed distances between targets must be a square table; give one row and "
            "one column per target."
        )
    axes = _projection(metric.embed(table[:1]).shape[1], projection, metric, rng)
    if not metric.has_coordinates:
        return TargetSpace(np.empty((len(table), 0)), metric)
    return TargetSpace(TargetSpace(table, metric, axes).place(table), metric, axes)


def _choice(
    possible: Indices, n_candidates: int, forbidden: Sequence[int], forced: Sequence[int]
) -> tuple[Indices, Indices]:
    """Return the candidates that may be chosen freely, and those that must be."""
    banned = _check_numbers(forbidden, n_candidates, "forbidden")
    must = _check_numbers(forced, n_candidates, "forced")
    if set(banned) & set(must):
        raise ValueError("A candidate cannot be both forbidden and forced; drop it from one.")
    return np.setdiff1d(possible, np.concatenate([banned, must])), must


def _projection(
    width: int, dimension: int | None, metric: Metric, rng: np.random.Generator | None
) -> Floats | None:
    """Return random orthonormal axes, or none if nothing is to be projected."""
    if dimension is None:
        return None
    if not metric.projectable:
        raise ValueError(
            "A random projection keeps Euclidean distances only; drop n_projected= or "
            f"{metric.name!r}."
        )
    if not dimension >= 1:
        raise ValueError(f"n_projected must be at least 1, got {dimension!r}.")
    if dimension >= width:
        return None
    rng = np.random.default_rng() if rng is None else rng
    axes = np.linalg.qr(rng.standard_normal((width, dimension)))[0]
    # Lengths shrink by the root of the ratio of dimensions on average; this undoes it.
    return np.asarray(axes * np.sqrt(width / dimension))


def _weights(weights: ArrayLike | None, n_targets: int) -> Floats:
    if weights is None:
        return np.ones(n_targets)
    array = np.asarray(weights, np.float64)
    valid = array.shape == (n_targets,) and np.isfinite(array).all() and (array >= 0).all()
    if not valid or array.sum() <= 0:
        raise ValueError(
            f"sample_weight must be {n_targets} numbers of at least zero, one per target and not "
            "all of them zero."
        )
    return array


def _check_numbers(numbers: Sequence[int], count: int, name: str) -> Indices:
    array = np.asarray(numbers)
    if not array.size:
        return np.empty(0, np.intp)
    whole = array.ndim == 1 and np.issubdtype(array.dtype, np.integer)
    if not whole or array.min() < 0 or array.max() >= count:
        raise ValueError(f"{name} must be indices of candidates, from 0 to {count - 1}.")
    # In the order given: forced candidates come first in the released order, as the user put them.
    return np.asarray(list(dict.fromkeys(array.tolist())), np.intp)


def _column_names(table: Any) -> tuple[str, ...] | None:
    """Return the names of the columns, if they have any."""
    columns = getattr(table, "column_names", getattr(table, "columns", None))
    named = columns is not None and all(isinstance(name, str) for name in columns)
    return tuple(columns) if columns is not None and named else None
