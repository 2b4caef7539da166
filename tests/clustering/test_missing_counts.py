"""How many values a rule stood for: counted by every default fit, told beside the centres."""

from __future__ import annotations

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from privclust import (
    Bins,
    Box,
    Budget,
    Categories,
    Person,
    PrivateDensity,
    PrivateDilca,
    PrivateGaussianMixture,
    PrivateKMeans,
    PrivateSummary,
    Release,
    Schema,
)
from privclust.budget import Loss
from privclust.clustering.missing import ask_missing
from privclust.data.points.door import PointRows
from privclust.exceptions import LowSignalWarning, ReleaseError
from privclust.opening.rows import open_points
from privclust.unit.rows import AddRemoveRow, ReplaceRow
from support.doors import PairOfDoors
from support.noise import seeded_noise
from support.transcripts import amount_lost

N = 8000
RNG = np.random.default_rng(1)
FRAME = pd.DataFrame(
    {
        "age": RNG.choice([30.0, 70.0], N) + RNG.normal(0, 5, N),
        "salt": RNG.normal(1, 0.2, N),
        "seen": "2024-05-01",
        "town": RNG.choice(["north", "south"], N),
    }
)
FRAME.loc[RNG.random(N) < 0.7, "salt"] = np.nan
FRAME.loc[RNG.random(N) < 0.2, "seen"] = "01.05.2024"  # not as declared
FRAME.loc[RNG.random(N) < 0.3, "town"] = None
SCHEMA = Schema(
    {
        "age": Box(0, 110),
        "salt": Box(0, 11, missing=1, unit="g"),
        "seen": Box("2020-01-01", "2024-12-31", missing="2022-01-01"),
        "town": Categories(["north", "south"], missing="omit"),
    }
)
NUMBERS = SCHEMA.only(["age", "salt", "seen"])
MAKES = {
    "k-means": lambda **given: PrivateKMeans(2, **given),
    "learned metric": lambda **given: PrivateKMeans(2, metric="dilca", **given),
    "chosen number": lambda **given: PrivateKMeans("auto", **given),
    "summary": PrivateSummary,
    "synthetic rows": lambda **given: PrivateSummary(synthetic=True, **given),
    "mixture": lambda **given: PrivateGaussianMixture(2, **given),
    "density": PrivateDensity,
}
ONLY_NUMBERS = ("mixture", "density")


def fitted(name, frame=FRAME, schema=None, **given):
    schema = schema or (NUMBERS if name in ONLY_NUMBERS else SCHEMA)
    frame = frame[[*schema.names]] if "who" not in frame else frame
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MAKES[name](schema=schema, **{"random_state": 0} | given).fit(frame)


def true_counts(schema):
    counts = {"salt": FRAME["salt"].isna(), "seen": FRAME["seen"] != "2024-05-01"}
    counts["town"] = FRAME["town"].isna()
    return {name: int(counts[name].sum()) for name in schema.uncounted}


every_family = pytest.mark.parametrize("name", MAKES)


@every_family
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_default_fit_counts_within_its_errors_and_its_budget(name, delta):
    model = fitted(name, delta=delta)
    error = model.missing_counts_error_
    for column, count in true_counts(model.schema_).items():
        assert abs(model.missing_counts_[column] - count) < 5 * error
    assert 5 * error < N / 4
    assert model.privacy_.queries[-1].query == "missing values"
    assert model.privacy_.epsilon <= 1


@every_family
def test_a_default_fit_warns_of_a_column_that_is_mostly_missing(name):
    model = fitted(name)
    told = [text for text in model.warnings_ if "missing or cannot be read" in text]
    assert len(told) == 1
    assert "'salt' (about 7" in told[0] or "'salt' (about 6" in told[0]
    assert "mostly-missing" in model.release().parameters["notes"]


def test_a_column_of_another_format_is_noticed_by_the_fit_itself():
    german = FRAME.assign(seen="01.05.2024", salt=1.0)
    told = fitted("k-means", german).warnings_
    assert any("'seen'" in text and "privclust check" in text for text in told)


def is_noticed(model):
    return any("'town'" in text and "missing" in text for text in model.warnings_)


def test_values_that_have_a_category_are_noticed_without_a_question():
    facts = {"town": Categories(["north", "south"], missing="category", unknown="other")}
    schema = SCHEMA.only(["age", "town"]).with_columns(facts)
    for town, noticed in (("elsewhere", True), (None, True), ("north", False)):
        frame = FRAME.assign(town=np.where(RNG.random(N) < 0.7, town, FRAME["town"]))
        for name in ("k-means", "learned metric", "summary"):
            model = fitted(name, frame, schema)
            assert (
                any("'town'" in text and "missing" in text for text in model.warnings_) == noticed
            )
            assert not hasattr(model, "missing_counts_")
        binned = Schema({"age": Bins([0, 40, 60, 110]), "town": facts["town"]})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            metric = PrivateDilca(schema=binned, random_state=0).fit(frame[["age", "town"]])
        assert is_noticed(metric) == noticed


@every_family
def test_nothing_is_asked_if_no_rule_hides_anything_or_no_budget_is_given(name):
    without = NUMBERS.only(["age"]) if name in ONLY_NUMBERS else SCHEMA.only(["age", "town"])
    facts = {"town": Categories(["north", "south"], missing="category")}
    without = without.with_columns({} if name in ONLY_NUMBERS else facts)
    for model in (fitted(name, schema=without), fitted(name, missing_share=0)):
        assert not hasattr(model, "missing_counts_")
        assert all(query.query != "missing values" for query in model.privacy_.queries)
    unasked = model.release()
    assert "number not asked" in str(unasked.facts().listings)
    assert "has not been asked" in unasked.to_html() or "Nothing can be" in unasked.to_html()


@pytest.mark.usefixtures("blank_pictures")
@every_family
def test_report_terminal_and_card_say_for_how_many_values_a_rule_stood(name, tmp_path):
    release = fitted(name).release()
    number = r"[\d,]+ ± \d+"
    listed = [str(line) for table in release.facts().listings for line in table.lines]
    pattern = rf"counted as 1 g \({number}\)"
    assert any(pd.Series([line]).str.contains(pattern)[0] for line in listed)
    assert pd.Series([release.to_html()]).str.contains(rf"counted as 1 g \({number}\)")[0]
    release.save(tmp_path / "release")
    card = (tmp_path / "release" / "README.md").read_text("utf-8")
    assert pd.Series([card]).str.contains(pattern)[0]
    values = Release.load(tmp_path / "release").facts().values
    assert set(values["missing"]) == set(release.schema.uncounted)


def test_clusters_of_a_summary_keep_the_numbers():
    summary = fitted("summary")
    release = summary.kmeans(2)
    np.testing.assert_array_equal(
        release.arrays["missing_counts"], [*summary.missing_counts_.values()]
    )
    assert "counted as 1 g (" in str(release.facts().listings)


def test_a_number_that_may_be_any_is_not_told():
    few = fitted("k-means", FRAME[:150]).release()
    assert "counted as 1 g (number hidden by noise)" in str(few.facts().listings)


def test_a_second_fit_forgets_the_numbers_of_the_first():
    model = fitted("k-means")
    model.set_params(schema=NUMBERS.only(["age"])).fit(FRAME[["age"]])
    assert not hasattr(model, "missing_counts_")


def test_numbers_that_do_not_fit_the_columns_are_refused():
    release = fitted("k-means").release()
    for wrong in (
        {"missing_counts": np.zeros(2)},
        {"missing_counts_error": np.array([-1.0, 1.0, 1.0])},
    ):
        with pytest.raises(ReleaseError, match="missing values"):
            replace(release, arrays={**release.arrays, **wrong})


def test_people_are_counted_with_their_rows_bounded():
    frame = FRAME.assign(who=np.arange(N) // 8)
    unit = Person("who", max_rows=2)
    model = fitted("k-means", frame, epsilon=5.0, unit=unit)
    assert model.missing_counts_["salt"] == pytest.approx(0.7 * N / 4, rel=0.2)


@pytest.mark.parametrize("name", ["k-means", "summary", "density"])
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_plan_tells_the_error_that_the_fit_has(name, delta):
    model = fitted(name, delta=delta)
    plan = MAKES[name](schema=model.schema, delta=delta).plan(2000)
    (told,) = [note for note in plan.notes if note.startswith("Missing values")]
    assert f"± {float(f'{2 * model.missing_counts_error_:.2g}'):.0f} rows" in told
    unasked = MAKES[name](schema=model.schema, missing_share=0).plan(2000)
    assert not any(note.startswith("Missing values") for note in unasked.notes)


def test_a_warning_is_seen_as_one():
    with pytest.warns(LowSignalWarning, match="'salt'"):
        PrivateKMeans(2, schema=SCHEMA).fit(FRAME)


# What the question can reveal, exactly.

BUDGETS = {"pure": Budget(1), "zcdp": Budget(1, 1e-6)}
ROWS = FRAME[["age", "salt", "seen", "town"]][:40]
THERE = pd.DataFrame({"age": [1.0], "salt": [1.0], "seen": ["2024-05-01"], "town": ["north"]})
GONE = pd.DataFrame({"age": [1.0], "salt": [np.inf], "seen": ["?"], "town": [None]})
GONE_TOO = GONE.assign(salt=np.nan)


@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("unit", [AddRemoveRow(), ReplaceRow()], ids=str)
@pytest.mark.parametrize("currency", BUDGETS)
def test_counts_cost_their_share_and_more_if_noise_is_halved(currency, unit, halved):
    budget, noise = BUDGETS[currency], seeded_noise(0, halved=halved)
    left = [ROWS, THERE] if isinstance(unit, ReplaceRow) else [ROWS]

    def door_of(parts):
        opened = open_points(pd.concat(parts), schema=SCHEMA, unit=unit)
        return PointRows(opened, rescale=True, noise=noise)

    pair = PairOfDoors([door_of(left), door_of([ROWS, GONE_TOO])], budget)
    run = SimpleNamespace(meter=None, another_seed=lambda: None)
    ask_missing(pair, run, budget.whole)
    cost, lost = (
        amount_lost(Loss.total(getattr(t, part) for t in pair.transcripts), currency)
        for part in ("cost", "loss")
    )
    assert lost <= cost
    assert (cost > budget.amount) == halved
    assert lost >= 0.999 * cost / (2 if (currency, unit) == ("zcdp", ReplaceRow()) else 1)
    assert (lost > budget.amount) == halved
