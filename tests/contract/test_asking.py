"""Whoever reads an algorithm sees by its names where the budget goes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import privclust
from privclust.families import FAMILIES

PACKAGE = Path(privclust.__file__).parent
ASKING = ("ask_", "_ask")


def called(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    for family in (*(family.folder for family in FAMILIES), "papers"):
        for path in sorted((PACKAGE / family).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.FunctionDef):
                    yield f"{path.relative_to(PACKAGE)}: {node.name}", node


def test_whatever_calls_what_spends_is_called_so_itself() -> None:
    spending = {
        name: node for name, node in functions() if any(c.startswith(ASKING) for c in called(node))
    }
    assert len(spending) > 60
    assert [n for n, node in spending.items() if not f"{node.name}_".startswith(ASKING)] == []
