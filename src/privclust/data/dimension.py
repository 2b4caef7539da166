"""How many coordinates a row may have: with more, sums of squares could be rounded."""

from __future__ import annotations

from privclust.exceptions import SchemaError

# Lengths are clipped, and inner products are exact, up to so many; see ``proofs/points.md``.
MOST_COORDINATES = 2**16


def check_dimension(dimension: int) -> None:
    """Raise if rows of so many coordinates could not be added up exactly."""
    if dimension > MOST_COORDINATES:
        raise SchemaError(
            f"Rows of {dimension} coordinates cannot be added up exactly, which the promise rests "
            f"on; declare at most {MOST_COORDINATES} (a column of numbers is one, one of "
            "categories has one for each)."
        )
