"""Parameters, written once: a record for each, with its kind, default, words and where it is shown.

Checks of estimators, options of the command line and fields of the service's forms are made from
the records, and a test compares signatures and docstrings with them. Nothing heavy is imported, so
that help pages are quick.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from privclust.exceptions import ParameterError

# A working set may use this share of the machine's memory; beyond it the fit would be killed.
_USABLE = 0.8
# The working set of k-means, in numbers per cluster and column, as measured.
_NUMBERS_PER_CLUSTER = 64

PYTHON, COMMAND, SERVICE = "python", "command", "service"
EVERYWHERE = frozenset({PYTHON, COMMAND, SERVICE})


class Kind:
    """A kind of values; the base class allows everything."""

    words = "anything"

    def allows(self, value: Any) -> bool:
        """Return whether a value is of this kind."""
        return True

    def check(self, name: str, value: Any, also: tuple[Any, ...] = ()) -> None:
        """Raise with one sentence if a value is neither of this kind nor one of ``also``."""
        if any(value is other or (_is_text(value, other) and value == other) for other in also):
            return
        if not self.allows(value):
            words = " or ".join(filter(None, (", ".join(map(repr, also)), self.words)))
            raise ParameterError(f"{name} must be {words}, got {value!r}{self.hint(value)}.")

    def hint(self, value: Any) -> str:
        """Return what to do about a value that is nearly of this kind; nothing if it is not."""
        return ""


@dataclass(frozen=True)
class Whole(Kind):
    """Whole numbers of at least ``least``."""

    least: int = 1

    @property
    def words(self) -> str:  # type: ignore[override]
        """What is allowed."""
        return f"a whole number of at least {self.least}"

    def allows(self, value: Any) -> bool:
        """Return whether a value is such a number."""
        number = isinstance(value, Integral) and not _is_flag(value)
        return number and int(value) >= self.least

    def hint(self, value: Any) -> str:
        """Return what to do about a number in quotes."""
        quoted = isinstance(value, str) and value.strip().isdecimal()
        return "; write it without quotes" if quoted else ""


@dataclass(frozen=True)
class Number(Kind):
    """Finite numbers above 0, or from 0 on, and below ``below``."""

    below: float = float("inf")
    or_zero: bool = False

    @property
    def words(self) -> str:  # type: ignore[override]
        """What is allowed."""
        below = "" if self.below == float("inf") else f" and below {self.below:g}"
        return f"a number {'from 0 on' if self.or_zero else 'above 0'}{below}"

    def allows(self, value: Any) -> bool:
        """Return whether a value is such a number."""
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            return False
        return 0 < number < self.below or (self.or_zero and number == 0)


@dataclass(frozen=True)
class OneOf(Kind):
    """One of a list of texts."""

    choices: tuple[str, ...]
    # Texts that another class accepts, and its name.
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    # Former texts that are still allowed, and what they are called now.
    former: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:  # type: ignore[override]
        """What is allowed."""
        return f"one of {', '.join(self.choices)}"

    def allows(self, value: Any) -> bool:
        """Return whether a value is in the list."""
        return isinstance(value, str) and (value in self.choices or value in self.former)

    def check(self, name: str, value: Any, also: tuple[Any, ...] = ()) -> None:
        """Raise if a value is not in the list, naming the class that accepts it, if any."""
        if isinstance(value, str) and value in self.elsewhere:
            raise ParameterError(f"{name}={value!r} is from a paper; use {self.elsewhere[value]}.")
        super().check(name, value, also)


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    words = "True or False"

    def allows(self, value: Any) -> bool:
        """Return whether a value is one of the two."""
        return _is_flag(value)


@dataclass(frozen=True)
class Items(Kind):
    """A list of public things: ``"columns"``, ``"points"``, ``"numbers"`` or ``"places"``.

    The estimator checks it, because that needs the columns or the points of the question.
    """

    of: str


WHOLE, POSITIVE, SHARE, FLAG = Whole(), Number(), Number(1), Flag()


@dataclass(frozen=True)
class Parameter:
    """One parameter of an estimator."""

    name: str  # as the estimator calls it, and questions to a service
    kind: Kind
    default: Any  # the estimator's own
    words: str  # the help of its option, and its label in a form if there is no ``label``
    also: tuple[Any, ...] = ()  # values besides those of the kind: ``"auto"``, None
    option: tuple[str, ...] = ()  # how its option is spelled, if not ``--name-with-dashes``
    label: str = ""  # what it is called in a form
    # Placeholder for a value in the help, and for the default, if not the default itself.
    metavar: str = ""
    shown: str = ""
    seen: frozenset[str] = EVERYWHERE  # where it is offered
    # The methods of its estimator that it belongs to; empty for all of them.
    methods: tuple[str, ...] = ()
    of_fit: bool = False  # whether it is an argument of ``fit``, not of the constructor

    def check(self, value: Any) -> None:
        """Raise with one sentence if a value does not fit."""
        self.kind.check(self.name, value, self.also)

    @property
    def flag(self) -> str:
        """The option on a command line."""
        return self.option[0] if self.option else f"--{self.name.replace('_', '-')}"


# The algorithms of papers can be run with more noise than their promise needs.
NOISE = Parameter(
    "noise",
    OneOf(("exact", "published")),
    "exact",
    "As much as needed, or as in the paper.",
    label="Noise",
)


def check_parameters(model: Any) -> None:
    """Check every parameter that the model's class has a record of."""
    records: Sequence[Parameter] = model._parameters
    for parameter in records:
        if not parameter.of_fit:
            parameter.check(getattr(model, parameter.name))


def check_memory(needed: float, remedy: str) -> None:
    """Raise if a working set of ``needed`` bytes does not fit into this machine's memory.

    ``needed`` comes from public numbers alone, never from the rows; ``remedy`` says what to change.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > _USABLE * memory:
        raise ParameterError(
            f"This needs about {needed / 2**30:,.0f} GB of memory and the machine has "
            f"{memory / 2**30:,.0f}; {remedy}."
        )


def check_clusters(n_clusters: int, n_columns: int) -> None:
    """Raise if k-means with ``n_clusters`` does not fit into this machine's memory."""
    needed = 8.0 * _NUMBERS_PER_CLUSTER * n_clusters * (n_columns + 1)
    check_memory(needed, "ask for fewer clusters")


def check_declared_once(schema: object, bounds: object) -> None:
    """Raise if the columns are declared both by a schema and by bounds."""
    if schema is not None and bounds is not None:
        raise ParameterError("Both schema and bounds are given; drop one of them.")


def _is_flag(value: Any) -> bool:
    """Return whether a value is True or False, NumPy's too."""
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _is_text(value: Any, other: Any) -> bool:
    return isinstance(value, str) and isinstance(other, str)
