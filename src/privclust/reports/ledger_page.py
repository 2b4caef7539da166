"""The statement of a data set as one page for an auditor, with its burn-down.

The page loads nothing from elsewhere and runs no script; it serves light, dark and print.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from privclust.exceptions import LedgerError
from privclust.ledger.accounting import ATTO, PICO, decimal
from privclust.ledger.chain import receipt_of
from privclust.ledger.statement import BalanceAt, LedgerStatement
from privclust.ledger.words import grant_phrase, left_phrase, loss_words
from privclust.reports.page import render

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# The burn-down of a data set as a picture file: one panel for each holder's pot.

FORMATS = (".svg", ".png", ".pdf")


def burn_down_figure(statement: LedgerStatement) -> Figure:
    """Draw how the grants on a data set were spent.

    ``statement``: of a data set with at least one grant.
    """
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.figure import Figure

    if not statement.pots:
        raise LedgerError(
            f"Nothing was granted on {statement.dataset!r} yet, so there is nothing to draw; grant "
            "something first ('privclust ledger grant')."
        )
    count = len(statement.pots)
    figure = Figure(figsize=(8.0, 0.9 + 2.2 * count), layout="constrained")
    panels = figure.subplots(count, 1, squeeze=False, sharex=True)[:, 0]
    for axes, pot in zip(panels, statement.pots, strict=True):
        moments = statement.burn_down(pot)
        times = [moment.at for moment in moments]
        left = [moment.left / PICO for moment in moments]
        granted = [moment.granted / PICO for moment in moments]
        axes.fill_between(times, left, step="post", alpha=0.2, color="#2c6496", linewidth=0)
        axes.step(times, left, where="post", color="#2c6496", label="largest next fit")
        axes.step(times, granted, where="post", color="#7a7f87", linestyle="--", label="granted")
        delta = f" with δ = {pot.granted.delta / ATTO:g}" if pot.granted.delta else ""
        axes.set_title(f"{pot.holder}{delta}", loc="left", fontsize=10, parse_math=False)
        axes.set_ylabel("ε")
        axes.set_ylim(0, 1.08 * max(granted))
        locator = AutoDateLocator()  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_locator(locator)
        formatter = ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_formatter(formatter)
        axes.spines[["top", "right"]].set_visible(False)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, fontsize=9, loc="outside upper right", ncols=2)
    title = figure.suptitle(f"Privacy budget of {statement.dataset}", x=0.01, ha="left")
    title.set_parse_math(False)
    return figure


# The statement of a data set as one HTML page that a steward can give to an auditor.

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
    return render(
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
                (pot, grant_phrase(pot), left_phrase(pot), burn_down_of(statement.burn_down(pot)))
                for pot in statement.pots
            ],
        },
    )


def burn_down_of(moments: Sequence[BalanceAt]) -> BurnDown:
    """Return the picture of the grants and charges of a pot."""
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


def _parts_of_the_way(moments: Sequence[BalanceAt]) -> list[float]:
    """Return the times as shares of the span from the first (0) to the last (1).

    A ledger keeps minutes. In the first hour, entries are spaced evenly, in their order: most would
    overlap otherwise.
    """
    begin, end = moments[0].at, moments[-1].at
    if end - begin < timedelta(hours=1):
        return [place / max(len(moments) - 1, 1) for place in range(len(moments))]
    return [(moment.at - begin) / (end - begin) for moment in moments]


def _time(at: str) -> str:
    return datetime.fromisoformat(at).strftime("%Y-%m-%d %H:%M UTC")
