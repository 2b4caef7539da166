"""Every private estimator once: how to make it, what to fit it to, and neighbours to tell apart.

Contract suites iterate over :data:`ESTIMATORS`. A new private estimator gets its record here and
with it every promise that all of them keep; ``test_support`` notices one that is missing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from privclust import (
    AddRemoveRow,
    MatrixCount,
    MatrixEntry,
    MatrixRow,
    Person,
    PrivateBounds,
    PrivateCoclustering,
    PrivateDensity,
    PrivateDilca,
    PrivateGaussianMixture,
    PrivateKMeans,
    PrivateSourceTargetMedoids,
    PrivateSummary,
    ReplaceRow,
)
from privclust.audit.neighbours import NeighbourPair
from privclust.papers.dilca import PrivateContextDilca, PrivateContextKMeans
from privclust.papers.rivals.high_dim import PrivateHighDimKMeans
from privclust.papers.rivals.nmf import PrivateNMF
from privclust.papers.rivals.one_hot import PrivateOneHotKMeans
from privclust.papers.rivals.wgan import PrivateWGAN
from privclust.papers.targets.private import PrivateNearestMedoids
from privclust.papers.tau.private import PrivateTauCoclustering
from privclust.papers.zones.private import PrivateZoneKMeans
from support.datasets import MIXED, PLACES, POINTS, SURVEY, baskets, mixed, places, points, survey

ROW_UNITS = (AddRemoveRow(), ReplaceRow(), Person("who", 2))
MATRIX_UNITS = (MatrixCount(), MatrixEntry(2), MatrixRow())


@dataclass(frozen=True)
class EstimatorRecord:
    """One private estimator and all that a contract needs to try it.

    Attributes
    ----------
    kind : type
        The estimator's class.
    positional : tuple
        Its first parameters.
    parameters : dict
        The others, but for budget, unit and random state.
    private_data : callable
        Returns what is private of the data; tables have a column "who" for units of a person.
    public_data : callable, optional
        Returns what else ``fit`` takes first, where the private data are its ``source``.
    neighbours : callable
        ``neighbours(data)`` returns a pair that differs in one unit, and that an estimator without
        noise tells apart.
    units, refused : tuple of Unit
        The units that it takes, and some that it refuses.
    methods : tuple of str
        The values of ``method``, if it has that parameter.
    variant : str
        Tells records of one class apart.
    """

    kind: type
    private_data: Callable[[], Any]
    neighbours: Callable[[Any], NeighbourPair]
    units: tuple[Any, ...] = ROW_UNITS
    refused: tuple[Any, ...] = MATRIX_UNITS
    positional: tuple[Any, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    public_data: Callable[[], Any] | None = None
    methods: tuple[str, ...] = ()
    variant: str = ""

    @property
    def name(self) -> str:
        """The name of the class and the variant, by which tests are called."""
        return self.kind.__name__ + self.variant

    def make(self, unit: Any = None, **changes: Any) -> Any:
        """Return an unfitted model; the default unit is the first one that it takes."""
        unit = unit or self.units[0]
        # Whole rows of a matrix can be protected only with a δ.
        budget = {"epsilon": 2.0, "delta": 1e-6 if isinstance(unit, MatrixRow) else 0}
        given = budget | self.parameters | {"unit": unit} | changes
        return self.kind(*self.positional, **given)

    def data(self, unit: Any = None) -> Any:
        """Return the private data, with a column of people only for a unit that needs it."""
        data = self.private_data()
        if isinstance(data, pd.DataFrame) and not isinstance(unit, Person):
            return data.drop(columns="who")
        return data

    def fit(self, model: Any, data: Any) -> Any:
        """Fit a model to private data, whatever else it takes, and let it warn of nothing."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.public_data is None:
                return model.fit(data)
            return model.fit(self.public_data(), source=data)

    def fitted(self, unit: Any = None, **changes: Any) -> Any:
        """Return a model that is fitted with true noise, and so is private."""
        return self.fit(self.make(unit, **changes), self.data(unit))

    def seeded(self, unit: Any = None, seed: int = 7, **changes: Any) -> Any:
        """Return a model that is fitted with seeded noise: the same in every run, not private."""
        return self.fitted(unit, random_state=seed, **changes)


def _one_row_less(data: pd.DataFrame) -> NeighbourPair:
    return NeighbourPair("one row less", data, data[:-1])


def _one_count_more(data: Any) -> NeighbourPair:
    more = data.copy()
    more[0, int(np.asarray(data.todense())[0].argmax())] += 1
    return NeighbourPair("one count more", data, more)


def _few_points() -> pd.DataFrame:
    return points()[:600]


def _target() -> pd.DataFrame:
    return places()[0][:80]


def _source() -> pd.DataFrame:
    return places()[1][:300]


_POINTS = {
    "private_data": points, "neighbours": _one_row_less, "positional": (4,),
    "parameters": {"schema": POINTS},
}  # fmt: skip
_MIXED = {
    "private_data": mixed, "neighbours": _one_row_less, "parameters": {"schema": MIXED},
    "variant": "-mixed",
}  # fmt: skip
_SURVEY = {
    "private_data": survey, "neighbours": _one_row_less, "parameters": {"schema": SURVEY},
}  # fmt: skip
_BASKETS = {
    "private_data": baskets, "neighbours": _one_count_more, "positional": (3, 3),
    "refused": ROW_UNITS,
}  # fmt: skip
_PLACES = {
    "private_data": _source, "public_data": _target, "neighbours": _one_row_less,
    "positional": (3,), "parameters": {"schema": PLACES},
}  # fmt: skip

ESTIMATORS = (
    EstimatorRecord(PrivateKMeans, methods=("cells", "cautious", "grid", "lloyd"), **_POINTS),
    # Of few rows there are few cells, of which all numbers of clusters are tried.
    EstimatorRecord(
        PrivateKMeans,
        variant="-auto",
        **{**_POINTS, "positional": ("auto",), "private_data": _few_points},
    ),
    EstimatorRecord(PrivateZoneKMeans, **_POINTS),
    EstimatorRecord(
        PrivateHighDimKMeans, **{**_POINTS, "parameters": {"schema": POINTS, "n_swaps": 3}}
    ),
    EstimatorRecord(PrivateNMF, **{**_POINTS, "parameters": {"schema": POINTS, "n_steps": 3}}),
    EstimatorRecord(PrivateWGAN, **{**_POINTS, "parameters": {"schema": POINTS, "n_steps": 3}}),
    EstimatorRecord(PrivateSummary, **{**_POINTS, "positional": ()}),
    EstimatorRecord(PrivateDensity, **{**_POINTS, "positional": ()}),
    EstimatorRecord(PrivateGaussianMixture, **_POINTS),
    EstimatorRecord(PrivateKMeans, positional=(3,), methods=("cells",), **_MIXED),
    EstimatorRecord(
        PrivateKMeans,
        positional=(3,),
        **{
            **_MIXED,
            "variant": "-learned",
            "parameters": {"schema": MIXED, "metric": "dilca"},
        },
    ),
    EstimatorRecord(PrivateSummary, **_MIXED),
    EstimatorRecord(
        PrivateSummary,
        **{
            **_MIXED,
            "variant": "-learned",
            "parameters": {"schema": MIXED, "metric": "dilca"},
        },
    ),
    EstimatorRecord(
        PrivateSummary,
        **{
            **_MIXED,
            "variant": "-synthetic",
            "parameters": {"schema": MIXED, "synthetic": True},
        },
    ),
    EstimatorRecord(
        PrivateBounds,
        private_data=points,
        neighbours=_one_row_less,
        parameters={"columns": ["x", "y", "z"]},
    ),
    EstimatorRecord(
        PrivateContextDilca,
        methods=("baseline", "mean-su", "max-relevance", "max-dependency", "greedy-dependency"),
        **_SURVEY,
    ),
    EstimatorRecord(PrivateDilca, methods=("pairs", "tree"), **_SURVEY),
    EstimatorRecord(
        PrivateKMeans,
        positional=(3,),
        variant="-categories",
        **{**_SURVEY, "parameters": {"schema": SURVEY, "metric": "dilca"}},
    ),
    EstimatorRecord(
        PrivateContextKMeans, positional=(3,), methods=("baseline", "mean-su"), **_SURVEY
    ),
    EstimatorRecord(PrivateOneHotKMeans, positional=(3,), methods=("lloyd", "cells"), **_SURVEY),
    EstimatorRecord(PrivateCoclustering, units=MATRIX_UNITS, **_BASKETS),
    EstimatorRecord(PrivateTauCoclustering, units=MATRIX_UNITS[:2], **_BASKETS),
    EstimatorRecord(PrivateSourceTargetMedoids, **_PLACES),
    EstimatorRecord(PrivateNearestMedoids, methods=("nna", "nas"), **_PLACES),
)
