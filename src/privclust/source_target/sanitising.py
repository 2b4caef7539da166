"""From a method's name to the sanitised source that it makes."""

from __future__ import annotations

import numpy as np

from privclust.budget import Share
from privclust.data.sites.view import SitesView
from privclust.source_target.nas import ask_nas
from privclust.source_target.nna import NearestSettings, ask_nna
from privclust.source_target.placement import CoordinateCells, DistanceCells
from privclust.source_target.rings import ask_rings
from privclust.source_target.sanitised import Sanitised
from privclust.source_target.targets import PublicTargets

__all__ = ["ask_noisy_source"]


def ask_noisy_source(
    view: SitesView,
    budget: Share,
    public: PublicTargets,
    rng: np.random.Generator,
    method: str,
    settings: NearestSettings,
) -> Sanitised:
    """Return what a method makes of the source within ``budget``."""
    if method == "nna":
        return ask_nna(view, budget, settings)
    if method == "nas":
        return ask_nas(view, budget, settings)
    if not public.metric.has_coordinates:
        table = public.table.astype(np.float32)
        return ask_rings(view, budget, DistanceCells(public.space, table), rng)
    return ask_rings(view, budget, CoordinateCells(public.space), rng)
