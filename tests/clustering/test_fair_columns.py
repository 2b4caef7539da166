"""How much a category counts beside a number: by public facts, and by what is released."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest

from privclust import Ball, Bins, Box, Categories, PrivateKMeans, PrivateSummary, Release, Schema
from privclust.clustering.agreement import agreement_weights, predictability
from privclust.clustering.answers import Summary
from privclust.clustering.columns import (
    column_notes,
    loose_notes,
    separation_shares,
    share_sentences,
)
from privclust.clustering.release import cells_from_release, column_scales, scaling_of
from privclust.data.encode import GRID_RADIUS
from privclust.data.points.mixed import region_of
from privclust.exceptions import LowSignalWarning, ParameterError, ReleaseError, SchemaError
from privclust.papers.metrics import inertia
from privclust.reading.opening import open_rows
from privclust.schema.coordinates import (
    CATEGORY_GAP,
    NUMBER_GAP,
    Coordinates,
    assumed_shares,
    category_gap,
)

SCHEMA = Schema(
    {
        "x": Box(0, 10, weight=2),
        "two": Categories(["p", "q"]),
        "five": Categories(list("abcde"), weight=0.5),
        "bins": Bins([0, 1, 2, 3], missing="category"),
        "left": Categories(["u", "v"], missing="omit"),
    }
)


def test_the_distance_of_categories_is_that_of_the_rule():
    two, five, bins, left = Coordinates(SCHEMA).categorical
    assert two.apart(CATEGORY_GAP) == pytest.approx(0.3578, abs=1e-4)
    assert five.apart(CATEGORY_GAP) == pytest.approx(0.2828 / 2, abs=1e-4)  # half, by its weight
    assert bins.apart(CATEGORY_GAP) == pytest.approx(np.sqrt(0.064 / 0.75))  # missing is the fourth
    assert left.apart(CATEGORY_GAP) == two.apart(CATEGORY_GAP)  # what is left out is none
    assert two.apart(None) == 1
    assert five.apart(None) == 0.5


def test_two_equally_frequent_categories_have_the_gap_that_is_taken():
    rng = np.random.default_rng(0)
    for column in Coordinates(SCHEMA).categorical[:1]:
        codes = rng.integers(column.size, size=(2, 100_000))
        gap = (codes[0] != codes[1]).mean() * column.apart(CATEGORY_GAP) ** 2
        assert gap == pytest.approx(CATEGORY_GAP, rel=0.02)
    numbers = np.clip(rng.normal(0.5, 0.2, (2, 100_000)), 0, 1)
    assert np.mean((numbers[0] - numbers[1]) ** 2) == pytest.approx(NUMBER_GAP, rel=0.05)


def test_numbers_alone_categories_alone_and_numbers_as_they_are_have_no_gap():
    numbers, words = SCHEMA.only(["x"]), SCHEMA.only(["two", "five"])
    assert category_gap(SCHEMA, rescale=True) == CATEGORY_GAP
    for schema, rescale in ((numbers, True), (words, True), (SCHEMA, False)):
        assert category_gap(schema, rescale) is None
        np.testing.assert_array_equal(
            Coordinates(schema).scales(rescale, category_gap(schema, rescale)),
            Coordinates(schema).scales(rescale),
        )


@pytest.mark.parametrize("dependent", [True, False])
def test_a_learned_metric_counts_categories_beside_numbers_as_mismatches_do(dependent):
    rng = np.random.default_rng(0)
    schema = Schema({"x": Box(0, 10), "word": Categories(list("abc"), weight=2)})
    codes = rng.choice(3, 4000, p=[0.6, 0.3, 0.1])
    x = rng.normal(2 + 3 * codes, 1) if dependent else rng.uniform(0, 10, 4000)
    frame = pd.DataFrame({"x": x.clip(0, 10), "word": np.array(list("abc"))[codes]})
    model = fitted(partial(PrivateKMeans, 3), schema, frame, epsilon=1000, metric="dilca")
    points = model.release().arrays["value_points"]
    numbers, words = points[:-3], points[-3:]
    ends = np.linalg.norm(numbers[-1] - numbers[0])
    assert ends == pytest.approx(7 / 8, rel=1e-3)  # from middle to middle, in declared widths
    apart, shares = squared_distances(words), np.bincount(codes) / len(codes)
    gap = Coordinates(schema).columns[1].apart(CATEGORY_GAP) ** 2 * (1 - shares @ shares)
    assert shares @ apart @ shares == pytest.approx(gap, rel=0.01)


def squared_distances(points):
    return ((points[:, None] - points) ** 2).sum(axis=2)


def test_rows_on_the_grid_are_as_far_apart_as_the_rule_says_and_lie_in_the_ball():
    values = {"x": [0, 10], "two": ["p", "q"], "five": ["a", "e"], "bins": [0.5, None]}
    rows = pd.DataFrame([*product(*values.values(), ["u", None])], columns=[*values, "left"])
    region = region_of(SCHEMA, rescale=True, gap=CATEGORY_GAP)
    with open_rows(rows, SCHEMA.names) as source:
        (piece,) = [part for block in source.blocks() for part in region.pieces(block, 2**18)]
    grid = piece.dense() * region.radius / GRID_RADIUS
    two, five, bins, _ = (c.apart(CATEGORY_GAP) for c in Coordinates(SCHEMA).categorical)
    for i, j in product(range(0, len(rows), 2), repeat=2):  # every second has nothing left out
        one, other = rows.loc[i], rows.loc[j]
        expected = 4 * ((one.x - other.x) / 10) ** 2 + two**2 * (one.two != other.two)
        expected += five**2 * (one.five != other.five)
        expected += bins**2 * (pd.isna(one.bins) != pd.isna(other.bins))
        assert ((grid[i] - grid[j]) ** 2).sum() == pytest.approx(expected, abs=1e-5)
    lengths = np.linalg.norm(grid, axis=1) / region.radius
    assert lengths.max() <= 1 + 1e-5
    assert lengths.max() >= 0.999


def coins(n_rows=2000, coin=2):
    """Return three clear groups of numbers, and a column that has nothing to do with them."""
    rng = np.random.default_rng(0)
    own = rng.integers(3, size=n_rows)
    middles = np.array([[0.2, 0.3], [0.5, 0.8], [0.8, 0.3]])[own]
    frame = pd.DataFrame(
        np.clip(middles + rng.normal(0, 0.06, (n_rows, 2)), 0, 1), columns=["x", "y"]
    )
    frame["coin"] = rng.integers(coin, size=n_rows).astype(str)
    return frame, own


def schema_with(weight=1.0, width=1.0, coin=2):
    boxes = {name: Box(0.5 - width / 2, 0.5 + width / 2) for name in ("x", "y")}
    return Schema({**boxes, "coin": Categories([str(i) for i in range(coin)], weight=weight)})


def agreement(one, other):
    table = pd.crosstab(one, other).to_numpy()
    return table.max(axis=1).sum() / table.sum()


def fitted(make, schema, frame, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(schema=schema, **{"random_state": 0} | given).fit(frame)


def test_a_coin_does_not_decide_the_clusters_and_once_did():
    frame, own = coins()
    now = fitted(PrivateKMeans, schema_with(), frame, n_clusters=3, epsilon=3)
    assert agreement(own, now.predict(frame)) > 0.95
    (column,) = Coordinates(schema_with()).categorical
    one_apart = schema_with(weight=1 / column.apart(CATEGORY_GAP))
    before = fitted(PrivateKMeans, one_apart, frame, n_clusters=3, epsilon=3)
    assert agreement(own, before.predict(frame)) < 0.9


def test_the_constant_stands_in_the_release_and_a_release_without_it_means_one(tmp_path):
    frame, _ = coins()
    release = fitted(PrivateKMeans, schema_with(), frame, n_clusters=3).release()
    assert release.parameters["category_gap"] == CATEGORY_GAP
    older = dict(release.parameters)
    del older["category_gap"]
    old = replace(release, parameters=older)
    assert scaling_of(old) == {"rescale": True, "gap": None}
    np.testing.assert_allclose(column_scales(old), [1, 1, np.sqrt(2), np.sqrt(2)])
    points = np.column_stack([frame[["x", "y"]], frame["coin"] == "0", frame["coin"] == "1"])
    for told in (old, release):
        told.save(tmp_path / str(told is old))
        scales, centers = column_scales(told), told.arrays["cluster_centers"]
        gaps = ((points[:, None] - centers) / scales) ** 2
        labels = Release.load(tmp_path / str(told is old)).predict(frame)
        assert (labels == gaps.sum(axis=2).argmin(axis=1)).mean() > 0.999


@pytest.mark.parametrize("gap", [0, -1.0, "much", True])
def test_a_gap_that_is_no_number_above_zero_is_refused(gap):
    frame, _ = coins(200)
    release = fitted(PrivateKMeans, schema_with(), frame, n_clusters=2).release()
    with pytest.raises(ReleaseError, match="'category_gap' must be a number above zero"):
        replace(release, parameters={**release.parameters, "category_gap": gap})


# Shares


def test_taken_shares_are_those_of_the_gaps():
    penguins = Schema({**{f"x{i}": Box(0, 1) for i in range(4)}, "sex": Categories(list("fm?"))})
    before, now = (assumed_shares(penguins, True, gap) for gap in (None, CATEGORY_GAP))
    assert before["sex"] == pytest.approx(0.68, abs=0.01)
    assert now["sex"] == pytest.approx(1 / 6)
    assert sum(now.values()) == pytest.approx(1)
    shares, loose = share_sentences(penguins, True, CATEGORY_GAP)
    assert "x0 21 %" in shares
    assert "sex 17 %" in shares
    assert "PrivateBounds" in loose


def test_a_plan_says_what_columns_count_and_numbers_alike_are_not_listed():
    told = str(PrivateKMeans(2, schema=schema_with(weight=3)).plan(500))
    assert "Assumed shares of the distance between two rows: coin 78 %, x 11 %, y 11 %." in told
    assert "PrivateBounds finds closer bounds" in told
    alike = share_sentences(Schema({"x": Box(0, 1), "y": Box(0, 9)}), True, None)
    assert len(alike) == 1
    assert share_sentences(Schema({"x": Box(0, 1), "y": Box(0, 9)}), False, None)[0].endswith(
        "y 99 %, x 1 %."
    )
    ball = Schema({"x": Box(-1, 1), "y": Box(-1, 1)}, ball=Ball(1, [0, 0]))
    assert share_sentences(ball, False, None) == ()


def test_shares_of_what_separates_are_those_of_the_centres():
    schema = Schema({"x": Box(0, 1), "c": Categories(["p", "q"])})
    coordinates, sizes = Coordinates(schema), np.array([100.0, 300.0, -5.0])
    centers = np.array([[0.2, 1, 0], [0.6, 0, 1], [0.9, 0.5, 0.5]])
    first, second = separation_shares(coordinates, coordinates.scales(True), centers, sizes)
    between = np.array([0.25 * 0.75 * 0.4**2, 0.25 * 0.75])
    assert (first.name, second.name) == ("c", "x")
    assert first.share == pytest.approx(between[1] / between.sum())
    assert first.tau == pytest.approx(1)
    assert second.tau is None


@pytest.mark.parametrize(
    ("share", "told", "noted"), [(0.6, 1.0, True), (0.4, 1.0, False), (0.6, 0.85, False)]
)
def test_a_note_is_given_only_if_one_column_is_nearly_all(share, told, noted):
    schema = Schema({"x": Box(0, 1), "c": Categories(["p", "q"])})
    high = (1 + np.sqrt(told)) / 2
    gap = np.sqrt(told * (1 - share) / share)
    centers = np.array([[0.5 - gap / 2, high, 1 - high], [0.5 + gap / 2, 1 - high, high]])
    coordinates = Coordinates(schema)
    parts = separation_shares(coordinates, coordinates.scales(True), centers, np.ones(2))
    by_name = {part.name: part for part in parts}
    assert by_name["c"].share == pytest.approx(share)
    assert by_name["c"].tau == pytest.approx(told)
    notes = [note for note in column_notes(parts) if "'c'" in note.text]
    assert bool(notes) == noted
    if noted:
        assert notes[0].code == "column-decides"
        assert notes[0].text.startswith("The clusters are nearly the values of 'c' (60 % of what")


@pytest.mark.parametrize(("ends", "noted"), [((20.0, 30.0), True), ((21.0, 29.0), False)])
def test_a_number_decides_alone_only_if_the_centres_lie_at_both_of_its_bounds(ends, noted):
    schema = Schema({"x": Box(0, 1), "yes": Box(20, 30)})
    coordinates = Coordinates(schema)
    centers = np.array([[0.4, ends[0]], [0.6, ends[1]], [0.5, ends[0]]])
    parts = separation_shares(coordinates, coordinates.scales(True), centers, np.ones(3))
    assert parts[0].share > 0.9
    notes = [*column_notes(parts)]
    assert bool(notes) == noted
    if noted:
        assert notes[0].code == "column-decides"
        assert "two bounds of 'yes'" in notes[0].text


def test_a_fit_warns_that_its_clusters_are_the_values_of_a_column_and_shows_the_shares():
    frame, _ = coins()
    heavy = PrivateKMeans(2, epsilon=3, schema=schema_with(weight=5), random_state=0)
    with pytest.warns(LowSignalWarning, match="nearly the values of 'coin'"):
        heavy.fit(frame)
    release = heavy.release()
    assert "column-decides" in release.parameters["notes"]
    assert release.signal == "seen"
    first, *_ = release.facts().values["columns"]
    assert first["name"] == "coin"
    assert "Which columns separate the clusters" in release.to_html()
    light = fitted(PrivateKMeans, schema_with(), frame, n_clusters=3, epsilon=3).release()
    assert "column-decides" not in light.parameters.get("notes", [])


def test_bounds_are_called_loose_only_if_every_number_fills_a_small_part_of_them():
    schema = Schema({"x": Box(0, 100), "y": Box(0, 100)})
    centres, rows = np.array([[50.0, 49], [53, 51], [99, 1]]), np.array([10.0, 10, 0])
    (note,) = loose_notes(schema, centres, rows)
    assert note.code == "bounds-loose"
    assert "PrivateBounds" in note.text
    assert not [*loose_notes(schema, centres, np.array([10.0, 10, 5]))]
    assert not [*loose_notes(Schema({"x": Box(45, 55), "y": Box(0, 100)}), centres, rows)]
    assert not [*loose_notes(schema, centres, np.array([10.0, 0, 0]))]


@pytest.mark.parametrize(("width", "told"), [(1.0, False), (12.0, True)])
def test_a_fit_to_loose_bounds_offers_private_bounds(width, told):
    frame, _ = coins()
    schema = schema_with(width=width).only(["x", "y"])
    model = fitted(PrivateKMeans, schema, frame[["x", "y"]], n_clusters=3, epsilon=5)
    assert ("bounds-loose" in model.release().parameters.get("notes", [])) == told


# Bad input


@pytest.mark.parametrize("weight", [0, -1, 1e-9, float("nan"), "2", True])
@pytest.mark.parametrize("fact", [partial(Categories, ["p", "q"]), partial(Box, 0, 1)])
def test_a_weight_of_zero_or_below_or_no_number_is_refused_in_a_sentence(fact, weight):
    with pytest.raises(SchemaError, match="weight") as caught:
        fact(weight=weight)
    assert ". " not in str(caught.value)


@pytest.mark.parametrize("make", [partial(PrivateKMeans, 2), PrivateSummary])
@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame[:1],
        lambda frame: frame.assign(x=0.3, y=0.3),
        lambda frame: frame.assign(coin="0"),  # the other never occurs
        lambda frame: frame.assign(coin="none that is listed"),
    ],
    ids=["one row", "constant numbers", "a category that never occurs", "none that is listed"],
)
def test_odd_tables_are_taken_and_what_is_released_is_finite(make, change):
    frame, _ = coins()
    columns = {**schema_with().columns, "coin": Categories(["0", "1"], unknown="other")}
    release = fitted(make, Schema(columns), change(frame)).release()
    assert all(np.isfinite(array).all() for array in release.arrays.values())
    assert release.to_html()


def test_more_clusters_than_cells_are_refused_in_a_sentence():
    summary, _, _ = summary_with_coin()
    for ask in (summary.kmeans, summary.centers, summary.inertia, summary.profiles):
        with pytest.raises(ParameterError, match="must be at most") as caught:
            ask(10_000)
        assert ". " not in str(caught.value)


# Agreement


def summary_with_coin(seed=0, **given):
    frame, own = coins(6000)
    budget = {"epsilon": 3, "delta": 1e-6, "random_state": seed}
    return fitted(PrivateSummary, schema_with(**given), frame, **budget), frame, own


def test_a_column_that_the_others_do_not_tell_counts_less_and_one_that_they_tell_in_full():
    frame, own = coins(6000)
    frame["group"] = np.array(["a", "b", "c"])[own]
    schema = Schema({**schema_with().columns, "group": Categories(["a", "b", "c"])})
    summary = fitted(PrivateSummary, schema, frame, epsilon=3, delta=1e-6)
    cells = cells_from_release(summary.release())
    told = predictability(cells, 3, schema, CATEGORY_GAP)
    assert told["coin"] < 0.05
    assert told["group"] > 0.9
    weighed = agreement_weights(cells, 3, schema, CATEGORY_GAP)
    assert weighed["coin"].weight == pytest.approx(np.sqrt(0.2), abs=0.05)
    assert weighed["group"].weight == pytest.approx(1, abs=1e-9)
    assert weighed["x"] == schema["x"]


def test_clusters_of_a_summary_are_labelled_by_the_weights_that_found_them():
    weights = []
    for seed in range(5):
        summary, frame, own = summary_with_coin(weight=2.5, seed=seed)
        release = summary.kmeans(3)
        weights.append(release.schema["coin"].weight)
    assert np.median(weights) < 2.5 * 0.6
    labels = release.predict(frame)
    assert agreement(own, labels) > 0.95
    sizes = np.bincount(labels, minlength=3)
    assert (np.abs(summary.sizes(3) - sizes) < 4 * summary.sizes_error(3) + 50).all()


def test_the_inertia_of_a_summary_stays_in_its_own_metric():
    summary, frame, _ = summary_with_coin()
    scales = column_scales(summary.release())
    points = np.column_stack([frame[["x", "y"]], frame["coin"] == "0", frame["coin"] == "1"])
    exact = inertia(points / scales, summary.centers(3) / scales)
    assert summary.inertia(3) == pytest.approx(exact, rel=0.1)


def test_clusters_of_a_summary_say_that_they_are_the_values_of_a_column():
    frame, _ = coins()
    given = {"epsilon": 3, "delta": 1e-6}
    heavy = fitted(PrivateSummary, schema_with(weight=12), frame, **given).kmeans(2)
    assert heavy.parameters["notes"] == ["column-decides"]
    assert len(heavy.parameters["warnings"]) == 1
    light = fitted(PrivateSummary, schema_with(), frame, **given).kmeans(3)
    assert "notes" not in light.parameters


def test_a_summary_within_loose_bounds_offers_private_bounds():
    frame, _ = coins()
    for width, told in ((1.0, False), (12.0, True)):
        summary = fitted(PrivateSummary, schema_with(width=width), frame, epsilon=5, delta=1e-6)
        assert ("bounds-loose" in summary.release().parameters.get("notes", [])) == told


def test_an_older_summary_and_one_that_noise_hides_are_not_weighed_anew():
    summary, frame, _ = summary_with_coin()
    release = summary.release()
    older = {name: told for name, told in release.parameters.items() if name != "category_gap"}
    old = Summary(replace(release, parameters=older))
    assert old.kmeans(3).schema == release.schema
    hidden = fitted(PrivateSummary, schema_with(), frame[:60], epsilon=0.1).release()
    assert hidden.signal != "seen"
    assert Summary(hidden).kmeans(2).schema == hidden.schema


def test_paid_histograms_are_those_of_the_clusters_by_agreement():
    frame, _ = coins(6000)
    given = {"epsilon": 3, "delta": 1e-6, "profile_share": 0.2}
    summary = fitted(PrivateSummary, schema_with(weight=2.5), frame, **given)
    k = len(summary.profile_counts_)
    release = summary.kmeans(k)
    assert release.schema != summary.schema_
    labels = release.predict(frame)
    exact = np.array([np.histogram(frame["x"][labels == i], 10, (0, 1))[0] for i in range(k)])
    error = release.arrays["profile_counts_error"][:, 0]
    assert (np.abs(release.arrays["profile_counts"][:, 0] - exact) < 5 * error + 3).all()
