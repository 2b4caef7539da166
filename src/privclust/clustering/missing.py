"""How many values a rule stood for: counted with noise, because no other released number tells.

A constant in place of missing numbers, and missing values that are left out, leave no trace in
centres. A small share of the budget counts them: one table of two cells, there and missing, for
each column with such a rule. The question is that of ``TableView.ask_histograms``, about cells that
follow from the schema alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.data.points.door import PointRows
from privclust.data.public import Noisy
from privclust.data.question import Term
from privclust.data.table.public import Cut
from privclust.data.view import View
from privclust.fitting import Run
from privclust.notes import Note, missing_notes
from privclust.plan import Plan
from privclust.reports.values import format_error
from privclust.schema.facts import Bins, Box, Categories, Fact
from privclust.schema.schema import Schema
from privclust.unit.rows import RowUnit

QUESTION = "missing values"


@dataclass(frozen=True)
class MissingCounts:
    """Noisy numbers of missing or unreadable values, in the columns of ``Schema.uncounted``."""

    names: tuple[str, ...]
    counts: Noisy

    def by_name(self) -> dict[str, float]:
        """Return the noisy number of each column."""
        return dict(zip(self.names, self.counts.value.tolist(), strict=True))

    def arrays(self) -> dict[str, Floats]:
        """Return them as arrays of a release."""
        error = np.full(len(self.names), self.counts.standard_error)
        return {"missing_counts": self.counts.value, "missing_counts_error": error}

    def notes(self, n_rows: float) -> Iterator[Note]:
        """Yield a note for each column of which most values are missing."""
        return missing_notes(self.names, self.counts, n_rows)


def split_for_missing(budget: Share, schema: Schema, part: float) -> tuple[Share, Share | None]:
    """Return what is left of the budget, and what goes to counting; nothing without such rules."""
    if not part or not schema.uncounted:
        return budget, None
    share = budget.take(float(part))
    return budget.remainder(share), share


def ask_missing(door: PointRows, run: Run, share: Share | None) -> MissingCounts | None:
    """Ask how many values the rules stood for, if there is a share for it."""
    if share is None:
        return None
    names = door.schema.uncounted
    facts = [_presence(door.schema[name]) for name in names]
    schema = Schema(zip(names, facts, strict=True), csv=door.schema.csv)
    # A value that is left out has the code after the last category.
    there_or_not = np.array([0, 1])
    cuts = [Cut(j, np.array([float(fact.size)]), there_or_not) for j, fact in enumerate(facts)]
    view = door.within(schema, gap=None).cut(run.meter, run.another_seed(), cuts)
    noisy = view.ask_histograms(QUESTION, in_currency(view, share))
    return MissingCounts(names, Noisy(noisy.value.reshape(-1, 2)[:, 1], noisy.standard_error))


def in_currency(view: View, share: Share) -> Share:
    """Return a share of the budget in pure ε, if all else was spent in it, or as it is."""
    pure = None if share.currency == "pure" else view.pure_share(share)
    return share if pure is None else pure


def _presence(fact: Fact) -> Bins | Categories:
    """Return a fact that reads a column as before, but leaves missing numbers out."""
    if not isinstance(fact, Box):
        return fact
    edges, form = [fact.low, fact.high], fact.form
    marks = {name: getattr(fact, name) for name in ("format", "decimal", "thousands", "unit")}
    return Bins(edges, "omit", form, **marks)


def table_error(share: Share, unit: RowUnit, n_tables: int) -> float:
    """Return the standard error of each cell of tables that a share pays for, as planned."""
    change, amount = Term.cells().over(unit.one_step), float(share.amount)
    if share.currency == "pure":
        return float(np.sqrt(2) * change.l1 * n_tables / amount)
    return float(np.sqrt(change.square * n_tables / (2 * amount)))


def with_missing_sentence(plan: Plan, unit: RowUnit, schema: Schema) -> Plan:
    """Return a plan that says how well missing values are counted, if they are."""
    for charge in plan.queries:
        if charge.query == QUESTION:
            pure, rho = charge.loss.pure, charge.loss.rho
            paid = Share("zcdp", rho) if pure is None else Share("pure", pure)
            error = format_error(2 * table_error(paid, unit, len(schema.uncounted)))
            told = f"Missing values that a rule stands for are counted within ± {error} rows."
            return replace(plan, notes=(*plan.notes, told))
    return plan
