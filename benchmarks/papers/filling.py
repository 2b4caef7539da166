"""Pages from files: tables, plots and claims of the four papers, drawn from results alone.

A page has markers, ``<!-- table: NAME -->`` and ``<!-- end: NAME -->``, and what stands between
them is written here. Where a file is not there the page says so.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from claims import claims_table
from drawing import DOTS, FIGURES, draw, draw_dots, draw_ranks
from pictures import PICTURES
from pivoting import Rows, rows_in
from shown import TABLES

from keeping import put_table

__all__ = ["PAGES", "fill", "filled", "markers"]

ROOT = Path(__file__).parents[2]
PAGES = (
    *("research/index.md", "zones.md"),
    *(f"research/{name}.md" for name in ("dp-tau-cc", "nas-nna", "dp-dilca")),
    *(f"research/{name}-tables.md" for name in ("dp-tau-cc", "zones", "nas-nna", "dp-dilca")),
)
_START = re.compile(r"<!-- table: ([\w-]+) -->")


def markers(page: Path) -> list[str]:
    """Return the names of the tables of a page."""
    return _START.findall(page.read_text("utf-8"))


def filled(name: str, rows: Rows) -> str:
    """Return what belongs between the markers of a name."""
    if name.endswith("-claims"):
        return claims_table(name.removesuffix("-claims"), rows)
    return TABLES[name](rows)


def fill(results: Path, pages: Path) -> None:
    """Fill the pages and draw the figures; pages that are not there are copied first."""
    rows = rows_in(results)
    for name in PAGES:
        page = pages / name
        if not page.exists():
            page.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "docs" / name, page)
        for table in markers(page):
            put_table(page, table, filled(table, rows))
    for figure in FIGURES:
        draw(figure, rows, pages / "figures")
    for dots in DOTS:
        draw_dots(dots, rows, pages / "figures")
    draw_ranks(rows, pages / "figures")
    for picture, drawn in PICTURES.items():
        if not (path := pages / "figures" / f"{picture}.png").exists():  # they never change
            drawn(path)
