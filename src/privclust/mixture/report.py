"""What the report of a mixture shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privclust.release.release import Release


def context(release: Release) -> dict[str, Any]:
    """Return what the template needs."""
    return {"k": len(release.arrays["weights"])}
