"""Audits that cost little: many answers at once, events named before the runs, and gross flaws.

The auditor knows nothing of what it watches, so it spends two thirds of the runs on learning and
choosing an event. Where the evidence of a transcript is at hand, the best event is that it exceeds
a threshold; a test names the threshold, and all of its runs count.

What is exact about a question is the same in every run, and so is the mechanism, unless it depends
on the answer to another one. The view is asked once, and its mechanism draws the noise of all runs
from the view's own source in one call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

from privclust.audit import auditor
from privclust.audit.auditor import AuditReport, audit
from privclust.audit.events import epsilon_bound
from privclust.budget import Budget
from support.transcripts import Transcript, log_ratio, replaced_draws

ERROR = 0.05


def answers_at_once(ask: Callable[[], object], runs: int) -> list[np.ndarray]:
    """Ask once; return so many answers of each mechanism, before they are scaled."""
    answers: list[np.ndarray] = []

    def draw(original: Any, mechanism: Any, exact: np.ndarray, noise: Any) -> np.ndarray:
        drawn = original(mechanism, np.concatenate([exact] * runs), noise)
        answers.append(drawn.reshape(runs, len(exact), *drawn.shape[1:]))
        return answers[-1][0]

    with replaced_draws(draw):
        ask()
    return answers


def evidence_at_once(ask: Callable[[Any], object], views: Any, side: int, runs: int) -> np.ndarray:
    """Return the evidence of so many runs; see :class:`Transcript`.

    Parameters
    ----------
    ask : callable
        ``ask(view)`` asks one question, or several of which none depends on an answer.
    views : pair of views
    side : 0 or 1
        Whose answers they are.
    runs : int
    """
    transcript, again = Transcript(views, side), Transcript(views, side)
    ask(transcript)
    ask(again)
    for draw, other in zip(transcript.draws, again.draws, strict=True):
        assert draw.mechanism == other.mechanism, "What is asked depends on answers."
        assert np.array_equal(draw.exact, other.exact), "What is asked depends on answers."
    total = np.zeros(runs)
    answers = answers_at_once(lambda: ask(views[side]), runs)
    for draw, twin, many in zip(transcript.draws, transcript.twins, answers, strict=True):
        seen, places = np.unique(many.reshape(runs, -1), axis=0, return_inverse=True)
        each = [
            log_ratio(draw.mechanism, answer.reshape(many.shape[1:]), draw.exact, twin.exact)
            for answer in seen
        ]
        total += np.array(each)[places.reshape(-1)]
    return total if side == 0 else -total


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
    shows ε > 1.5 in twenty runs, ε > 2 in thirty, ε > 2.5 in fifty.
    """
    with patch.object(auditor, "FEWEST_RUNS", runs):
        return audit(fit, pair, claimed, runs, random_state=0, **options)
