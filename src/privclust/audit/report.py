"""What an audit hands back: the bound, the verdict, and the event that bears witness."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from privclust.audit.events import Side
from privclust.budget import Budget

__all__ = ["AuditReport", "Verdict", "Witness"]

Verdict = Literal["violated", "not refuted"]


@dataclass(frozen=True)
class Witness:
    """The event on which a bound rests.

    Attributes
    ----------
    pair : str
        Name of the neighbouring pair.
    event : str
        The event in words.
    likelier : {"left", "right"}
        The data set of the pair on which it happens more often.
    left_hits, right_hits : int
        How often it happened on each.
    runs : int
        Fresh runs on each.
    features : dict from str to (float, float)
        The features that decide whether it happens, the most important first, and the range in
        which nine tenths of their values lie when it does; NaN where there is no such number.
    """

    pair: str
    event: str
    likelier: Side
    left_hits: int
    right_hits: int
    runs: int
    features: dict[str, tuple[float, float]]

    def __str__(self) -> str:
        return (
            f"pair '{self.pair}', event '{self.event}': {self.left_hits} of {self.runs} runs on "
            f"the left, {self.right_hits} of {self.runs} on the right"
        )


@dataclass(frozen=True)
class AuditReport:
    """What an audit found.

    Attributes
    ----------
    epsilon_lower : float
        With probability at least ``confidence``, the true ε at the claimed δ is not below this.
    confidence : float
    claimed : Budget
        The claim under audit.
    verdict : {"violated", "not refuted"}
        "violated" if ``epsilon_lower`` exceeds the claimed ε. "not refuted" is not a proof: a
        flaw may show on other data or after more runs.
    witness : Witness or None
        The event behind ``epsilon_lower``; None if all outputs were the same.
    """

    epsilon_lower: float
    confidence: float
    claimed: Budget
    verdict: Verdict
    witness: Witness | None

    def __str__(self) -> str:
        delta = f", δ = {float(self.claimed.delta):g}" if self.claimed.delta else ""
        lines = [
            f"Privacy claim {self.verdict}: ε = {float(self.claimed.epsilon):g}{delta}",
            f"  found    ε >= {self.epsilon_lower:.3f} with {self.confidence:.4g} confidence",
        ]
        if self.witness is None:
            lines.append("  witness  none: every run gave the same output")
        else:
            lines.append(f"  witness  {self.witness}")
            ranges = [_with_range(*item) for item in self.witness.features.items()]
            lines.append(f"  features {', '.join(ranges) or 'none stands out'}")
        return "\n".join(lines)


def _with_range(name: str, bounds: tuple[float, float]) -> str:
    low, high = bounds
    return name if math.isnan(low) else f"{name} (mostly {low:.4g} to {high:.4g})"
