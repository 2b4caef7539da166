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
MOST_LINES_OF_A_FILE = 300
# The docstring is not counted: readers of ``help`` come first.
MOST_LINES_OF_A_FUNCTION = 40

each_file = pytest.mark.parametrize(
    "path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix()
)


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines from ``def`` to the end, without those of the docstring."""
    first, length = function.body[0], (function.end_lineno or 0) - function.lineno + 1
    documented = ast.get_docstring(function) is not None
    return length - ((first.end_lineno or 0) - first.lineno + 1 if documented else 0)


@each_file
def test_a_file_fits_in_the_head(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= MOST_LINES_OF_A_FILE


@each_file
def test_a_function_fits_in_the_head(path: Path) -> None:
    lengths = {function.name: lines_of(function) for function in functions(path)}
    assert not {name: n for name, n in lengths.items() if n > MOST_LINES_OF_A_FUNCTION}


@each_file
def test_a_file_says_what_belongs_in_it(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text("utf-8")))


@each_file
def test_names_of_plain_arrays_have_one_home(path: Path) -> None:
    defined = re.findall(r"^[A-Z]\w* = (?:npt\.)?NDArray\[[\w.]+\]$", path.read_text("utf-8"), re.M)
    assert path.name == "_typing.py" or not defined


def test_a_long_function_is_seen(tmp_path: Path) -> None:
    code = "def long():\n    '''Say.'''\n" + "    x = 1\n" * MOST_LINES_OF_A_FUNCTION
    (tmp_path / "long.py").write_text(code)
    assert [lines_of(function) for function in functions(tmp_path / "long.py")] == [41]
