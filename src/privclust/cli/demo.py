"""``privclust demo``: from a file to a published report, on synthetic patients."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privclust.cli import screen

__all__ = ["demo"]


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write.")] = Path(
        "demo-release"
    ),
) -> None:
    """Show every step, from schema to report, on synthetic patients."""
    from privclust.cli.demo_patients import run

    places = run(out, _silent if screen.wants_json() else screen.show)
    screen.answer({name: str(path) for name, path in places.items()})


def _silent(part: object) -> None:
    """Say nothing: the answer is for a machine."""
