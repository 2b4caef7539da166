"""What leaves the door (``Noisy``), and public points between data units and the unit ball."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.schema.coordinates import Coordinates


@dataclass(frozen=True)
class Noisy:
    """A released value and the standard deviation of the noise on each of its entries."""

    value: Floats
    standard_error: float


# Public points in the units of the data and in the unit ball; no rows.


class _UnitBall:
    """The map between the declared region and the ball of radius one around the origin."""

    center: Floats
    radius: float
    scales: Floats  # what counts as one in each coordinate

    def to_unit_ball(self, points: Floats) -> Floats:
        """Map public points from the units of the data to the unit ball."""
        return (points - self.center) / (self.scales * self.radius)

    def to_data_units(self, points: Floats) -> Floats:
        """Map points of the unit ball back to the units of the data, maybe beyond the bounds."""
        return points * (self.scales * self.radius) + self.center


class PublicBox(_UnitBall):
    """Points of a region of numbers."""

    low: Floats
    high: Floats
    widths: Floats
    has_shares = False

    @property
    def scales(self) -> Floats:  # type: ignore[override]
        """What counts as one in each column."""
        return self.widths

    def in_data_units(self, points: Floats) -> Floats:
        """Return points of the unit ball in the units of the data, within the declared bounds."""
        return np.clip(self.to_data_units(points), self.low, self.high)

    def feasible(self, points: Floats) -> Floats:
        """Return points of the unit ball as they are; few of them are outside the box."""
        return points

    def box_in_unit_ball(self) -> tuple[Floats, Floats]:
        """Return the declared bounds in the unit ball."""
        return self.to_unit_ball(self.low), self.to_unit_ball(self.high)


class PublicShares(_UnitBall):
    """Points of a region of numbers and categories: numbers, and shares of categories."""

    coordinates: Coordinates
    has_shares = True

    def in_data_units(self, points: Floats) -> Floats:
        """Return points of the unit ball as numbers within their bounds and possible shares."""
        return self.coordinates.project(self.to_data_units(points))

    def feasible(self, points: Floats) -> Floats:
        """Return the points of the unit ball that are released for such points."""
        return self.to_unit_ball(self.in_data_units(points))

    def box_in_unit_ball(self) -> tuple[Floats, Floats]:
        """Return the bounds of the coordinates in the unit ball."""
        low, high = self.coordinates.low, self.coordinates.high
        return self.to_unit_ball(low), self.to_unit_ball(high)
