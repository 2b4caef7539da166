"""Every error and warning that a user can meet, with one base of each.

An error's message is one sentence that says what is wrong and what to do, and never quotes a
private value. Every error carries only its message, so that it survives the return from a worker
process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

__all__ = [
    "BudgetExceededError",
    "BudgetGoneError",
    "DataError",
    "EngineError",
    "EngineWarning",
    "LeakWarning",
    "LedgerConflictError",
    "LedgerCorruptedError",
    "LedgerError",
    "LedgerFullError",
    "LedgerLockedError",
    "LedgerMissingError",
    "LedgerReadOnlyError",
    "LedgerVersionError",
    "LowSignalWarning",
    "MixedTypesError",
    "NoRowsError",
    "NotPrivateWarning",
    "NotSavedError",
    "ParameterError",
    "PrivclustError",
    "PrivclustWarning",
    "PublicFactWarning",
    "ReleaseError",
    "SchemaError",
    "SourceWarning",
    "UnitMismatchError",
    "UnknownDatasetError",
    "as_one_sentence",
    "did_you_mean",
    "first_caller_outside",
]


class PrivclustError(ValueError):
    """Any error that privclust raises on purpose."""


class ParameterError(PrivclustError):
    """A parameter of an estimator that cannot work; nothing was read and nothing was charged."""


class SchemaError(PrivclustError):
    """A schema that cannot be used."""


class DataError(PrivclustError):
    """Data that cannot be read as declared."""


class EngineError(PrivclustError):
    """A Dask cluster that cannot be used, or that did not finish."""


class NoRowsError(DataError):
    """Data without rows; views that answer for empty data as for any other catch it."""


class MixedTypesError(DataError, TypeError):
    """A column whose values are not all of one readable type."""


class BudgetExceededError(PrivclustError):
    """A question would cost more than the rest of a fit's budget."""


class ReleaseError(PrivclustError):
    """A release that cannot be made, saved, loaded or applied."""


class NotSavedError(ReleaseError):
    """A release that could not be written to its path.

    Attributes
    ----------
    kept : Path or None
        Where it was written instead; None if nothing could be written.
    """

    def __init__(self, sentence: str, kept: Path | None = None) -> None:
        super().__init__(sentence)
        self.kept = kept


class LedgerError(PrivclustError):
    """The ledger cannot do what was asked of it; unless said otherwise, nothing was spent."""


class BudgetGoneError(LedgerError):
    """What is left of the grants does not cover the charge."""


class UnknownDatasetError(LedgerError):
    """The ledger has no data set of that name."""


class UnitMismatchError(LedgerError):
    """The charge is for a privacy unit other than the data set's."""


class LedgerConflictError(LedgerError):
    """A data set, request or receipt is already used for something else."""


class LedgerMissingError(LedgerError):
    """There is no ledger, or no server, at the address."""


class LedgerVersionError(LedgerError):
    """The ledger was written by another version of the schema."""


class LedgerCorruptedError(LedgerError):
    """The ledger is damaged, or was changed from outside."""


class LedgerLockedError(LedgerError):
    """The ledger stayed locked by another process for too long."""


class LedgerFullError(LedgerError):
    """The disk under the ledger is full."""


class LedgerReadOnlyError(LedgerError):
    """The ledger can be read but not written."""


class PrivclustWarning(UserWarning):
    """Any warning that privclust gives on purpose."""


class EngineWarning(PrivclustWarning):
    """A Dask cluster that works, but slowly."""


class LeakWarning(PrivclustWarning):
    """Something was learned from the private rows without noise, so the result is not private."""


class LowSignalWarning(PrivclustWarning):
    """Noise hides what was looked for. Detected from noisy values alone, at no cost."""


class NotPrivateWarning(PrivclustWarning):
    """An algorithm that claims to be private but is not is about to be used."""


class PublicFactWarning(PrivclustWarning):
    """What was declared is likely to give a poor or weakly protected result."""


class SourceWarning(PrivclustWarning):
    """Something about the source of a source-target fit, for its caller."""


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return " (did you mean 'Age'?)" if a known name is much like this one, else nothing."""
    by_form = {_fold(other): other for other in known}
    near = get_close_matches(_fold(str(name)), by_form, n=1, cutoff=0.7)
    return f" (did you mean {by_form[near[0]]!r}?)" if near else ""


def install_hint(extra: str) -> str:
    """Return what installs an optional part; privclust is on no package index."""
    return f"run pip install '.[{extra}]' in a clone of privclust"


def _fold(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum())


@contextmanager
def as_one_sentence(
    message: str, *errors: type[BaseException], error: type[PrivclustError] = DataError
) -> Iterator[None]:
    """Raise ``message`` in place of another library's error, whose text may quote a value.

    ``from None`` would only hide that error from a printed traceback; code that walks the chain,
    such as a logger, would still find it. So the link is removed.
    """
    try:
        yield
    except errors:
        try:
            raise error(message)
        except error as sentence:
            sentence.__context__ = None
            raise


def first_caller_outside() -> int:
    """Return the stack level of the first caller that is neither ours nor scikit-learn's."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in ("privclust", "sklearn"):
            break
        level, frame = level + 1, frame.f_back
    return level
