"""How errors are answered: one sentence on stderr, an exit status, and no traceback; and warnings.

The library raises ``ValueError`` (schemas, data, releases, ledgers, parameters) with one sentence
that says what to do. Anything unexpected is a defect and keeps its traceback.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, Final, TypedDict

import typer
from typer.core import TyperGroup

from privclust.jobs.sentences import expected_errors, sentence_of, with_notes

__all__ = ["PLAIN", "OneSentence", "UsageError"]

REFUSED, WRONG_USAGE, INTERRUPTED = 1, 2, 130


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
    """Options that do not go together; the message is one sentence."""


class OneSentence(TyperGroup):
    """The root of the commands, which answers all of their errors."""

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
            _say(with_notes("Interrupted.", error))
            raise typer.Exit(INTERRUPTED) from None


def _answer(error: Exception) -> int:
    """Say what is wrong and return the exit status; an unexpected error is raised again."""
    if hasattr(error, "format_message"):  # typer's own errors have no common public class
        return _answer_usage(error)
    if isinstance(error, UsageError):
        _say(with_notes(str(error), error))
        return WRONG_USAGE
    if not isinstance(error, expected_errors()):
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
    # A path may hold line breaks; an answer is one line.
    typer.echo(f"{what}: {' '.join(sentence.split())}", err=True)
