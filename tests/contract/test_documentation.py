"""Examples in docstrings and Python on the documentation's pages run as they stand."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privclust import Categories, Schema
from privclust.audit import auditor
from privclust.cli.commands import main
from support.datasets import baskets

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "privclust"
# Read as text: importing every module only to see whether it has examples takes seconds.
FILES = {
    ".".join(("privclust", *file.relative_to(SOURCES).with_suffix("").parts)): file
    for file in sorted(SOURCES.rglob("*.py"))
    if file.name not in ("__init__.py", "__main__.py")
}
WITH_EXAMPLES = [name for name, file in FILES.items() if ">>>" in file.read_text("utf-8")]
# An audit takes half a minute; here it is enough that it runs.
SPARED = {"[:6]": "[:1]", "runs=300, n_jobs=-1": "runs=30"}


def examples(name: str) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder().find(importlib.import_module(name))
    return [example for example in found if example.examples]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = examples(name)
    assert found
    for example in found:
        assert doctest.DocTestRunner().run(example).failed == 0, example.name


def test_every_module_can_be_imported():
    packages = {name.rpartition(".")[0] for name in FILES}
    for name in (*sorted(packages), *FILES):
        importlib.import_module(name)


def blocks(page: str) -> str:
    """Return the Python of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    for dear, cheap in SPARED.items():
        assert page != "docs/how/audits.md" or dear in code
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


def stays() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 100, 2000),
            "admitted": pd.Timestamp("2021-01-01")
            + pd.to_timedelta(rng.integers(0, 900, 2000), unit="D"),
            "ward": rng.choice(["surgery", "medicine", "children"], 2000),
            "insurance": rng.choice(np.array(["public", "private", None], object), 2000),
            "visits": rng.integers(0, 20, 2000),
        }
    )


def wards() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return visits()[["age", "cost"]].assign(
        age=rng.integers(0, 100, 2000),
        sex=rng.choice(["f", "m"], 2000),
        ward=rng.choice(np.array(["a", "b", "c", None], object), 2000),
    )


def towns(count: int) -> pd.DataFrame:
    rng = np.random.default_rng(count)
    places = {"latitude": rng.uniform(45, 50, count), "longitude": rng.uniform(5, 10, count)}
    return pd.DataFrame(places)


# Pages that are walked as they stand, from an empty folder: Python, commands and schemas in turn.
TUTORIALS = ("hospital", "survey", "baskets", "clinic-sites", "ledger-year")
WALKED = [
    *(f"docs/tutorials/{name}.md" for name in TUTORIALS),
    "docs/start/command-line.md",
    "docs/start/install.md",
]

CITIES = {
    "rows": pd.DataFrame({"city": ["A", "B", "C"] * 20, "car": ["no", "yes"] * 30}),
    "schema": Schema({"city": Categories(["A", "B", "C"]), "car": Categories(["no", "yes"])}),
}
# What each page takes for granted: names of data in memory.
PAGES = {
    "README.md": {},
    "docs/bounds.md": {"frame": visits()[["age", "visits"]]},
    "docs/guides/epsilon.md": {},
    "docs/how/audits.md": {},
    "docs/how/replay.md": {},
    "docs/start/five-minutes.md": {},
    **{page: {} for page in WALKED if page != "docs/start/install.md"},
    "docs/index.md": {"frame": visits()[["age", "visits"]]},
    "docs/kmeans.md": {"frame": visits()[["age", "visits"]]},
    "docs/releases.md": {"frame": visits()[["age", "visits"]]},
    "docs/units.md": {"frame": visits()[["age", "visits"]].assign(id=np.arange(2000) // 8)},
    "docs/density.md": {},
    "docs/summary.md": {"frame": visits()[["age", "visits"]]},
    "docs/synthetic.md": {"frame": wards()},
    "docs/mixed.md": {"patients": stays()},
    "docs/mixture.md": {},
    "docs/zones.md": {"rows": np.random.default_rng(0).uniform(0, 8, (150, 4))},
    "docs/categorical.md": {"rows": patients(), "new_rows": patients()[:9]},
    "docs/coclustering.md": {"counts": baskets(), "new_counts": baskets()[:9]},
    "docs/datasets.md": {},
    "docs/research/dp-dilca.md": CITIES,
    "docs/research/dp-tau-cc.md": {"counts": baskets()},
    "docs/research/nas-nna.md": {"target": towns(60), "source": towns(200)},
    "docs/research/nas-nna-tables.md": {},
    "docs/scaling.md": {},
    "docs/source-target.md": {"cities": towns(60), "population": np.ones(60)},
}


def test_every_page_with_python_is_tried():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    with_python = {str(p.relative_to(ROOT)) for p in pages if "```python" in p.read_text("utf-8")}
    elsewhere = {"docs/schema.md", "docs/service/analyst.md"}  # test_schema_docs, test_service_api
    walks = {page for page in with_python if page.startswith("docs/how/extending/")}
    assert walks  # tried by tests/site/test_extending.py
    assert with_python - elsewhere - walks == PAGES.keys()


def steps(page: str) -> list[tuple[str, str]]:
    """Return the language and the text of each block of a page that is walked, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```(python|sh|toml)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run_commands(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Run the commands of a block in this process; each must succeed."""
    for line in block.splitlines():
        program, *arguments = shlex.split(line, comments=True)
        assert program == "privclust"
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code in (0, None), (line, capsys.readouterr().err)


@pytest.mark.usefixtures("blank_pictures")
@pytest.mark.parametrize("page", WALKED)
def test_a_page_can_be_walked_from_an_empty_folder(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, block in steps(page):
        if language == "sh":
            run_commands(block, capsys)
        elif language == "toml":
            Path("visits.toml").write_text(block, "utf-8")
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(block, page, "exec"), names)  # noqa: S102


VISITS_TOML = "\n".join(
    f"[columns.{name}]\nlow = 0\nhigh = {high}\n"
    for name, high in (("age", 110), ("visits", 50), ("cost", 20_000))
)


@pytest.mark.usefixtures("blank_pictures")
@pytest.mark.parametrize("page", ["README.md", "docs/guides/choosing-k.md"])
def test_the_commands_of_a_page_run_beside_a_table_of_visits(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    visits().to_parquet("visits.parquet")
    for table in ("visits.csv", "mine.csv"):
        visits().to_csv(table, index=False)
    visits().head(5).to_csv("new.csv", index=False)
    Path("visits.toml").write_text(VISITS_TOML, "utf-8")
    text = (ROOT / page).read_text("utf-8")
    found = re.findall(r"^(privclust .*)$", text, re.MULTILINE)
    assert len(found) >= 3
    # An audit takes a minute; tests/cli runs one, and test_commands_on_pages parses this one.
    for line in (line for line in found if " audit " not in line):
        run_commands(line, capsys)
        if " skeleton " in line:  # to be filled in
            Path("mine.toml").write_text(VISITS_TOML, "utf-8")


@pytest.mark.usefixtures("blank_pictures")
@pytest.mark.parametrize("page", sorted(PAGES.keys() - set(WALKED)))
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(auditor, "FEWEST_RUNS", 30)
    visits().to_parquet("visits.parquet")
    Path("visits").mkdir()
    visits().to_parquet("visits/0.parquet")
    towns(300).to_csv("practices.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(blocks(page), page, "exec"), dict(PAGES[page]))  # noqa: S102
