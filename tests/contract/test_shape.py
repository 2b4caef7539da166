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


# Words that end like participles and are none, or are the term of art: "weighted k-means".
NO_PARTICIPLES = {
    "bounded", "capped", "clipped", "coclustering", "embed", "exceed", "expected", "fitted",
    "joined", "known", "left", "listed", "missing", "mixed", "needed", "normalised", "padded",
    "paid", "planned", "planted", "pooled", "read", "reseed", "seed", "shared", "shown",
    "spanning", "spent", "squared", "stored", "taken", "typed", "undeclared", "weighted",
    "written",
}  # fmt: skip
# What is left to be renamed: no more than so many.
PARTICIPLES_LEFT = 45


def test_functions_have_verbs_and_nouns_for_names(trees: dict[str, ast.Module]) -> None:
    found = {
        f"{name}: {function.name}"
        for name, tree in trees.items()
        if not name.startswith("service/")
        for function in functions(tree)
        if not any("property" in ast.unparse(d) for d in function.decorator_list)
        and re.fullmatch(r"\w{3,}(ed|ing)", word := function.name.strip("_").split("_")[0])
        and word not in NO_PARTICIPLES
    }
    assert len(found) <= PARTICIPLES_LEFT, sorted(found)


# Roles that every shape of data or family has; other names of files stand for one thing each.
ROLES = {
    "__init__", "audited", "door", "estimator", "kernels", "plan", "predicting", "private",
    "public", "published", "release", "report", "result", "rows", "task", "view",
}  # fmt: skip


def test_a_name_of_a_file_stands_for_one_thing() -> None:
    stems: dict[str, list[str]] = {}
    for name in TEXTS:
        if not name.startswith(("cli/", "service/")):  # which show what others do
            stems.setdefault(Path(name).stem, []).append(name)
    twice = {stem: names for stem, names in stems.items() if len(names) > 1 and stem not in ROLES}
    assert {*twice} <= {
        "answers", "arrays", "base", "facts", "files", "kinds", "matrices", "metrics", "signal",
        "statement", "tasks", "words",
    }  # fmt: skip


def test_a_long_function_is_seen() -> None:
    code = "def long():\n    '''Say.'''\n" + "    x = 1\n" * MOST_LINES_OF_A_FUNCTION
    assert [lines_of(function) for function in functions(ast.parse(code))] == [41]
