"""Every question about a table and every variant of the metric, with neighbours that show most."""

from __future__ import annotations

import numpy as np

from privclust.categories.learn import Options, ask_pairs, ask_tree
from privclust.data.table.public import independent_tables
from privclust.papers.dilca.private import (
    ask_baseline,
    ask_greedy_dependency,
    ask_max_dependency,
    ask_max_relevance,
    ask_mean_su,
)
from privclust.unit.rows import AddRemoveRow, ReplaceRow
from support.transcripts import Transcript
from support.views import plenty_of, table_view_of

SAME = [(0, 0, 0)] * 6
ADD, REPLACE = AddRemoveRow(), ReplaceRow()


def _with_nothing(rows):
    """Return rows with one more attribute, of the same value everywhere."""
    return [(*row, 0) for row in rows]


QUESTIONS = {
    "count": lambda view, share: view.ask_count("q", share),
    "histograms": lambda view, share: view.ask_histograms("q", share),
    "tables": lambda view, share: view.ask_pair_tables("q", [(0, 1)], share),
    "entropies": lambda view, share: view.ask_entropies("q", [(0,)], 6, share),
    "relevance": lambda view, share: view.ask_relevant_attributes("q", 0, 1, 6, share),
    "context": lambda view, share: view.ask_relevant_context("q", 0, 1, 6, share),
    "next": lambda view, share: view.ask_relevant_context("q", 0, 2, 6, share, (3,)),
}
# A value of the target that the first attribute does not tell, or that the second does not.
ODD, OTHERWISE = [(1, 0, 1)], [(1, 1, 0)]
ASKED = {
    ("count", ADD): ((1,), ([(0,)], [(0,)] * 2)),
    ("histograms", ADD): ((2,), ([(0,)], [(0,), (1,)])),
    ("histograms", REPLACE): ((2,), ([(0,)], [(1,)])),
    ("tables", ADD): ((2, 2), ([(0, 0)], [(0, 0), (1, 1)])),
    ("tables", REPLACE): ((2, 2), ([(0, 0)], [(1, 1)])),
    ("entropies", ADD): ((2,), ([(0,)] * 5, [(0,)] * 6)),
    ("entropies", REPLACE): ((2,), ([(0,)] * 6, [(0,)] * 5 + [(1,)])),
    ("relevance", ADD): ((2, 2, 2), (SAME, SAME + ODD)),
    ("relevance", REPLACE): ((2, 2, 2), (SAME[1:] + ODD, SAME[1:] + OTHERWISE)),
    ("context", ADD): ((2, 2, 2), (SAME, SAME + ODD)),
    ("context", REPLACE): ((2, 2, 2), (SAME[1:] + ODD, SAME[1:] + OTHERWISE)),
    # The given attribute says nothing, so that the others are told apart as by themselves.
    ("next", ADD): ((2, 2, 2, 2), (_with_nothing(SAME), _with_nothing(SAME + ODD))),
    ("next", REPLACE): (
        (2, 2, 2, 2),
        (_with_nothing(SAME[1:] + ODD), _with_nothing(SAME[1:] + OTHERWISE)),
    ),
}

# Margins given to the tree make every cell expect two rows. One more row brings the first two pairs
# farther from independence and the third nearer, and thereby all three level.
EVEN = [np.array([4.0, 4.0])] * 3
GROWN = [(0, 1, 0), *[(1, 0, 1)] * 2, *[(1, 1, 0)] * 2]
MOVED = [(0, 1, 1), *[(1, 0, 0)] * 2, *[(1, 1, 1)] * 2]
TREES = {
    ADD: (GROWN, [*GROWN, (1, 1, 1)]),
    REPLACE: ([*MOVED, (0, 1, 1)], [*MOVED, (1, 0, 1)]),
}


def choose_tree(view, share):
    """Choose a tree of three attributes."""
    return view.ask_spanning_tree("q", independent_tables(EVEN), share)


METHODS = {
    "pairs": ask_pairs,
    "tree": ask_tree,
    "baseline": ask_baseline,
    "mean-su": ask_mean_su,
    "max-relevance": ask_max_relevance,
    "max-dependency": ask_max_dependency,
    "greedy-dependency": ask_greedy_dependency,
}
OPTIONS = Options(targets=(0, 1, 2), context_size=1)
NEIGHBOURS = {ADD: (SAME, [*SAME, (1, 1, 1)]), REPLACE: (SAME, [*SAME[1:], (1, 1, 1)])}


def views_of(pair, sizes, unit, budget, noise):
    """Return views of both neighbours that can be asked often."""
    plenty = plenty_of(budget)
    return [table_view_of(rows, sizes, unit=unit, budget=plenty, noise=noise) for rows in pair]


def transcript_of(method, views, side, budget):
    """Return all answers of one run of ``method(view, share)``."""
    transcript = Transcript(views, side)
    method(transcript, budget.whole)
    return transcript
