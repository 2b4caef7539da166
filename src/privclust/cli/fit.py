"""What all commands that fit have in common: their options, and the path to a published release.

A function that takes the options of a task and a :class:`FitOptions` and returns a
:class:`~privclust.jobs.fit.Fit` becomes a command by :func:`fit_command`. An option of all of them
is a field of :class:`FitOptions`; the options of a task come from its records, by
:func:`options_of`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, make_dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol

import typer

from privclust.cli import options, screen
from privclust.cli.options import (
    BudgetOptions,
    EngineOptions,
    ReadingOptions,
    expand_groups,
)
from privclust.cli.screen import UsageError
from privclust.jobs.fit import Fit
from privclust.parameters import COMMAND, Flag, Items, OneOf, Parameter, Whole
from privclust.tasks import Task, Variant

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from privclust.jobs.fit import Fit, Publication
    from privclust.release.document import About
    from privclust.release.facts import Facts


# How the release of a fit is shown on a terminal; the same for every family.

_CELL = 14  # characters for each column of a table


@contextmanager
def save_or_print(fit: Fit) -> Iterator[None]:
    """Print in full a paid release that could not be written anywhere."""
    from privclust.exceptions import NotSavedError
    from privclust.jobs.fit import summary_of

    try:
        yield
    except NotSavedError as error:
        if error.kept is None:
            typer.echo(json.dumps(summary_of(fit.model.release()), allow_nan=False))
        raise


def show(published: Publication, *notices: str) -> None:
    """Show what was published, where, and its notes."""
    release = published.release
    if not release.privacy.private:
        screen.alarm(release.privacy.promise)
    shown: list[RenderableType] = [*tables(release.facts()), "", *notices, *published.sentences]
    screen.answer(published.to_dict(), *shown)


def tables(facts: Facts) -> Iterator[Table]:
    """Yield the tables of a release, with as many columns as fit on the screen."""
    from rich.table import Table

    room = max(3, screen.stdout().width // _CELL)
    for listing in facts.listings:
        table, headings = Table(box=None, pad_edge=False), listing.headings
        for place, heading in enumerate(headings[:room]):
            words = all(line[place][:1].isalpha() for line in listing.lines)
            table.add_column(heading, justify="left" if words else "right", overflow="fold")
        if len(headings) > room:
            table.add_column(f"and {len(headings) - room} more")
        for line in listing.lines:
            table.add_row(*line[:room])
        yield table


def _text(name: str, words: str, metavar: str = "NAME") -> Any:
    return typer.Option(f"--{name}", metavar=metavar, help=words)


@dataclass(frozen=True)
class FitOptions(EngineOptions, BudgetOptions):
    """Options of every fit: budget, ledger, noise, engine, output, and words about the release."""

    ledger: Annotated[str | None, _text("ledger", "Charged before rows are read.", "FILE")] = None
    holder: Annotated[str | None, _text("holder", "Whose grants are spent.")] = None
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset", metavar="NAME", help="Name of the data.", show_default="file name"
        ),
    ] = None
    title: Annotated[str | None, _text("title", "What the release is called.", "TEXT")] = None
    data_holder: Annotated[str | None, _text("data-holder", "Who holds the data.", "TEXT")] = None
    contact: Annotated[str | None, _text("contact", "Whom to ask.", "TEXT")] = None
    purpose: Annotated[str | None, _text("purpose", "What it is made for.", "TEXT")] = None
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, metavar="INT", help="For tests: makes it NOT PRIVATE."),
    ] = None
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="Folder, or .privclust.")
    ] = Path("release")
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="An HTML page for readers.")
    ] = True
    overwrite: options.Overwrite = False

    def parameters_for(self, data: str | Path | Sequence[str]) -> dict[str, Any]:
        """Return budget, seed and charge as parameters of an estimator.

        ``data``: the private data; by default the name of a single file names the data set.
        """
        return self.parameters() | {"random_state": self.seed} | self._charge(data)

    def about(self) -> About:
        """Return what the publisher says about the release."""
        from privclust.release.document import About

        return About(
            title=self.title,
            dataset=self.dataset,
            holder=self.data_holder,
            contact=self.contact,
            purpose=self.purpose,
        )

    def _charge(self, data: str | Path | Sequence[str]) -> dict[str, Any]:
        if self.ledger is None:
            if self.holder is not None:
                raise UsageError("--holder is a name in a ledger; add --ledger.")
            return {}
        if self.seed is not None:
            raise UsageError("A fit with --seed is not private and cannot be charged; drop one.")
        from privclust.ledger.ledger import EVERYONE, Ledger

        ledger = Ledger.open(self.ledger, holder=self.holder or EVERYONE)
        return {"ledger": ledger, "dataset": self.dataset or _name_of(data)}


def _name_of(data: str | Path | Sequence[str]) -> str:
    name = Path(data).name.partition(".")[0] if isinstance(data, (str, Path)) else ""
    if not name or name == "-" or set("*?[") & set(name):
        raise UsageError("Several files or standard input have no name in a ledger; add --dataset.")
    return name


def fit_command(prepare: Callable[..., Fit]) -> Callable[..., None]:
    """Turn a function that prepares a fit from ``FitOptions`` into a command."""

    @wraps(prepare)
    def command(*, fitting: FitOptions, **own: Any) -> None:
        fit, about = prepare(fitting=fitting, **own), fitting.about()
        _run(fit, about, fitting)

    return expand_groups(command)


def _run(fit: Fit, about: About, fitting: FitOptions) -> None:
    from privclust.jobs.fit import Destination

    place = Destination.check(fitting.output, report=fitting.report, overwrite=fitting.overwrite)
    _print_budget(fit.model, *fitting.default_notice)
    with (
        fitting.engine_context(),
        save_or_print(fit),
        screen.rows_progress("Reading") as listener,
    ):
        published = fit.run(place, about, listener)
    show(published, *fitting.default_notice)


def _print_budget(model: Any, *notices: str) -> None:
    from privclust.budget import Budget

    budget = model.budget or Budget(model.epsilon, model.delta)
    charge = f", charged to the data set {model.dataset!r}" if model.ledger else ""
    for sentence in notices:
        screen.note(sentence)
    screen.note(
        f"A fit within {budget.words}{charge}; 'privclust plan' says beforehand what is asked and "
        "how good it will be."
    )


class PlanLike(Protocol):
    """What a plan can do."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        ...


def plan_command(rehearse: Callable[..., PlanLike]) -> Callable[..., None]:
    """Turn a function that returns a plan into a command."""

    @wraps(rehearse)
    def command(**own: Any) -> None:
        made = rehearse(**own)
        screen.answer(made.to_dict(), str(made))

    return expand_groups(command)


# The options of a task, made from the records of its parameters.


@dataclass(frozen=True)
class TaskOptions:
    """The options of a task; a subclass says what is declared besides its parameters."""

    tasks: ClassVar[tuple[Task, ...]]

    def declaration(self, reading: ReadingOptions | None = None) -> dict[str, Any]:
        """Return what is declared about the data, as parameters of an estimator."""
        raise NotImplementedError

    def model(self, reading: ReadingOptions | None = None, **shared: Any) -> Any:
        """Return the estimator that the options describe."""
        named = {name for task in self.tasks for name in ("method", *task.parameters())}
        given = {name: getattr(self, name, None) for name in sorted(named)}
        given = {name: value for name, value in given.items() if value is not None}
        task = self._task(given)
        variant = task.variant(given.get("method"))
        _refuse_others(self.tasks, task, variant, given)
        arguments = {name: _value(value) for name, value in variant.arguments(given).items()}
        return variant.kind(**arguments, **self.declaration(reading), **shared)

    def _task(self, given: Mapping[str, Any]) -> Task:
        """Return the task whose number of clusters is given, or the last one."""
        asked = [task for task in self.tasks if task.clusters in given]
        return (asked or self.tasks)[-1 if not asked else 0]


def options_of(base: type[TaskOptions], tasks: tuple[Task, ...]) -> type[TaskOptions]:
    """Return a group with the options of some tasks in addition to those of ``base``."""
    own = {field.name for field in fields(base)}
    made = [("method", *_method_option(tasks))] if any(task.methods for task in tasks) else []
    found: dict[str, tuple[Parameter, str | None]] = {}
    for variant in (variant for task in tasks for variant in task.variants):
        panel = f"As in the paper: {variant.paper}" if variant.paper else None
        for parameter in variant.parameters:
            if COMMAND in parameter.seen and parameter.name not in own | {n for n, *_ in made}:
                first, shown = found.get(parameter.name, (parameter, panel))
                # A word such as auto that another variant does not know, it refuses by itself.
                also = tuple(dict.fromkeys((*first.also, *parameter.also)))
                found[parameter.name] = replace(first, also=also), shown
    made += [(name, *_option(*both)) for name, both in found.items()]
    name = "".join(word.title() for word in tasks[0].name.split("-")) + "Options"
    return make_dataclass(name, made, bases=(base,), frozen=True, namespace={"tasks": tasks})


def _method_option(tasks: tuple[Task, ...]) -> tuple[Any, None]:
    choices = tuple(dict.fromkeys(method for task in tasks for method in task.methods))
    option = typer.Option("--method", help="The algorithm; the first by default.")
    return Annotated[Literal[choices] | None, option], None


def _option(parameter: Parameter, panel: str | None) -> tuple[Any, None]:
    """Return the type and the default of an option: None, which leaves it to the estimator."""
    kind, settings = parameter.kind, dict[str, Any](help=parameter.words, rich_help_panel=panel)
    listed_first = isinstance(kind, OneOf) and kind.choices[0] == parameter.default
    settings["show_default"] = parameter.shown or (
        False if listed_first else _format_default(parameter.default)
    )
    if parameter.metavar:
        settings["metavar"] = parameter.metavar
    names = list(parameter.option) or [parameter.flag]
    value: Any = str
    if "auto" in parameter.also:
        settings = {"metavar": "N"} | settings | {"parser": _number_or_auto(parameter)}
    elif True in parameter.also:
        settings["parser"] = _yes_or_share(parameter)
    elif isinstance(kind, Whole):
        value, settings["min"] = int, kind.least
        settings.setdefault("metavar", "N")
    elif isinstance(kind, OneOf):
        none = ("none",) if None in parameter.also else ()
        value = Literal[(*kind.choices, *none)]
    elif isinstance(kind, Flag):
        value, names = bool, [f"{names[0]}/--no-{names[0].removeprefix('--')}"]
    elif isinstance(kind, Items):
        value = list[str]
        settings.setdefault("metavar", "NAME")
    else:
        value = float
        settings.setdefault("metavar", "NUMBER")
    return Annotated[value | None, typer.Option(*names, **settings)], None


def _format_default(default: Any) -> str | bool:
    nothing = default is None or isinstance(default, (bool, tuple))
    return False if nothing else str(default)


def _number_or_auto(parameter: Parameter) -> Callable[[str], Any]:
    whole = isinstance(parameter.kind, Whole)

    def parse(text: str) -> Any:
        if text == "auto" or (whole and text.isdecimal() and int(text) > 0):
            return text
        with suppress(ValueError):
            if not whole:
                return float(text)
        wanted = "a whole number of at least 1" if whole else "a number"
        raise UsageError(f"{parameter.flag} must be {wanted} or auto, got {text!r}.")

    return parse


def _yes_or_share(parameter: Parameter) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            return True if text == "yes" else float(text)
        except ValueError:
            raise UsageError(
                f'{parameter.flag} is "yes" or a share of the budget such as 0.3, got {text!r}.'
            ) from None

    return parse


def _value(given: Any) -> Any:
    """Return the value of an option: typer has no type for a number or a word, nor for None."""
    if given == "none":
        return None
    return int(given) if isinstance(given, str) and given.isdecimal() else given


def _refuse_others(
    tasks: tuple[Task, ...], task: Task, variant: Variant, given: Mapping[str, Any]
) -> None:
    """Raise if an option was given that belongs to another method, or to another task."""
    own = {parameter.name: parameter for parameter in variant.parameters}
    method = given.get("method", variant.methods[0] if variant.methods else None)
    for name in given:
        if name == "method" or (name in own and method in (own[name].methods or (method,))):
            continue
        everywhere = [parameters[name] for it in tasks if name in (parameters := it.parameters())]
        flag = everywhere[0].flag
        if name in own or name in task.parameters():
            methods = own[name].methods if name in own else _methods_with(task, name)
            belongs = f"--method {' or '.join(methods)}"
        elif task.clusters:
            raise UsageError(f"{flag} applies only to the metric; drop it or the clusters.")
        else:
            belongs = "--clusters"
        raise UsageError(f"{flag} belongs to {belongs}; add it or drop {flag}.")


def _methods_with(task: Task, name: str) -> list[str]:
    found = [v for v in task.variants if name in {parameter.name for parameter in v.parameters}]
    return [method for variant in found for method in variant.methods]
