"""PrivateKMeans: what it releases, what it spends, what it accepts and what it refuses."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from privclust import (
    AddRemoveRow,
    Ball,
    Box,
    Budget,
    Categories,
    Person,
    PrivateKMeans,
    ReplaceRow,
    Schema,
)
from support.noise import NoNoise

METHODS = ["cells", "cautious", "grid", "lloyd"]
UNITS = [AddRemoveRow(), ReplaceRow(), Person("who", 2)]
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(400, 2)) + RNG.choice([-4.0, 4.0], (400, 1))
NAMES = ["a", "b"]
FRAME = pd.DataFrame(ROWS, columns=NAMES)
PEOPLE = FRAME.assign(who=np.arange(400) // 3)


def model(n_clusters=2, **changes):
    return PrivateKMeans(n_clusters, **{"bounds": (-8, 8), "random_state": 0, **changes})


def data_for(unit):
    return PEOPLE if isinstance(unit, Person) else FRAME


def assert_same(model, other):
    assert_array_equal(model.cluster_centers_, other.cluster_centers_, strict=True)
    assert_array_equal(model.cluster_sizes_, other.cluster_sizes_, strict=True)
    assert model.privacy_ == other.privacy_


def test_the_former_word_for_cells_still_works_and_warns():
    with pytest.warns(DeprecationWarning, match="method='cells'"):
        former = model(method="subcluster").fit(ROWS)
    assert former.method_ == "cells"
    assert_same(former, model(method="cells").fit(ROWS))


# What is released


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", [0.01, 1, 100])
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_centres_lie_within_the_bounds(method, epsilon, delta):
    # Little budget and bounds that cut through the rows: without care the noise would lead out.
    low, high = [-1.0, 2.0], [3.0, 5.0]
    fitted = model(5, method=method, epsilon=epsilon, delta=delta, bounds=(low, high)).fit(ROWS)
    assert fitted.cluster_centers_.shape == (5, 2)
    assert (fitted.cluster_centers_ >= low).all()
    assert (fitted.cluster_centers_ <= high).all()


@pytest.mark.audit
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_sizes_add_up_to_the_number_of_rows_within_their_errors(method, delta):
    gaps = []
    for seed in range(30):
        fitted = model(4, method=method, delta=delta, random_state=seed).fit(ROWS)
        error = fitted.cluster_sizes_error_ * np.sqrt(4)
        gaps.append((fitted.cluster_sizes_.sum() - len(ROWS)) / error)
    assert np.abs(gaps).max() < 5
    # The stated error is the real one: the mean square of 30 standardised gaps is about 1.
    assert 0.3 < np.mean(np.square(gaps)) < 2.5


@pytest.mark.parametrize("method", METHODS)
def test_without_noise_the_sizes_are_the_counts_of_the_labels(method, monkeypatch):
    monkeypatch.setattr("privclust.data.door.ExactNoise", lambda *_: NoNoise())
    fitted = model(3, method=method)
    labels = fitted.fit_predict(ROWS)
    assert_array_equal(fitted.cluster_sizes_, np.bincount(labels, minlength=3))


@pytest.mark.parametrize("method", METHODS)
def test_without_noise_the_centres_are_as_good_as_those_of_ordinary_k_means(method, monkeypatch):
    monkeypatch.setattr("privclust.data.door.ExactNoise", lambda *_: NoNoise())
    best = KMeans(2, n_init=5, random_state=0).fit(ROWS).inertia_
    assert -model(2, method=method, epsilon=100).fit(ROWS).score(ROWS) < 1.02 * best


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_blobs_are_found_at_epsilon_one(delta):
    rows, _ = make_blobs(10_000, centers=5, center_box=(-8, 8), random_state=0)
    best = KMeans(5, n_init=5, random_state=0).fit(rows).inertia_
    scores = [
        -model(5, delta=delta, bounds=(-12, 12), random_state=s).fit(rows).score(rows)
        for s in range(5)
    ]
    assert np.mean(scores) < 1.1 * best


# What is spent


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0), (0.05, 0), (1, 1e-6), (3, 0.01)])
def test_the_whole_budget_is_spent_and_no_more(method, unit, epsilon, delta):
    fitted = model(3, method=method, unit=unit, epsilon=epsilon, delta=delta).fit(data_for(unit))
    budget, spent = Budget(epsilon, delta), fitted.privacy_.spent
    assert budget.covers(spent)
    assert (spent.rho if delta else spent.pure) == budget.amount
    assert (fitted.privacy_.epsilon, fitted.privacy_.delta) == (budget.epsilon, budget.delta)
    assert fitted.privacy_.unit == unit.to_dict()


def test_more_protection_costs_accuracy_in_proportion():
    def error(unit):
        return model(2, unit=unit).fit(data_for(unit)).cluster_sizes_error_

    assert error(ReplaceRow()) == pytest.approx(2 * error(AddRemoveRow()), rel=1e-3)
    assert error(Person("who", 5)) == pytest.approx(5 * error(AddRemoveRow()), rel=1e-3)


# What is accepted


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize(
    ("n_clusters", "rows", "bounds"),
    [
        pytest.param(8, ROWS[:3], (-8, 8), id="more clusters than rows"),
        pytest.param(3, ROWS[:1], (-8, 8), id="one row"),
        pytest.param(1, ROWS, (-8, 8), id="one cluster"),
        pytest.param(3, ROWS[:, :1], (-8, 8), id="one column"),
        pytest.param(3, ROWS * [1, 0], (-8, 8), id="a constant column"),
        pytest.param(3, ROWS * 0, (-8, 8), id="all rows at the centre"),
        pytest.param(3, ROWS[:2].repeat(50, axis=0), (-8, 8), id="duplicates"),
        pytest.param(3, RNG.uniform(-1, 1, (60, 200)), (-1, 1), id="200 columns"),
        pytest.param(3, RNG.uniform(5, 5 + 1e-6, (60, 2)), (5, 5 + 1e-6), id="tiny width"),
        pytest.param(3, RNG.uniform(-1e9, 1e9, (60, 2)), (-1e9, 1e9), id="huge width"),
        pytest.param(3, ROWS * 1e300, (-8, 8), id="far beyond the bounds"),
        pytest.param(3, ROWS / [1e6, 1e-9], ([-8e-6, -8e9], [8e-6, 8e9]), id="mixed widths"),
    ],
)
def test_unusual_rows_are_clustered(method, delta, n_clusters, rows, bounds):
    fitted = model(n_clusters, method=method, delta=delta, bounds=bounds).fit(rows)
    centres = fitted.cluster_centers_
    assert centres.shape == (n_clusters, rows.shape[1])
    assert (centres >= bounds[0]).all()
    assert (centres <= bounds[1]).all()
    assert np.isfinite(fitted.cluster_sizes_).all()
    assert Budget(1, delta).covers(fitted.privacy_.spent)
    assert set(fitted.predict(rows)) <= set(range(n_clusters))


def test_the_unit_of_the_columns_does_not_matter():
    fitted = model(3).fit(ROWS)
    for factor in (2.0**-20, 2.0**30):
        scaled = model(3, bounds=(-8 * factor, 8 * factor)).fit(ROWS * factor)
        assert_array_equal(scaled.cluster_centers_, fitted.cluster_centers_ * factor)
        assert_array_equal(scaled.cluster_sizes_, fitted.cluster_sizes_)


def test_rescaling_measures_columns_in_units_of_their_widths():
    widths = np.array([2.0**-13, 2.0**20])
    rescaled = model(2, bounds=(-8 * widths, 8 * widths), rescale=True).fit(ROWS * widths)
    plain = model(2).fit(ROWS)
    assert_allclose(rescaled.cluster_centers_, plain.cluster_centers_ * widths, rtol=1e-9)
    assert_allclose(rescaled.transform(ROWS * widths), plain.transform(ROWS) / 16, rtol=1e-6)
    assert_array_equal(rescaled.predict(ROWS * widths), plain.predict(ROWS))


def test_rows_beyond_a_ball_count_as_rows_on_it():
    schema = Schema({"a": Box(-8, 8), "b": Box(-8, 8)}, ball=Ball(3.0, (0.0, 0.0)))
    lengths = np.linalg.norm(ROWS, axis=1, keepdims=True)
    inside = ROWS * np.minimum(1, 3 / lengths)
    options = {"schema": schema, "bounds": None, "epsilon": 1e6, "method": "lloyd"}
    fitted, same = model(2, **options).fit(ROWS), model(2, **options).fit(inside)
    assert_allclose(fitted.cluster_centers_, same.cluster_centers_, atol=1e-3)
    assert (np.linalg.norm(fitted.cluster_centers_, axis=1) < 3).all()


def test_missing_numbers_count_as_the_declared_constant():
    schema = Schema({"a": Box(-8, 8, missing=1.5), "b": Box(-8, 8, missing=0)})
    holes = RNG.random(ROWS.shape) < 0.1
    filled = np.where(holes, [1.5, 0], ROWS)
    with_holes = pd.DataFrame(np.where(holes, np.nan, ROWS), columns=NAMES)
    expected = model(schema=schema, bounds=None).fit(filled)
    for data in (with_holes, with_holes.to_numpy(), pl.from_pandas(with_holes)):
        fitted = model(schema=schema, bounds=None).fit(data)
        assert_same(fitted, expected)
        assert_array_equal(fitted.predict(data), fitted.predict(filled))


def test_the_same_rows_of_a_person_count_in_any_order_and_form(tmp_path):
    unit = Person("who", 2)
    path = tmp_path / "people.parquet"
    PEOPLE.to_parquet(path)
    fitted = model(unit=unit).fit(PEOPLE)
    assert_same(fitted, model(unit=unit).fit(PEOPLE.sample(frac=1, random_state=1)))
    assert_same(fitted, model(unit=unit).fit(path))
    assert_same(fitted, model(unit=unit).fit(PEOPLE[["who", "b", "a"]][["a", "who", "b"]]))
    assert fitted.n_features_in_ == 2
    assert fitted.feature_names_in_.tolist() == NAMES
    # New rows are labelled with or without the column that names the person.
    labels = fitted.predict(PEOPLE)
    assert len(labels) == 400
    assert_array_equal(labels, fitted.predict(FRAME))
    assert_array_equal(labels, fitted.predict(path))
    assert_array_equal(labels, fitted.predict(ROWS))
    assert_array_equal(labels, model(unit=unit).fit_predict(PEOPLE))


@pytest.mark.parametrize("method", METHODS)
def test_every_form_of_the_same_rows_gives_the_same_result_to_the_bit(method, tmp_path):
    csv, parquet, parts = tmp_path / "rows.csv", tmp_path / "rows.parquet", tmp_path / "parts"
    parts.mkdir()
    FRAME.to_csv(csv, index=False)
    FRAME.to_parquet(parquet, row_group_size=37)
    FRAME[:150].to_parquet(parts / "1.parquet")
    FRAME[150:].to_parquet(parts / "2.parquet")
    table = pa.Table.from_pandas(FRAME)
    expected = model(method=method).fit(ROWS)
    labels, distances, score = (
        expected.predict(ROWS),
        expected.transform(ROWS),
        expected.score(ROWS),
    )
    forms = [
        ROWS.tolist(),
        np.asfortranarray(ROWS),
        sparse.csr_array(ROWS),
        FRAME,
        pl.from_pandas(FRAME),
        pl.from_pandas(FRAME).lazy(),
        table,
        csv,
        str(csv),
        parquet,
        parts,
        [parts / "1.parquet", parts / "2.parquet"],
    ]
    for form in forms:
        fitted = model(method=method).fit(form)
        assert_same(fitted, expected)
        assert_array_equal(fitted.predict(form), labels)
        assert_allclose(fitted.transform(form), distances, rtol=1e-12)
        assert fitted.score(form) == pytest.approx(score, rel=1e-12)
    assert_same(model(method=method).fit(table.to_reader()), expected)


def test_a_stream_that_can_be_read_only_once_is_fitted_and_labelled():
    table = pa.Table.from_pandas(FRAME)
    assert_array_equal(
        model().fit_predict(table.to_reader(max_chunksize=50)), model().fit_predict(ROWS)
    )


# Applying the centres


@pytest.mark.parametrize("rescale", [False, True])
def test_labels_distances_and_score_are_those_of_brute_force(rescale):
    bounds = ([-8.0, -20.0], [8.0, 20.0])
    fitted = model(4, bounds=bounds, rescale=rescale).fit(ROWS)
    widths = np.array([16.0, 40.0]) if rescale else np.ones(2)
    # New rows need not lie within the bounds.
    new = RNG.normal(scale=15, size=(100, 2))
    gaps = (new[:, None] - fitted.cluster_centers_) / widths
    distances = np.sqrt((gaps**2).sum(axis=2))
    assert_allclose(fitted.transform(new), distances, rtol=1e-9)
    assert_array_equal(fitted.predict(new), distances.argmin(axis=1))
    assert fitted.score(new) == pytest.approx(-(distances.min(axis=1) ** 2).sum())


@pytest.mark.parametrize("rescale", [False, True])
@pytest.mark.parametrize("far", [1e3, 1e30, 1e300, 1.7e308])
def test_rows_far_beyond_the_bounds_go_to_the_centre_in_their_direction(far, rescale):
    """And no warning about overflow tells of them; warnings are errors here."""
    fitted = model(2, epsilon=100, rescale=rescale).fit(ROWS)
    upper = fitted.cluster_centers_.sum(axis=1).argmax()
    rows = [[far, far], [-far, -far]]
    assert_array_equal(fitted.predict(rows), [upper, 1 - upper])
    assert np.isfinite(fitted.transform(rows)).all()
    assert np.isfinite(fitted.score(rows))
    model(2, epsilon=100, rescale=rescale).fit(np.vstack([ROWS, rows]))


def test_rows_far_from_zero_are_told_apart():
    far = 1e9 + ROWS
    options = {"epsilon": 1e6, "method": "lloyd"}
    fitted = model(2, bounds=(1e9 - 8, 1e9 + 8), **options).fit(far)
    plain = model(2, **options).fit(ROWS)
    assert_allclose(fitted.cluster_centers_ - 1e9, plain.cluster_centers_, atol=1e-3)
    assert_array_equal(fitted.predict(far), plain.predict(ROWS))


# The plan


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_a_plan_costs_the_budget_and_leaves_the_model_unfitted(method, unit):
    planned = model(3, method=method, unit=unit, random_state=None)
    plan = planned.plan(n_rows=2000, n_features=2)
    assert plan.spent.pure == 1
    assert plan.protects == unit.describe()
    assert plan.error_ratio >= 0.99
    assert not hasattr(planned, "cluster_centers_")
    assert "number of rows" in str(plan)


def test_a_plan_foretells_that_too_little_budget_will_not_do():
    assert (
        model(8, epsilon=0.001).plan(1000, 2).error_ratio
        > model(8, epsilon=10).plan(1000, 2).error_ratio
    )
    assert "too small" in model(8, epsilon=0.001).plan(1000, 2).advice
    assert "is enough" in model(2, epsilon=10).plan(1000, 2).advice


def test_a_plan_advises_what_was_not_done_yet():
    pure, with_delta = (model(8, epsilon=0.001, delta=delta).plan(1000, 2) for delta in (0, 1e-6))
    assert "raise epsilon, set delta, ask" in pure.advice
    assert "raise epsilon, ask" in with_delta.advice
    assert "lower it to 1e-04 or less" in model(2, delta=0.01).plan(1000, 2).advice


def test_a_plan_with_a_delta_says_what_none_would_do():
    few = model(15, epsilon=0.1, delta=1e-6).plan(5000, 2)
    pure = model(15, epsilon=0.1).plan(5000, 2)
    assert pure.error_ratio == few.error_ratio  # because the fit leaves it out by itself
    assert pure.notes == ()
    (note,) = few.notes
    assert f"would be {pure.error_ratio:.3g} times; leave delta at 0" in note
    assert note in str(few)


def test_a_plan_keeps_a_delta_that_pays():
    (note,) = model(8, epsilon=0.2, delta=1e-6).plan(5000, 24).notes
    assert note.startswith("With delta=0 and the same epsilon it would be")
    assert "leave delta at 0" not in note


def test_a_plan_of_a_budget_of_rho_knows_no_epsilon_to_compare_with():
    assert model(2, budget=Budget.of_rho(0.1, 1e-6)).plan(500, 2).notes == ()


# What is refused: one sentence, and nothing has changed


def state_of(estimator):
    return pickle.dumps(vars(estimator))


def refused(message, data, *, error=ValueError, **parameters):
    """Fit a model that was fitted before; see that it refuses and stays as it was."""
    fitted = model().fit(FRAME)
    fitted.set_params(**parameters)
    before = state_of(fitted)
    with pytest.raises(error) as caught:
        fitted.fit(data)
    said = str(caught.value)
    assert message in said
    assert said.endswith(".")
    assert ". " not in said
    assert "\n" not in said
    assert state_of(fitted) == before


def changed(value):
    """Return the frame with one value changed."""
    frame = FRAME.astype(object) if isinstance(value, str) else FRAME.copy()
    frame.loc[7, "b"] = value
    return frame


SCHEMA = Schema({"a": Box(-8, 8), "b": Box(-8, 8)})


@pytest.mark.parametrize("method", METHODS)
def test_numbers_that_are_none_are_refused(method):
    refused("Column 'b' has missing numbers (NaN)", changed(np.nan), method=method)
    refused("Column 'b' holds infinite numbers", changed(np.inf), method=method)
    refused("Column 'b' holds infinite numbers", changed(-np.inf), method=method)
    refused("Column 'x1' has missing numbers (NaN)", changed(np.nan).to_numpy(), method=method)


def test_text_where_numbers_belong_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n3,many\n")
    refused("Column 'b' holds text where numbers are declared", path)
    texts = FRAME.assign(b="many")
    refused("Column 'b' holds text where numbers are declared", texts)
    refused("Column 'b' holds values of mixed or unsupported types", changed("many"))
    refused("array of type |S1 cannot be read", np.array([[b"x"]]))


def test_columns_that_do_not_fit_the_schema_are_refused():
    declared = {"schema": SCHEMA, "bounds": None}
    refused("Column 'b' is declared in the schema but absent", FRAME[["a"]], **declared)
    refused("Column 'c' is in the data but not declared", FRAME.assign(c=1.0), **declared)
    refused("The data have 1 columns but the schema declares 2", ROWS[:, :1], **declared)
    refused("Column 'who' is the declared id column but absent", FRAME, unit=Person("who", 1))
    refused("The id column 'who' cannot be found", ROWS, unit=Person("who", 1))
    sex = Schema({"a": Box(-8, 8), "b": Categories(["f", "m"])})
    refused("Column 'b' holds numbers where text is declared", FRAME, schema=sex, bounds=None)


def test_bounds_that_are_missing_or_wrong_are_refused():
    refused("No bounds are declared; pass bounds=(low, high) or a schema", FRAME, bounds=None)
    refused("low below high", FRAME, bounds=(8, -8))
    refused("bounds must be a pair (low, high)", FRAME, bounds=8)
    refused("The bounds disagree on the number of columns", FRAME, bounds=([0, 0, 0], 8))
    refused("finite number", FRAME, bounds=(-8, np.inf))
    ball = Schema({"a": Box(-8, 8), "b": Box(-8, 8)}, ball=Ball(1, (0, 0)))
    refused(
        "A schema with a Ball cannot be rescaled", FRAME, schema=ball, bounds=None, rescale=True
    )


def test_data_without_rows_are_refused(tmp_path):
    empty, header = tmp_path / "empty.csv", tmp_path / "header.csv"
    empty.write_text("")
    header.write_text("a,b\n")
    refused("is empty", empty)
    refused("The data have no rows", header)
    refused("The data have no rows", FRAME[:0])
    refused("was not found", tmp_path / "nowhere.csv")
    refused("Reshape your data", ROWS[0])


def test_parameters_that_make_no_sense_are_refused():
    refused("epsilon must be above zero, got 0", FRAME, epsilon=0)
    refused("epsilon must be above zero, got -1", FRAME, epsilon=-1)
    refused("epsilon must be a finite number", FRAME, epsilon=np.inf)
    refused("epsilon must be a finite number", FRAME, epsilon=np.nan)
    refused("epsilon must be a number", FRAME, epsilon=None, error=TypeError)
    refused("delta must be at least 0 and below 1", FRAME, delta=1)
    refused("delta must be at least 0 and below 1", FRAME, delta=1.5)
    refused("delta must be at least 0 and below 1", FRAME, delta=-1e-6)
    for wrong in (0, 2.0, True):
        words = "n_clusters must be 'auto', None or a whole number of at least 1"
        refused(words, FRAME, n_clusters=wrong)
    refused(
        "n_clusters must be 'auto', None or a whole number of at least 1", FRAME, n_clusters=2.0
    )
    refused(
        "n_clusters must be 'auto', None or a whole number of at least 1", FRAME, n_clusters=True
    )
    refused("n_clusters must be 'auto', None or a whole number", FRAME, n_clusters="many")
    refused("'lloyd' needs a number of clusters", FRAME, n_clusters="auto", method="lloyd")
    refused("method must be one of", FRAME, method="magic")
    refused("Unknown privacy unit 'everybody'", FRAME, unit="everybody")
    refused("use Person(id_column, max_rows)", FRAME, unit="person")
    refused("random_state must be None or a whole number", FRAME, random_state=-1)
    refused(
        "random_state must be None or a whole number", FRAME, random_state=np.random.default_rng()
    )


def test_predicting_refuses_what_the_fit_did_not_see():
    fitted = model().fit(FRAME)
    for call in (fitted.predict, fitted.transform, fitted.score):
        with pytest.raises(ValueError, match="missing numbers"):
            call(changed(np.nan))
        with pytest.raises(ValueError, match="infinite number"):
            call(changed(np.inf))
        with pytest.raises(ValueError, match="feature names should match"):
            call(FRAME.rename(columns={"a": "c"}))


# The ledger


class FakeLedger:
    """A ledger that writes down who called it, among the other events of a test."""

    def __init__(self, events):
        self.events = events

    def reserve(self, dataset, budget, unit, purpose, *, currency):
        self.events.append(("reserve", dataset, budget, unit, purpose))
        return "receipt 1"

    def settle(self, receipt, digest, flaws):
        self.events.append(("settle", receipt, digest))


def watched_rows(events, rows=FRAME):
    """Return the rows as a stream that writes down when it is first read."""
    batches = pa.Table.from_pandas(rows).to_batches()

    def read():
        events.append(("read",))
        yield from batches

    return pa.RecordBatchReader.from_batches(batches[0].schema, read())


def charged(events, **changes):
    options = {"random_state": None, "ledger": FakeLedger(events), "dataset": "visits"}
    return model(**{**options, **changes})


@pytest.mark.parametrize("method", METHODS)
def test_the_ledger_is_charged_before_rows_are_read_and_settled_with_the_release(method):
    events = []
    fitted = charged(events, method=method, epsilon=2, delta=1e-6, unit="replace-row")
    fitted.fit(watched_rows(events))
    assert events == [
        ("reserve", "visits", Budget(2, 1e-6), ReplaceRow(), "PrivateKMeans"),
        ("read",),
        ("settle", "receipt 1", fitted.release().digest),
    ]
    assert fitted.privacy_.receipt == "receipt 1"
    assert fitted.privacy_.private


def test_a_fit_that_fails_stays_charged_and_unsettled():
    events = []
    with pytest.raises(ValueError, match="NaN"):
        charged(events).fit(watched_rows(events, changed(np.nan)))
    assert [event[0] for event in events] == ["reserve", "read"]


def test_a_ledger_that_refuses_keeps_the_rows_unread():
    events = []
    ledger = FakeLedger(events)

    def refuse(*_, **__):
        raise RuntimeError("The budget of 'visits' is spent.")

    ledger.reserve = refuse
    with pytest.raises(RuntimeError, match="is spent"):
        charged(events, ledger=ledger).fit(watched_rows(events))
    assert events == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"random_state": 0}, "A seeded fit is not private and cannot be charged to a ledger"),
        ({"dataset": None}, "A ledger needs dataset=, the name of the data set to charge"),
        ({"dataset": ""}, "A ledger needs dataset="),
    ],
)
def test_a_charge_that_makes_no_sense_is_refused_before_anything_is_charged(changes, message):
    events = []
    with pytest.raises(ValueError, match=message):
        charged(events, **changes).fit(watched_rows(events))
    assert events == []


def test_labelling_new_rows_and_planning_cost_nothing():
    events = []
    fitted = charged(events).fit(FRAME)
    spent = len(events)
    fitted.predict(FRAME)
    fitted.transform(FRAME)
    fitted.score(FRAME)
    fitted.plan(1000, n_features=2)
    assert len(events) == spent == 2
