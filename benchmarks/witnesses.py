"""What replay finds: in published implementations, in toys with a planted fault, and in ours.

Usage: ``python benchmarks/witnesses.py``. It replays every witness of ``examples/witnesses``, every
toy of ``planted_faults.py`` and every family of ours on all pairs of ``privclust audit --exact``,
one run each, and draws the tables of two pages. It takes seconds.
"""

from __future__ import annotations

import argparse
import math
import runpy
from pathlib import Path

from keeping import Row, markdown, put_table, read_rows, run_line, write_rows
from planted_faults import FAULTY, ROWS
from privclust.audit import ReplayReport, replay
from privclust.budget import Budget
from privclust.cli.audit import audit_subject
from privclust.families import FAMILIES

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "examples" / "witnesses"
PAGE = ROOT / "docs" / "how" / "witnesses.md"
GUIDE = ROOT / "docs" / "how" / "replay.md"
BUDGETS = ((1.0, 0.0), (1.0, 1e-6))


def told(report: ReplayReport) -> Row:
    """Return what a report says."""
    return {
        "claimed": f"{float(report.claimed.epsilon):g}",
        "delta": f"{float(report.claimed.delta):g}",
        "epsilon": "infinite" if math.isinf(report.epsilon) else f"{report.epsilon:.3g}",
        "verdict": report.verdict,
        "fault": report.faults[0] if report.faults else "",
    }


def replay_published() -> list[Row]:
    """Return what the replay of every witness found."""
    rows = []
    for script in sorted(SCRIPTS.glob("*.py")):
        names = runpy.run_path(str(script))
        rows.append({"witness": script.stem, "pair": names["PAIR"], **told(names["find"]())})
    return rows


def replay_toys() -> list[Row]:
    """Return what the replay of every toy found."""
    return [
        {"part": "toy", "mechanism": toy.__name__.replace("_", " "), "pairs": 1}
        | told(replay(toy, ROWS, neighbour, 1, noise="numpy"))
        for toy, (neighbour, _) in FAULTY.items()
    ]


def replay_ours() -> list[Row]:
    """Return what was found in our own fits: of all pairs the one that tells most."""
    rows = []
    for family in FAMILIES:
        for epsilon, delta in BUDGETS:
            fit, pairs = audit_subject(family.command, epsilon=epsilon, delta=delta)
            claimed = Budget(epsilon, delta)
            reports = [replay(fit, p.left, p.right, claimed, unit=p.unit) for p in pairs]
            worst = max(reports, key=lambda found: (bool(found.faults), found.epsilon))
            rows.append(
                {"part": "ours", "mechanism": family.command, "pairs": len(pairs)} | told(worst)
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


def found_table(rows: list[Row]) -> str:
    """Return the table of toys and of ours."""
    heads = ["mechanism", "pairs", "claimed ε", "δ", "measured ε", "verdict", "first fault"]
    lines = [
        [f"{row['part']}: {row['mechanism']}", row["pairs"], row["claimed"], row["delta"],
         row["epsilon"], row["verdict"], row["fault"]]
        for row in rows
    ]  # fmt: skip
    return f"{markdown(heads, lines)}\n\n{run_line(rows, 'replayed')}"


def main() -> None:
    """Replay, keep and draw."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    write_rows("witnesses", replay_published(), seed=0, setting="one run")
    write_rows("replayed", [*replay_toys(), *replay_ours()], seed=0, setting="one run")
    published, found = make_table(read_rows("witnesses")), found_table(read_rows("replayed"))
    put_table(PAGE, "witnesses", published)
    put_table(GUIDE, "replayed", found)
    print(f"{published}\n\n{found}")


if __name__ == "__main__":
    main()
