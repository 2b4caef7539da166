"""Matplotlib figures as inline SVG that takes its colours and fonts from the page around it.

A figure is drawn in placeholder colours, which become CSS variables of the page, so that one
picture serves light, dark and print. It is drawn twice, for a wide page and for a phone, and the
page shows one of them: shrunk to a phone, the letters of the wide one would be illegible. Equal
figures give equal text: no clock, no random ids.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from html import escape
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WIDTH = 8.6  # inches; the page shows it about 860 pixels wide
NARROW = 3.75  # as wide as a phone shows it, 360 pixels

INK, MUTED, LINE, ACCENT = "#010201", "#010202", "#010203", "#010204"
ABOVE, BELOW, PAPER = "#010205", "#010206", "#010207"
# The colours of groups, as many as a reader can tell apart.
GROUPS = tuple(f"#01021{number}" for number in range(1, 9))
_VARIABLES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    LINE: "var(--line)",
    ACCENT: "var(--accent)",
    ABOVE: "var(--above)",
    BELOW: "var(--below)",
    PAPER: "var(--paper)",
    **{colour: f"var(--c{number})" for number, colour in enumerate(GROUPS, start=1)},
}

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be searched, selected and read aloud
    "svg.hashsalt": "privclust",
    "text.parse_math": False,  # a column may be called "$x$"
    "font.family": "DejaVu Sans",  # comes with Matplotlib, so sizes are the same everywhere
    "font.size": 9.0,
    "text.color": INK,
    "axes.prop_cycle": f"cycler('color', ['{INK}'])",
    "axes.labelcolor": MUTED,
    "axes.edgecolor": LINE,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": INK,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
}
# Matplotlib keeps its settings for all threads, so one figure is drawn at a time.
_drawing = Lock()

_TAG = re.compile(r"<[^>]*>")
_COLOUR = re.compile("|".join(_VARIABLES))
_FONT = re.compile(r"\s*font-family:[^;\"]*;?|(?<=font: )([\d.]+px) [^;\"]*")
_LONGEST_NAME = 26


def inline_svg(
    name: str,
    alt: str,
    size: tuple[float, float],
    draw: Callable[[Figure], None],
    *,
    narrow_height: float | None = None,
) -> str:
    """Draw a figure and return it as two ``<svg>`` elements, for a wide page and for a phone.

    ``name``: unique in the page; ids within the picture begin with it. ``alt``: what the picture
    shows, for those who cannot see it. ``draw``: draws on the given figure; :func:`is_narrow` says
    which of the two it is. ``narrow_height``: height for a phone, in inches; the same if not given.
    """
    height = size[1] if narrow_height is None else narrow_height
    wide = _draw(size, draw)
    narrow = _draw((NARROW, height), draw)
    return _inline(wide, name, alt, "wide") + _inline(narrow, f"{name}-narrow", alt, "narrow")


def is_narrow(figure: Figure) -> bool:
    """Return whether a figure is drawn for a phone."""
    return float(figure.get_figwidth()) < (NARROW + WIDTH) / 2


def _draw(size: tuple[float, float], draw: Callable[[Figure], None]) -> str:
    import matplotlib
    from matplotlib.figure import Figure

    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    buffer = io.StringIO()
    with _drawing, matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        # Letters that Matplotlib's font lacks are drawn by the browser, which has them.
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*")
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        _settle(figure)
        figure.savefig(buffer, format="svg", metadata=nothing, transparent=True)
    return buffer.getvalue()


def _settle(figure: Figure) -> None:
    """Lay the figure out, and round where its axes lie.

    The last bits of a layout differ from run to run, and ids are made of them; a report is compared
    with what the release makes of itself, to the letter.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = (round(end, 6) for end in axes.get_position().bounds)
        axes.set_position((left, bottom, width, height))


def short_name(name: str, longest: int = _LONGEST_NAME) -> str:
    """Return a column name that fits next to a picture: one line, printable, not too long."""
    line = "".join(char if char.isprintable() else " " for char in name)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _inline(svg: str, name: str, alt: str, width: str) -> str:
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<style.*?</style>", "", body, flags=re.DOTALL)
    box = re.search(r'viewBox="[^"]*"', body)
    head = (
        f'<svg class="plot {width}" role="img" aria-label="{escape(alt)}" {box[0] if box else ""}>'
        f"<title>{escape(alt)}</title>"
    )
    # Column names are text between tags, where "<" is escaped; only tags are rewritten.
    body = _TAG.sub(lambda tag: _restyle(tag[0], name), body[body.index(">") + 1 :])
    return head + body.strip()


def _restyle(tag: str, name: str) -> str:
    tag = _COLOUR.sub(lambda colour: _VARIABLES[colour[0]], tag)
    tag = _FONT.sub(lambda font: font[1] + " inherit" if font[1] else "", tag)
    tag = re.sub(r'\bid="', f'id="{name}-', tag)
    tag = re.sub(r'(xlink:href="|url\()#', rf"\1#{name}-", tag)
    return tag.replace("xlink:href", "href").replace("\n", " ")
