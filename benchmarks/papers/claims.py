"""The papers' claims in words, and what the results say of each: holds, does not, cannot be told.

A verdict is computed from the files, and the figures behind it stand beside it; a claim on theory
has a verdict of its own and the place of its argument.
"""

from __future__ import annotations

import claims_dilca
import claims_targets
import claims_tau
import claims_zones
from pivoting import Line, Rows

from keeping import markdown

__all__ = ["CLAIMS", "claims_table"]

CLAIMS = {
    "tau": claims_tau.CLAIMS,
    "zones": claims_zones.CLAIMS,
    "targets": claims_targets.CLAIMS,
    "dilca": claims_dilca.CLAIMS,
}


class Read(dict[str, list[Line]]):
    """Rows of results that remember which files were looked at."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> list[Line]:
        """Return the rows of a file."""
        self.names.add(name)
        return super().__getitem__(name)


def claims_table(paper: str, rows: Rows) -> str:
    """Return the claims of one paper as a table; from small runs, a verdict is but a hint."""
    lines = []
    for claim in CLAIMS[paper]:
        read = Read(rows)
        try:
            verdict, figures = claim.judged(read)
        except (KeyError, IndexError, ValueError):  # a file or a set that it needs is not there
            verdict, figures = "not tried yet", ""
        else:
            full = all(row["setting"] == "full" for name in read.names for row in rows[name])
            if not (full or claim.sure):
                verdict = f"a hint, from few runs or sets: {verdict.strip('*')}"
        lines.append([claim.words, verdict, figures])
    table = markdown(["the paper says", "verdict", "what says so"], lines)
    return f"{table}\n\n{judged_from(paper, rows)}"


def judged_from(paper: str, rows: Rows) -> str:
    """Return at which settings the files of a paper were run; few runs are no proof."""
    found: dict[str, list[str]] = {}
    for name, lines in rows.items():
        if name.startswith(f"{paper}-"):
            settings = " and ".join(dict.fromkeys(line["setting"] for line in lines))
            found.setdefault(settings, []).append(name)
    told = "; ".join(f"{setting}: {', '.join(names)}" for setting, names in found.items())
    return f"*Verdicts follow from the files, run at these settings: {told or 'none yet'}.*"
