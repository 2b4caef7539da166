"""The clusters of a k-means release in words, and the histograms that were paid for in pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privclust.release.facts import Listing
from privclust.reports.histograms import histogram_grid
from privclust.reports.sentences import sentence_of, traits_of

if TYPE_CHECKING:
    from privclust.release.release import Release

__all__ = ["cluster_sentences", "errors_hold", "pictures", "sentence_listing"]

_MOST_CLUSTERS, _MOST_COLUMNS = 12, 8
# What the errors of centres hold; those of other methods hold the noise alone.
_ERRORS_HOLD = {
    "cells": "of the noise and of what the last step leaves out",
    "cautious": "of what noise leaves unknown of the last move",
    "grid": "of the noise and of the width of the cells",
}


def errors_hold(release: Release) -> str:
    """Return what the errors of the centres are errors of."""
    return _ERRORS_HOLD.get(str(release.parameters.get("method")), "of the noise alone")


def cluster_sentences(release: Release) -> list[str]:
    """Return a sentence for each cluster; none if the errors of the centres are not known."""
    arrays = release.arrays
    errors = arrays.get("cluster_centers_error")
    if errors is None or release.signal == "none":
        return []
    sizes, noise = arrays["cluster_sizes"], arrays["cluster_sizes_error"]
    traits = traits_of(release.schema, arrays["cluster_centers"], errors, sizes, noise)
    told = zip(traits, sizes, noise, strict=True)
    return [sentence_of(found, float(size), float(error)) for found, size, error in told]


def sentence_listing(release: Release) -> list[Listing]:
    """Return the sentences as a table for a terminal, if there are any."""
    sentences = cluster_sentences(release)
    lines = [[str(label), sentence] for label, sentence in enumerate(sentences)]
    return [Listing(["cluster", "what sets it apart"], lines)] if lines else []


def pictures(release: Release) -> dict[str, Any]:
    """Return the sentences and histograms of a report, the largest cluster first."""
    sentences, arrays = cluster_sentences(release), release.arrays
    order = np.argsort(-arrays["cluster_sizes"], kind="stable")
    shown: dict[str, Any] = {
        "sentences": [{"label": int(i), "words": sentences[i]} for i in order] if sentences else [],
        "histograms": None,
    }
    if "profile_counts" in arrays and release.signal != "none":
        rows, names = order[:_MOST_CLUSTERS], release.schema.numeric[:_MOST_COLUMNS]
        counts, errors = (
            arrays[name][rows][:, : len(names)]
            for name in ("profile_counts", "profile_counts_error")
        )
        ends = arrays["profile_edges"][:, [0, -1]]
        shown["histograms"] = histogram_grid([int(i) for i in rows], names, counts, errors, ends)
        shown["in_histograms"] = {"clusters": len(rows), "columns": len(names)}
    return shown
