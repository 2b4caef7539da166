"""The outlook of a categorical fit: what it would ask, cost and be good for, without any data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from privclust.privacy.statement import PrivacyStatement
from privclust.schema import Bins, Box, Schema
from privclust.unit import Person, Unit

__all__ = ["Outlook", "synthetic_rows"]

# Noise of a table, summed over its cells, in shares of the rows: below the first the metric is
# mostly good, above the second it is mostly useless (measured on seven data sets).
_GOOD, _HOPELESS = 8.0, 20.0


@dataclass(frozen=True, repr=False)
class Outlook:
    """What a fit would ask and what to expect of it.

    Attributes
    ----------
    statement : PrivacyStatement
        The questions of a rehearsal on synthetic rows.
    n_rows : int
        About how many rows the data have.
    noise_ratio : float
        The noise of a table of the usual size, added up over its cells, over the number of rows.
    """

    statement: PrivacyStatement
    n_rows: int
    noise_ratio: float

    @property
    def advice(self) -> str:
        """What to make of the noise, in one sentence."""
        if self.noise_ratio <= _GOOD:
            return "The budget suffices for this many rows and values."
        remedy = "raise epsilon, set delta, group rare values or gather more rows."
        if self.noise_ratio > _HOPELESS:
            return f"The metric would be mostly noise: {remedy}"
        return f"Expect a rough metric; for a better one, {remedy}"

    def to_dict(self) -> dict[str, Any]:
        """Return the outlook as plain data."""
        return {
            "statement": self.statement.to_dict(),
            "n_rows": self.n_rows,
            "noise_ratio": self.noise_ratio,
            "advice": self.advice,
        }

    def __str__(self) -> str:
        lines = [self.statement.protects]
        lines += [f"  {charge.query} ({charge.noise})" for charge in self.statement.queries]
        lines.append(
            f"Noise of a usual table, over {self.n_rows:,} rows: {self.noise_ratio:.3g} "
            f"(below {_GOOD:g} is good, above {_HOPELESS:g} is useless)."
        )
        return "\n".join([*lines, self.advice])

    __repr__ = __str__

    @classmethod
    def of(
        cls,
        statement: PrivacyStatement,
        schema: Schema,
        n_rows: int,
        error: float,
        *,
        every_pair: bool,
    ) -> Outlook:
        """Return the outlook of a rehearsal whose cells had a standard error of ``error``."""
        sizes = [fact.size for fact in schema.columns.values() if not isinstance(fact, Box)]
        cells = [a * b for i, a in enumerate(sizes) for b in sizes[:i]]
        ratio = error * float(np.median(cells)) / max(n_rows, 1)
        if not every_pair:  # fewer tables tell less: what they lack counts as noise
            ratio *= math.sqrt(len(sizes) / 2)
        return cls(replace(statement, flaws=()), n_rows, ratio)


def synthetic_rows(schema: Schema, n_rows: int, unit: Unit) -> pa.Table:
    """Return rows of declared values, drawn evenly; each is a person of its own."""
    rng = np.random.default_rng(0)
    columns: dict[str, pa.Array] = {}
    for name, fact in schema.columns.items():
        if isinstance(fact, Bins):
            columns[name] = pa.array(rng.uniform(fact.edges[0], fact.edges[-1], n_rows))
        elif not isinstance(fact, Box):
            listed = pa.array(fact.values)
            columns[name] = listed.take(pa.array(rng.integers(len(listed), size=n_rows)))
    if isinstance(unit, Person):
        columns[unit.id_column] = pa.array(np.arange(n_rows))
    return pa.table(columns)
