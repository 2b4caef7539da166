"""Parameters are written once: signatures, docstrings, options and forms agree with the records."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

import pytest

from privclust.cli import app
from privclust.exceptions import ParameterError
from privclust.families import FAMILIES
from privclust.parameters import COMMAND, SERVICE, Flag, Items, Number, OneOf, Parameter, Whole
from privclust.service.offers import OFFERS
from privclust.tasks import Task, Variant
from support.command_line import command_of

COMMANDS: dict[str, tuple[Task, ...]] = {
    name: tasks
    for folder in dict.fromkeys(family.folder for family in FAMILIES)
    for name, tasks in import_module(f"privclust.{folder}.task").COMMANDS.items()
}
# A task that decides a parameter itself has the estimator of another task, with its records.
VARIANTS = [
    variant
    for tasks in COMMANDS.values()
    for task in tasks
    for variant in task.variants
    if not variant.fixed
]
every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.estimator)


def own(variant: Variant) -> list[Parameter]:
    return [parameter for parameter in variant.parameters if not parameter.of_fit]


def described(kind: type, name: str) -> str | None:
    """Return the type of a parameter by the docstring; None if that refers to another class."""
    text = inspect.cleandoc(kind.__doc__ or "").replace("\\\n", " ")
    found = re.search(rf"^{name} : ((?:.+\n)(?: {{8,}}.*\n)*?)(?=    \S|\S)", text, re.M)
    return None if found is None else " ".join(found[1].split())


@every_variant
def test_the_constructor_has_the_parameters_with_their_defaults(variant: Variant) -> None:
    signature = inspect.signature(variant.kind).parameters
    records = {parameter.name: parameter.default for parameter in own(variant)}
    assert {name: signature[name].default for name in records} == records
    assert variant.kind._parameters == variant.parameters


@every_variant
def test_the_docstring_says_what_the_records_say(variant: Variant) -> None:
    for parameter in own(variant):
        told = described(variant.kind, parameter.name)
        if told is None:
            assert re.search(rf"\b{parameter.name}\b", variant.kind.__doc__ or ""), parameter.name
            continue
        shown = repr(parameter.default).replace("'", '"')
        assert f"default={shown}" in told, (parameter.name, told)
        if isinstance(parameter.kind, OneOf) and "{" in told:
            listed = re.findall(r'"([\w-]+)"', told.partition("}")[0])
            assert listed == list(parameter.kind.choices), parameter.name


@every_variant
def test_a_value_of_another_kind_is_refused_in_one_sentence(variant: Variant) -> None:
    wrong: dict[type, Any] = {Whole: 1.5, Number: -1, OneOf: "nothing", Flag: "maybe"}
    for parameter in own(variant):
        if not isinstance(parameter.kind, Items):
            with pytest.raises(ParameterError, match=rf"^{parameter.name} must be .*\.$"):
                parameter.check(wrong[type(parameter.kind)])
        for value in (parameter.default, *parameter.also):
            parameter.check(value)


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_take_the_parameters_with_their_words(name: str) -> None:
    root = command_of(app)
    for group in (root, root.commands["plan"]):
        options = {option.name: option for option in group.commands[name].params}
        for variant in (variant for task in COMMANDS[name] for variant in task.variants):
            for parameter in own(variant):
                if COMMAND in parameter.seen and parameter.name != "method":
                    assert parameter.flag in " ".join(options[parameter.name].opts)
                    assert options[parameter.name].help


@pytest.mark.parametrize("name", OFFERS)
def test_forms_have_the_parameters_with_their_defaults_and_choices(name: str) -> None:
    offer = OFFERS[name]
    options = {option.name: option for option in offer.options}
    for parameter in offer.task.parameters(in_service=True).values():
        if SERVICE in parameter.seen and parameter.name not in ("method", offer.task.clusters):
            option = options.pop(parameter.name)
            assert option.default == parameter.default
            if isinstance(parameter.kind, OneOf):  # a table of distances comes with no question
                offered = [it for it in parameter.kind.choices if it != "precomputed"]
                assert list(option.choices) == offered, parameter.name
    assert {*options} <= {"method"}
    if "method" in options:
        served = (variant for variant in offer.task.variants if variant.in_service)
        methods = [method for variant in served for method in variant.methods]
        assert list(options["method"].choices) == methods


def test_an_option_of_a_paper_stands_under_a_heading_of_its_own() -> None:
    from support.command_line import CliRunner

    page = CliRunner().invoke(app, ["source-target", "--help"]).stdout
    usual, paper = page.split("As in the paper: NAS and NNA")
    assert "--nearest" in paper
    assert "--nearest" not in usual


def test_a_method_of_a_paper_is_told_where_it_is() -> None:
    from privclust import PrivateDilca

    home = r"use privclust\.papers\.dilca\.PrivateContextDilca\."
    with pytest.raises(ParameterError, match=home):
        PrivateDilca(method="mean-su", schema={"a": [1, 2], "b": [1, 2]}).fit([[1, 2]])
