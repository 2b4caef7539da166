"""The public side of a fit: targets, candidates, weights and bounds, checked one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from privclust.data.sites.view import Metric, TargetSpace, embedded
from privclust.exceptions import SchemaError
from privclust.schema import Schema

__all__ = ["METRICS", "PublicTargets", "checked_table", "declared_schema", "public_table"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

METRICS: tuple[Metric, ...] = ("euclidean", "manhattan", "cosine", "haversine", "precomputed")

_GLOBE = np.array([-90.0, -180.0]), np.array([90.0, 180.0])


@dataclass(frozen=True)
class PublicTargets:
    """Whom to serve, and from where.

    Attributes
    ----------
    table : ndarray of shape (n_targets, n_columns)
        The targets as given; distances between them if these are precomputed.
    candidates : ndarray of shape (n_candidates, n_columns)
        Where centres may stand, as given; the targets themselves if nothing else is.
    space : TargetSpace
        The targets as the metric sees them.
    places : ndarray of shape (n_candidates, dimension)
        The candidates in that space.
    weights : ndarray of shape (n_targets,)
    allowed, forced : ndarray of int
        Numbers of the candidates that may be chosen freely, and of those that must be.
    names : tuple of str or None
        Names of the columns of the targets, if they have any.
    """

    table: Floats
    candidates: Floats
    space: TargetSpace
    places: Floats
    weights: Floats
    allowed: Indices
    forced: Indices
    names: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        target: Any,
        *,
        metric: Metric = "euclidean",
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
        table = checked_table(target, "target", metric)
        others = table if candidates is None else checked_table(candidates, "candidates", metric)
        if others.shape[1] != table.shape[1]:
            raise ValueError(
                f"candidates have {others.shape[1]} columns where target has {table.shape[1]}; "
                "give both the same columns."
            )
        if metric == "precomputed" and table.shape[0] != table.shape[1]:
            raise ValueError(
                "Precomputed distances between targets must be a square table; give one row and "
                "one column per target."
            )
        axes = _projection(embedded(table[:1], metric).shape[1], projection, metric, rng)
        if metric == "precomputed":
            space, places = TargetSpace(np.empty((len(table), 0)), metric), others
        else:
            space = TargetSpace(TargetSpace(table, metric, axes).place(table), metric, axes)
            places = space.place(others)
        banned, must = (
            _checked_numbers(numbers, len(others), name)
            for numbers, name in ((forbidden, "forbidden"), (forced, "forced"))
        )
        if set(banned) & set(must):
            raise ValueError("A candidate cannot be both forbidden and forced; drop it from one.")
        heavy = _weights(weights, len(table))
        # As everywhere in scikit-learn, a row of weight zero is as good as absent.
        possible = np.arange(len(others)) if candidates is not None else np.flatnonzero(heavy)
        free = np.setdiff1d(possible, np.concatenate([banned, must]))
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
        """Return the number of centres, or raise if there are not so many candidates."""
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
        raise ValueError(
            f"{name} holds missing or infinite numbers; fill them in or drop the rows."
        )
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
        raise ValueError(f"{name} holds complex numbers (Complex data not supported); give reals.")
    return numbers


def declared_schema(public: PublicTargets, schema: Any, bounds: tuple[Any, Any] | None) -> Schema:
    """Return the bounds of the source columns: declared, or else drawn around the targets."""
    n_columns, names = public.table.shape[1], public.names
    if public.metric == "haversine" and names is None:
        names = ("latitude", "longitude")
    low_high = _bounds_around(public) if schema is None and bounds is None else bounds
    declared = Schema.of(schema, bounds=low_high, names=names, n_columns=n_columns)
    if len(declared.numeric) != n_columns or declared.categorical:
        raise SchemaError(
            f"The schema declares {len(declared.numeric)} numeric columns where target has "
            f"{n_columns}; declare a Box for each column of the target and nothing else."
        )
    if public.metric == "haversine":
        low, high = _GLOBE
        if (declared.low < low).any() or (declared.high > high).any():
            raise SchemaError(
                "Bounds for haversine distances must lie within -90 to 90 degrees of latitude and "
                "-180 to 180 of longitude; narrow them."
            )
    return declared


def _bounds_around(public: PublicTargets) -> tuple[Floats, Floats]:
    """Return public bounds that reach well beyond the targets."""
    if public.metric == "haversine":
        return _GLOBE
    low, high = public.table.min(axis=0), public.table.max(axis=0)
    if public.metric == "precomputed":
        farthest = float(high.max()) or 1.0
        return np.zeros_like(low), np.full_like(high, 4 * farthest)
    if public.metric == "cosine":
        largest = 2 * float(max(np.abs(low).max(), np.abs(high).max())) or 1.0
        return np.full_like(low, -largest), np.full_like(high, largest)
    widths = high - low
    # A column that is the same in all targets is given the width of the widest.
    widths = np.where(widths > 0, widths, max(float(widths.max()), 1.0))
    return low - widths, high + widths


def checked_table(table: Any, name: str, metric: Metric) -> Floats:
    """Return public points that the metric can measure, or raise with one sentence."""
    array = public_table(table, name)
    if metric == "haversine":
        if array.shape[1] != 2:
            raise ValueError(
                f"Haversine distances need two columns, latitude and longitude in degrees; {name} "
                f"has {array.shape[1]}."
            )
        low, high = _GLOBE
        if (array < low).any() or (array > high).any():
            raise ValueError(
                f"{name} holds a latitude beyond ±90 or a longitude beyond ±180 degrees; give "
                "latitude first, then longitude, in degrees."
            )
    if metric == "precomputed" and (array < 0).any():
        raise ValueError(f"{name} holds negative distances; correct them.")
    if metric == "cosine" and (np.linalg.norm(array, axis=1) == 0).any():
        raise ValueError(f"{name} holds a row of zeros, which has no angle; drop it.")
    return array


def _projection(
    width: int, dimension: int | None, metric: Metric, rng: np.random.Generator | None
) -> Floats | None:
    """Return random orthonormal axes, or none if nothing is to be projected."""
    if dimension is None:
        return None
    if metric != "euclidean":
        raise ValueError(
            f"A random projection keeps Euclidean distances only; drop projection= or {metric!r}."
        )
    if not dimension >= 1:
        raise ValueError(f"projection must be at least 1, got {dimension!r}.")
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


def _checked_numbers(numbers: Sequence[int], count: int, name: str) -> Indices:
    array = np.asarray(numbers)
    if not array.size:
        return np.empty(0, np.intp)
    whole = array.ndim == 1 and np.issubdtype(array.dtype, np.integer)
    if not whole or array.min() < 0 or array.max() >= count:
        raise ValueError(f"{name} must be numbers of candidates, from 0 to {count - 1}.")
    # In the order given: forced candidates come first in the released order, as the user put them.
    return np.asarray(list(dict.fromkeys(array.tolist())), np.intp)


def _column_names(table: Any) -> tuple[str, ...] | None:
    """Return the names of the columns, if they have any."""
    columns = getattr(table, "column_names", getattr(table, "columns", None))
    named = columns is not None and all(isinstance(name, str) for name in columns)
    return tuple(columns) if columns is not None and named else None
