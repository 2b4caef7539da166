"""What all commands that fit have in common: their options, and the path to a published release.

A family writes a function that takes its own options and a :class:`FitOptions` and returns a
:class:`~privclust.jobs.fit.Fit`; :func:`fit_command` makes a command of it. An option of all of
them is a field of :class:`FitOptions` and stands nowhere else.

A family writes a group of its own options with a method ``model``; the commands are made here.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from privclust.cli import options, screen
from privclust.cli.options import (
    BudgetOptions,
    EngineOptions,
    Reading,
    RowUnitOptions,
    takes_groups,
)
from privclust.cli.screen import UsageError
from privclust.jobs.fit import Fit

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from privclust.jobs.fit import Fit, Published
    from privclust.release.document import About
    from privclust.release.facts import Facts


# How the release of a fit is shown on a terminal; the same for every family.

_CELL = 14  # characters for each column of a table


@contextmanager
def kept_or_printed(fit: Fit) -> Iterator[None]:
    """Print in full a release that was paid for and could not be written anywhere."""
    from privclust.exceptions import NotSavedError
    from privclust.jobs.fit import summary_of

    try:
        yield
    except NotSavedError as error:
        if error.kept is None:
            typer.echo(json.dumps(summary_of(fit.model.release()), allow_nan=False))
        raise


def show(published: Published, *told: str, as_json: bool) -> None:
    """Show what was published, and where, and what else is to be told."""
    release = published.release
    if not release.privacy.private:
        screen.alarm(release.privacy.promise)
    shown: list[RenderableType] = [*tables(release.facts()), "", *told, *published.sentences]
    screen.answer(published.to_dict(), *shown, as_json=as_json)


def tables(facts: Facts) -> Iterator[Table]:
    """Yield the tables of a release, with as many columns as fit on the screen."""
    from rich.table import Table

    room = max(3, screen.stdout().width // _CELL)
    for listing in facts.listings:
        table, headings = Table(box=None, pad_edge=False), listing.headings
        for heading in headings[:room]:
            table.add_column(heading, justify="right", overflow="fold")
        if len(headings) > room:
            table.add_column(f"and {len(headings) - room} more")
        for line in listing.lines:
            table.add_row(*line[:room])
        yield table


# What all commands that fit have in common: their options, and the way to a published release.


def _text(name: str, words: str, metavar: str = "NAME") -> Any:
    return typer.Option(f"--{name}", metavar=metavar, help=words)


@dataclass(frozen=True)
class FitOptions(EngineOptions, BudgetOptions):
    """What every fit takes: budget, ledger, noise, engine, place, and words about the release."""

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
        Path, typer.Option("--output", "-o", metavar="PATH", help="Folder, or .privclust file.")
    ] = Path("release")
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="An HTML page for readers.")
    ] = True
    overwrite: options.Overwrite = False
    as_json: options.Json = False

    def parameters_for(self, data: str | Path | Sequence[str]) -> dict[str, Any]:
        """Return budget, seed and charge as parameters of an estimator.

        Parameters
        ----------
        data : path or sequence of paths
            The private data; the name of one file is that of the data set, if none is given.
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
    """Make a command of a function that prepares a fit from its ``fitting``, a ``FitOptions``."""

    @wraps(prepare)
    def command(*, fitting: FitOptions, **own: Any) -> None:
        fit, about = prepare(fitting=fitting, **own), fitting.about()
        _run(fit, about, fitting)

    return takes_groups(command)


def _run(fit: Fit, about: About, fitting: FitOptions) -> None:
    pass
    from privclust.jobs.fit import Destination

    place = Destination.checked(fitting.output, report=fitting.report, overwrite=fitting.overwrite)
    _tell_budget(fit.model, *fitting.told)
    with (
        fitting.chosen(),
        kept_or_printed(fit),
        screen.rows_progress("Reading") as listener,
    ):
        published = fit.run(place, about, listener)
    show(published, *fitting.told, as_json=fitting.as_json)


def _tell_budget(model: Any, *told: str) -> None:
    from privclust.budget import Budget

    budget = model.budget or Budget(model.epsilon, model.delta)
    charge = f", charged to the data set {model.dataset!r}" if model.ledger else ""
    for sentence in told:
        screen.note(sentence)
    screen.note(
        f"A fit within {budget.words}{charge}; 'privclust plan' says beforehand what is asked and "
        "how good it will be."
    )


class Planned(Protocol):
    """What a plan can do."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        ...


def plan_command(rehearse: Callable[..., Planned]) -> Callable[..., None]:
    """Make a command of a function that returns a plan; it gets ``--json`` besides its own."""

    @wraps(rehearse)
    def command(*, as_json: bool, **own: Any) -> None:
        made = rehearse(**own)
        screen.answer(made.to_dict(), str(made), as_json=as_json)

    own = inspect.signature(rehearse, eval_str=True)
    added = inspect.Parameter(
        "as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=options.Json
    )
    shown = [p.replace(kind=p.KEYWORD_ONLY) for p in own.parameters.values()]
    command.__signature__ = inspect.Signature([*shown, added])  # type: ignore[attr-defined]
    return takes_groups(command)


# The commands of families that fit a table of rows: what they declare, ``fit`` and ``plan``.

Command = Callable[..., None]


class RowOptions(Protocol):
    """The options of a family that fits rows."""

    def model(self, reading: Reading | None = None, **shared: Any) -> Any:
        """Return the estimator."""
        ...


@dataclass(frozen=True)
class NumericOptions:
    """What is declared about columns of numbers, and how distances are measured in them."""

    schema: options.SchemaPath = None
    bounds: options.Bounds = None
    rescale: Annotated[
        bool | None,
        typer.Option(
            "--rescale/--no-rescale",
            help="Distances in widths of columns.",
            show_default="with a schema",
        ),
    ] = None

    def declared(self, reading: Reading | None = None) -> dict[str, Any]:
        """Return both as parameters of an estimator."""
        return {"rescale": self.rescale, **options.declared(self.schema, self.bounds, reading)}

    def model(self, reading: Reading | None = None, **shared: Any) -> Any:
        """Return the estimator."""
        raise NotImplementedError


def fit_of_rows(group: type[RowOptions], words: str) -> Command:
    """Return the command that fits the model of a group of options to files of rows.

    Parameters
    ----------
    group : type
        The options of the family.
    words : str
        What the command does.
    """

    def prepare(
        data: options.DataPaths,
        own: RowOptions,
        unit: RowUnitOptions,
        fitting: FitOptions,
        reading: Reading,
    ) -> Fit:
        rows = options.one_or_many(data)
        shared = unit.parameters() | fitting.parameters_for(rows)
        return Fit(own.model(reading, **shared), rows)

    return fit_command(_described(prepare, group, words))


def plan_of_numbers(group: type[NumericOptions], words: str) -> Command:
    """Return the command that rehearses a fit to columns of numbers; see :func:`fit_of_rows`."""

    def rehearse(
        own: NumericOptions,
        unit: RowUnitOptions,
        budget: BudgetOptions,
        columns: Annotated[
            int | None, typer.Option("--columns", min=1, help="Number of columns, with --bounds.")
        ] = None,
        rows: options.Rows = 10_000,
    ) -> Planned:
        if (own.bounds is None) != (columns is None):
            raise UsageError("--bounds and --columns go together; give both or a --schema.")
        planned: Planned = own.model(**unit.parameters(), **budget.parameters()).plan(rows, columns)
        return planned

    return plan_command(_described(rehearse, group, words))


def _described(command: Callable[..., Any], group: type, words: str) -> Callable[..., Any]:
    command.__doc__ = words
    command.__annotations__["own"] = group
    return command
