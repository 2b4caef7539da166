"""The statement of a data set as one HTML page that a steward can hand to an auditor.

The page loads nothing from elsewhere and runs no script; it serves light, dark and print.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

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
    places = [_WIDTH * part for part in _parts_of_the_way(moments)]
    most = max(moment.granted for moment in moments)

    def steps(heights: list[int]) -> str:
        path, before = "", _HEIGHT
        for x, height in zip(places, heights, strict=True):
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


def _parts_of_the_way(moments: Sequence[Moment]) -> list[float]:
    """Return where moments lie between the first (0) and the last (1).

    A ledger keeps minutes. In the first hour, entries are set apart evenly, in their order: most
    would lie on top of each other otherwise.
    """
    begin, end = moments[0].at, moments[-1].at
    if end - begin < timedelta(hours=1):
        return [place / max(len(moments) - 1, 1) for place in range(len(moments))]
    return [(moment.at - begin) / (end - begin) for moment in moments]


def _time(at: str) -> str:
    return datetime.fromisoformat(at).strftime("%Y-%m-%d %H:%M UTC")
