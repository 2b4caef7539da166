"""``PrivateDensity``: noisy counts of a grid, from which clusters of any shape are free."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import Tags

from privclust.budget import Budget
from privclust.clustering.missing import with_missing_sentence
from privclust.clustering.plan import with_plain_numbers
from privclust.clustering.remedies import advice
from privclust.data.points.door import PointRows, region_of
from privclust.data.public import Noisy
from privclust.density.answers import DensityAnswers
from privclust.density.grid_counts import CountedGrid, ask_density
from privclust.density.plan import AGREEMENT, MOST_REHEARSED, plant_clumps
from privclust.density.release import arrays_from_counts
from privclust.density.task import DENSITY
from privclust.estimator import PrivateEstimator
from privclust.exceptions import SchemaError
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.opening.rows import Opened, PublicFacts, open_points
from privclust.parameters import WHOLE, check_declared_once
from privclust.plan import Plan, rehearse
from privclust.privacy.meter import Meter
from privclust.release.release import Release
from privclust.schema.facts import Box
from privclust.schema.schema import Schema
from privclust.unit import Unit, row_unit, unit_from


class PrivateDensity(DensityAnswers, PrivateEstimator):
    """How dense rows are in one to three columns of numbers, and clusters of any shape in them.

    The budget is spent once, on counts of the cells of a grid over the declared bounds. Clusters
    by persistence, with or without a given number, those of any clusterer of scikit-learn and
    synthetic rows are computed from the counts, as often as you like.

    Parameters
    ----------
    least : float or None, default=None
        The smallest share of the rows that is a cluster. Smaller clusters, such as the towns of a
        map, need finer cells, which show large and sparse ones less well. ``None`` for 0.01 or, if
        a first look at two columns finds rows in places narrower than the cells, for 0.001.
    epsilon : float, default=1.0
        The privacy loss allowed. Smaller is more private and less accurate.
    delta : float, default=0
        One table of counts gains nothing from it: without a ledger ε alone is spent, which keeps
        the promise.
    budget : Budget or None, default=None
        Given instead of ``epsilon`` and ``delta``; for example ``Budget.of_rho(0.1, 1e-6)``.
    schema : Schema or None
        Public bounds of every column. A column of whole numbers should be declared as such, with
        ``form="integer"``, so that no cell has more of them than the next.
    bounds : tuple of (low, high) or None
        Shorthand for a schema: bounds that hold for all columns, or one value per column.
    unit : Unit or str, default="add-remove-row"
        Whose presence is hidden; see :mod:`privclust.unit`.
    missing_share : float, default=0.02
        The share of the budget that counts missing values for which a rule stands, in columns with
        ``missing=`` a constant or ``"omit"``; 0, or no such column, asks nothing.
    random_state : int or None, default=None
        ``None`` for private noise. A number makes the fit reproducible and NOT PRIVATE.
    ledger : Ledger or None, default=None
        Where the fit is charged before any row is read.
    dataset : str or None, default=None
        The name of the data set in the ledger.

    Attributes
    ----------
    counts_ : ndarray with an axis for each column
        Noisy numbers of rows in the cells; they may be negative.
    counts_error_ : float
        The standard error of each of them.
    edges_ : tuple of ndarray
        The edges of the cells along each column, in the units of the data.
    n_rows_, n_rows_error_ : float
        The noisy number of rows, and its standard error.
    missing_counts_ : dict of str to float
        About how many values a rule stood for in each column; only where ``missing_share`` paid.
    missing_counts_error_ : float
        The standard error of each of these numbers.
    privacy_ : PrivacyStatement
        What is promised, and which questions were asked.
    schema_ : Schema
        The schema used.
    warnings_ : tuple of str
        The warnings of the fit: that there are too few rows for a grid.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the data had names.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from privclust import PrivateDensity
    >>> rows = make_moons(10_000, noise=0.05, random_state=0)[0]
    >>> density = PrivateDensity(epsilon=1.0, bounds=([-1.5, -1], [2.5, 1.5])).fit(rows)
    >>> density.clusters().n_clusters
    2
    """

    _kind = "density"
    _parameters = DENSITY.variants[0].parameters

    def __init__(
        self,
        *,
        least: float | None = None,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        schema: Any = None,
        bounds: tuple[Any, Any] | None = None,
        unit: Unit | str = "add-remove-row",
        missing_share: float = 0.02,
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.least = least
        self.epsilon = epsilon
        self.delta = delta
        self.budget = budget
        self.schema = schema
        self.bounds = bounds
        self.unit = unit
        self.missing_share = missing_share
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def release(self) -> Release:
        """Return the density in the form to publish: the release that the ledger recorded."""
        return PrivateEstimator.release(self)

    def plan(self, n_rows: int = 10_000, n_features: int | None = None) -> Plan:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=10_000
            About how many rows the data have, from public knowledge; at most 100 000 are generated.
        n_features : int or None
            The number of columns, if neither the schema nor the bounds determine it.
        """
        self._check_parameters()
        WHOLE.check("n_rows", n_rows)
        WHOLE.check("n_features", n_features, also=(None,))
        declared = Schema.of(self.schema, bounds=self.bounds, n_columns=n_features)
        schema, unit = with_plain_numbers(_check_schema(declared)), row_unit(self.unit)
        count = min(int(n_rows), MOST_REHEARSED)
        plan = rehearse(
            self,
            lambda seed: plant_clumps(schema, count, unit, seed),
            n_rows=int(n_rows),
            measure=AGREEMENT,
            known={"schema": schema, "bounds": None},
        )
        return with_missing_sentence(plan, unit, schema)

    # The steps of a fit.
    def _check_combinations(self) -> None:
        check_declared_once(self.schema, self.bounds)

    def _run(self, charged: bool | None = None) -> Run:
        """Return what a fit starts from; without a ledger, which adds up ρ, ε may be spent pure."""
        run = super()._run(charged)
        return replace(run, meter=Meter(run.budget, or_pure=not run.charged))

    def _open(self, X: Any, public: Any = None) -> Opened:
        schema = None if self.schema is None else _check_schema(Schema.of(self.schema))
        return open_points(X, schema=schema, bounds=self.bounds, unit=unit_from(self.unit))

    def _door(self, opened: Opened) -> PointRows:
        return PointRows(replace(opened, schema=_check_schema(opened.schema)), rescale=True)

    def _ask(self, door: PointRows, run: Run, public: Any = None) -> CountedGrid:
        least = None if self.least is None else float(self.least)
        return ask_density(door, run, least, self.missing_share)

    def _keep(self, facts: PublicFacts, result: CountedGrid, public: Any = None) -> None:
        self._remember_columns(facts.names, facts.n_columns)
        self.schema_, grid = facts.schema, result.grid
        self.counts_, self.counts_error_ = result.counts, result.counts_error
        columns = zip(grid.low, grid.widths, grid.sides, strict=True)
        self.edges_ = tuple(low + width * np.arange(side + 1) for low, width, side in columns)
        self.n_rows_, self.n_rows_error_ = result.n_rows, result.n_rows_error
        self._counted = result

    def _advice(self) -> Iterator[str]:
        return advice(self, fewest_columns=1)

    def _noisy_number(self, result: CountedGrid) -> Noisy:
        return Noisy(np.array([result.n_rows]), result.n_rows_error)

    def _release_fields(self) -> dict[str, Any]:
        return {
            "arrays": arrays_from_counts(self._counted),
            "schema": self.schema_,
            "parameters": {"least": self._counted.least},
        }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _check_schema(schema: Schema) -> Schema:
    """Return the schema; raise unless a grid over its columns can be counted."""
    elsewhere = "PrivateSummary takes any columns"
    for name, fact in schema.columns.items():
        if not isinstance(fact, Box):
            raise SchemaError(
                f"Column {name!r} is declared as categorical, but a density takes numbers alone; "
                f"leave it out, or use another estimator: {elsewhere}."
            )
        if fact.weight != 1:
            raise SchemaError(
                f"Column {name!r} has a weight, which a density has no use for; drop it."
            )
    if not 1 <= len(schema) <= (DENSITY.most or 0):
        raise SchemaError(
            f"A density takes one to three columns of numbers, got {len(schema)}; choose three, "
            f"or use another estimator: {elsewhere}."
        )
    if schema.ball is not None:
        raise SchemaError("A density counts cells of a box; drop the Ball from the schema.")
    region_of(schema, rescale=True)
    return schema
