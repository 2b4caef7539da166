"""Before the door only ``public``, ``door`` and ``view`` of a shape of data may be imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import privclust
from privclust.families import FAMILIES

PACKAGE = Path(privclust.__file__).parent
# What an algorithm, a release, a report or a command may see of what is behind the door.
OPEN = re.compile(
    r"privclust\.data\.(points|table|matrix|sites|numbers|papers)\.(public|door|view)$"
    r"|privclust\.data\.sites\.distances$|privclust\.data\.(view|public)$"
    r"|privclust\.data\.question$"  # what a row can change, for plans
)
NAMES = tuple(family.folder for family in FAMILIES)


def files_of(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((PACKAGE / folder).rglob("*.py"))]


# What is as published has no privacy to keep, and reads rows as it likes.
BEFORE = [
    path
    for path in files_of(*NAMES, "papers", "jobs", "release", "reports", "cli")
    if path.name != "published.py"
]
BEHIND = [*files_of("data", "privacy", "unit", "schema"), PACKAGE / "budget.py"]


def imported(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, those inside functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_only_what_is_public_is_seen_before_the_door() -> None:
    seen = {
        (str(path.relative_to(PACKAGE)), name)
        for path in BEFORE
        for name in imported(path)
        if name.startswith("privclust.data")
    }
    assert seen, "the families see what is public of their data"
    assert not {(path, name) for path, name in seen if not OPEN.match(name)}


def test_what_is_behind_the_door_knows_no_family() -> None:
    before = tuple(f"privclust.{name}." for name in (*NAMES, "papers"))
    assert not {path for path in BEHIND for name in imported(path) if name.startswith(before)}


SHAPES = [
    PACKAGE / "data" / name for name in ("points", "table", "matrix", "sites", "numbers", "papers")
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda folder: folder.name)
def test_every_shape_of_data_has_the_same_roles(shape: Path) -> None:
    files = {path.stem for path in shape.glob("*.py")}
    assert files >= {"public", "view", "kernels"}
    # The door itself is short and stands with its view, unless it has more to decide.
    doors = [path.stem for path in shape.glob("*.py") if "    def private(" in path.read_text()]
    assert doors == (["door"] if "door" in files else ["view"])
