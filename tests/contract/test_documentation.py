"""Examples in docstrings and Python on the documentation's pages run as they stand."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import privclust
from support.datasets import baskets

ROOT = Path(__file__).parents[2]
MODULES = [
    found.name
    for found in pkgutil.walk_packages(privclust.__path__, "privclust.")
    if not found.name.endswith("__main__")
]
# An audit takes half a minute; here it is enough that it runs.
SPARED = {"[:5]": "[:1]"}


def examples(name: str) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder().find(importlib.import_module(name))
    return [example for example in found if example.examples]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for example in examples(name):
        assert doctest.DocTestRunner().run(example).failed == 0, example.name


def test_there_are_examples():
    assert sum(len(examples(name)) for name in MODULES) >= 10


def blocks(page: str) -> str:
    """Return the Python of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    for dear, cheap in SPARED.items():
        assert page != "README.md" or dear in code
        code = code.replace(dear, cheap)
    return code


def visits() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = rng.uniform(0, 1, (2000, 3)) * (110, 50, 20_000)
    return pd.DataFrame(rows, columns=["age", "visits", "cost"])


def patients() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "city": rng.choice(["A", "B", "C"], 2000),
            "diagnosis": rng.choice(["gastritis", "ulcer", "migraine"], 2000),
            "age": rng.integers(0, 100, 2000),
        }
    )


def towns(count: int) -> pd.DataFrame:
    rng = np.random.default_rng(count)
    places = {"latitude": rng.uniform(45, 50, count), "longitude": rng.uniform(5, 10, count)}
    return pd.DataFrame(places)


# What each page takes for granted: names of data in memory.
PAGES = {
    "README.md": {},
    "docs/start/five-minutes.md": {},
    "docs/kmeans.md": {"frame": visits()[["age", "visits"]]},
    "docs/releases.md": {"frame": visits()[["age", "visits"]]},
    "docs/units.md": {"frame": visits()[["age", "visits"]].assign(id=np.arange(2000) // 8)},
    "docs/summary.md": {"frame": visits()[["age", "visits"]]},
    "docs/zones.md": {"rows": np.random.default_rng(0).uniform(0, 8, (150, 4))},
    "docs/categorical.md": {"rows": patients(), "new_rows": patients()[:9]},
    "docs/coclustering.md": {"counts": baskets(), "new_counts": baskets()[:9]},
    "docs/datasets.md": {},
    "docs/source-target.md": {"cities": towns(60), "population": np.ones(60)},
}


def test_every_page_with_python_is_tried():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    with_python = {str(p.relative_to(ROOT)) for p in pages if "```python" in p.read_text("utf-8")}
    elsewhere = {"docs/schema.md", "docs/service/analyst.md"}  # test_schema_docs, test_service_api
    assert with_python - elsewhere == PAGES.keys()


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    visits().to_parquet("visits.parquet")
    towns(300).to_csv("practices.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(blocks(page), page, "exec"), dict(PAGES[page]))  # noqa: S102
