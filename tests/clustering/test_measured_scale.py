"""``scale="measured"``: ranges that the rows fill, found with noise, paid for before all else."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

from privclust import (
    Ball,
    Box,
    Budget,
    Categories,
    Ledger,
    PrivateKMeans,
    PrivateSummary,
    Release,
    Schema,
)
from privclust.clustering.measuring import MEASURING, ask_working_range
from privclust.exceptions import LowSignalWarning, ParameterError, SchemaError
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow
from support.noise import seeded_noise
from support.transcripts import Transcript, amount_lost
from support.views import plenty_of, view_of

MODELS = {"k-means": partial(PrivateKMeans, 3), "summary": PrivateSummary}
every_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
SCHEMA = Schema(
    {
        "x": Box(-10, 10, missing=9),
        "day": Box("2000-01-01", "2060-12-31"),
        "town": Categories(["north", "south"]),
    }
)


def rows(n_rows=20_000):
    rng = np.random.default_rng(0)
    own = rng.integers(3, size=n_rows)
    day = pd.Timestamp("2020-06-01") + pd.to_timedelta(np.array([0, 900, 1800])[own], "D")
    return pd.DataFrame(
        {
            "x": np.array([0.0, 1.0, 2.0])[own] + rng.normal(0, 0.1, n_rows),
            "day": day + pd.to_timedelta(rng.integers(100, size=n_rows), "D"),
            "town": rng.choice(["north", "south"], n_rows),
        }
    )


FRAME = rows()


def fitted(make, frame=FRAME, schema=SCHEMA, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = {"epsilon": 5, "random_state": 0, "scale": "measured", **given}
        return make(schema=schema, **given).fit(frame)


@every_model
def test_the_working_range_holds_the_rows_and_little_else(make):
    box = fitted(make).schema_["x"]
    assert box.low < FRAME["x"].quantile(0.01)
    assert box.high > FRAME["x"].quantile(0.99)
    assert box.high - box.low < 10
    assert box.low <= box.missing <= box.high
    day = fitted(make).schema_["day"]
    assert day.form == "date"
    assert 365 < day.high - day.low < 20 * 365


@every_model
def test_a_deviation_counts_the_same_in_every_number(make):
    given = {"schema": SCHEMA.only(["x", "day"]), "frame": FRAME[["x", "day"]]}
    boxes = fitted(make, epsilon=1e6, **given).schema_.columns.values()
    days = (FRAME["day"] - pd.Timestamp("1970-01-01")).dt.days
    deviations = [np.std(FRAME["x"]), np.std(days)]
    found = [d / (b.high - b.low) * b.weight for d, b in zip(deviations, boxes, strict=True)]
    assert found == pytest.approx([1 / 6, 1 / 6], rel=0.2)


@every_model
def test_it_costs_its_share_and_the_whole_is_the_budget(make):
    for delta in (0, 1e-6):
        model = fitted(make, epsilon=1, delta=delta, missing_share=0)
        first, *_ = model.privacy_.queries
        assert first.query == "spread of numbers"
        budget = Budget(1, delta)
        part = first.loss.pure if delta == 0 else first.loss.rho
        assert float(part) == pytest.approx(MEASURING * float(budget.amount), rel=1e-3)
        assert model.privacy_.epsilon <= 1
        assert model.release().parameters["scale"] == "measured"


@every_model
def test_a_release_labels_as_the_model_and_later_fits_do(make, tmp_path):
    frame = FRAME[["x", "day"]]
    model = fitted(make, frame, SCHEMA.only(["x", "day"]))
    release = model.release() if make is not PrivateSummary else model.kmeans(3)
    release.save(tmp_path / "release")
    labels = Release.load(tmp_path / "release").predict(frame)
    if make is not PrivateSummary:
        np.testing.assert_array_equal(labels, model.predict(frame))
    own = pd.crosstab(labels, (FRAME["x"] + 0.5).astype(int)).to_numpy()
    assert own.max(axis=0).sum() > 0.95 * len(FRAME)


def test_bounds_in_short_form_and_arrays_are_measured_too():
    points = FRAME[["x"]].to_numpy() * [[1, 2]]
    model = PrivateKMeans(3, epsilon=5, bounds=(-100, 100), scale="measured", random_state=0)
    labels = model.fit(points).predict(points)
    np.testing.assert_array_equal(labels, model.release().predict(points))
    assert len(np.unique(labels)) == 3
    assert model.schema_.high[0] - model.schema_.low[0] < 100


@every_model
def test_too_few_rows_keep_declared_widths_and_say_so(make):
    model = fitted(make, FRAME[:50], epsilon=0.5)
    assert model.schema_ == SCHEMA
    assert "spread-hidden" in model.release().parameters["notes"]


@every_model
def test_one_row_and_constant_columns_are_taken(make):
    for frame in (FRAME[:1], FRAME.assign(x=10.0), FRAME.assign(x=0.0, town="north")):
        release = fitted(make, frame).release()
        assert np.isfinite(next(iter(release.arrays.values()))).all()


@every_model
@pytest.mark.parametrize(
    ("schema", "given", "error", "words"),
    [
        (
            Schema({"x": Box(-1, 1), "y": Box(-1, 1)}, ball=Ball(1, [0, 0])),
            {},
            SchemaError,
            "cannot be used with a Ball",
        ),
        (SCHEMA.only(["town"]), {}, ParameterError, "no column is one"),
        (SCHEMA, {"rescale": False}, ParameterError, "rescale=False forbids"),
        (SCHEMA, {"metric": "dilca"}, ParameterError, 'metric="dilca" learns'),
        (SCHEMA, {"scale": "guessed"}, ParameterError, "scale must be one of"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_the_charge(
    make, schema, given, error, words, tmp_path
):
    ledger = Ledger.open(tmp_path / "ledger.db")
    ledger.create_dataset("rows", "add-remove-row")
    ledger.grant("rows", 1)
    before = ledger.head()
    charged = {"ledger": ledger, "dataset": "rows", "scale": "measured", **given}
    model = make(epsilon=1, schema=schema, **charged)
    for act in (lambda: model.fit(FRAME), lambda: model.plan(100)):
        with pytest.raises(error, match=words) as caught:
            act()
        assert ". " not in str(caught.value).rstrip(".")
    assert ledger.head() == before


@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("unit", [AddRemoveRow(), ReplaceRow(), Person("who", 2)], ids=str)
@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-6)], ids=["pure", "zcdp"])
def test_the_question_loses_what_was_paid_and_more_if_noise_is_halved(budget, unit, halved):
    schema = Schema({"x": Box(0, 1), "y": Box(0, 1)})
    few = pd.DataFrame({"x": [0.1] * 5, "y": [0.1] * 5, "who": range(5)})
    new = [{"x": 0.9, "y": 0.9, "who": 9}] * (2 if isinstance(unit, Person) else 1)
    old = [{"x": 0.1, "y": 0.1, "who": 9}] if isinstance(unit, ReplaceRow) else []
    noise = seeded_noise(0, halved=halved)
    pair = [pd.concat([few, pd.DataFrame(more)]) if more else few for more in (old, new)]
    if not isinstance(unit, Person):
        pair = [data[["x", "y"]] for data in pair]
    transcript = Transcript(
        [view_of(d, schema, unit, budget=plenty_of(budget), noise=noise) for d in pair]
    )
    ask_working_range(transcript, budget.whole, schema, None)
    lost = amount_lost(transcript.loss, budget.currency)
    assert (lost > budget.amount) == halved
    assert lost >= 0.9 * budget.amount


def test_a_column_that_a_rule_stands_for_is_told_from_the_histogram_that_is_paid():
    frame = pd.DataFrame({"x": ["31.12.2024"] * 3000, "y": np.linspace(0, 10, 3000)})
    schema = Schema({"x": Box(0, 10, 5, "text"), "y": Box(0, 10, 5)})
    model = PrivateKMeans(2, epsilon=5, schema=schema, scale="measured", random_state=0)
    with pytest.warns(LowSignalWarning, match="Most values of the column 'x'"):
        model.fit(frame)
    assert not any("'y'" in text for text in model.warnings_)
