"""No measured number is typed by hand: pages say what the files hold, and have no others.

A number with a decimal point or a percent sign stands between the markers of a table that a command
fills, or in code, or is a constant: a budget, a parameter, a theorem's number, a version.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from support.scripts import BENCHMARKS, scripts

ROOT = Path(__file__).parents[2]
RESULTS = BENCHMARKS / "results"
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "leaderboard.md",
    ROOT / "docs" / "zones.md",
    *sorted((ROOT / "docs" / "research").glob("*.md")),
]
WRITTEN = re.compile(r"<!-- table: ([\w-]+) -->.*?<!-- end: \1 -->", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
MEASURED = re.compile(r"(?<![\w.])[-−]?(?:\d*\.\d+|\d+(?=[  ]?%))")
PAGES_OF = ("PAGE", "GUIDE")  # of a benchmark
NUMBER = r"\d*\.?\d+"
CONSTANTS = re.compile(
    rf"(?:[ερδhσ] (?:=|of)|Theorems?|Observations?|Definition|Lemma) {NUMBER}"
    rf"(?:(?:, | and |,? to ){NUMBER})*"
    r"|Python \d\.\d+|Apache-\d\.\d"
)
# Numbers by which something is defined, where nothing above says so.
DEFINED = {
    "bounds": ("leaves out 1 %",),
    "categorical": ("exceeds all of them by 15 %",),
    "coclustering": ("to the power of 1.5", "below 1.5 standard errors"),
    "dp-dilca": (
        *("20 % ones and", "30 % ones with"),
        *("30 % ones in Synth-C", "(A.4.4)"),
    ),
    "dp-dilca-tables": ("(4.3, A.4,", "false discovery rate of 1 %"),
    "dp-tau-cc": (
        *("; 0.9 in the paper", "follows from 3.5:"),
        *("(4.3)", "equation 4.10,"),
    ),
    "index": ("its 95 % interval",),
    "kmeans": (
        *("number of rows (3 %", "their mean (3 %", "from it (2 %", "moments (10 %", "adds .02 %"),
        *("The sizes (3 %", "rows again (5 %", "their mean (20 %", "coarse grids (25 %"),
    ),
    "mixed": ("for 35 % of the budget",),
    "mixture": (
        *("2 and 1.5 that", "below 0.08", "at most 1.5", "40 % is better", "the .91 that was once"),
        *("the .09 that was aimed at", "Between 1 and 1.5"),
    ),
    "nas-nna": ("√(2 ln(1.25/δ))",),
    "nas-nna-tables": ("C = .05",),
    "source-target": ("6 % of the budget", "94 % of\n   the budget", "a chance of more than 1 %"),
    "summary": ("it should be .95",),
    "zones": (
        *("one more row, at 0.5", "mean is\n0.0005", "the one at 0.5", "about 0.01", "0.25 of 0.5"),
        *("more at 0.5;", "within 0.25 of it", "a claim of 0.5"),
        *("(80 %", "(20 %)", "(30 % of", "(3 %)", "has 30 % of the budget"),
    ),
}


def typed(page: Path) -> list[str]:
    """Return the lines of a page with numbers that somebody typed."""
    text = CODE.sub("", WRITTEN.sub("", page.read_text("utf-8")))
    for phrase in DEFINED.get(page.stem, ()):
        assert phrase in text, f"{page.name} does not say {phrase!r} any more"
        text = text.replace(phrase, "")
    return [line for line in CONSTANTS.sub("", text).splitlines() if MEASURED.search(line)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_measured_number_of_a_page_is_typed_by_hand(page):
    assert typed(page) == []


@pytest.mark.parametrize("line", ["NMI of .61 ± .07", "closes 84 % of it", "| wine | 1.692 |"])
def test_a_number_that_was_typed_is_found(line, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"At ε = 0.5 and 1.5:\n\n{line}\n\n<!-- table: a -->\n.5\n<!-- end: a -->\n")
    assert typed(page) == [line]


def test_the_tables_of_k_means_noise_and_the_ledger_say_what_the_files_hold(tmp_path):
    keeping, kmeans, noise, ledger = scripts("keeping", "kmeans", "noise", "ledger")
    page, of_ledger = (
        Path(shutil.copy(ROOT / name, tmp_path))
        for name in ("docs/research/accuracy.md", "docs/research/ledger.md")
    )
    before = [copy.read_text("utf-8") for copy in (page, of_ledger)]
    kmeans.publish(keeping.read_rows("kmeans", RESULTS), page)
    keeping.put_table(page, "noise", noise.table(keeping.read_rows("noise", RESULTS)))
    ways = ledger.ways_table(keeping.read_rows("ledger-ways", RESULTS))
    keeping.put_table(of_ledger, "ledger-ways", ways)
    assert [copy.read_text("utf-8") for copy in (page, of_ledger)] == before


def test_the_tables_of_the_rehearsal_say_what_the_file_holds(tmp_path):
    keeping, rehearsal = scripts("keeping", "rehearsal")
    rows = keeping.read_rows("rehearsal", RESULTS)
    page = Path(shutil.copy(ROOT / "docs/research/few-rows.md", tmp_path))
    before = page.read_text("utf-8")
    keeping.put_table(page, "rehearsal", rehearsal.table(rows))
    keeping.put_table(page, "rehearsal-known", rehearsal.known_table(rows))
    assert page.read_text("utf-8") == before


def test_the_tables_of_shapes_say_what_the_files_hold(tmp_path, monkeypatch):
    (shapes,) = scripts("shapes")
    monkeypatch.setenv("PRIVCLUST_RESULTS", str(RESULTS))
    pages = {name: Path(shutil.copy(getattr(shapes, name), tmp_path / name)) for name in PAGES_OF}
    before = [page.read_text("utf-8") for page in pages.values()]
    for name, page in pages.items():
        monkeypatch.setattr(shapes, name, page)
    shapes.fill_pages(None)
    assert [page.read_text("utf-8") for page in pages.values()] == before
    assert all("| --- |" in page for page in before)


def test_the_tables_of_synthetic_rows_say_what_the_file_holds(tmp_path):
    keeping, output, size, clusters, model = scripts(
        "keeping", "synthetic_output", "synthetic_size", "synthetic_clusters", "synthetic_model"
    )
    rows = keeping.read_rows("synthetic", RESULTS)
    tables = {
        "docs/research/synthetic.md": {
            "synthetic": output.main_table(rows) + "\n\n" + keeping.run_line(rows, "synthetic"),
            "synthetic-budgets": output.budget_table(rows),
            "synthetic-model": model.table(keeping.read_rows("synthetic-model", RESULTS)),
            "synthetic-size": size.table(keeping.read_rows("synthetic-size", RESULTS)),
            "synthetic-clusters": clusters.table(keeping.read_rows("synthetic-clusters", RESULTS)),
            "synthetic-plain": clusters.plain_table(keeping.read_rows("synthetic-plain", RESULTS)),
        },
        "docs/synthetic.md": {"synthetic-points": output.short_table(rows)},
        "README.md": {"synthetic-line": output.line(rows)},
    }
    for name, parts in tables.items():
        page = Path(shutil.copy(ROOT / name, tmp_path))
        before = page.read_text("utf-8")
        for mark, table in parts.items():
            keeping.put_table(page, mark, table)
        assert page.read_text("utf-8") == before
