"""``privclust ledger``: budgets of data sets, for their stewards and for auditors."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from privclust.cli import options, screen
from privclust.cli.options import PersonOptions, expand_groups
from privclust.cli.screen import PLAIN
from privclust.jobs import output_paths as places

if TYPE_CHECKING:
    from rich.table import Table

    from privclust.ledger.accounting import Pot
    from privclust.ledger.chain import Entry, Head
    from privclust.unit import Unit


# Heads of ledgers that are kept elsewhere: how they are written and read.

_DIGEST = re.compile(r"(?:[A-Za-z0-9._-]{1,100}:)?[0-9a-f]{64}")


def save_head(path: Path, head: Head) -> None:
    """Write a head into a file; an older one there is replaced."""
    places.check_folder(path)
    with places.replace_atomically(path) as temporary:
        plain = json.dumps({"entries": head.entries, "digest": head.digest})
        temporary.write_text(f"{plain}\n", encoding="utf-8")


def load_head(kept: str) -> Head | str:
    """Return the head, digest or receipt that an argument names."""
    if _DIGEST.fullmatch(kept):
        return kept
    path = Path(kept)
    if not path.exists():
        raise ValueError(
            f"--head '{kept}' is neither a digest nor a receipt nor a file that exists; give one."
        )
    if path.is_dir() or places.is_one_file(path):
        return _receipt(path)
    return _head_in_file(path)


def _receipt(path: Path) -> str:
    from privclust.release.release import Release

    receipt = Release.load(path).privacy.receipt
    if receipt is None:
        raise ValueError(f"The release '{path}' was not charged to a ledger; give another one.")
    return receipt


def _head_in_file(path: Path) -> Head | str:
    from privclust.ledger.chain import Head

    text = path.read_bytes()[:1000].decode("utf-8", errors="replace").strip()
    if _DIGEST.fullmatch(text):
        return text
    try:
        plain = json.loads(text)
        head = Head(int(plain["entries"]), str(plain["digest"]))
    except (ValueError, KeyError, TypeError):
        head = Head(0, "")
    if not _DIGEST.fullmatch(head.digest):
        raise ValueError(f"'{path}' is not the head of a ledger; write one with 'ledger head -o'.")
    return head


# Tables of ``privclust ledger``: print_balances and histories, readable on eighty columns.


def print_balances(pots: Sequence[Pot]) -> Table:
    """Return what was granted, what was spent and what is left."""
    from privclust.ledger.words import grant_phrase, left_phrase, spent_phrase

    table = _table("Data set", "Holder", "Granted", "Spent", "Left")
    for pot in pots:
        table.add_row(
            pot.dataset, pot.holder, grant_phrase(pot), spent_phrase(pot), left_phrase(pot)
        )
    return table


def print_history(entries: Sequence[Entry]) -> Table:
    """Return what happened: a sentence for each entry, which wraps on a narrow terminal."""
    from rich.text import Text

    from privclust.ledger.words import NOT_PRIVATE, entry_words, minute

    table = _table("Entry", "Time", "What")
    for entry in entries:
        sentence = Text(entry_words(entry))
        sentence.highlight_regex(f"{NOT_PRIVATE}.*", "bold red")
        table.add_row(str(entry.seq), minute(entry.at), sentence)
    return table


def _table(*names: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name in ("Entry", "Time"))
    return table


app = typer.Typer(help="Grant budgets on data sets, and see where they went.", **PLAIN)
keys = typer.Typer(help="Public keys that sign releases.", **PLAIN)
app.add_typer(keys, name="key")

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
@expand_groups
def create(
    ledger: LedgerPlace,
    dataset: Dataset,
    person: PersonOptions,
    unit: Annotated[
        str,
        typer.Option(
            "--unit",
            metavar="NAME",
            help="Whose presence is hidden: add-remove-row, replace-row, person (needs an id "
            "column and a bound), matrix-count, matrix-entry, matrix-row, or a unit as JSON.",
        ),
    ] = "add-remove-row",
    note: Note = "",
) -> None:
    """Add a data set, and create the ledger if there is none; nothing can be spent yet."""
    from privclust.ledger.ledger import Ledger

    chosen = _unit(unit, person)
    Ledger.open(ledger).create_dataset(dataset, chosen, note=note)
    document = {"dataset": dataset, "unit": chosen.to_dict(), "ledger": ledger}
    screen.answer(document, f"Data set '{dataset}' is in the ledger {ledger}.")


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
    currency: Annotated[
        Literal["pure", "zcdp", "approximate"] | None,
        typer.Option(
            "--currency",
            help="What a grant with δ pays for: zcdp, the fits of privclust; approximate, any "
            "(ε, δ) program, whose ε and δ then simply add up.",
            show_default="zcdp with δ, pure without",
        ),
    ] = None,
    holder: Annotated[
        str, typer.Option("--holder", metavar="NAME", help="Who may spend it.")
    ] = "everyone",
    note: Note = "",
) -> None:
    """Allow a holder to spend more on a data set."""
    from privclust.ledger.ledger import Ledger

    opened = Ledger.open(ledger)
    pot = opened.grant(dataset, epsilon, delta, currency=currency, holder=holder, note=note)
    screen.answer(pot.to_dict(), print_balances([pot]))


@app.command("balance")
def balance(ledger: LedgerPlace, dataset: AnyDataset = None) -> None:
    """Show what was granted, what was spent and what is left."""
    from privclust.ledger.ledger import Ledger

    opened = Ledger.open(ledger)
    names = opened.datasets() if dataset is None else [dataset]
    pots = [pot for name in names for pot in opened.balance(name)]
    document = {"datasets": names, "balance": [pot.to_dict() for pot in pots]}
    screen.answer(document, print_balances(pots))


@app.command("history")
def history(ledger: LedgerPlace, dataset: AnyDataset = None) -> None:
    """Show every entry, oldest first."""
    from privclust.ledger.ledger import Ledger

    entries = Ledger.open(ledger).history(dataset)
    document = {"entries": [entry.to_dict() for entry in entries]}
    screen.answer(document, print_history(entries))


@app.command("head")
def head(
    ledger: LedgerPlace,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Keep it here, for verify --head."),
    ] = None,
) -> None:
    """Print the digest of the whole ledger; keep it elsewhere."""
    from privclust.ledger.ledger import Ledger

    newest = Ledger.open(ledger).head()
    document = {"entries": newest.entries, "digest": newest.digest}
    if output is not None:
        save_head(output, newest)
    screen.answer(document, newest.digest)


@app.command("verify")
def verify(
    ledger: LedgerPlace,
    kept: Annotated[
        str | None,
        typer.Option(
            "--head",
            metavar="KEPT",
            help="What was kept elsewhere and must be in the ledger: a digest, a receipt, "
            "a file "
            "of 'ledger head -o', or a release that was charged to the ledger.",
        ),
    ] = None,
) -> None:
    """Recompute everything, and fail if anything was changed or is missing."""
    from privclust.ledger.ledger import Ledger

    newest = Ledger.open(ledger).verify(None if kept is None else load_head(kept))
    document = {"intact": True, "entries": newest.entries, "digest": newest.digest}
    message = f"The ledger is intact: {newest.entries} entries, the newest is {newest.digest}."
    screen.answer(document, message)


@app.command("backup")
def backup(
    ledger: LedgerPlace,
    place: Annotated[
        Path, typer.Argument(metavar="DEST", help="The file to create; it must not exist.")
    ],
) -> None:
    """Copy a consistent snapshot of a ledger, while it is in use, and verify the copy."""
    from privclust.ledger.ledger import Ledger

    newest = Ledger.open(ledger).backup(place)
    document = {"backup": str(place), "entries": newest.entries, "digest": newest.digest}
    message = f"Backup: {place} holds {newest.entries} entries, the newest is {newest.digest}."
    screen.answer(document, message)


@keys.command("add")
def add_key(
    ledger: LedgerPlace,
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="An Ed25519 public key, as hex or base64.")
    ],
    name: Annotated[str, typer.Option("--name", metavar="TEXT", help="Whose key it is.")],
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", metavar="NAME", help="Data set.", show_default="all of them"),
    ] = None,
) -> None:
    """Record the key that signs releases; statements show it."""
    from privclust.ledger.ledger import Ledger

    entry = Ledger.open(ledger).add_key(key, name, dataset)
    document = {"name": entry.purpose, "ed25519": entry.digest, "dataset": dataset}
    message = f"Key of {entry.purpose}: {entry.digest}"
    screen.answer(document, message)


@app.command("statement")
def statement(
    ledger: LedgerPlace,
    dataset: Dataset,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PATH", help="Write an .html page for an auditor."),
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Verify the ledger and say what is promised, granted and spent on a data set."""
    from privclust.ledger.ledger import Ledger
    from privclust.reports.ledger_page import html_statement

    if output is not None:
        places.check_file(output, "Statement", (".html",), overwrite=overwrite)
    said = Ledger.open(ledger).statement(dataset)
    if output is not None:
        with places.replace_atomically(output) as temporary:
            temporary.write_text(html_statement(said), encoding="utf-8")
    document = said.to_dict() | {"page": None if output is None else str(output)}
    shown = [] if output is None else [f"Statement: {output}"]
    if said.flawed and not screen.wants_json():
        screen.alarm(said.promise)
    promise = [] if said.flawed else [said.promise]
    table = print_balances(said.pots)
    screen.answer(document, *promise, said.protects, table, *shown)


@app.command("plot")
def plot(
    ledger: LedgerPlace,
    dataset: Dataset,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="The .svg, .png or .pdf file.")
    ],
    overwrite: options.Overwrite = False,
) -> None:
    """Draw how the grants on a data set were spent."""
    from privclust.ledger.ledger import Ledger
    from privclust.reports.ledger_page import FORMATS, burn_down_figure

    places.check_file(output, "Picture", FORMATS, overwrite=overwrite)
    figure = burn_down_figure(Ledger.open(ledger).statement(dataset))
    with places.replace_atomically(output) as temporary:
        figure.savefig(temporary, format=output.suffix.lower()[1:], dpi=150)
    screen.answer({"picture": str(output)}, f"Picture: {output}")


def _unit(name: str, person: PersonOptions) -> Unit:
    from privclust.unit import unit_from

    if not name.lstrip().startswith("{"):
        return person.unit_named(name)
    try:
        plain = json.loads(name)
    except json.JSONDecodeError as error:
        raise ValueError(f"--unit is not valid JSON ({error}); give a name or fix it.") from None
    return unit_from(plain)
