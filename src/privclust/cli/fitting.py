"""What all commands that fit have in common: their options, and the way to a published release.

A family writes a function that takes its own options and a :class:`FitOptions` and returns a
:class:`~privclust.jobs.fit.Fit`; :func:`fit_command` makes a command of it. An option of all of
them is a field of :class:`FitOptions` and stands nowhere else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from privclust.cli import options, screen
from privclust.cli.budgets import BudgetOptions
from privclust.cli.engines import EngineOptions
from privclust.cli.errors import UsageError
from privclust.cli.groups import takes_groups
from privclust.jobs.fit import Fit

if TYPE_CHECKING:
    from privclust.release import About

__all__ = ["FitOptions", "Planned", "fit_command", "plan_command"]


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
        from privclust.release import About

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
        from privclust.ledger import EVERYONE, Ledger

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
    from privclust.cli.publishing import kept_or_printed, show
    from privclust.jobs.publish import Destination

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
