"""Tables of ``privclust ledger``: balances and histories, readable on eighty columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from privclust.ledger import Entry, Pot

__all__ = ["balances", "history"]


def balances(pots: Sequence[Pot]) -> Table:
    """Return what was granted, what was spent and what is left."""
    from privclust.ledger.sentences import granted_words, left_words, spent_words

    table = _table("Data set", "Holder", "Granted", "Spent", "Left")
    for pot in pots:
        table.add_row(
            pot.dataset, pot.holder, granted_words(pot), spent_words(pot), left_words(pot)
        )
    return table


def history(entries: Sequence[Entry]) -> Table:
    """Return what happened: a sentence for each entry, which wraps on a narrow terminal."""
    from rich.text import Text

    from privclust.ledger.sentences import NOT_PRIVATE, entry_words, minute

    table = _table("Entry", "Time", "What")
    for entry in entries:
        told = Text(entry_words(entry))
        told.highlight_regex(f"{NOT_PRIVATE}.*", "bold red")
        table.add_row(str(entry.seq), minute(entry.at), told)
    return table


def _table(*names: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name in ("Entry", "Time"))
    return table
