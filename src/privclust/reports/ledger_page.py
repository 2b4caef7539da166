"""The statement of a data set as one HTML page that a steward can hand to an auditor.

The page loads nothing from elsewhere and runs no script; it serves light, dark and print.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from privclust.ledger.amounts import ATTO, PICO, decimal
from privclust.ledger.chain import receipt_of
from privclust.ledger.sentences import granted_words, left_words, loss_words
from privclust.ledger.statement import LedgerStatement, Moment
from privclust.reports.templates import rendered

__all__ = ["BurnDown", "burn_down_of", "html_statement"]

_WIDTH, _HEIGHT = 800.0, 150.0


@dataclass(frozen=True)
class BurnDown:
    """A burn-down as two SVG paths in a box of 800 by 150, and the words on its axes."""

    granted: str
    left: str
    area: str
    most: str
    begin: str
    end: str


def html_statement(statement: LedgerStatement) -> str:
    """Return the statement as one self-contained HTML page."""
    return rendered(
        "reports/ledger_page.html.j2",
        {
            "statement": statement,
            "time": _time,
            "receipt": receipt_of,
            "loss": lambda entry: loss_words(entry.epsilon, entry.delta),
            "rho": lambda entry: decimal(entry.rho) if entry.rho else "",
            "delta": f"{statement.granted.delta / ATTO:g}",
            "epsilon": decimal(statement.granted.epsilon),
            "pots": [
                (pot, granted_words(pot), left_words(pot), burn_down_of(statement.burn_down(pot)))
                for pot in statement.pots
            ],
        },
    )


def burn_down_of(moments: Sequence[Moment]) -> BurnDown:
    """Return the picture of how a pot was filled and emptied.

    Parameters
    ----------
    moments : sequence of Moment
        At least one, oldest first.
    """
    begin, end = moments[0].at, moments[-1].at
    seconds = max((end - begin).total_seconds(), 1.0)
    most = max(moment.granted for moment in moments)

    def steps(heights: list[int]) -> str:
        path, before = "", _HEIGHT
        for moment, height in zip(moments, heights, strict=True):
            x = _WIDTH * (moment.at - begin).total_seconds() / seconds
            y = _HEIGHT * (1 - height / most)
            path += f"L{x:.1f} {before:.1f}L{x:.1f} {y:.1f}" if path else f"M{x:.1f} {y:.1f}"
            before = y
        return path

    left = steps([moment.left for moment in moments])
    return BurnDown(
        steps([moment.granted for moment in moments]),
        left,
        f"{left}L{_WIDTH} {_HEIGHT}L0 {_HEIGHT}Z",
        f"{most / PICO:g}",
        _time(begin.isoformat()),
        _time(end.isoformat()),
    )


def _time(at: str) -> str:
    return datetime.fromisoformat(at).strftime("%Y-%m-%d %H:%M UTC")
