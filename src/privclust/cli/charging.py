"""Which budget a fit is charged to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privclust.cli.errors import UsageError

__all__ = ["charged_to"]


def charged_to(
    place: str | None, holder: str | None, dataset: str | None, data: Path, seed: int | None
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
    data : Path
        The data.
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
    return {"ledger": ledger, "dataset": dataset or data.name.partition(".")[0]}
