"""Tiny targets, views of sources behind them, and the questions that can be put to those."""

import numpy as np

from privclust.budget import Budget
from privclust.data.encode import Domain
from privclust.data.people import limit_rows_per_person
from privclust.data.sites.public import Rings, TargetSpace
from privclust.data.sites.view import SitesView
from privclust.privacy.meter import Meter
from privclust.privacy.noise.exact import ExactNoise
from privclust.reading.opening import open_rows
from privclust.schema.schema import Schema
from privclust.unit.rows import AddRemoveRow

BUDGETS = {"pure": Budget(1), "zcdp": Budget(1, 1e-6)}
TARGETS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
RINGS = Rings(np.array([0, 0.4, 1.0]), (TARGETS[:2], TARGETS[2:]))


def view_of(rows, budget, *, targets=TARGETS, unit=None, noise=None, block_rows=None, space=None):
    """Return a view of source rows in bounds of -3 to 4, and what it may spend."""
    unit = unit or AddRemoveRow()
    source = open_rows(rows, id_column=unit.id_column, block_rows=block_rows)
    names = source.names or [f"x{column}" for column in range(source.n_columns)]
    schema = Schema.from_bounds(-3, 4, names=names)
    domain, meter = Domain.from_schema(schema), Meter(budget)
    view = SitesView(
        limit_rows_per_person(source, unit, domain.rows, np.random.SeedSequence(0)),
        domain,
        space or TargetSpace(targets),
        unit,
        meter,
        noise or ExactNoise(),
    )
    return view, budget.whole


def ask(view, question, share):
    """Ask one of the questions about the tiny targets and return the noisy numbers."""
    sites = TARGETS[:2]
    if question == "histogram":
        return view.ask_histogram("bins", RINGS, share).value
    if question == "cells":
        counts, sums = share.split([1, 1])
        answer = view.ask_cells("cells", sites, counts=counts, sums=sums)
        return np.column_stack([answer.counts.value, answer.sums.value])
    if question == "site":
        return view.ask_nearest_distance("distance", sites[:1], 1, share).value
    if question == "distance":
        return view.ask_nearest_distance("distance", sites, 1, share).value
    return view.ask_nearest_averages("averages", sites, 2, share).value
