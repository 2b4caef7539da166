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


# Words that end like participles and are none.
NO_PARTICIPLES = {
    "coclustering", "embed", "encoding", "exceed", "missing", "read", "reseed", "scaling", "seed",
    "spacing",
}  # fmt: skip
PREPOSITIONS = {"after", "as", "at", "by", "for", "from", "in", "of", "on", "to", "with"}


def test_functions_have_verbs_and_nouns_for_names(trees: dict[str, ast.Module]) -> None:
    """A participle may stand before a noun, "noisy counts", but not for what is done or spent."""
    found = {
        f"{name}: {function.name}"
        for name, tree in trees.items()
        for function in functions(tree)
        if not any("property" in ast.unparse(d) for d in function.decorator_list)
        and is_participle(function.name)
    }
    assert not found


def is_participle(name: str) -> bool:
    """Tell whether a name says neither what is done nor what there is: "scaled", "vouched_for"."""
    first, *others = name.strip("_").split("_")
    is_one = re.fullmatch(r"[a-z]{2,}(ed|ing)", first) and first not in NO_PARTICIPLES
    return bool(is_one) and (not others or others[0] in PREPOSITIONS)


@pytest.mark.parametrize("name", ["scaled", "vouched_for", "_clipping", "granted_in_all"])
def test_a_participle_is_seen(name: str) -> None:
    assert is_participle(name)


@pytest.mark.parametrize("name", ["scale", "noised_counts", "_seed", "weighted_kmeans"])
def test_verbs_and_nouns_are_not_taken_for_participles(name: str) -> None:
    assert not is_participle(name)


# Roles that every shape of data or family has, or many packages: what their kinds share (base),
# which there are (kinds), what is answered, what is stated of privacy, and sentences (words). Rows,
# matrices and schemas come in memory and in files. Other names of files stand for one thing each.
ROLES = {
    "__init__", "answers", "base", "door", "estimator", "files", "kernels", "kinds", "matrices",
    "plan", "predicting", "private", "public", "published", "release", "report", "result", "rows",
    "statement", "task", "view", "words",
}  # fmt: skip


def test_a_name_of_a_file_stands_for_one_thing() -> None:
    stems: dict[str, list[str]] = {}
    for name in TEXTS:
        if not name.startswith(("cli/", "service/")):  # which show what others do
            stems.setdefault(Path(name).stem, []).append(name)
    twice = {stem: names for stem, names in stems.items() if len(names) > 1 and stem not in ROLES}
    # The facts that a schema declares, and those that a release is introduced by.
    assert {*twice} == {"facts"}


def test_a_long_function_is_seen() -> None:
    code = "def long():\n    '''Say.'''\n" + "    x = 1\n" * MOST_LINES_OF_A_FUNCTION
    assert [lines_of(function) for function in functions(ast.parse(code))] == [41]
