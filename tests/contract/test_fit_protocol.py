"""What every private estimator does when it is fitted: the order of a fit, the ledger, warnings."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import privclust.release.release as release_module
from privclust import (
    Budget,
    Ledger,
    PrivateBounds,
    PrivateDensity,
    PrivateGaussianMixture,
    PrivateSummary,
    Release,
)
from privclust.exceptions import BudgetGoneError, DataError, LowSignalWarning, PrivclustError
from privclust.plan import Plan
from support.estimators import ESTIMATORS, EstimatorRecord

every_estimator = pytest.mark.parametrize("record", ESTIMATORS, ids=lambda record: record.name)
CLUSTERERS = [record for record in ESTIMATORS if hasattr(record.kind, "fit_predict")]
clusterers = pytest.mark.parametrize("record", CLUSTERERS, ids=lambda record: record.name)
# Those whose private data can be a stream of rows.
streamed = pytest.mark.parametrize(
    "record",
    [r for r in CLUSTERERS if r.public_data is None and isinstance(r.data(), pd.DataFrame)],
    ids=lambda record: record.name,
)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger without data sets."""
    return Ledger.open(tmp_path / "budget.db")


def granted(ledger: Ledger, record: EstimatorRecord, epsilon: float = 2) -> dict[str, Any]:
    """Return the parameters of a model that is charged to a ledger which grants so much."""
    ledger.create_dataset("rows", record.units[0])
    ledger.grant("rows", epsilon)
    return {"ledger": ledger, "dataset": "rows"}


def unreadable(record: EstimatorRecord, folder: Path) -> Any:
    """Return data of the right shape whose rows cannot be read as declared."""
    data = record.data()
    if not isinstance(data, pd.DataFrame):
        return -data
    path = folder / "rows.csv"
    path.write_text(",".join(data.columns) + "\n" + ",".join(["never declared"] * data.shape[1]))
    return path


def entries(ledger: Ledger, kind: str) -> list[Any]:
    return [entry for entry in ledger.history("rows") if entry.kind == kind]


@every_estimator
def test_a_ledger_that_refuses_keeps_the_rows_unread(record, ledger, tmp_path):
    model = record.make(**granted(ledger, record, epsilon=1))
    with pytest.raises(BudgetGoneError):
        record.fit(model, unreadable(record, tmp_path))
    assert not entries(ledger, "charge")


@every_estimator
def test_rows_that_cannot_be_read_are_found_after_the_charge_which_stays(record, ledger, tmp_path):
    model = record.make(**granted(ledger, record))
    with pytest.raises(DataError, match="ε = 2 stays charged to 'rows'"):
        record.fit(model, unreadable(record, tmp_path))
    assert len(entries(ledger, "charge")) == 1
    assert not hasattr(model, "privacy_")


@every_estimator
def test_a_fit_is_settled_with_the_digest_of_what_is_published_today_and_later(
    record, ledger, monkeypatch
):
    model = record.fit(record.make(**granted(ledger, record)), record.data())
    (settled,) = entries(ledger, "settle")
    assert model.release() is model.release()
    monkeypatch.setattr(release_module, "_today", lambda: "2099-12-31")
    assert model.release().digest == settled.digest
    assert model.release().privacy.receipt == model.privacy_.receipt


@every_estimator
def test_a_warning_that_is_an_error_loses_neither_statement_nor_release(record, ledger):
    model = record.make(epsilon=1e-3, **granted(ledger, record))
    with warnings.catch_warnings():
        warnings.simplefilter("error", LowSignalWarning)
        try:
            if record.public_data is None:
                model.fit(record.data())
            else:
                model.fit(record.public_data(), source=record.data())
        except LowSignalWarning:
            pass
    (settled,) = entries(ledger, "settle")
    assert model.release().digest == settled.digest


@every_estimator
def test_a_failed_fit_says_in_one_sentence_what_stays_charged(record, ledger, monkeypatch):
    model = record.make(**granted(ledger, record))

    def fail(*_: object, **__: object) -> None:
        raise DataError("The rows broke off; mend them.")

    monkeypatch.setattr(record.kind, "_keep", fail)
    with pytest.raises(DataError) as caught:
        record.fit(model, record.data())
    assert len(entries(ledger, "charge")) == 1
    message = str(caught.value)
    assert message.startswith(
        "The rows broke off; mend them; ε = 2 stays charged to 'rows' (receipt "
    )
    assert message.endswith("), so run privclust check before the next fit.")
    assert ". " not in message


@every_estimator
def test_an_interrupted_fit_says_what_stays_charged(record, ledger, monkeypatch):
    model = record.make(**granted(ledger, record))

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(record.kind, "_keep", interrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        record.fit(model, record.data())
    assert "ε = 2 stays charged to 'rows'" in caught.value.__notes__[0]


@every_estimator
def test_warnings_blame_the_line_of_the_caller(record):
    model = record.make(epsilon=1e-3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if record.public_data is None:
            model.fit(record.data())
        else:
            model.fit(record.public_data(), source=record.data())
    assert {Path(warning.filename).name for warning in caught} <= {Path(__file__).name}
    told = tuple(str(w.message) for w in caught if w.category is LowSignalWarning)
    assert told[: len(model.warnings_)] == model.warnings_
    assert len(told) <= len(model.warnings_) + 1  # what would help is told, not released


@every_estimator
def test_what_is_asked_spends_the_budget_whether_given_as_numbers_or_as_one(record):
    model = record.make(epsilon=1.0, delta=1e-6)
    same = record.make(budget=Budget(1.0, 1e-6))
    for fitted in (record.fit(model, record.data()), record.fit(same, record.data())):
        assert (fitted.privacy_.epsilon, fitted.privacy_.delta) == (1, Budget(1, 1e-6).delta)
        paid_from = fitted.privacy_.paid_from
        assert paid_from in (Budget(1, 1e-6), Budget(1))  # ρ, or the same ε alone
        assert paid_from.covers(fitted.privacy_.spent)


@every_estimator
def test_a_plan_is_a_plan_and_leaves_the_model_as_it_is(record, ledger):
    model = record.make(**granted(ledger, record))
    before = {name: value for name, value in vars(model).items() if name != "ledger"}
    plan = model.plan(200, n_features=record.data().shape[1])
    assert isinstance(plan, Plan)
    assert plan.n_rows == 200
    assert plan.budget == Budget(2)
    assert {name: value for name, value in vars(model).items() if name != "ledger"} == before
    assert not entries(ledger, "charge")
    assert {"epsilon", "queries", "advice", "error_ratio"} <= plan.to_dict().keys()


@every_estimator
def test_a_release_comes_back_as_it_was_saved(record, tmp_path):
    release = record.seeded().release()
    release.save(tmp_path / "release")
    again = Release.load(tmp_path / "release")
    assert again == release
    assert again.arrays.keys() == release.arrays.keys()


@clusterers
def test_model_and_release_label_alike_with_whole_numbers(record, tmp_path):
    model, data = record.seeded(), record.data()
    rows = record.public_data() if record.public_data is not None else data
    labels = model.predict(rows)
    assert labels.dtype == np.int64
    release = model.release()
    from_release = release.predict(rows)
    assert from_release.dtype == np.int64
    np.testing.assert_array_equal(labels, from_release)


@clusterers
def test_model_and_release_refuse_rows_with_other_columns(record):
    model = record.seeded()
    rows = np.ones((2, 11))  # other columns than any record has
    for predict in (model.predict, model.release().predict):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scikit-learn's, about names
            with pytest.raises(ValueError, match=r"11|column"):
                predict(rows)
    with pytest.raises(DataError):
        model.release().predict(rows)


@streamed
def test_fit_predict_reads_a_stream_once(record):
    import pyarrow as pa

    table = pa.Table.from_pandas(record.data(), preserve_index=False)
    reader = table.to_reader(max_chunksize=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = record.make(random_state=7).fit_predict(reader)
    np.testing.assert_array_equal(labels, record.seeded().predict(record.data()))


@every_estimator
def test_units_that_do_not_fit_the_data_are_refused_before_a_charge(record):
    for unit in record.refused:
        with pytest.raises(ValueError, match="unit"):
            record.fit(record.make(unit), record.data())


@every_estimator
def test_a_seeded_fit_says_everywhere_that_it_is_not_private(record, ledger):
    model = record.seeded()
    assert not model.privacy_.private
    assert "NOT PRIVATE" in repr(model)
    assert "NOT PRIVATE" in model.release().privacy.promise
    assert "NOT PRIVATE" in model._repr_mimebundle_()["text/html"]
    charged = record.make(random_state=1, **granted(ledger, record))
    with pytest.raises(PrivclustError, match="cannot be charged to a ledger"):
        record.fit(charged, record.data())
    assert not entries(ledger, "charge")


@every_estimator
def test_unseeded_fits_differ_even_if_public_choices_repeat(record, monkeypatch):
    monkeypatch.setattr(
        np.random, "default_rng", lambda *_: np.random.Generator(np.random.PCG64(3))
    )
    first, second = record.fitted(), record.fitted()
    arrays = first.release().arrays
    assert any(
        not np.array_equal(array, second.release().arrays[name]) for name, array in arrays.items()
    )


@every_estimator
def test_what_a_fit_keeps_is_documented(record):
    kept = {name for name in vars(record.seeded()) if name.endswith("_")}
    assert not {name for name in kept if name not in record.kind.__doc__}


@every_estimator
def test_nothing_exact_is_kept(record):
    """Public parameters, released values and names: a new attribute has to be thought of here."""
    allowed = {
        *record.make().get_params(),
        *("privacy_", "warnings_", "schema_", "n_features_in_", "feature_names_in_", "_release"),
        "_uncharged",  # the promises of the fits so far
        *("_n_features_out", "cluster_centers_", "cluster_sizes_", "cluster_sizes_error_"),
        *("cluster_centers_error_", "n_clusters_", "method_", "_verdict"),
        *("metric_", "contexts_", "cell_error_", "value_points_"),
        *("column_labels_", "block_totals_", "block_totals_error_", "tau_", "column_weights_"),
        *("row_labels_", "row_profiles_", "row_profiles_error_", "n_directions_"),
        *("medoid_indices_", "centers_", "order_", "order_costs_", "cost_estimate_"),
        "cost_bound_",
        *("released_source_", "served_by_source_", "_targets", "_scaled", "_learned"),
        *("cells_", "cells_error_", "counts_", "counts_error_", "_cells"),
        *("components_", "generator_"),
        *("bounds_", "found_", "inside_", "inside_error_", "missing_", "missing_error_"),
        *("_profile_centers", "tables_", "edges_", "_counted"),
        *("weights_", "weights_error_", "means_", "means_error_", "covariances_", "precisions_"),
        *("precisions_cholesky_", "background_weight_", "hidden_", "n_steps_"),
        *("n_components_", "component_scores_", "missing_counts_", "missing_counts_error_"),
    }
    if record.kind in (PrivateBounds, PrivateDensity, PrivateGaussianMixture, PrivateSummary):
        allowed |= {"n_rows_", "n_rows_error_"}  # noisy ones, which they release
    if record.public_data is not None:
        allowed.add("labels_")  # of public targets; those of private rows are never kept
    for unit in record.units:
        assert vars(record.fitted(unit)).keys() <= allowed


@every_estimator
def test_a_model_survives_clone_and_pickle(record):
    model = record.seeded()
    again = pickle.loads(pickle.dumps(model))
    assert again.release() == model.release()
    assert clone(model).get_params().keys() == model.get_params().keys()


@every_estimator
def test_wrong_parameters_are_refused_in_one_sentence(record):
    wrong = {"epsilon": [0, -1, "much"], "delta": [1, -1], "budget": [3], "unit": ["household"]}
    for name in record.make().get_params():
        if name.startswith("n_") or name in ("context_size",):
            wrong[name] = [0, -3, 1.5, "many", True]
        if name in ("method", "rule", "metric", "context_rule"):
            wrong[name] = ["best", 3, None]
        if name.endswith("_share") or name == "coreset_radius":
            wrong[name] = [*([] if name == "missing_share" else [0]), 1, -0.5, "half"]
        if name == "rescale":
            wrong[name] = ["yes", 3]
        if name == "random_state":
            wrong[name] = [-1, np.random.default_rng(), "seed"]
    for name, values in wrong.items():
        for value in values:
            if name == "n_projected" and value == 1.5:
                continue
            with pytest.raises((ValueError, TypeError)) as caught:
                record.fit(record.make(**{name: value}), record.data())
            assert ". " not in str(caught.value), (name, value)
