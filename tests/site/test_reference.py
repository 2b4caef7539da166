"""The site's reference leaves nothing out: every public name and every command has a page."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

import privclust

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))

import pages  # noqa: E402

# Packages that are public by their place, but for what they hold: not to be built upon.
INTERNAL = {
    "privclust.budget",  # Budget is a name of privclust itself
    "privclust.cli",
    "privclust.data",
    "privclust.distributions",
    "privclust.display",  # progress, by the name privclust.progress
    "privclust.engines",  # engine and local_cluster, by their names in privclust
    "privclust.estimator",
    "privclust.families",
    "privclust.fitting",
    "privclust.holder",
    "privclust.jobs",
    "privclust.notes",
    "privclust.opendp",
    "privclust.opening",
    "privclust.papers",  # its packages are listed one by one
    "privclust.parameters",
    "privclust.pipelines",
    "privclust.plan",
    "privclust.predicting",
    "privclust.privacy",
    "privclust.reading",
    "privclust.reports",
    "privclust.statement",  # PrivacyStatement, by its name in privclust
    "privclust.steward",
    "privclust.tasks",
}


def test_every_name_of_a_package_is_in_the_reference_or_the_package_is_internal():
    found = {
        f"privclust.{module.name}"
        for module in pkgutil.iter_modules(privclust.__path__)
        if not module.name.startswith("_")
    }
    told = {
        id(getattr(importlib.import_module(package), name))
        for package, names in pages.public_names().items()
        for name in names
    }
    untold = [
        f"{package}.{name}"
        for package in sorted(found - INTERNAL)
        for name in importlib.import_module(package).__all__
        if id(getattr(importlib.import_module(package), name)) not in told
    ]
    assert untold == []


def test_every_public_name_says_what_it_is():
    silent = [
        f"{package}.{name}"
        for package, names in pages.public_names().items()
        for name in names
        if not pages.first_line(importlib.import_module(package), name)
    ]
    assert silent == []


def test_every_command_has_a_page_that_tells_its_options():
    found = dict(pages.command_pages())
    assert {"privclust kmeans", "privclust ledger grant", "privclust release sign"} <= found.keys()
    assert "`--epsilon`" in found["privclust kmeans"]


def test_every_question_is_on_the_page_of_questions():
    text = pages.questions_page()
    names = {view.__name__ for view in pages.views()}
    assert {"PointsView", "TableView", "MatrixView", "SitesView", "NumbersView"} <= names
    for view in pages.views():
        for name, words in view.asks.items():
            assert f"| `{name}` | {words} |" in text
