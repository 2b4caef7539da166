"""Where every command is registered; ``main`` is what the installed script runs.

A family of algorithms has a module ``command`` with ``fit`` and ``plan``: see ``families``.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from privclust.cli import apply, audit, check, demo, ledger, release, remote, report, schema, serve
from privclust.cli.errors import PLAIN, OneSentence
from privclust.families import FAMILIES

__all__ = ["app", "main"]

app = typer.Typer(
    name="privclust",
    cls=OneSentence,
    help="Cluster sensitive data and publish the result with a proof of privacy.",
    epilog="Exit status: 0 done, 1 refused (bad data, schema, release or budget), 2 wrong usage.",
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
plans = typer.Typer(
    help="Say what a fit would ask, cost and achieve. No data are touched.", **PLAIN
)

_offered = {family.command: import_module(family.command_module) for family in FAMILIES}
for _name, _family in _offered.items():
    app.command(_name)(_family.fit)
    plans.command(_name)(_family.plan)
app.add_typer(plans, name="plan")
for _family in _offered.values():
    for _name, _command in getattr(_family, "more", {}).items():
        app.command(_name)(_command)
app.command("apply")(apply.apply)
app.command("check")(check.check)
app.command("report")(report.report)
app.add_typer(release.app, name="release")
app.add_typer(schema.app, name="schema")
app.add_typer(ledger.app, name="ledger")
app.command("audit")(audit.audit)
app.command("serve")(serve.serve)
app.add_typer(remote.app, name="remote")
app.command("demo")(demo.demo)


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from privclust import __version__

        typer.echo(f"privclust {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Parameters
    ----------
    arguments : sequence of str or None
        What follows the name of the program; ``sys.argv`` if not given.
    """
    app(args=arguments, prog_name="privclust")
