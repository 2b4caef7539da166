"""``SourceTargetEstimator``: how a source-target fit is checked, planned, asked and kept."""

from __future__ import annotations

from typing import Any, ClassVar

from privclust.data.sites.door import SourceRows
from privclust.data.sites.metrics import METRICS, MetricName
from privclust.data.view import Noisy
from privclust.estimator import PrivateEstimator, Run
from privclust.exceptions import ParameterError
from privclust.opening.rows import Opened, PublicFacts, open_sources
from privclust.parameters import (
    check_declared_once,
    either,
    flag,
    fraction,
    one_of,
    positive,
    whole,
)
from privclust.plan import Plan, rehearse
from privclust.schema import Schema
from privclust.source_target.medoids import ChosenCentres
from privclust.source_target.nna import NearestSettings
from privclust.source_target.plan import DISTANCE, random_targets, synthetic
from privclust.source_target.publishing import published
from privclust.source_target.result import SourceTargetResult
from privclust.source_target.sanitised import ReleasedSource
from privclust.source_target.sanitising import ask_noisy_source
from privclust.source_target.solution import Existing, solve
from privclust.source_target.targets import PublicTargets, declared_schema
from privclust.unit import Unit, unit_from

__all__ = ["SourceTargetEstimator"]


class SourceTargetEstimator(ChosenCentres, PrivateEstimator):
    """The way of a fit; see :class:`PrivateSourceTargetMedoids` for the parameters."""

    _kind = "source_target"
    _checks: ClassVar[Any] = {
        "n_centers": whole(),
        "method": one_of("rings", "nna", "nas"),
        "metric": one_of(*METRICS),
        "n_projected": either(None, whole()),
        "coreset_radius": fraction(),
        "coreset": either(None, one_of("auto", "halving", "net")),
        "n_nearest": whole(),
        "spread_share": either(None, fraction()),
        "counts_share": fraction(),
        "false_cells": positive(),
        "pull": flag(),
    }

    n_centers: int
    method: str
    metric: MetricName
    schema: Schema | None
    bounds: tuple[Any, Any] | None
    unit: Unit | str
    n_projected: int | None
    coreset_radius: float
    coreset: str | None
    n_nearest: int
    spread_share: float | None
    counts_share: float
    false_cells: float
    pull: bool

    def plan(
        self, n_rows: int = 1000, n_features: int | None = None, *, target: Any = None
    ) -> Plan:
        """Rehearse the fit with synthetic sources; no private row is read and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=1000
            About how many sources there are, from public knowledge; at most 100 000 are made.
        n_features : int or None
            The number of columns, if there are neither targets nor a schema.
        target : array-like of shape (n_targets, n_features) or None
            The public targets; 500 random ones within the declared bounds if not given.
        """
        self._check_parameters()
        whole()("n_rows", n_rows)
        if target is None:
            target = random_targets(self.schema, self.bounds, n_features)
        public = PublicTargets.of(target, metric=self.metric)
        public.check_centres(self.n_centers)
        unit = unit_from(self.unit)
        return rehearse(
            self,
            lambda seed: synthetic(public, target, int(self.n_centers), int(n_rows), seed, unit),
            n_rows=int(n_rows),
            measure=DISTANCE,
        )

    # The way of a fit.
    def _open(self, X: Any, public: Any = None) -> Opened:
        schema = declared_schema(public, self.schema, self.bounds)
        return open_sources(X, schema, unit_from(self.unit))

    def _door(self, opened: Opened) -> SourceRows:
        return SourceRows(opened)

    def _ask(self, door: SourceRows, run: Run, public: Any = None) -> SourceTargetResult:
        view = door.private(public.space, run.meter, run.seed)
        released = ask_noisy_source(
            view, run.budget.whole, public, run.choices, self.method, self._settings()
        )
        judges = released.judges
        existing = Existing(
            public.metric.lengths(released.base),
            None if judges is None else public.metric.lengths(judges),
        )
        return SourceTargetResult(released, solve(public, existing, int(self.n_centers)))

    def _settings(self) -> NearestSettings:
        return NearestSettings(
            radius=2 * self.coreset_radius,  # the parameter is in diameters of the targets
            coreset=self.coreset,
            n_nearest=int(self.n_nearest),
            spread_share=self.spread_share,
            counts_share=self.counts_share,
            false_cells=float(self.false_cells),
            pull=bool(self.pull),
        )

    def _keep(self, facts: PublicFacts, result: SourceTargetResult, public: Any = None) -> None:
        """Keep released values and public ones; nothing else."""
        self.schema_ = facts.schema
        self._keep_choice(public, result.found)
        self.cost_estimate_ = result.found.cost
        self.released_source_ = ReleasedSource.of(result.released, public.space)
        self.served_by_source_ = result.found.served
        spread = result.released.spread
        for name in ("source_spread_", "source_spread_error_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if spread is not None:
            self.source_spread_ = float(public.metric.lengths(spread.value)[0])
            self.source_spread_error_ = float(spread.standard_error)
        self._targets = public.table

    def _noisy_number(self, result: SourceTargetResult) -> Noisy:
        return result.released.number

    def _published(self) -> dict[str, Any]:
        return published(self)

    def _check_together(self) -> None:
        if not METRICS[self.metric].has_coordinates and self.method != "rings":
            raise ParameterError(
                f"The method {self.method!r} averages coordinates, which precomputed distances do "
                'not have; use method="rings".'
            )
        if self.spread_share is not None and self.method != "nas":
            raise ParameterError('spread_share belongs to method="nas"; drop it or set the method.')
        check_declared_once(self.schema, self.bounds)
