"""What we lose at is found in files, whoever is ahead, and nothing else is listed."""

from __future__ import annotations

import pytest

from support.scripts import scripts


@pytest.fixture(scope="module")
def overview():
    (module,) = scripts("overview")
    return module


def row_of(method, **values):
    empty = dict.fromkeys(("one", "two", "three", "correlation", "learning", "k6", "k12"), "")
    return {**empty, "set": "s", "epsilon": "1", "delta": "0", "method": method, **values}


def test_rows_of_others_that_are_closer_or_teach_more_are_listed(overview):
    rows = [row_of("tables", one="0.2", two="0.1", learning="0.8")]
    rows += [row_of("mst", one="0.1", two="0.3", learning="0.9"), row_of("cells", learning="0.7")]
    found = {(loss.measure, loss.ahead) for loss in overview.lost_rows(rows)}
    assert found == {("one column", "MST"), ("learning", "MST")}


def test_budgets_and_sets_are_compared_with_themselves_alone(overview):
    rows = [row_of("tables", two="0.2"), row_of("mst", two="0.1", epsilon="3")]
    rows += [row_of("mst", two="0.1", set="t")]
    assert list(overview.lost_rows(rows)) == []


def test_a_shape_is_lost_by_more_than_a_tenth(overview):
    rows = [
        {"set": name, "rows": "500", "epsilon": "1.0", "method": method, "score": score}
        for name, exact in (("near", "0.98"), ("far", "1.0"))
        for method, score in (("density, k found", "0.9"), ("no privacy: HDBSCAN", exact))
    ]
    (loss,) = overview.lost_shapes(rows)
    assert (loss.where, loss.ahead) == ("far, 500 rows, ε = 1", "no privacy: HDBSCAN")


def test_mixtures_lose_to_scikit_learn_by_a_tenth_and_to_noisy_em_by_anything(overview):
    scores = {("scikit-learn", "none"): 0.95, ("mixture", "δ"): 0.9, ("noisy EM", "δ"): 0.91}
    rows = [
        {"set": "s", "method": method, "budget": budget, "ari": str(score)}
        for (method, budget), score in scores.items()
    ]
    (loss,) = overview.lost_mixtures(rows)
    assert (loss.ahead, loss.theirs) == ("noisy EM", 0.91)


def test_time_is_lost_where_minibatch_takes_less(overview):
    rows = [
        {"size": size, "run": run, "cpu": cpu}
        for size, times in {"a": ("2", "3"), "b": ("5", "4")}.items()
        for run, cpu in zip(("local", "minibatch"), times, strict=True)
    ]
    (loss,) = overview.lost_time(rows)
    assert (loss.where, loss.theirs) == ("b, 16 clusters", 4.0)


def test_the_cost_of_a_file_is_the_sum_of_its_seconds(overview):
    rows = [{"seconds": "90", "commit": "a"}, {"seconds": "", "commit": "b"}]
    line = overview.cost(overview.Benchmark("x", (), "seconds"), rows)
    assert line == ["x", 2, "1.5", "a, b"]
    assert overview.cost(overview.Benchmark("x", ()), rows)[2] == "not kept"
