"""Tasks: what can be asked of private data, as records for the command line and the service.

A family has a file ``task`` with records and no code. A task has variants, one for each estimator
that can do it and that ``method`` selects: the family's own, and those of papers. Nothing heavy
is imported here: classes and functions are named as ``"module:name"``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from privclust.exceptions import ParameterError
from privclust.parameters import Parameter


@dataclass(frozen=True)
class Variant:
    """One estimator that can do a task."""

    estimator: str  # the class, as ``module:name``
    parameters: tuple[Parameter, ...]  # those that the family has besides budget, schema and unit
    # What ``method`` may be for it, the default first; empty if the task has no such choice.
    methods: tuple[str, ...] = ()
    # The paper that it is from, which has a help panel of its own; empty for the family's own.
    paper: str = ""
    in_service: bool = True  # whether the service offers it
    fixed: Mapping[str, Any] = field(default_factory=dict)  # what the task decides, as a metric

    @property
    def kind(self) -> type:
        """The class."""
        found: type = load(self.estimator)
        return found

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given values that its constructor accepts."""
        named = {p.name for p in self.parameters if not p.of_fit}
        return {**self.fixed, **{name: it for name, it in given.items() if name in named}}


@dataclass(frozen=True)
class Task:
    """One task."""

    name: str  # what a request calls it
    # What a reader calls it, and what it is good for.
    title: str
    sentence: str
    variants: tuple[Variant, ...]  # the first is the family's own
    # The help of its commands.
    fit_words: str = ""
    plan_words: str = ""
    clusters: str = ""  # the parameter that is the number of clusters; empty if it has none
    # Rows of numbers and categories, of numbers or of categories only, sources with public targets,
    # numbers of unknown range ("forms"), or a matrix of counts.
    takes: str = "rows"
    fewest: int = 1  # the fewest columns it needs; 0 if it takes a matrix
    most: int | None = None  # the most columns it takes; None for any number
    audited: Mapping[str, Any] = field(default_factory=dict)  # the parameters of an audited model

    @property
    def methods(self) -> tuple[str, ...]:
        """All values of ``method``."""
        return tuple(method for variant in self.variants for method in variant.methods)

    def variant(self, method: str | None) -> Variant:
        """Return the variant that a method means; the first if none is named."""
        if method is None:
            return self.variants[0]
        for variant in self.variants:
            if method in variant.methods:
                return variant
        choices = ", ".join(self.methods)
        raise ParameterError(f"method must be one of {choices}, got {method!r}.")

    def model(self, *positional: Any, method: str | None = None, **parameters: Any) -> Any:
        """Return the estimator that a method means, with these parameters."""
        variant = self.variant(method)
        named = variant.arguments({} if method is None else {"method": method})
        return variant.kind(*positional, **named, **parameters)

    def parameters(self, *, in_service: bool = False) -> dict[str, Parameter]:
        """Return the parameters of all variants by name; the first of each name counts."""
        found: dict[str, Parameter] = {}
        for variant in self.variants:
            if variant.in_service or not in_service:
                for parameter in variant.parameters:
                    found.setdefault(parameter.name, parameter)
        return found


def load(name: str) -> Any:
    """Return what ``module:name`` names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
