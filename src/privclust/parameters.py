"""Which values a parameter may have, as a table: a constraint for each name, checked in order.

An estimator lists its constraints in ``_checks``; a subclass merges its own with ``{**Base._checks,
...}``. A constraint takes the name and the value and raises with one sentence if they do not fit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from privclust.exceptions import ParameterError

Check = Callable[[str, Any], None]

# A working set may take this share of the machine's memory; beyond it the fit would be killed.
_USABLE = 0.8
# The working set of k-means, in numbers per cluster and column, as measured.
_NUMBERS_PER_CLUSTER = 64


def whole(least: int = 1) -> Check:
    """Allow whole numbers of at least ``least``."""

    def check(name: str, value: Any) -> None:
        number = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not number or value < least:
            raise ParameterError(
                f"{name} must be a whole number of at least {least}, got {value!r}."
            )

    return check


def fraction() -> Check:
    """Allow numbers above 0 and below 1."""

    def check(name: str, value: Any) -> None:
        try:
            inside = not isinstance(value, bool) and 0 < float(value) < 1
        except (TypeError, ValueError):
            inside = False
        if not inside:
            raise ParameterError(f"{name} must be a number above 0 and below 1, got {value!r}.")

    return check


def positive() -> Check:
    """Allow finite numbers above 0."""

    def check(name: str, value: Any) -> None:
        try:
            inside = not isinstance(value, bool) and 0 < float(value) < np.inf
        except (TypeError, ValueError):
            inside = False
        if not inside:
            raise ParameterError(f"{name} must be a number above 0, got {value!r}.")

    return check


def one_of(*choices: str) -> Check:
    """Allow the listed texts."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, str) or value not in choices:
            raise ParameterError(f"{name} must be one of {', '.join(choices)}, got {value!r}.")

    return check


def flag() -> Check:
    """Allow True and False."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise ParameterError(f"{name} must be True or False, got {value!r}.")

    return check


def either(other: object, check: Check) -> Check:
    """Allow one more value, such as ``"auto"`` or None, beside those of another constraint."""

    def both(name: str, value: Any) -> None:
        if value is other or (isinstance(other, str) and isinstance(value, str) and value == other):
            return
        try:
            check(name, value)
        except ParameterError as error:
            message = str(error).replace(" must be ", f" must be {other!r} or ", 1)
            raise ParameterError(message) from None

    return both


def check_parameters(model: Any) -> None:
    """Check every parameter that the model's class has a constraint for."""
    checks: Mapping[str, Check] = model._checks
    for name, check in checks.items():
        check(name, getattr(model, name))


def check_memory(needed: float, remedy: str) -> None:
    """Raise if a working set of this many bytes cannot fit this machine.

    Parameters
    ----------
    needed : float
        Bytes, from public numbers alone: it must not depend on the rows.
    remedy : str
        What to change, such as ``"ask for fewer clusters"``.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > _USABLE * memory:
        raise ParameterError(
            f"This needs about {needed / 2**30:,.0f} GB of memory and the machine has "
            f"{memory / 2**30:,.0f}; {remedy}."
        )


def check_clusters(n_clusters: int, n_columns: int) -> None:
    """Raise if k-means with this many clusters cannot fit into the memory of this machine."""
    needed = 8.0 * _NUMBERS_PER_CLUSTER * n_clusters * (n_columns + 1)
    check_memory(needed, "ask for fewer clusters")


def check_declared_once(schema: object, bounds: object) -> None:
    """Raise if the columns are declared both by a schema and by bounds."""
    if schema is not None and bounds is not None:
        raise ParameterError("Both schema and bounds are given; drop one of them.")
