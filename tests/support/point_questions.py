"""Every question about points, and the neighbours between which its answer changes most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from privclust.data.points.public import Components, Projection
from privclust.unit.rows import AddRemoveRow, ReplaceRow

PARTS = ["counts", "offsets", "square"]
QUESTIONS = [
    *("count", *PARTS, *(f"grouped {part}" for part in PARTS), "moments", "histograms"),
    *("components", "tied components"),
]
# Around -0.5 and 0.5, so narrow that the outermost row of a component is clipped.
_AROUND = Components(
    np.array([[-0.5], [0.5]]),
    np.full((2, 1, 1), 9.0),
    np.zeros(2),
    1.3,
    1.5,
    steps=2**8,
    factors=(58617, 362, 140),
)


def pair_for(unit, question):
    """Return neighbours that differ as much as they can in the answer to the question."""
    # Of squares and products, the most that a row replaced can change is by a right angle.
    low, high = ([-1.0, -1.0], [1.0, 1.0]) if question == "moments" else ([-1.0], [1.0])
    base, new = np.array([low] * 3), np.array([high])
    if isinstance(unit, ReplaceRow):
        question = question.removeprefix("grouped ")
        # From the other cluster, from the other side of the same one, or from its centre.
        others = {"counts": [-1.0], "histograms": [-1.0], "offsets": [0.01], "moments": [-1.0, 1.0]}
        others |= {"components": [-1.0], "tied components": [-0.5]}
        old = others.get(question, [0.5])
        return np.append(base, [old], axis=0), np.append(base, new, axis=0)
    if isinstance(unit, AddRemoveRow):
        return base, np.append(base, new, axis=0)
    rows = np.append(base, new.repeat(3, axis=0), axis=0)
    people = pd.DataFrame(rows, columns=[f"x{j}" for j in range(len(low))])
    people["who"] = [1, 2, 2, 3, 3, 3]
    return people[:3], people


def ask(view, question, share):
    """Ask one question; about one column, with clusters around -0.5 and 0.5, or about two."""
    if question == "count":
        return view.ask_count("count", share).value
    if question == "moments":
        whole = Projection(np.zeros(2), radius=1.0)
        return view.ask_second_moments("moments", whole, share).value.ravel()
    if question.startswith("grouped "):
        # Two more cells, beyond those of the clusters, each in the group of the one beside it.
        cells, groups, part = (
            np.array([[-0.5], [0.5], [-9], [9]]),
            np.array([0, 1, 0, 1]),
            question[8:],
        )
        whole = Projection(np.zeros(1))
        answer = view.ask_grouped_clusters("g", whole, cells, groups, 0.5, **{part: share})
        return getattr(answer, part).value.ravel()
    centres = np.array([[-0.5], [0.5]])
    if question == "histograms":
        edges = np.array([[-0.5, 0.0, 0.5]])
        return view.ask_cluster_histograms("h", centres, np.array([0]), edges, share).value.ravel()
    if question == "components":
        return view.ask_components("m", _AROUND, share)["components"].value.ravel()
    if question == "tied components":
        answer = view.ask_components("m", replace(_AROUND, tied=True), *share.split([1, 1]))
        return np.concatenate([part.value.ravel() for part in answer.values()])
    answer = view.ask_clusters(
        "clusters", Projection(np.zeros(1)), centres, 0.5, **{question: share}
    )
    return getattr(answer, question).value.ravel()
