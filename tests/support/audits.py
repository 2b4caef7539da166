"""Audits that need few runs: of an event named before the runs, and of flaws that are gross.

The auditor knows nothing of what it watches, so it spends two thirds of the runs on learning and
choosing an event. Where the evidence of a transcript is at hand, the best event is that it exceeds
a threshold; a test names the threshold, and all of its runs count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

from privclust.audit import AuditReport, audit, auditor
from privclust.audit.bounds import epsilon_bound
from privclust.budget import Budget

ERROR = 0.05


def evidence_bound(
    evidence: Callable[[int, int], Any], budget: Budget, threshold: float, runs: int
) -> float:
    """Return a lower bound on ε from how often evidence exceeds a threshold on either side.

    Parameters
    ----------
    evidence : callable
        ``evidence(side, runs)`` returns the evidence for the right side in so many runs.
    budget : Budget
        The claim, whose δ the bound is for.
    threshold : float
        Named before the runs.
    runs : int
        On each side.
    """
    hits = [int(np.count_nonzero(np.asarray(evidence(s, runs)) > threshold)) for s in (0, 1)]
    return float(epsilon_bound(hits[1], hits[0], runs, ERROR, float(budget.delta)))


def quick_audit(fit: Any, pair: Any, claimed: Budget, runs: int, **options: Any) -> AuditReport:
    """Let the auditor look at fewer runs than it thinks worth while: enough for a gross flaw.

    Of ``runs`` a third is counted. An event that always happens on one side and never on the other
    shows ε > 2 in thirty runs, ε > 2.5 in fifty.
    """
    with patch.object(auditor, "FEWEST_RUNS", runs):
        return audit(fit, pair, claimed, runs, random_state=0, **options)
