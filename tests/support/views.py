"""Views of a few rows, made without a door: of points, of a table, of a matrix."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import sparse

from privclust.budget import Budget
from privclust.data.matrix.view import MatrixView, ProfilesView
from privclust.data.papers.view import PapersView
from privclust.data.people import limit_rows_per_person
from privclust.data.points.mixed import region_of
from privclust.data.points.view import PointsView
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.view import TableView
from privclust.privacy.meter import Meter
from privclust.reading.opening import open_rows
from privclust.schema.facts import Categories
from privclust.schema.schema import Schema
from privclust.unit.matrix import MatrixRow
from privclust.unit.rows import AddRemoveRow
from support.noise import NoNoise


def plenty_of(budget):
    """Return a budget in the same currency from which the whole of this one can be taken often."""
    return Budget(10**9, budget.delta)


def view_of(
    data,
    schema=None,
    unit=None,
    *,
    budget=None,
    noise=None,
    block_rows=None,
    rescale=False,
    kind=PointsView,
    **cuts,
):
    """Return a view of rows within (-1, 1), or within ``schema``."""
    unit = unit or AddRemoveRow()
    id_column = unit.id_column
    n_columns = data.shape[1] - (id_column is not None)
    schema = schema or Schema.from_bounds(-1, 1, n_columns=n_columns)
    source = open_rows(data, schema.names, id_column=id_column, block_rows=block_rows)
    domain = region_of(schema, rescale=rescale)
    meter = Meter(budget or Budget(1))
    rows = limit_rows_per_person(source, unit, domain.rows, np.random.SeedSequence(0))
    return kind(rows, domain, unit, meter, noise or NoNoise(), **cuts)


def papers_view_of(data, schema=None, unit=None, **more):
    """Return a view that also answers the questions of papers."""
    return view_of(data, schema, unit, kind=PapersView, **more)


def table_view_of(rows, sizes, *, unit=None, budget=None, noise=None):
    """Return a view of rows of codes, with so many categories in each column."""
    names, coder = _codes(tuple(sizes))
    return TableView(
        open_rows(np.asarray(rows, np.int64), names),
        coder,
        unit or AddRemoveRow(),
        Meter(budget or Budget(10**6)),
        noise or NoNoise(),
    )


@cache
def _codes(sizes):
    schema = Schema({f"a{i}": Categories(list(range(size))) for i, size in enumerate(sizes)})
    return schema.names, CategoryCoder(schema)


def matrix_view_of(matrix, unit, *, budget=None, noise=None):
    """Return a view of a matrix of counts that is as small as the unit wants it."""
    counts = sparse.csr_array(np.asarray(matrix, np.int64))
    meter, noise = Meter(budget or Budget(1)), noise or NoNoise()
    if isinstance(unit, MatrixRow):
        return ProfilesView(counts, meter, noise)
    return MatrixView(counts, unit, meter, noise)
