"""Where every command is registered; ``main`` is what the installed script runs.

The commands of families are made from the records in their module ``task``: see ``inputs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from privclust.cli import audit, demo, ledger, release, remote, schema, screen, summary
from privclust.cli.inputs import commands_of_families
from privclust.cli.screen import PLAIN, OneSentence, PanelCommand, UsageError
from privclust.exceptions import install_hint

# ``privclust serve``: the service; it needs the extra ``service``.

_WANTED = {"argon2", "fastapi", "limits", "python_multipart", "uvicorn"}


class Instead(StrEnum):
    """Actions instead of serving."""

    RESET = "reset"


def serve(
    act: Annotated[
        Instead | None, typer.Argument(help="reset: give the user NAME a new one-time password.")
    ] = None,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Of a user.")] = None,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Settings, a TOML file.")
    ] = None,
    database: Annotated[
        str | None,
        typer.Option("--database", metavar="URL", help="SQLite file, or postgresql://…"),
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", metavar="DIR", help="Folder of the data sets.")
    ] = None,
    port: Annotated[int | None, typer.Option("--port", help="Where to listen.")] = None,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="The address in browsers.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Begin with synthetic data and two users.")
    ] = False,
) -> None:
    """Serve plans, jobs and releases to analysts. Rows stay here; the ledger decides."""
    _check_installed()
    from privclust.service.serve import reset
    from privclust.service.serve import serve as run
    from privclust.service.settings import Settings

    address = f"http://127.0.0.1:{port}" if port is not None and url is None else url
    given: dict[str, Any] = {"database": database, "data": data, "port": port, "url": address}
    if demo:
        given |= {"tick_seconds": 15}
    settings = Settings.read(config, **given)
    if act is None:
        run(settings, screen.show, demo=demo)
    elif name is None:
        raise UsageError("Name the user whose password to reset: privclust serve reset NAME.")
    else:
        reset(settings, name, screen.show)


def _check_installed() -> None:
    """Raise with one sentence if the extra is missing."""
    try:
        import privclust.service.serve  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name not in _WANTED:
            raise
        raise UsageError(f"The service needs more packages; {install_hint('service')}.") from None


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

for _name, (_fit, _plan) in commands_of_families().items():
    app.command(_name, cls=PanelCommand)(_fit)
    plans.command(_name, cls=PanelCommand)(_plan)
app.add_typer(plans, name="plan")
app.command("cluster")(summary.cluster)
app.command("choose-k")(summary.choose_k)
app.command("sample")(summary.sample)
app.command("apply")(release.apply)
app.command("check")(schema.check_command)
app.command("report")(release.report)
app.add_typer(release.app, name="release")
app.add_typer(schema.app, name="schema")
app.add_typer(ledger.app, name="ledger")
app.command("audit")(audit.audit)
app.command("serve")(serve)
app.add_typer(remote.app, name="remote")
app.command("demo")(demo.demo)
screen.give_options_of_all(app)


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
        The arguments after the name of the program; by default those of ``sys.argv``.
    """
    app(args=arguments, prog_name="privclust")
