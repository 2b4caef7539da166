"""Events are counted as they are later checked, and the one that tells most is chosen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from privclust.audit.events import RELATIONS, Event, Score, _candidates, choose_event
from privclust.audit.features import Feature

RUNS = 400
entries = npst.arrays(
    np.float64,
    st.integers(100, 200),
    elements=st.sampled_from([0.0, -0.0, 1.0, np.nan]) | st.floats(-1e300, 1e300),
)


@given(entries, st.randoms(use_true_random=False))
def test_candidates_are_counted_as_events_hold(left, shuffler):
    right = left.copy()
    shuffler.shuffle(right)
    right = right[: len(left) // 2]
    values, hits = _candidates(left, right)
    for relation_hits, relation in zip(hits.transpose(1, 0, 2), RELATIONS, strict=True):
        for (left_hits, right_hits), value in zip(relation_hits.T, values, strict=True):
            event = Event(0, relation, value)
            assert event.holds(left[:, np.newaxis]).sum() == left_hits
            assert event.holds(right[:, np.newaxis]).sum() == right_hits


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    ("telling", "other"),
    [(0.0, 0.5), (np.nan, 1.0), (3.0, -3.0)],
    ids=["exact zero", "missing", "large"],
)
def test_the_telling_column_and_side_are_chosen(side, telling, other):
    rng = np.random.default_rng(0)
    likely, unlikely = rng.standard_normal((2, RUNS, 4))
    likely[:, 2] = np.where(rng.random(RUNS) < 0.5, telling, other)
    unlikely[:, 2] = other
    sides = (likely, unlikely) if side == "left" else (unlikely, likely)
    event, likelier = choose_event(*sides, error=0.05, delta=0.0)
    assert event.column == 2
    assert likelier == side
    np.testing.assert_array_equal(event.holds(likely), ~(likely[:, 2] == other))


def test_a_probability_within_delta_is_not_chosen():
    left, right = np.zeros((2, RUNS, 2))
    left[:20, 0] = 1  # impossible on the right, but within delta
    left[:, 1] = np.arange(RUNS) < 300
    right[:, 1] = np.arange(RUNS) < 100
    assert choose_event(left, right, error=0.05, delta=0.0)[0].column in (0, 1)
    assert choose_event(left, right, error=0.05, delta=0.1)[0].column == 1


def test_columns_without_any_evidence_still_give_an_event():
    event, _ = choose_event(np.zeros((RUNS, 1)), np.zeros((RUNS, 1)), error=0.05, delta=0.999)
    assert event.column == 0


def test_events_in_words():
    number, coded = Feature("size"), Feature("type", ("any other", "int", "float", "str"))
    assert Event(0, ">=", 0.5).describe(number) == "size >= 0.5"
    assert Event(0, "==", np.nan).describe(number) == "size is missing"
    assert Event(0, "!=", np.nan).describe(coded) == "type is present"
    assert Event(3, "==", 2.0).describe(coded) == "type is float"
    assert Event(3, "<=", 1.0).describe(coded) == "type is any other or int"
    assert Event(3, "!=", 9.0).describe(coded) == "type is any other or int or float ..."


def test_features_that_matter_are_those_the_sides_differ_in():
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((2, RUNS, 6))
    right[:, 4] += 3
    assert Score(left, right, seed=0).features_that_matter(left, right)[0] == 4
