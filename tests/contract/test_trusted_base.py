"""What must be trusted is a list, it stays small, and it rests on nothing outside.

*Trusted* is what sees rows, exact statistics, noise or the meter: an error there can break the
promise, and the proofs speak of it. ``proofs/README.md`` says in which order to read it.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "privclust"
PAGE = ROOT / "proofs" / "README.md"

# What fits an afternoon: the argument itself.
AFTERNOON = (
    "data/columns/table.py",
    "data/question.py",
    "data/view.py",
    "privacy/meter.py",
    "budget.py",
    "privacy/mechanisms.py",
    "data/people.py",
    "data/points/view.py",
    "data/table/view.py",
    "data/table/asked.py",
    "data/sites/view.py",
    "data/numbers/view.py",
    "data/matrix/view.py",
    "fitting.py",
    "unit/base.py",
    "unit/rows.py",
    "unit/matrix.py",
)
REST = (
    "privacy/statement.py",
    "privacy/noise/*.py",
    "data/columns/counts.py",
    "data/columns/kinds.py",
    "data/columns/refusals.py",
    "data/columns/written.py",
    "data/door.py",
    "data/encode.py",
    "data/rows.py",
    "data/engines/base.py",
    "data/engines/local.py",
    "data/matrix/kernels.py",
    "data/matrix/rows.py",
    "data/numbers/kernels.py",
    "data/points/components.py",
    "data/points/door.py",
    "data/points/kernels.py",
    "data/points/mixed.py",
    "data/points/public.py",
    "data/sites/kernels.py",
    "data/sites/distances.py",
    "data/sites/public.py",
    "data/table/as_points.py",
    "data/table/codes.py",
    "data/table/cut.py",
    "data/table/kernels.py",
)
# Questions that only papers and rivals ask: proved and tested alike, and no part of the product.
PAPERS = ("data/papers/*.py",)
# Declarations, arguments of questions and noisy answers: they see no row, and what is proved holds
# whatever they say. So do the sentences of refusals, and how much memory is free.
PUBLIC = (
    "exceptions",
    "_typing",
    "schema",
    "data.columns.words",
    "data.public",
    "data.matrix.public",
    "data.numbers.public",
    "data.table.public",
    "unit",
)
MOST_LINES, MOST_IN_AN_AFTERNOON = 5000, 1900


def files(*patterns: str) -> list[Path]:
    found = [sorted(PACKAGE.glob(pattern)) for pattern in patterns]
    assert all(found), "every pattern names a file"
    return [path for paths in found for path in paths]


def code_lines(path: Path) -> int:
    """Return the lines of code, without blank lines, comments and docstrings."""
    text = path.read_text("utf-8")
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                documented.update(range(first.lineno, (first.end_lineno or 0) + 1))
    blank = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (*blank, tokenize.ENDMARKER):
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - documented)


def total(*patterns: str) -> int:
    return sum(map(code_lines, files(*patterns)))


def imported(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a file imports, those for type checkers aside."""
    tree = ast.parse(path.read_text("utf-8"))
    for_types = [n for n in ast.walk(tree) if isinstance(n, ast.If) and _is_for_types(n.test)]
    skipped = {child for node in for_types for child in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node not in skipped and node.module:
            yield from (_module(node.module, name.name) for name in node.names)


def _is_for_types(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _module(module: str, name: str) -> str:
    """Return the module that a name comes from: itself one, or one that holds it."""
    below = PACKAGE / Path(*module.split(".")[1:]) / f"{name}.py"
    return f"{module}.{name}" if module.startswith("privclust") and below.is_file() else module


def test_the_trusted_base_is_small() -> None:
    assert total(*AFTERNOON, *REST) <= MOST_LINES


def test_the_argument_fits_an_afternoon() -> None:
    assert total(*AFTERNOON) <= MOST_IN_AN_AFTERNOON


def test_what_is_behind_the_door_is_listed() -> None:
    behind = {path for folder in ("data", "privacy") for path in (PACKAGE / folder).rglob("*.py")}
    modules = {f"{name.replace('.', '/')}.py" for name in PUBLIC}
    listed = {*files(*AFTERNOON, *REST, *PAPERS)} | {PACKAGE / module for module in modules}
    inits = {path for path in behind if path.name == "__init__.py"}
    assert behind - listed - inits == set()


@pytest.mark.parametrize(
    "path", files(*AFTERNOON, *REST, *PAPERS), ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_what_is_trusted_rests_on_what_is_trusted(path: Path) -> None:
    listed = {
        "privclust." + str(p.relative_to(PACKAGE)).removesuffix(".py").replace("/", ".")
        for p in files(*AFTERNOON, *REST, *(PAPERS if "papers" in path.parts else ()))
    }
    packages = {"privclust.privacy.noise", *(f"privclust.{name}" for name in PUBLIC)}
    for module in imported(path):
        if module.startswith("privclust"):
            public = any(module == name or module.startswith(f"{name}.") for name in packages)
            assert module in listed or public, f"{path.name} imports {module}"


def counted(text: str) -> str:
    """Return the page with the lines that are there now."""
    for name in AFTERNOON:
        text = re.sub(rf"`{re.escape(name)}`: \d+", f"`{name}`: {total(name)}", text)
    sums = iter([total(*AFTERNOON), total(*AFTERNOON, *REST)])
    return re.sub(r"\*\*\d+ lines\*\*", lambda _: f"**{next(sums)} lines**", text)


def test_the_page_says_how_much_there_is_to_read() -> None:
    """The page names every file of the afternoon, in the order of this list, and both sums."""
    text = PAGE.read_text("utf-8")
    named = [name for name in re.findall(r"`([\w/]+\.py)`: \d+", text) if name in AFTERNOON]
    assert named == list(AFTERNOON)
    assert len(re.findall(r"\*\*\d+ lines\*\*", text)) == 2
    assert counted(text) == text, "python tests/contract/test_trusted_base.py counts again"


if __name__ == "__main__":
    PAGE.write_text(counted(PAGE.read_text("utf-8")), "utf-8")
