"""What the report of private bounds shows: the range of each column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privclust.bounds.release import lines_of, rows_in_words

if TYPE_CHECKING:
    from privclust.release.release import Release

__all__ = ["bounds_context"]


def bounds_context(release: Release) -> dict[str, Any]:
    """Return what the template needs."""
    arrays = release.arrays
    return {
        "lines": lines_of(release),
        "rows": rows_in_words(float(arrays["n_rows"][0]), float(arrays["n_rows_error"][0])),
        "hidden": int((~arrays["found"]).sum()),
        "outside": f"{100 * float(release.parameters['outside_share']):g} %",
    }
