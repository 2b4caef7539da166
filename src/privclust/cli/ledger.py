"""``privclust ledger``: budgets of data sets, for their stewards and for auditors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privclust.cli import files, options, screen
from privclust.cli.errors import PLAIN

if TYPE_CHECKING:
    from rich.table import Table

    from privclust.ledger import Entry, Pot
    from privclust.unit import Unit

__all__ = ["app"]

app = typer.Typer(help="Grant budgets on data sets, and see where they went.", **PLAIN)

LedgerPlace = Annotated[
    str, typer.Argument(metavar="LEDGER", help="An SQLite file or a postgresql:// address.")
]
Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="Name of the data set.")]
AnyDataset = Annotated[
    str | None,
    typer.Argument(metavar="[DATASET]", help="Name of a data set.", show_default="all"),
]
Note = Annotated[str, typer.Option("--note", metavar="TEXT", help="For readers of the history.")]


@app.command("create")
def create(
    ledger: LedgerPlace,
    dataset: Dataset,
    unit: Annotated[
        str,
        typer.Option(
            "--unit",
            metavar="NAME",
            help="Whose presence is hidden: add-remove-row, replace-row, person (needs the next "
            "two options), matrix-count, matrix-entry, matrix-row, or a unit as JSON.",
        ),
    ] = "add-remove-row",
    id_column: options.IdColumn = None,
    max_rows: options.MaxRows = None,
    note: Note = "",
    as_json: options.Json = False,
) -> None:
    """Add a data set, and make the ledger if there is none; nothing can be spent yet."""
    from privclust.ledger import Ledger

    chosen = _unit(unit, id_column, max_rows)
    Ledger.open(ledger).create_dataset(dataset, chosen, note=note)
    document = {"dataset": dataset, "unit": chosen.to_dict(), "ledger": ledger}
    screen.answer(document, f"Data set '{dataset}' is in the ledger {ledger}.", as_json=as_json)


@app.command("grant")
def grant(
    ledger: LedgerPlace,
    dataset: Dataset,
    epsilon: Annotated[
        str, typer.Option("--epsilon", metavar="NUMBER", help="ε to add, as an exact decimal.")
    ],
    delta: Annotated[
        str, typer.Option("--delta", metavar="NUMBER", help="δ to add; fits with δ need one.")
    ] = "0",
    holder: Annotated[
        str, typer.Option("--holder", metavar="NAME", help="Who may spend it.")
    ] = "everyone",
    note: Note = "",
    as_json: options.Json = False,
) -> None:
    """Allow a holder to spend more on a data set."""
    from privclust.ledger import Ledger

    pot = Ledger.open(ledger).grant(dataset, epsilon, delta, holder=holder, note=note)
    screen.answer(pot.to_dict(), _balances([pot]), as_json=as_json)


@app.command("balance")
def balance(ledger: LedgerPlace, dataset: AnyDataset = None, as_json: options.Json = False) -> None:
    """Show what was granted, spent and is left."""
    from privclust.ledger import Ledger

    opened = Ledger.open(ledger)
    names = opened.datasets() if dataset is None else [dataset]
    pots = [pot for name in names for pot in opened.balance(name)]
    document = {"datasets": names, "balance": [pot.to_dict() for pot in pots]}
    screen.answer(document, _balances(pots), as_json=as_json)


@app.command("history")
def history(ledger: LedgerPlace, dataset: AnyDataset = None, as_json: options.Json = False) -> None:
    """Show every entry, oldest first."""
    from privclust.ledger import Ledger

    entries = Ledger.open(ledger).history(dataset)
    document = {"entries": [entry.to_dict() for entry in entries]}
    screen.answer(document, _entries(entries), as_json=as_json)


@app.command("head")
def head(ledger: LedgerPlace, as_json: options.Json = False) -> None:
    """Print the digest that stands for the whole ledger; keep it elsewhere."""
    from privclust.ledger import Ledger

    newest = Ledger.open(ledger).head()
    document = {"entries": newest.entries, "digest": newest.digest}
    screen.answer(document, newest.digest, as_json=as_json)


@app.command("verify")
def verify(
    ledger: LedgerPlace,
    digest: Annotated[
        str | None,
        typer.Option(
            "--head",
            metavar="DIGEST",
            help="A digest that was kept elsewhere, or the end of a receipt; it must be there.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Compute everything again, and fail if anything was changed."""
    from privclust.ledger import Ledger

    newest = Ledger.open(ledger).verify(digest)
    document = {"intact": True, "entries": newest.entries, "digest": newest.digest}
    told = f"The ledger is intact: {newest.entries} entries, the newest is {newest.digest}."
    screen.answer(document, told, as_json=as_json)


@app.command("statement")
def statement(
    ledger: LedgerPlace,
    dataset: Dataset,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PATH", help="Write an .html page for an auditor."),
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Verify the ledger and say what is promised, granted and spent on a data set."""
    from privclust.ledger import Ledger
    from privclust.reports.ledger_page import html_statement

    if output is not None:
        files.check_file(output, "Statement", (".html",), overwrite=overwrite)
    said = Ledger.open(ledger).statement(dataset)
    if output is not None:
        with files.replacing(output) as temporary:
            temporary.write_text(html_statement(said), encoding="utf-8")
    document = said.to_dict() | {"page": None if output is None else str(output)}
    shown = [] if output is None else [f"Statement: {output}"]
    table = _balances(said.pots)
    screen.answer(document, said.promise, said.protects, table, *shown, as_json=as_json)


@app.command("plot")
def plot(
    ledger: LedgerPlace,
    dataset: Dataset,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="The .svg, .png or .pdf file.")
    ],
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Draw how the grants on a data set were used up."""
    from privclust.ledger import Ledger
    from privclust.reports.burn_down import FORMATS, burn_down_figure

    files.check_file(output, "Picture", FORMATS, overwrite=overwrite)
    figure = burn_down_figure(Ledger.open(ledger).statement(dataset))
    with files.replacing(output) as temporary:
        figure.savefig(temporary, format=output.suffix.lower()[1:], dpi=150)
    screen.answer({"picture": str(output)}, f"Picture: {output}", as_json=as_json)


def _unit(name: str, id_column: str | None, max_rows: int | None) -> Unit:
    from privclust.unit import unit_from

    if not name.lstrip().startswith("{"):
        return options.unit_of(name, id_column, max_rows)
    try:
        plain = json.loads(name)
    except json.JSONDecodeError as error:
        raise ValueError(f"--unit is not valid JSON ({error}); give a name or mend it.") from None
    return unit_from(plain)


def _balances(pots: Sequence[Pot]) -> Table:
    from privclust.ledger.words import granted_words, left_words, spent_words

    table = _table("Data set", "Holder", "Granted", "Spent", "Left")
    for pot in pots:
        table.add_row(
            pot.dataset, pot.holder, granted_words(pot), spent_words(pot), left_words(pot)
        )
    return table


def _entries(entries: Sequence[Entry]) -> Table:
    from privclust.ledger.words import loss_words

    table = _table("Entry", "Time", "What", "Data set", "Holder", "Amount", "For", "By")
    for entry in entries:
        table.add_row(
            str(entry.seq),
            f"{entry.at[:10]} {entry.at[11:19]}",
            entry.kind,
            entry.dataset,
            entry.holder,
            loss_words(entry.epsilon, entry.delta) if entry.pot else "",
            entry.purpose or entry.digest,
            entry.actor,
        )
    return table


def _table(*names: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name in ("Entry", "Time", "What"))
    return table
