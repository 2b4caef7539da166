"""A source-target fit rehearsed on made-up sources, which no private row has a part in."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from privclust.plan import Plan
from privclust.source_target.solution import known_source, mean_distance, solve
from privclust.source_target.targets import PublicTargets

if TYPE_CHECKING:
    from privclust.source_target.estimator import PrivateSourceTargetMedoids

__all__ = ["rehearsed"]

_REHEARSALS = 3
_GROUPS = 20


def rehearsed(model: PrivateSourceTargetMedoids, target: Any, n_sources: int) -> Plan:
    """Return the plan of a fit to these targets with about so many sources."""
    public = PublicTargets.check(target, metric=model.metric)
    public.check_centres(model.n_centers)
    ratios = []
    for seed in range(_REHEARSALS):
        source = _synthetic_sources(public, n_sources, np.random.default_rng(seed))
        rehearsal = clone(model).set_params(random_state=seed, ledger=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rehearsal.fit(target, source=source)
        existing = known_source(public, source)
        best = solve(public, existing, model.n_centers).cost
        cost = mean_distance(public, existing, rehearsal.medoid_indices_)
        ratios.append(cost / best if best > 0 else 1.0)
    statement = replace(rehearsal.privacy_, flaws=())
    return Plan(statement, n_sources, float(np.mean(ratios)), "mean distance")


def _synthetic_sources(public: PublicTargets, count: int, rng: np.random.Generator) -> Any:
    """Return sources at random targets of a part of the space, so that another part lacks them."""
    places = public.table if public.metric == "precomputed" else public.space.targets
    groups = places[rng.choice(len(places), min(_GROUPS, len(places)), replace=False)]
    labels = ((places[:, None] - groups) ** 2).sum(axis=2).argmin(axis=1)
    (equipped,) = np.nonzero(labels < max(1, len(groups) // 3))
    return public.table[rng.choice(equipped, count)]
