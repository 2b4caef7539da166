"""When a δ is large for what is protected: judged by a noisy number, with caution."""

from __future__ import annotations

import numpy as np
import pytest

from privclust.budget import Budget
from privclust.data.public import Noisy
from privclust.notes import Note, delta_notes, parameters_of, signal_of
from privclust.unit.matrix import MatrixCount
from privclust.unit.rows import AddRemoveRow


@pytest.mark.parametrize(
    ("parts", "error", "delta", "large"),
    [
        ([1000.0], 0.0, 0.0011, True),
        ([1000.0], 0.0, 0.0009, False),
        # Two standard errors of four parts are four of one: 1000 may be 600.
        ([250.0] * 4, 100.0, 1 / 601, False),
        ([250.0] * 4, 100.0, 1 / 599, True),
        # Nothing is said of less than one row, whatever δ is.
        ([1.0], 0.5, 0.9, False),
    ],
)
def test_a_delta_is_large_only_if_it_is_so_for_as_few_as_there_may_be(parts, error, delta, large):
    number = Noisy(np.array(parts), error)
    assert bool([*delta_notes(number, Budget(1, delta), AddRemoveRow())]) == large


def test_the_note_speaks_of_what_the_unit_protects():
    number = Noisy(np.array([1000.0]), 0.0)
    (rows,), (counts,) = (
        [*delta_notes(number, Budget(1, 0.01), unit)] for unit in (AddRemoveRow(), MatrixCount())
    )
    assert rows.text.startswith("δ is above one in the number of rows, judging by their noisy")
    assert "would allow somebody's count to be published" in counts.text


@pytest.mark.parametrize(
    ("codes", "signal"),
    [
        ([], "seen"),
        (["delta-large", "bound-reached", "k-unclear", "far-rows-missed"], "seen"),
        (["delta-large", "clusters-hidden"], "hidden"),
        (["columns-hidden"], "hidden"),
        (["one-centre-as-good"], "seen"),
        (["clusters-hidden", "rows-unseen"], "none"),
    ],
)
def test_the_worst_note_decides_the_signal(codes, signal):
    notes = tuple(Note(code, f"About {code}.") for code in codes)
    assert signal_of(notes) == parameters_of(notes)["signal"] == signal
    assert parameters_of(notes).get("notes", []) == codes
