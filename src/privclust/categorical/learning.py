"""The ways to learn a categorical metric, under the names that estimators give them."""

from __future__ import annotations

from typing import Literal

from privclust.budget import Currency, Share
from privclust.categorical.metric import CategoricalMetric, attribute_metric
from privclust.categorical.pairs import ask_pairs, ask_tree
from privclust.categorical.papers import (
    ask_baseline,
    ask_max_dependency,
    ask_max_relevance,
    ask_mean_su,
)
from privclust.categorical.result import Learning, Options
from privclust.data.table.view import TableView

__all__ = ["BY_TARGET", "METHODS", "Method", "ask_metric", "method_for"]

Method = Literal["auto", "pairs", "tree", "baseline", "mean-su", "max-relevance", "max-dependency"]

METHODS = {
    "pairs": ask_pairs,
    "tree": ask_tree,
    "baseline": ask_baseline,
    "mean-su": ask_mean_su,
    "max-relevance": ask_max_relevance,
    "max-dependency": ask_max_dependency,
}


# The methods that pay for every target by itself; the others measure once for all.
BY_TARGET = ("mean-su", "max-relevance", "max-dependency")


def method_for(method: str, currency: Currency) -> str:
    """Return the method that runs: ``"auto"`` measures all pairs where answers are cheap."""
    if method != "auto":
        return method
    return "pairs" if currency == "zcdp" else "tree"


def ask_metric(
    view: TableView,
    share: Share,
    method: str,
    options: Options,
    ordinal: tuple[str, ...] = (),
) -> Learning:
    """Return the metric that a method learns within ``share``.

    ``"auto"`` is ``"pairs"`` where answers are cheap (zCDP) and ``"tree"`` with pure ε.
    """
    learned = METHODS[method_for(method, share.currency)](view, share, options)
    parts = {
        view.names[target]: attribute_metric(
            learned.estimates[target],
            target,
            context,
            view.names,
            view.labels[target],
            ordinal=view.names[target] in ordinal,
            n_listed=view.n_listed,
        )
        for target, context in learned.contexts.items()
    }
    return Learning(CategoricalMetric(view.names, parts), learned, learned.notes)
