"""Before the door only ``public``, ``door`` and ``view`` of a shape of data may be imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import privclust

PACKAGE = Path(privclust.__file__).parent
# What an algorithm, a release, a report or a command may see of ``privclust.data``.
OPEN = re.compile(
    r"privclust\.data\.(points|table|matrix|sites|baselines)\.(public|door|view)$"
    r"|privclust\.data\.sites\.metrics$|privclust\.data\.view$|privclust\.data\.engines\.progress$"
    r"|privclust\.data\.(checking|check_report|copied)$"  # for the holder's eyes alone
)
FAMILIES = ("kmeans", "categorical", "coclustering", "source_target")
BEFORE = [
    path
    for folder in (*FAMILIES, "baselines", "release", "reports", "cli")
    for path in sorted((PACKAGE / folder).rglob("*.py"))
]


def imported(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, those inside functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


@pytest.mark.parametrize("path", BEFORE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_what_is_public_is_seen_before_the_door(path: Path) -> None:
    seen = {name for name in imported(path) if name.startswith("privclust.data")}
    assert not {name for name in seen if not OPEN.match(name)}


@pytest.mark.parametrize("shape", ["points", "table", "matrix", "sites", "baselines"])
def test_every_shape_of_data_has_the_same_roles(shape: str) -> None:
    files = {path.stem for path in (PACKAGE / "data" / shape).glob("*.py")}
    assert files >= {"public", "door", "view", "kernels"}
