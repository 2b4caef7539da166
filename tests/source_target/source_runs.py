"""Every method for sources, with neighbours between which every question changes most."""

from contextlib import suppress
from unittest.mock import patch

import numpy as np
import pandas as pd

from privclust.data.sites.public import TargetSpace
from privclust.papers.targets.private import NearestSettings, ask_nas, ask_nna
from privclust.source_target import rings as ours
from privclust.source_target.placement import CoordinateCells
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow
from source_target.source_doubles import view_of
from support.transcripts import Transcript
from support.views import plenty_of

LINE = np.array([[0.0], [0.5], [1.0]])
SPACE = TargetSpace(LINE)
CELLS = CoordinateCells(SPACE)
UNITS = {"add-remove": AddRemoveRow(), "replace": ReplaceRow(), "person": Person("who", 2)}


class LastAnswerError(Exception):
    """All questions of a fit are answered; what follows does not matter here."""


def run_rings(view, share, rng):
    with suppress(LastAnswerError), patch.object(ours, "_posteriors", side_effect=LastAnswerError):
        ours.ask_rings(view, share, CELLS, rng)


def run_nna(view, share, rng):
    ask_nna(view, share, NearestSettings(radius=0.1))


def run_nas(view, share, rng):
    # At this reach one site serves all.
    step = view._unit.one_step
    n_nearest = 2 if step.replaces else step.terms
    ask_nas(view, share, NearestSettings(radius=1.98, n_nearest=n_nearest))


METHODS = {"rings": run_rings, "nna": run_nna, "nas": run_nas}


def pair_of(method, unit):
    """Return neighbours between which every question changes as much as it ever can."""
    near, far = [0.01], [1.0]
    left, right = {
        "add-remove": ([far], [far, near]),
        "replace": ([far], [near]),
        "person": ([far, far], [far, far, near, near]),
    }[unit]
    if method != "nas" and unit != "replace":
        left, right = [], right[len(left) :]
    tables = [np.array(rows, float).reshape(-1, 1) for rows in (left, right)]
    if unit != "person":
        return tables
    old = len(left)
    return [
        pd.DataFrame(table, columns=["x0"]).assign(who=[int(i >= old) for i in range(len(table))])
        for table in tables
    ]


def views_for(method, unit, budget, noise):
    """Return views of both neighbours that can be asked often."""
    plenty = plenty_of(budget)
    return [
        view_of(rows, plenty, unit=UNITS[unit], space=SPACE, noise=noise)[0]
        for rows in pair_of(method, unit)
    ]


def transcript_of(method, views, side, budget, rng):
    """Return all answers of one fit."""
    transcript = Transcript(views, side)
    METHODS[method](transcript, budget.whole, rng)
    return transcript
