"""What the published methods leave open."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NearestSettings"]


@dataclass(frozen=True)
class NearestSettings:
    """Settings of ``"nna"`` and ``"nas"``; the defaults are those of the estimator.

    Attributes
    ----------
    radius : float
        How far a target may lie from the coreset, in radii of the targets.
    coreset : {"auto", "halving", "net"} or None
        How the coreset is made; None for none.
    n_nearest : int
        t of NAS: how many sources each site averages.
    spread_share : float or None
        What NAS pays for Δ_t(S), if it is wanted.
    counts_share : float
        What NNA pays for counts; sums get the rest.
    false_cells : float
        How many empty cells NNA may take for occupied on average; the paper's γ is about that of
        one cell.
    pull : bool
        Whether NNA pulls a point that noise threw out of its cell back to its border.
    """

    radius: float = 0.1
    coreset: str | None = "auto"
    n_nearest: int = 150
    spread_share: float | None = None
    counts_share: float = 0.7
    false_cells: float = 0.05
    pull: bool = True
