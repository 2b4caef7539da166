"""Files and functions fit in the head, and names of arrays have one home."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import privclust

PACKAGE = Path(privclust.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES_OF_A_FILE = 500
# The docstring is not counted: readers of ``help`` come first.
MOST_LINES_OF_A_FUNCTION = 40

TEXTS = {file.relative_to(PACKAGE).as_posix(): file.read_text("utf-8") for file in FILES}


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """Every file of the package, parsed."""
    return {name: ast.parse(text) for name, text in TEXTS.items()}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines from ``def`` to the end, without those of the docstring."""
    first, length = function.body[0], (function.end_lineno or 0) - function.lineno + 1
    documented = ast.get_docstring(function) is not None
    return length - ((first.end_lineno or 0) - first.lineno + 1 if documented else 0)


def test_files_fit_in_the_head() -> None:
    lengths = {name: len(text.splitlines()) for name, text in TEXTS.items()}
    assert not {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FILE}


def test_functions_fit_in_the_head(trees: dict[str, ast.Module]) -> None:
    long = {
        f"{name}: {function.name}": lines_of(function)
        for name, tree in trees.items()
        for function in functions(tree)
        if lines_of(function) > MOST_LINES_OF_A_FUNCTION
    }
    assert not long


def test_every_file_says_what_belongs_in_it(trees: dict[str, ast.Module]) -> None:
    assert not [name for name, tree in trees.items() if not ast.get_docstring(tree)]


def test_names_of_plain_arrays_have_one_home() -> None:
    alias = re.compile(r"^[A-Z]\w* = (?:npt\.)?NDArray\[[\w.]+\]$", re.M)
    assert [name for name, text in TEXTS.items() if alias.search(text)] == ["_typing.py"]


def test_a_name_stands_for_one_class(trees: dict[str, ast.Module]) -> None:
    homes: dict[str, list[str]] = {}
    for name, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(name)
    assert not {name: files for name, files in homes.items() if len(files) > 1}


def test_a_long_function_is_seen() -> None:
    code = "def long():\n    '''Say.'''\n" + "    x = 1\n" * MOST_LINES_OF_A_FUNCTION
    assert [lines_of(function) for function in functions(ast.parse(code))] == [41]
