"""What the kinds of release check alike; each raises one sentence that says what to mend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privclust.exceptions import ReleaseError

if TYPE_CHECKING:
    from privclust.release.release import Release

__all__ = ["check_centres", "check_not_negative"]


def check_centres(release: Release, name: str) -> None:
    """Raise unless an array has at least one centre, with a coordinate for each numeric column."""
    count, coordinates = release.arrays[name].shape
    if not count:
        raise ReleaseError(f"A {release.kind} release needs at least one centre; fit it again.")
    columns = len(release.schema.numeric)
    if coordinates != columns:
        raise ReleaseError(
            f"The centres have {coordinates} coordinates where the schema declares {columns} "
            "numeric columns; give one coordinate per Box column."
        )


def check_not_negative(release: Release, *names: str) -> None:
    """Raise if one of these arrays has an entry below zero."""
    for name in names:
        if (release.arrays[name] < 0).any():
            raise ReleaseError(f"The array {name!r} has negative entries; correct it.")
