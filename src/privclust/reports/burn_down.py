"""The burn-down of a data set as a picture file: one panel for each holder's pot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privclust.exceptions import LedgerError
from privclust.ledger.amounts import ATTO, PICO
from privclust.ledger.statement import LedgerStatement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "burn_down_figure"]

FORMATS = (".svg", ".png", ".pdf")


def burn_down_figure(statement: LedgerStatement) -> Figure:
    """Draw how the grants on a data set were used up.

    Parameters
    ----------
    statement : LedgerStatement
        The data set; at least one grant must be in it.
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
