"""What is said of synthetic rows is what differs between them and the rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from support.scripts import BENCHMARKS, found_first

with found_first([BENCHMARKS]):
    from synthetic_measures import Judge
    from synthetic_sets import made

N = 4000
RNG = np.random.default_rng(0)
# Nearly all of ``cost`` lies in the first of sixteen equal bins; ``share`` has few values.
COST = RNG.exponential(10, N)
ROWS = pd.DataFrame(
    {
        "cost": np.append(COST[1:], 1000.0),
        "share": RNG.choice([0.0, 4.5, 14.5, 100.0], N),
        "kind": np.where(COST > 7, "dear", "cheap"),
    }
)
SET = made("made", ROWS, {"cost": (0, 1000, False), "share": (0, 100, False)}, "kind")


@pytest.fixture(scope="module")
def judge():
    return Judge(SET)


def test_the_rows_themselves_are_not_off(judge):
    assert set(judge.tables(SET.rows).values()) == {0.0}
    assert judge.correlations(SET.rows) == 0


def test_pairs_are_off_by_their_total_variation(judge):
    moved = SET.rows.copy()
    moved.loc[moved["kind"] == "dear", "kind"] = "cheap"  # of three columns, one is off
    part = float(np.mean(SET.rows["kind"] == "dear"))
    assert judge.tables(moved)["one"] == pytest.approx(part / 3)
    assert judge.tables(moved)["two"] == pytest.approx(2 * part / 3)  # and two of three pairs


def test_quantiles_see_what_equal_bins_of_a_skewed_column_do_not(judge):
    rng, moved = np.random.default_rng(1), SET.rows.copy()
    small = moved["cost"] < 62  # the first equal bin
    moved.loc[small, "cost"] = rng.uniform(0, 62, int(small.sum()))
    found = judge.tables(moved)
    assert found["two"] < 0.01
    assert found["quantiles"] > 0.2


def test_what_is_drawn_next_to_a_frequent_value_is_taken_for_it(judge):
    near = SET.rows.assign(share=SET.rows["share"] + RNG.uniform(-0.01, 0.01, N))
    assert judge.tables(near)["quantiles"] == 0
