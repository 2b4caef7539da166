"""The metrics of source-target clustering: one record each, and nothing about metrics elsewhere.

A metric embeds the user's columns so that the nearest point is the nearest by a plain norm, and
maps straight lengths back to its own distances. All of it is public geometry; rows are embedded by
the same record behind the door.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from privclust._typing import Floats

# Metrics of points, and tables of distances, which need no points.
CoordinateMetric = Literal["euclidean", "manhattan", "cosine", "haversine"]
MetricName = CoordinateMetric | Literal["precomputed"]

Range = tuple[Floats, Floats]

EARTH_RADIUS_KM = 6371.0088
_GLOBE = np.array([-90.0, -180.0]), np.array([90.0, 180.0])


def _identity(values: Floats) -> Floats:
    return values


def _any_table(table: Floats, name: str) -> None:
    """Accept any finite numbers."""


def _well_beyond(table: Floats) -> Range:
    low, high = table.min(axis=0), table.max(axis=0)
    widths = high - low
    # A column that is the same in all targets is given the width of the widest.
    widths = np.where(widths > 0, widths, max(float(widths.max()), 1.0))
    return low - widths, high + widths


@dataclass(frozen=True)
class Metric:
    """How distances are measured."""

    name: MetricName
    # From the user's columns to coordinates in which nearest means nearest by the norm.
    embed: Callable[[Floats], Floats] = _identity
    invert: Callable[[Floats], Floats] = _identity  # the inverse, as far as there is one
    # From lengths of straight lines between embedded points to distances of the metric.
    lengths: Callable[[Floats], Floats] = _identity
    order: int = 2  # the exponent of the norm
    # Takes a public table and its name; raises ``ValueError`` if the metric does not apply.
    check: Callable[[Floats, str], None] = _any_table
    # From the table of targets to bounds that reach well beyond them.
    bounds_around: Callable[[Floats], Range] = _well_beyond
    limits: Range | None = None  # what declared bounds must lie within; ``limits_in_words`` says so
    limits_in_words: str = ""
    column_names: tuple[str, ...] | None = None  # the names of unnamed columns
    unit: str = ""  # the unit of distances
    # Whether points have coordinates at all; whether these are on a sphere around the origin;
    # whether a random projection keeps distances; whether columns are latitude and longitude.
    has_coordinates: bool = True
    on_sphere: bool = False
    projectable: bool = False
    geographic: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        # A record travels by its name: the functions in it are the same everywhere.
        return _metric_named, (self.name,)

    def distances(self, rows: Floats, columns: Floats) -> Floats:
        """Return the distances of embedded points, rows by columns; each row by itself."""
        from scipy.spatial.distance import cdist  # slow to import, and not needed by reports

        norm: Literal["cityblock", "euclidean"] = "cityblock" if self.order == 1 else "euclidean"
        return self.lengths(np.asarray(cdist(rows, columns, norm)))


def _unit_vectors(points: Floats) -> Floats:
    """Return rows of length one; a row of zeros has no angle and stays at the origin."""
    # In column order, a row would be added up in another order than if it were alone.
    lengths = np.linalg.norm(np.ascontiguousarray(points), axis=1, keepdims=True)
    return np.asarray(points / np.where(lengths > 0, lengths, 1))


def _check_angles(table: Floats, name: str) -> None:
    if (np.linalg.norm(table, axis=1) == 0).any():
        raise ValueError(f"{name} holds a row of zeros, which has no angle; drop it.")


def _around_the_origin(table: Floats) -> Range:
    low, high = table.min(axis=0), table.max(axis=0)
    largest = 2 * float(max(np.abs(low).max(), np.abs(high).max())) or 1.0
    return np.full_like(low, -largest), np.full_like(high, largest)


def _in_space(degrees: Floats) -> Floats:
    """Return latitudes and longitudes as unit vectors in space."""
    latitude, longitude = np.deg2rad(degrees).T
    flat = np.cos(latitude)
    return np.column_stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)])


def _in_degrees(places: Floats) -> Floats:
    x, y, z = places.T
    return np.asarray(np.degrees([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)]).T)


def _on_the_globe(straight: Floats) -> Floats:
    return np.asarray(2 * EARTH_RADIUS_KM * np.arcsin(np.minimum(straight / 2, 1)))


def _check_degrees(table: Floats, name: str) -> None:
    if table.shape[1] != 2:
        raise ValueError(
            f"Haversine distances need two columns, latitude and longitude in degrees; {name} "
            f"has {table.shape[1]}."
        )
    low, high = _GLOBE
    if (table < low).any() or (table > high).any():
        raise ValueError(
            f"{name} holds a latitude beyond ±90 or a longitude beyond ±180 degrees; give "
            "latitude first, then longitude, in degrees."
        )


def _check_lengths(table: Floats, name: str) -> None:
    if (table < 0).any():
        raise ValueError(f"{name} holds negative distances; correct them.")


def _from_nothing(table: Floats) -> Range:
    low, high = table.min(axis=0), table.max(axis=0)
    farthest = float(high.max()) or 1.0
    return np.zeros_like(low), np.full_like(high, 4 * farthest)


_RECORDS = (
    Metric("euclidean", projectable=True),
    Metric("manhattan", order=1),
    Metric(
        "cosine",
        embed=_unit_vectors,
        lengths=lambda straight: np.asarray(straight**2 / 2),  # one minus the cosine
        check=_check_angles,
        bounds_around=_around_the_origin,
        on_sphere=True,
    ),
    Metric(
        "haversine",
        embed=_in_space,
        invert=_in_degrees,
        lengths=_on_the_globe,
        check=_check_degrees,
        bounds_around=lambda table: _GLOBE,
        limits=_GLOBE,
        limits_in_words="-90 to 90 degrees of latitude and -180 to 180 of longitude",
        column_names=("latitude", "longitude"),
        unit="km",
        on_sphere=True,
        geographic=True,
    ),
    Metric(
        "precomputed",
        check=_check_lengths,
        bounds_around=_from_nothing,
        has_coordinates=False,
    ),
)
METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _RECORDS})


def _metric_named(name: str) -> Metric:
    return METRICS[name]
