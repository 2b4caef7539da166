"""Which budget a fit is charged to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privclust.cli.errors import UsageError

__all__ = ["charged_to"]


def charged_to(
    place: str | None,
    holder: str | None,
    dataset: str | None,
    data: str | Path | list[str],
    seed: int | None,
) -> dict[str, Any]:
    """Return the ledger and the data set to charge, as parameters of an estimator.

    Parameters
    ----------
    place : str or None
        The ledger's file or address.
    holder : str or None
        Whose grants are spent; those of everyone if not given.
    dataset : str or None
        The data set's name in the ledger; that of the file, without its suffixes, if not given.
    data : path or list of paths
        The data; only one file has a name to give.
    seed : int or None
        The seed of the noise; a ledger takes no fit that has one.
    """
    if place is None:
        if dataset is not None or holder is not None:
            raise UsageError("--dataset and --holder are names in a ledger; add --ledger.")
        return {}
    if seed is not None:
        raise UsageError("A fit with --seed is not private and cannot be charged; drop one.")
    from privclust.ledger import EVERYONE, Ledger

    ledger = Ledger.open(place, holder=holder or EVERYONE)
    return {"ledger": ledger, "dataset": dataset or _name_of(data)}


def _name_of(data: str | Path | list[str]) -> str:
    name = "" if isinstance(data, list) else Path(data).name.partition(".")[0]
    if not name or name == "-" or set("*?[") & set(name):
        raise UsageError("Several files or standard input have no name in a ledger; add --dataset.")
    return name
