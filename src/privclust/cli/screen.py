"""What a person or a machine sees: tables, notes, progress, JSON, and errors of one sentence.

Results go to stdout, everything about the run to stderr. Progress is shown only on a terminal: the
number of rows is private and must not end up in a log.

The library raises ``ValueError`` (schemas, data, releases, ledgers, parameters) with one sentence
that says what to do. Anything unexpected is a defect and keeps its traceback.
"""

from __future__ import annotations

import inspect
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Annotated, Any, Final, TypedDict

import typer
from rich.console import Console, RenderableType
from rich.text import Text
from typer.core import TyperCommand, TyperGroup, TyperOption

from privclust.jobs.fit import sentence_of, sentence_with_notes, user_errors


def stdout() -> Console:
    """Return the console of results; text in brackets is not markup."""
    return Console(markup=False, highlight=False, emoji=False)


# The options of all commands, by name; and their values in the running command.
OPTIONS_OF_ALL: Final = {
    "as_json": Annotated[bool, typer.Option("--json", help="Print one JSON document to stdout.")],
}
_given: ContextVar[dict[str, bool]] = ContextVar("given", default={})  # noqa: B039  # never changed


def wants_json() -> bool:
    """Return whether the running command was given ``--json``."""
    return _given.get().get("as_json", False)


def answer(document: Mapping[str, Any], *shown: RenderableType) -> None:
    """Give the result of a command, as one JSON document or as text."""
    if wants_json():
        typer.echo(json.dumps(document, allow_nan=False))
        return
    for part in shown:
        show(part)


def show(part: RenderableType) -> None:
    """Show a line or a table; long lines are left to the terminal, so that paths stay whole."""
    stdout().print(part, soft_wrap=isinstance(part, str))


def note(text: str) -> None:
    """Print a note about the run, if there is a terminal."""
    if sys.stderr.isatty():
        typer.echo(text, err=True)


def alarm(text: str) -> None:
    """Print a warning that must not be overlooked."""
    console = Console(stderr=True, markup=False, highlight=False)
    console.print(Text(text, style="bold red"), soft_wrap=True)


@contextmanager
def rows_progress(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show how many rows were read; yields a callback for rows done and rows in all."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from privclust.display import _show

    with _show(what) as tell:
        yield tell


# Errors: one sentence on stderr, an exit status, and no traceback; and warnings.

REFUSED, WRONG_USAGE, INTERRUPTED = 1, 2, 130
# A server answers browsers, not the terminal it was started from.
_WITHOUT = ("serve",)


class _Plain(TypedDict):
    add_completion: bool
    rich_markup_mode: None
    pretty_exceptions_enable: bool


# Settings of every group of commands: help and errors as plain text.
PLAIN: Final[_Plain] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}


class UsageError(Exception):
    """Incompatible options; the message is one sentence."""


def give_options_of_all(app: typer.Typer) -> None:
    """Give every command of an app, and of the apps in it, the options of all commands."""
    for command in app.registered_commands:
        if command.name not in _WITHOUT and command.callback is not None:
            command.callback = _with_options(command.callback)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            give_options_of_all(group.typer_instance)


def _with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(command)
    def with_options(**given: Any) -> Any:
        _given.set({name: given.pop(name) for name in OPTIONS_OF_ALL})
        return command(**given)

    keyword = inspect.Parameter.KEYWORD_ONLY
    own = inspect.signature(command, eval_str=True).parameters.values()
    shown = [parameter.replace(kind=keyword) for parameter in own]
    for name, option in OPTIONS_OF_ALL.items():
        shown.append(inspect.Parameter(name, keyword, default=False, annotation=option))
    with_options.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return with_options


class OneSentence(TyperGroup):
    """The root command, which handles all errors."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run a command and exit with its status."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # "ε" on a terminal that cannot show it
                stream.reconfigure(errors="replace")
        settings["standalone_mode"] = False
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _warn
            try:
                status = super().main(*args, **settings)
            except Exception as error:
                status = _answer(error)
        sys.exit(status or 0)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an interrupt ends it like an error."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            _say(sentence_with_notes("Interrupted.", error))
            raise typer.Exit(INTERRUPTED) from None


class PanelCommand(TyperCommand):
    """A command whose help shows the options of a paper under a heading of their own."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options of the command, then those of papers."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                usual = "Options" if isinstance(parameter, TyperOption) else "Arguments"
                panel = getattr(parameter, "rich_help_panel", None) or usual
                panels.setdefault(panel, []).append(record)
        for heading, records in panels.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def _answer(error: Exception) -> int:
    """Print what is wrong and return the exit status; unexpected errors are raised again."""
    if hasattr(error, "format_message"):  # typer's own errors have no common public class
        return _answer_usage(error)
    if isinstance(error, UsageError):
        _say(sentence_with_notes(str(error), error))
        return WRONG_USAGE
    if not isinstance(error, user_errors()):
        raise error
    _say(sentence_of(error))
    return REFUSED


def _answer_usage(error: Any) -> int:
    message = str(error.format_message())
    if message.startswith("Usage:"):  # a group that was called without a command
        typer.echo(message, err=True)
        return WRONG_USAGE
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "privclust"
    _say(f"{message.rstrip('.')}; see '{command} --help'.")
    return int(error.exit_code)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(str(message), "Warning")


def _say(sentence: str, what: str = "Error") -> None:
    # A path may have line breaks; an answer is one line.
    typer.echo(f"{what}: {' '.join(sentence.split())}", err=True)
