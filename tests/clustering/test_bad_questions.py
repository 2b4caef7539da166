"""Bad input to k-means and summaries of mixed rows: one sentence, and before the charge if it can.

What only the rows can tell, such as a category that is not listed, is found when they are read,
after the charge; the sentence then says that the charge stays.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

from privclust import (
    Box,
    Categories,
    Ledger,
    PrivateBounds,
    PrivateKMeans,
    PrivateSummary,
    Release,
    Schema,
)
from privclust.clustering.answers import Summary
from privclust.exceptions import ParameterError, PrivclustError

RNG = np.random.default_rng(0)
SCHEMA = Schema({"age": Box(0, 100), "town": Categories(["north", "south"])})
WORDS = Schema({"town": Categories(["north", "south"]), "pet": Categories(["cat", "dog"])})
ROWS = pd.DataFrame({"age": RNG.uniform(0, 100, 60), "town": RNG.choice(["north", "south"], 60)})
MODELS = {
    "k-means": partial(PrivateKMeans, 3),
    "k-means, auto": partial(PrivateKMeans, "auto"),
    "summary": PrivateSummary,
}
every_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    opened = Ledger.open(tmp_path_factory.mktemp("ledger") / "budget.db")
    opened.create_dataset("people", "add-remove-row")
    opened.grant("people", 1000)
    return opened


def as_one_sentence(fit):
    """Run what must be refused, and return the one sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((PrivclustError, TypeError)) as caught:
            fit()
    message = str(caught.value)
    assert isinstance(caught.value, PrivclustError), message
    assert message.endswith(".")
    assert ". " not in message
    assert "\n" not in message
    return message


def uncharged(ledger, fit):
    before = ledger.head()
    message = as_one_sentence(fit)
    assert ledger.head() == before
    return message


# Known before a row is read
NUMBERS = np.zeros((30, 2))
KNOWN = {
    "reversed bounds": ({"bounds": (1, 0)}, NUMBERS, "swap or widen the bounds"),
    "equal bounds": ({"bounds": (1, 1)}, NUMBERS, "swap or widen the bounds"),
    "endless bounds": ({"bounds": (0, np.inf)}, NUMBERS, "declare a finite number"),
    "three bounds": ({"bounds": (0, 1, 2)}, NUMBERS, "give two bounds"),
    "bounds of three columns": ({"bounds": ([0] * 3, [1] * 3)}, NUMBERS, "align them"),
    "no bounds": ({}, NUMBERS, "pass bounds=(low, high) or a schema"),
    "both": ({"schema": SCHEMA, "bounds": (0, 1)}, ROWS, "drop one of them"),
    "no rows": ({"schema": SCHEMA}, ROWS[:0], "give at least one row"),
    "no rows, array": ({"bounds": (0, 1)}, NUMBERS[:0], "give at least one row"),
    "no data": ({"schema": SCHEMA}, None, "give an array, a data frame"),
    "a column more": ({"schema": SCHEMA}, ROWS.assign(pet="cat"), "or list it in ignore"),
    "a column less": ({"schema": SCHEMA}, ROWS[["age"]], "correct the name, or drop it"),
    "a metric unheard of": ({"schema": SCHEMA, "metric": "gower"}, ROWS, "one of auto, mismatch"),
    "a metric of nothing": ({"bounds": (0, 1), "metric": "dilca"}, NUMBERS, 'use metric="auto"'),
    "profiles of words": (
        {"schema": WORDS, "profile_share": 0.1, "delta": 1e-6},
        pd.DataFrame({"town": ["north"], "pet": ["cat"]}),
        "leave it at None",
    ),
    **{
        f"a profile share of {share}": (
            {"schema": SCHEMA, "profile_share": share}, ROWS, "above 0 and below 1",
        )
        for share in (0, 1, -0.1, "age", ["age"], True, np.nan)
    },
}  # fmt: skip


@every_model
@pytest.mark.parametrize("case", KNOWN)
def test_what_is_known_before_the_rows_is_refused_before_the_charge(make, case, ledger):
    given, rows, words = KNOWN[case]
    model = make(**given, ledger=ledger, dataset="people")
    assert words in uncharged(ledger, lambda: model.fit(rows))


@pytest.mark.parametrize("wrong", [range(2, 5), (2, 5), [3], "automatic", 0, 2.5], ids=str)
def test_what_is_no_number_of_clusters_is_refused_before_the_charge(wrong, ledger):
    model = PrivateKMeans(wrong, schema=SCHEMA, ledger=ledger, dataset="people")
    assert "'auto', None or a whole number" in uncharged(ledger, lambda: model.fit(ROWS))


def test_a_method_that_needs_a_number_of_clusters_is_refused_before_the_charge(ledger):
    model = PrivateKMeans("auto", method="cells", schema=SCHEMA, ledger=ledger, dataset="people")
    assert "give one, or leave method='auto'" in uncharged(ledger, lambda: model.fit(ROWS))


@pytest.mark.parametrize("columns", [5, "age", [], [1], {"age": "colour"}, ["height"]], ids=str)
def test_columns_that_bounds_cannot_be_found_of_are_refused_before_the_charge(columns, ledger):
    model = PrivateBounds(1, columns=columns, ledger=ledger, dataset="people")
    uncharged(ledger, lambda: model.fit(ROWS))


@pytest.mark.parametrize("weight", [0, -1, np.nan, np.inf, "heavy", None, True], ids=str)
def test_a_weight_that_is_none_cannot_be_declared(weight):
    for declare in (partial(Box, 0, 1), partial(Categories, ["a", "b"])):
        as_one_sentence(lambda declare=declare: declare(weight=weight))


# Known from the rows alone
READ = {
    "an unknown category": (ROWS.assign(town="west"), 'declare unknown="other"'),
    "words all missing": (ROWS.assign(town=None), 'declare missing="category"'),
    "numbers all missing": (ROWS.assign(age=np.nan), "declare missing = NUMBER"),
    "endless numbers": (ROWS.assign(age=np.inf), "replace them by finite ones"),
}


@every_model
@pytest.mark.parametrize("case", READ)
def test_what_the_rows_alone_can_tell_is_one_sentence_that_tells_of_the_charge(make, case, ledger):
    rows, words = READ[case]
    model = make(schema=SCHEMA, ledger=ledger, dataset="people")
    message = as_one_sentence(lambda: model.fit(rows))
    assert words in message
    assert "ε = 1 stays charged to 'people'" in message
    assert "west" not in message


@every_model
def test_one_row_is_fitted_with_a_warning(make):
    with pytest.warns(UserWarning, match="Noise hides|would be noise|cannot be seen"):
        make(schema=SCHEMA, epsilon=0.5, random_state=0).fit(ROWS[:1])


# Questions to a summary, with the data or without them
@pytest.fixture(scope="module", params=["the model", "a loaded release"])
def summary(request, tmp_path_factory):
    model = PrivateSummary(epsilon=5, bounds=(0, 1), random_state=0).fit(RNG.random((2000, 2)))
    if request.param == "the model":
        return model
    return Summary(Release.load(model.release().save(tmp_path_factory.mktemp("s") / "summary")))


QUESTIONS = ("centers", "centers_error", "centers_table", "sizes", "sizes_error", "inertia")
QUESTIONS += ("inertia_error", "kmeans", "profiles")


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", True, None, [3], np.nan], ids=str)
def test_a_k_that_is_none_is_refused_in_every_question(summary, k):
    for question in QUESTIONS:
        message = as_one_sentence(lambda question=question: getattr(summary, question)(k))
        assert "a whole number of at least 1" in message


def test_a_k_beyond_the_cells_is_refused_in_every_question(summary):
    for question in QUESTIONS:
        message = as_one_sentence(lambda question=question: getattr(summary, question)(10**6))
        assert "ask for fewer clusters, or summarise with a larger budget" in message


@pytest.mark.parametrize("n_rows", [0, -1, 2.5, "3", True, None, [3], np.nan, 10**13], ids=str)
def test_a_number_of_synthetic_rows_that_cannot_be_is_refused(summary, n_rows):
    as_one_sentence(lambda: summary.sample(n_rows))


@pytest.mark.parametrize("seed", [-1, 2.5, "x"], ids=str)
def test_a_seed_of_synthetic_rows_that_is_none_is_refused(summary, seed):
    assert "random_state must be None or" in as_one_sentence(lambda: summary.sample(3, seed))


@pytest.mark.parametrize(
    "candidates", [5, None, [], [1], [0, 2], [2.5], "abc", ["3"], [10**6], range(5, 2)], ids=str
)
def test_numbers_that_cannot_be_chosen_among_are_refused(summary, candidates):
    as_one_sentence(lambda: summary.choose_k(candidates))


@pytest.mark.parametrize("release", [None, "summary/", 3], ids=str)
def test_a_summary_is_read_from_a_release(release):
    assert "give Release.load(PATH)" in as_one_sentence(lambda: Summary(release))


@pytest.mark.parametrize("given", [(0, 2), ("many", 2), (100, 0), (100, 2.5), (100, "two")])
@pytest.mark.parametrize("make", [partial(PrivateKMeans, 3), PrivateSummary])
def test_a_plan_of_a_shape_that_cannot_be_is_refused(make, given):
    as_one_sentence(lambda: make(bounds=(0, 1)).plan(*given))


def test_a_plan_needs_columns_and_a_number_of_clusters_that_fits_into_memory():
    summary = PrivateSummary(bounds=(0, 1))
    assert "one bound per column" in as_one_sentence(lambda: summary.plan(100))
    assert "fewer clusters" in as_one_sentence(lambda: summary.plan(100, 2, 10**9))
    with pytest.raises(ParameterError, match="fewer clusters"):
        PrivateKMeans(10**9, bounds=(0, 1)).plan(100, 2)
