"""``PrivateGaussianMixture`` finds shapes as scikit-learn does, and says what noise hides."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score as adjusted_rand
from sklearn.mixture import GaussianMixture

from privclust import (
    Box,
    Categories,
    Ledger,
    Person,
    PrivateGaussianMixture,
    PrivateKMeans,
    Release,
    Schema,
)
from privclust.exceptions import LowSignalWarning, ParameterError, ReleaseError, SchemaError
from privclust.mixture import Mixture

KINDS = ["full", "tied", "diag", "spherical"]
# Two long clusters side by side, which no centres can tell apart.
LONG = np.array([[0.04, 0.034], [0.034, 0.04]])


def long_rows(n_rows=6000, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=n_rows)
    rows = rng.multivariate_normal([0, 0], LONG, n_rows) + np.array([0.14, -0.14]) * (
        2 * labels[:, None] - 1
    )
    return np.clip(rows, -1, 1), labels


@pytest.fixture(scope="module")
def fitted():
    rows, labels = long_rows()
    model = PrivateGaussianMixture(2, delta=1e-6, bounds=(-1, 1), random_state=0).fit(rows)
    return model, rows, labels


def test_long_clusters_are_told_apart_where_centres_fail(fitted):
    model, rows, labels = fitted
    centres = PrivateKMeans(2, delta=1e-6, bounds=(-1, 1), random_state=0).fit(rows)
    assert adjusted_rand(labels, model.predict(rows)) > 0.9
    assert adjusted_rand(labels, centres.predict(rows)) < 0.5
    assert np.allclose(model.covariances_, LONG, atol=0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_has_the_shapes_and_densities_of_scikit_learn(kind):
    rows, _ = long_rows(2000)
    model = PrivateGaussianMixture(2, covariance_type=kind, bounds=(-1, 1), random_state=0)
    model.fit(rows)
    own = GaussianMixture(2, covariance_type=kind).fit(rows)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        assert getattr(model, name).shape == getattr(own, name).shape
        setattr(own, name, getattr(model, name))
    assert np.allclose(model.predict_proba(rows), own.predict_proba(rows))
    assert np.allclose(model.score_samples(rows), own.score_samples(rows))
    assert (model.predict(rows) == own.predict(rows)).all()
    assert np.isclose(model.score(rows), own.score(rows))
    assert np.isclose(model.bic(rows), own.bic(rows))
    assert np.isclose(model.aic(rows), own.aic(rows))


@pytest.mark.parametrize("kind", KINDS)
def test_much_budget_leaves_little_of_the_gap(kind):
    """The other kinds are wrong about these rows, and end at one of several optima."""
    rng = np.random.default_rng(1)
    rows = np.clip(rng.normal([[-0.5, 0.2], [0.5, -0.3]] * 5000, 0.1), -1, 1)
    model = PrivateGaussianMixture(
        2, covariance_type=kind, epsilon=50, bounds=(-1, 1), random_state=0
    ).fit(rows)
    best = GaussianMixture(2, covariance_type=kind, random_state=0).fit(rows)
    assert best.score(rows) - model.score(rows) < 0.01


def test_rows_of_another_scale_give_the_same_mixture():
    rows, labels = long_rows()
    widths = np.array([1e6, 1e-3])
    frame = pd.DataFrame(rows * widths + widths, columns=["a", "b"])
    schema = Schema({"a": Box(0, 2e6), "b": Box(0, 2e-3)})
    model = PrivateGaussianMixture(2, delta=1e-6, schema=schema, random_state=0).fit(frame)
    assert adjusted_rand(labels, model.predict(frame)) > 0.9


def test_a_background_holds_rows_that_belong_nowhere(tmp_path):
    rng = np.random.default_rng(0)
    crowd = rng.normal([[-0.5, -0.5], [0.5, 0.5]] * 4500, 0.03)
    rows = np.concatenate([crowd, rng.uniform(-1, 1, (1000, 2))])
    plain, model = (
        PrivateGaussianMixture(2, delta=1e-6, background=way, bounds=(-1, 1), random_state=0)
        for way in (False, True)
    )
    plain.fit(rows)
    model.fit(rows)
    assert plain.background_weight_ == 0
    assert abs(model.background_weight_ - 0.1) < 0.02
    assert model.score(rows) > plain.score(rows) + 0.3
    assert model.predict([[0.9, -0.9], [0.5, 0.5]]).tolist()[0] == -1
    shares = model.predict_proba([[0.9, -0.9], [0.5, 0.5]]).sum(axis=1)
    assert shares[0] < 0.01
    assert shares[1] > 0.9
    made, labels = model.sample(4000, random_state=0)
    assert abs((labels == -1).mean() - model.background_weight_) < 0.03
    assert np.abs(made).max() <= 1
    model.release().report(tmp_path / "report.html")
    assert "of the rows belong to none of them" in (tmp_path / "report.html").read_text("utf-8")


def test_the_number_of_components_can_be_left_open():
    rng = np.random.default_rng(0)
    places = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.6]])
    rows = np.clip(rng.normal(places[rng.integers(3, size=6000)], 0.08), -1, 1)
    model = PrivateGaussianMixture("auto", delta=1e-6, bounds=(-1, 1), random_state=0).fit(rows)
    assert model.n_components_ == 3
    assert int(model.component_scores_.argmin()) == 2
    assert model.release().arrays["scores"].tolist() == model.component_scores_.tolist()


def test_one_long_component_is_counted_as_one():
    rng = np.random.default_rng(0)
    rows = rng.multivariate_normal([0, 0], [[0.09, 0.085], [0.085, 0.09]], 5000)
    model = PrivateGaussianMixture("auto", delta=1e-6, bounds=(-2, 2), random_state=0).fit(rows)
    assert model.n_components_ == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_errors_hold_what_more_steps_would_give():
    """Over 12 seeds two errors held 96 of 100 numbers, and one error 83."""
    rows, _ = long_rows()
    ratios = []
    for seed in range(8):
        model = PrivateGaussianMixture(2, delta=1e-6, bounds=(-1, 1), random_state=seed).fit(rows)
        start = {"weights_init": model.weights_, "means_init": model.means_}
        start |= {"precisions_init": model.precisions_, "max_iter": 8, "tol": 0}
        better = GaussianMixture(2, **start).fit(rows)
        ratios += [*np.ravel((better.means_ - model.means_) / model.means_error_)]
        ratios += [*((better.weights_ - model.weights_) / model.weights_error_)]
    assert np.mean(np.abs(ratios) <= 2) > 0.85
    assert 0.4 < np.sqrt(np.mean(np.square(ratios))) < 1.5  # and are not simply large


def test_one_component_and_one_column_work():
    rows = np.random.default_rng(0).normal(0.2, 0.1, (3000, 1)).clip(-1, 1)
    model = PrivateGaussianMixture(bounds=(-1, 1), random_state=0).fit(rows)
    assert abs(float(model.means_[0, 0]) - 0.2) < 0.02
    assert abs(float(model.covariances_[0, 0, 0]) - 0.01) < 0.003
    two = PrivateGaussianMixture(2, bounds=(-1, 1), random_state=0).fit(rows)
    assert two.covariances_.shape == (2, 1, 1)


@pytest.mark.parametrize(
    "rows",
    [
        np.full((500, 3), 0.25),
        np.repeat([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]], 300, axis=0),
        np.column_stack([np.linspace(-1, 1, 700), np.zeros(700), np.ones(700)]),
        np.full((1, 3), 0.5),
    ],
    ids=["one point", "two corners", "constant columns", "one row"],
)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_odd_rows_give_a_mixture(kind, rows):
    for delta in (0, 1e-6):
        model = PrivateGaussianMixture(
            4, covariance_type=kind, delta=delta, bounds=(-1, 1), random_state=0
        ).fit(rows)
        assert np.isfinite(model.score_samples(rows)).all()
        assert np.isclose(model.weights_.sum(), 1)
        assert (np.abs(model.means_) <= 1).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_tiny_budgets_and_people_with_many_rows_get_noise_that_can_be_drawn(kind):
    rows = pd.DataFrame(np.random.default_rng(0).uniform(-1, 1, (300, 2)), columns=["a", "b"])
    rows["who"] = np.arange(300) // 50
    for epsilon, delta in ((1e-4, 0), (1e-2, 1e-6)):
        model = PrivateGaussianMixture(
            2, covariance_type=kind, epsilon=epsilon, delta=delta, unit=Person("who", 50),
            bounds=(-1, 1), random_state=0,
        ).fit(rows)  # fmt: skip
        assert "components-hidden" in model.release().parameters["notes"]


def test_too_few_rows_send_users_to_k_means():
    rows, _ = long_rows(200)
    with pytest.warns(LowSignalWarning, match="PrivateKMeans"):
        model = PrivateGaussianMixture(3, bounds=(-1, 1), random_state=0).fit(rows)
    assert "few-rows" in model.release().parameters["notes"]
    for n_rows in (200, 400):  # round clumps would be found, shapes are not
        plan = PrivateGaussianMixture(3, bounds=(-1, 1)).plan(n_rows, n_features=2)
        assert "PrivateKMeans" in plan.advice


def test_enough_rows_are_not_warned_of(fitted):
    model, *_ = fitted
    assert model.warnings_ == ()
    plan = PrivateGaussianMixture(2, delta=1e-6, bounds=(-1, 1)).plan(n_rows=6000, n_features=2)
    assert plan.error_ratio < 1.1


def test_a_plan_for_hopelessly_many_columns_stays_readable():
    for epsilon in (0.1, 100):  # scikit-learn's own mixture of any shape is hopeless there as well
        model = PrivateGaussianMixture(2, epsilon=epsilon, bounds=(-1, 1))
        plan = model.plan(n_rows=100, n_features=40)
        assert 4 < plan.error_ratio < 1000
        assert "mostly noise" in plan.advice
        assert "e+" not in str(plan).splitlines()[-2]


def test_categories_are_refused_before_anything_is_read():
    schema = Schema({"x": Box(0, 1), "sex": Categories(["f", "m"])})
    with pytest.raises(SchemaError, match="PrivateKMeans"):
        PrivateGaussianMixture(2, schema=schema).fit(pd.DataFrame({"x": [1.0], "sex": ["f"]}))


@pytest.mark.parametrize(
    "options",
    [
        {"n_components": 0},
        {"n_components": "many"},
        {"n_components": 2000},
        {"covariance_type": "round"},
        {"reg_covar": 0},
        {"background": "yes"},
    ],
)
def test_wrong_parameters_are_refused_and_nothing_is_charged(options, tmp_path):
    ledger = Ledger.open(tmp_path / "budget.db")
    ledger.create_dataset("rows")
    ledger.grant("rows", 1)
    with pytest.raises(ParameterError):
        PrivateGaussianMixture(
            **{"n_components": 2, "bounds": (-1, 1), "ledger": ledger, "dataset": "rows"} | options
        ).fit(np.zeros((5, 2)))
    assert not [entry for entry in ledger.history("rows") if entry.kind == "charge"]


def test_a_release_answers_as_the_model_does(fitted, tmp_path):
    model, rows, _ = fitted
    model.release().save(tmp_path / "mixture", report=True)
    published = Mixture(Release.load(tmp_path / "mixture"))
    frame = pd.DataFrame(rows[:200], columns=published.release().schema.names)
    assert (published.predict(frame) == model.predict(rows[:200])).all()
    assert np.allclose(published.predict_proba(frame), model.predict_proba(rows[:200]))
    assert np.allclose(published.score_samples(frame), model.score_samples(rows[:200]))
    assert np.isclose(published.bic(frame), model.bic(rows[:200]))
    assert (published.release().predict(frame) == model.predict(rows[:200])).all()
    one, other = (source.sample(50, random_state=1) for source in (published, model))
    assert (one[0] == other[0]).all()
    page = (tmp_path / "mixture" / "report.html").read_text("utf-8")
    assert "Where groups overlap" in page or "clearly belongs to one of them" in page
    assert "<svg" in page


def test_another_kind_of_release_is_not_a_mixture(fitted):
    centres = PrivateKMeans(2, bounds=(-1, 1), random_state=0).fit(fitted[1])
    with pytest.raises(ReleaseError, match="mixture"):
        Mixture(centres.release())
    with pytest.raises(ParameterError, match="Release"):
        Mixture(fitted[0])


def _changed(release, **arrays):
    fields = ("kind", "schema", "parameters", "privacy")
    kept = {name: getattr(release, name) for name in fields}
    return Release(arrays={**release.arrays, **arrays}, **kept)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weights", np.array([0.5, 0.6])),
        ("covariances", -np.stack([np.eye(2)] * 2)),
        ("background_weight", np.array([1.0])),
        ("means_error", np.full((2, 2), -1.0)),
        ("means", np.zeros((2, 3))),
    ],
)
def test_a_damaged_release_is_refused(fitted, name, value):
    with pytest.raises(ReleaseError):
        _changed(fitted[0].release(), **{name: value})


def test_overlapping_components_are_named_in_the_report(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal([[-0.1, 0.0], [0.1, 0.0]] * 4000, 0.12).clip(-1, 1)
    model = PrivateGaussianMixture(2, delta=1e-6, bounds=(-1, 1), random_state=0).fit(rows)
    model.release().report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert re.search(r"component 0 and component 1 share about \d+ % of their rows", page)
