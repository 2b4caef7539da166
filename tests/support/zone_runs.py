"""Zones drawn at random, steps of a run, and runs with zones on one row and on its neighbour."""

from unittest.mock import patch

import numpy as np

from privclust.budget import Budget
from privclust.clustering.weighted_kmeans import spread_out_centres
from privclust.data.papers.public import Zones
from privclust.papers.zones.private import ZoneMoves, ask_zone_clusters, ask_zone_steps
from support.noise import seeded_noise
from support.transcripts import Transcript
from support.views import papers_view_of as view_of
from support.views import plenty_of

BUDGETS = {"pure": Budget(1), "zcdp": Budget(1, 1e-6)}
# One cluster, two candidates; the neighbour has a row in the zone, at the second candidate.
ORIGIN = np.zeros((1, 1))
TWO = Zones(ORIGIN, ORIGIN, np.array([0.75]), np.array([[[-0.5], [0.5]]]))
NONE, ONE = np.array([[-1.0]]), np.array([[-1.0], [0.5]])
ONE_ROW, TWO_ROWS = np.array([[-1.0]]), np.array([[-1.0], [1.0]])


def choose(view, share, rng):
    """Ask for the better of two candidates."""
    return view.ask_choices("pick", TWO, share)


def count(view, share, rng):
    """Ask for the counts of two cells."""
    return view.ask_zone_cells("cells", TWO, share)


def run(view, share, rng):
    """Run with one cluster, from a start at -1."""
    with patch("privclust.papers.zones.private.spread_out_centres", lambda *_: np.array([[-1.0]])):
        return ask_zone_clusters(view, share, 1, rng, moves=ZoneMoves(2), n_steps=1)


RUNS = {
    "choice": (choose, (NONE, ONE)),
    "cells": (count, (NONE, ONE)),
    "whole run": (run, (ONE_ROW, TWO_ROWS)),
}


def views_for(name, budget, noise):
    """Return views of both neighbours that can be asked often."""
    return [view_of(rows, budget=plenty_of(budget), noise=noise) for rows in RUNS[name][1]]


def transcript_of(name, views, side, budget, rng):
    """Return all answers of one run."""
    transcript = Transcript(views, side)
    RUNS[name][0](transcript, budget.whole, rng)
    return transcript


def random_zones(rng, dimension=2, n_clusters=3, n_candidates=3):
    middles = rng.uniform(-0.5, 0.5, (n_clusters, dimension))
    shifts = rng.uniform(-0.3, 0.3, (n_clusters, n_candidates, dimension))
    centres = rng.uniform(-0.5, 0.5, (n_clusters, dimension))
    return Zones(centres, middles, rng.uniform(0, 1, n_clusters), middles[:, None] + shifts)


def steps_of(rows, budget, n_clusters, moves, seed, n_steps=4):
    view, rng = view_of(rows, budget=budget, noise=seeded_noise(seed)), np.random.default_rng(seed)
    start = spread_out_centres(n_clusters, *view.domain.box_in_unit_ball(), rng)
    shares = budget.whole.split([1] * n_steps)
    return view, ask_zone_steps(view, shares, start, moves, rng)
