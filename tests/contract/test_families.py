"""The one list of families agrees with everything that is built from it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from inspect import isclass

import pytest
from typer.main import get_command

from privclust.cli.audit import SUBJECTS
from privclust.cli.commands import app
from privclust.cli.fit import FitOptions
from privclust.cli.options import BudgetOptions
from privclust.estimator import PrivateEstimator
from privclust.families import FAMILIES, Family
from privclust.papers import dilca, rivals, targets, tau, zones
from privclust.release.kinds import all_kinds
from support.estimators import ESTIMATORS

PAPERS = (dilca, rivals, targets, tau, zones)


def estimators(family: Family) -> set[type]:
    """Return the private estimators that the package of a family offers."""
    # What a paper has is kept apart from the family whose kind of release it makes.
    homes = [import_module(f"privclust.{folder}") for folder in {f.folder for f in FAMILIES}]
    offered = [getattr(home, name) for home in (*homes, *PAPERS) for name in home.__all__]
    private = {kind for kind in offered if isclass(kind) and issubclass(kind, PrivateEstimator)}
    return {kind for kind in private if kind._kind == family.name}


def test_every_private_estimator_belongs_to_one_family():
    listed = [kind.__name__ for family in FAMILIES for kind in estimators(family)]
    assert sorted(listed) == sorted({record.kind.__name__ for record in ESTIMATORS})


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_is_known_everywhere(family):
    assert {kind._kind for kind in estimators(family)} == {family.name}
    assert all_kinds()[family.name].name == family.name
    assert family.command in SUBJECTS
    group = get_command(app)
    assert family.command in group.commands
    assert family.command in group.commands["plan"].commands


def test_kinds_of_release_are_those_of_the_families():
    assert {*all_kinds()} == {family.name for family in FAMILIES}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_takes_all_options_that_every_fit_takes(family):
    commands = get_command(app).commands
    fit = {parameter.name for parameter in commands[family.command].params}
    plan = {parameter.name for parameter in commands["plan"].commands[family.command].params}
    assert {field.name for field in fields(FitOptions)} <= fit
    assert {field.name for field in fields(BudgetOptions)} | {"as_json"} <= plan


def test_the_list_imports_nothing_of_the_library():
    code = (
        "import sys, privclust.families; "
        "print(sorted(m for m in sys.modules if m.startswith('privclust.')))"
    )
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert result.stdout == "['privclust._lazy', 'privclust.families']\n"
