"""What the kinds of release check alike; each raises one sentence that says what to correct."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privclust.exceptions import ReleaseError
from privclust.schema.coordinates import Coordinates

if TYPE_CHECKING:
    from privclust.release.release import Release

__all__ = ["check_centres", "check_coordinates", "check_not_negative"]


def check_centres(release: Release, name: str) -> None:
    """Raise unless an array has at least one centre, as wide as the schema says."""
    count, coordinates = release.arrays[name].shape
    if not count:
        raise ReleaseError(f"A {release.kind} release needs at least one centre; fit it again.")
    check_coordinates(release, coordinates, "centres")


def check_coordinates(release: Release, n_coordinates: int, what: str) -> None:
    """Raise unless the schema declares this many numbers and categories."""
    declared = Coordinates(release.schema).dimension
    if n_coordinates != declared:
        raise ReleaseError(
            f"The {what} have {n_coordinates} coordinates where the schema declares {declared} "
            "numbers and categories; give one coordinate for each Box and each category."
        )


def check_not_negative(release: Release, *names: str) -> None:
    """Raise if one of these arrays has an entry below zero."""
    for name in names:
        if (release.arrays[name] < 0).any():
            raise ReleaseError(f"The array {name!r} has negative entries; correct it.")
