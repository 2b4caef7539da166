"""Published implementations that do not keep their claim: replays every witness, writes its table.

Usage: ``python benchmarks/witnesses.py``. One pair and one run each; it takes seconds.
"""

from __future__ import annotations

import argparse
import math
import runpy
from pathlib import Path

from keeping import Row, markdown, put_table, read_rows, run_line, write_rows

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "examples" / "witnesses"
PAGE = ROOT / "docs" / "how" / "witnesses.md"


def replay_all() -> list[Row]:
    """Return what the replay of every witness found."""
    rows = []
    for script in sorted(SCRIPTS.glob("*.py")):
        names = runpy.run_path(str(script))
        report = names["find"]()
        rows.append(
            {
                "witness": script.stem,
                "pair": names["PAIR"],
                "claimed": f"{float(report.claimed.epsilon):g}",
                "delta": f"{float(report.claimed.delta):g}",
                "epsilon": "infinite" if math.isinf(report.epsilon) else f"{report.epsilon:.3g}",
                "verdict": report.verdict,
                "fault": report.faults[0] if report.faults else "",
            }
        )
    return rows


def make_table(rows: list[Row]) -> str:
    """Return the table of the page."""
    heads = ["witness", "pair", "claimed ε", "δ", "measured ε", "first fault"]
    lines = [
        [f"`examples/witnesses/{row['witness']}.py`", row["pair"], row["claimed"], row["delta"],
         row["epsilon"], row["fault"]]
        for row in rows
    ]  # fmt: skip
    return f"{markdown(heads, lines)}\n\n{run_line(rows, 'witnesses')}"


def main() -> None:
    """Replay, keep and draw."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    write_rows("witnesses", replay_all(), seed=0, setting="one run")
    table = make_table(read_rows("witnesses"))
    put_table(PAGE, "witnesses", table)
    print(table)


if __name__ == "__main__":
    main()
