"""The walks of ``docs/how/extending`` run as they stand, and notice when they are broken.

Their blocks are put together, page by page, as a contributor would; the tests that the pages bring
along are run here. Then a page is spoilt on purpose: its own tests must fail.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from privclust.release import kinds

ROOT = Path(__file__).parents[2]
WALKS = ROOT / "docs" / "how" / "extending"
PAGES = [WALKS / f"{name}.md" for name in ("question", "estimator", "source")]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
TESTS = re.findall(r"^def (test_\w+)\(", "\n".join(page.read_text("utf-8") for page in PAGES), re.M)
# Those that sample; the others know the answer exactly.
AUDITS = {name for name in TESTS if "refuted" in name}
# What to spoil in the code of the pages, and which of their tests has to notice.
FLAWS = {
    "a row is taken to change one count": (
        "Term.within(1, len(self.levels))",
        "Term.within(1)",
        "test_no_step_between_neighbours_changes_the_counts_by_more_than_is_paid_for",
    ),
    "a person is taken for a row": (
        "return self._answer(name, RowsAbove(levels), share)",
        "self._unit = AddRemoveRow(); return self._answer(name, RowsAbove(levels), share)",
        "test_no_step_between_neighbours_changes_the_counts_by_more_than_is_paid_for",
    ),
    "a part of the budget is left": (
        "budget.split([1, 4])",
        "budget.split([1, 4, 1])[:2]",
        "test_the_whole_budget_is_spent_and_no_more",
    ),
    "an empty line repeats the one before": (
        "rows.append(self._row(line))",
        "rows.append(self._row(line) if line.strip() or not rows else rows[-1])",
        "test_no_line_changes_how_another_is_read",
    ),
}


def walked(spoilt: tuple[str, str] | None = None) -> dict[str, Any]:
    """Return what the blocks of all pages define, in an empty folder."""
    code = "\n".join(block for page in PAGES for block in BLOCK.findall(page.read_text("utf-8")))
    if spoilt is not None:
        assert code.count(spoilt[0]) == 1
        code = code.replace(*spoilt)
    names: dict[str, Any] = {"__name__": "walk"}
    exec(compile(code, "docs/how/extending", "exec", dont_inherit=True), names)  # noqa: S102
    return names


@pytest.fixture(scope="module", autouse=True)
def empty_folder(tmp_path_factory):
    """An empty folder to walk in; the kinds of release are forgotten afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "_KINDS", dict(kinds.all_kinds()))
        patch.chdir(tmp_path_factory.mktemp("walk"))
        yield patch


@pytest.fixture(scope="module")
def walk(empty_folder):
    """What the pages define, as they stand."""
    return walked()


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.audit if n in AUDITS else ()) for n in TESTS],
)
def test_what_the_walks_bring_along_holds(name, walk):
    walk[name]()


@pytest.mark.parametrize(("right", "wrong", "noticed_by"), FLAWS.values(), ids=FLAWS)
def test_a_walk_that_is_spoilt_is_noticed_by_its_own_tests(
    right, wrong, noticed_by, tmp_path, empty_folder
):
    empty_folder.chdir(tmp_path)
    spoilt = walked((right, wrong))
    with pytest.raises(AssertionError):
        spoilt[noticed_by]()


def test_every_page_of_the_walks_is_tried():
    with_python = {page for page in WALKS.glob("*.md") if "```python" in page.read_text("utf-8")}
    assert with_python == set(PAGES)
    assert len(TESTS) >= 8
    assert len(AUDITS) == 2
