"""Stored arrays are read by one thread at a time: their headers are literals, see ``parsing``."""

import ast

import numpy as np
import pytest
from scipy import sparse

from privclust import MatrixCount, PrivateBounds, Release
from privclust._lazy import parsing
from privclust.opening.matrices import open_matrix


@pytest.fixture
def headers(monkeypatch):
    """Whether the lock was held, for each header that was parsed."""
    held, parse = [], ast.literal_eval

    def watched(text):
        held.append(parsing._is_owned())
        return parse(text)

    monkeypatch.setattr(ast, "literal_eval", watched)
    return held


def test_matrices_in_one_file_and_in_pieces(headers, tmp_path):
    for name in "ab":
        sparse.save_npz(tmp_path / f"{name}.npz", sparse.eye_array(3, dtype=int, format="csr"))
    for data in (tmp_path / "a.npz", tmp_path):
        with open_matrix(data, unit=MatrixCount()) as opened:
            assert sum(rows.counts.sum() for rows in opened.source.blocks()) in (3, 6)
    assert len(headers) > 10
    assert all(headers)


def test_releases(headers, tmp_path):
    rows = np.random.default_rng(0).uniform(0, 1, (300, 2))
    release = PrivateBounds(5).fit(rows).release()
    assert Release.load(release.save(tmp_path / "release")) == release
    assert headers
    assert all(headers)
