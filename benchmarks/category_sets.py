"""Tables of categories: those of files, and one that needs none."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sklearn.datasets import load_wine

from privclust.papers.datasets.categories import CategorySet, Layout, read_categories
from privclust.papers.datasets.named import category_set


def open_table(name: str, folder: Path | None) -> CategorySet:
    """Return a table; scikit-learn's wine, its columns cut into five bins, needs no file."""
    if name != "wine":
        return category_set(name, folder)
    found = load_wine(as_frame=True)
    frame = found.data.assign(**{"class": found.target})
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "wine.csv"
        frame.to_csv(path, index=False)
        return read_categories(path, Layout(numeric=tuple(found.data.columns)))
