"""The choice of a candidate and a whole run with zones, on one row and on its neighbour."""

from unittest.mock import patch

import numpy as np

from privclust.data.papers.public import Zones
from privclust.papers.zones.private import ZoneMoves, ask_zone_clusters
from support.transcripts import Transcript
from support.views import papers_view_of as view_of
from support.views import plenty_of

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
