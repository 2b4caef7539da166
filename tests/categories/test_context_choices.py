"""Beyond the paper: contexts as large as noise allows, and Algorithm 5 attribute by attribute."""

from __future__ import annotations

import numpy as np
import pytest

from privclust import Budget, Categories, Schema
from privclust.exceptions import ParameterError
from privclust.papers.dilca import PrivateContextDilca, PrivateContextKMeans
from support.transcripts import recorded_draws
from support.views import table_view_of

NAMES = "abcdef"
SCHEMA = Schema({name: Categories(range(4)) for name in NAMES})


def rows(n_rows, seed=0):
    """Six attributes that follow one hidden class of four, each less than the one before."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 4, n_rows)
    same = rng.random((n_rows, 6)) < np.linspace(0.95, 0.4, 6)
    return np.where(same, classes[:, None], rng.integers(0, 4, (n_rows, 6)))


def sizes(epsilon, n_rows, **given):
    model = PrivateContextDilca(
        epsilon=epsilon, schema=SCHEMA, context_size="auto", unit="replace-row", **given
    ).fit(rows(n_rows))
    return [len(context) for context in model.contexts_.values()]


def test_contexts_grow_with_the_budget_and_with_the_rows():
    assert sizes(0.5, 400) == [1] * 6
    assert sizes(500, 400) == [3] * 6
    assert sizes(500, 400, method="max-dependency") == [3] * 6
    assert sizes(500, 400, method="greedy-dependency") == [3] * 6
    means = [np.mean(sizes(epsilon, 4000)) for epsilon in (1, 10, 30, 300)]
    assert means == sorted(means)
    assert means[0] < means[-1]


def test_a_target_of_many_values_has_a_smaller_context():
    """Its values have fewer rows each, so that the same noise hides more of them."""
    wide = Schema({"a": Categories(range(40)), **{n: Categories(range(4)) for n in NAMES[1:]}})
    model = PrivateContextDilca(
        epsilon=30, schema=wide, context_size="auto", unit="replace-row"
    ).fit(rows(4000))
    found = {name: len(context) for name, context in model.contexts_.items()}
    assert found["a"] < min(found[name] for name in NAMES[1:])


def test_a_given_size_is_kept():
    model = PrivateContextDilca(epsilon=0.1, schema=SCHEMA, context_size=2).fit(rows(100))
    assert {len(context) for context in model.contexts_.values()} == {2}


def test_greedy_takes_the_best_next_attribute_given_those_before():
    """Without noise to speak of: a and b tell c together, neither alone; d tells it a little."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 4000))
    d = np.where(rng.random(4000) < 0.6, a ^ b, rng.integers(0, 2, 4000))
    e = rng.integers(0, 2, 4000)
    table = np.column_stack([a ^ b, a, b, d, e])
    schema = Schema({name: Categories([0, 1]) for name in "cabde"})
    given = {"epsilon": 10**6, "schema": schema, "context_size": 2, "targets": ["c"]}
    both = {
        method: set(PrivateContextDilca(method=method, **given).fit(table).contexts_["c"])
        for method in ("max-dependency", "greedy-dependency")
    }
    assert both["max-dependency"] == {"a", "b"}
    assert "d" in both["greedy-dependency"]  # the first step sees single attributes only


def test_candidates_are_the_sets_that_have_what_is_given():
    view = table_view_of(rows(30), (4,) * 6, budget=Budget(9))
    with recorded_draws() as draws:
        view.ask_relevant_context("all", 0, 2, 30, Budget(1).whole)
        found = view.ask_relevant_context("some", 0, 2, 30, Budget(1).whole, (3,))
    every, some = (draw.exact.ravel() for draw in draws)
    assert (len(every), len(some)) == (10, 4)
    assert set(some) <= set(every)
    assert 3 in found
    assert 0 not in found


@pytest.mark.parametrize("method", ["max-relevance", "max-dependency", "greedy-dependency"])
def test_clusters_take_them_too(method):
    model = PrivateContextKMeans(
        3, epsilon=20, schema=SCHEMA, method=method, context_size="auto"
    ).fit(rows(500))
    assert model.release().parameters["context_size"] == "auto"
    assert model.privacy_.epsilon <= 20


def test_no_noise_was_published_for_what_is_not_in_the_paper():
    noise = {"schema": SCHEMA, "noise": "published"}
    for kind in (PrivateContextDilca, PrivateContextKMeans):
        model = kind(method="greedy-dependency", unit="replace-row", **noise)
        with pytest.raises(ParameterError, match="No noise was published for greedy-dependency"):
            model.fit(rows(30))
        with pytest.raises(ParameterError, match="one row in place of another"):
            kind(**noise).fit(rows(30))
        with pytest.raises(ParameterError, match="pure ε only"):
            kind(delta=1e-6, unit="replace-row", **noise).fit(rows(30))


def test_clusters_by_the_paper_may_have_its_noise_and_say_so():
    """Half of what contexts get stays unspent: of four, half is the metric's, .3 of that theirs."""
    budget = {"epsilon": 4.0, "unit": "replace-row", "schema": SCHEMA, "random_state": 0}
    for method in ("max-relevance", "max-dependency"):
        model = PrivateContextKMeans(2, method=method, noise="published", **budget)
        release = model.fit(rows(300)).release()
        assert release.parameters["noise"] == "published"
        assert float(model.privacy_.spent.pure) == pytest.approx(4 - 0.3, abs=0.01)


def test_other_words_are_refused_with_what_there_is():
    with pytest.raises(ParameterError, match="'auto' or a whole number"):
        PrivateContextDilca(schema=SCHEMA, context_size="small").fit(rows(30))
