"""Sentences about clusters: plain words for what is there, and none for what noise could make."""

import numpy as np
import pytest

from privclust import Bins, Box, Categories, PrivateSummary, Schema
from privclust.reports.findings import RowGroups, sentence_of

COLUMNS = Schema(
    {
        "age": Box(0, 100),
        "length_of_stay": Box(0, 30),
        "visits": Box(0, 50),
        "blood pressure": Box(50, 250),
        "admitted": Box("2020-01-01", "2024-12-31"),
        "walk": Box(0, 24, form="hours"),
        "status": Categories(["single", "married", "widowed"]),
        "smoker": Categories(["yes", "no"]),
        "weight": Bins([0, 60, 90, 200], unit="kg", label="body weight"),
    }
)
NUMBERS = np.array([50.0, 15, 25, 150, 19000, 12])
SHARES = np.array([0.3, 0.5, 0.2, 0.3, 0.7, 0.3, 0.4, 0.3])
MIDDLE = np.concatenate([NUMBERS, SHARES])
WIDTHS = np.array([100, 30, 50, 200, 1826, 24])


def traits_of(*parts):
    return RowGroups(*parts).traits


def said_of(place, gap, error=0.001):
    """Return what is said of a cluster that differs in one coordinate, beside a larger one."""
    centers = np.array([MIDDLE, MIDDLE])
    centers[0, place] += gap * (WIDTHS[place] if place < 6 else 1)
    errors = np.full(centers.shape, error)
    sizes, noise = np.array([1000.0, 50_000.0]), np.array([10.0, 10.0])
    own, other = traits_of(COLUMNS, centers, errors, sizes, noise)
    assert not other  # nearly all rows are their own average
    return ", ".join(trait.words for trait in own)


@pytest.mark.parametrize(
    ("place", "more", "less"),
    [
        (0, "age higher", "age lower"),
        (1, "length of stay higher", "length of stay lower"),
        (2, "visits higher", "visits lower"),
        (3, "blood pressure higher", "blood pressure lower"),
        (4, "admitted later", "admitted earlier"),
        (5, "walk longer", "walk shorter"),
        (8, "status mostly widowed", ""),
        (9, "smoker mostly yes", "smoker less often yes"),
        (11, "body weight mostly 0 to 60 kg", "body weight less often 0 to 60 kg"),
    ],
)
def test_words_come_from_labels_and_forms(place, more, less):
    up = said_of(place, 0.4)
    assert up.split(", ")[0] == more
    if less:
        assert said_of(place, -0.2).split(", ")[0] == less


@pytest.mark.parametrize("name", ["sched_dep_time", "time_hour", "death", "born", "year_of_study"])
def test_words_never_follow_the_name_of_a_column(name):
    """A column called time may be a clock, and one called death a share."""
    schema = Schema({name: Box(0, 10), "other": Box(0, 10)})
    centers = np.array([[8.0, 5.0], [2.0, 5.0]])
    parts = centers, centers * 0 + 1e-6, np.array([100.0, 900.0]), np.ones(2)
    (trait,), _ = traits_of(schema, *parts)
    assert trait.words == f"{name.replace('_', ' ')} higher"
    assert trait.values == "8.0, on average 2.6"


def test_a_mean_of_zeros_and_ones_is_a_share():
    schema = Schema({"death": Box(0, 1, form="integer", label="died")})
    parts = np.array([[0.9], [0.1]]), np.full((2, 1), 1e-3), np.array([100.0, 900.0]), np.ones(2)
    traits = traits_of(schema, *parts)[0][0]
    assert (traits.words, traits.values) == ("died more often", "90 %, on average 18 %")


def test_a_share_that_is_larger_but_no_majority_is_often():
    assert said_of(8, 0.2).split(", ")[0] == "status more often widowed"


def test_small_differences_are_not_worth_a_word():
    assert said_of(0, 0.04) == ""
    assert said_of(8, 0.09) == ""


def test_differences_that_noise_could_make_are_not_told():
    assert said_of(0, 0.2, error=1.0) == "age higher"
    assert said_of(0, 0.2, error=10.0) == ""


def test_nothing_is_said_of_a_cluster_whose_rows_noise_hides():
    centers = np.array([MIDDLE * 1.5, MIDDLE])
    errors = np.full(centers.shape, 1e-9)
    sizes = np.array([15.0, 1000.0])
    assert traits_of(COLUMNS, centers, errors, sizes, np.array([1.0, 1.0]))[0]
    assert not traits_of(COLUMNS, centers, errors, sizes, np.array([10.0, 10.0]))[0]


def test_the_strongest_three_differences_make_the_sentence():
    centers = np.array([MIDDLE, MIDDLE])
    centers[0, [0, 1, 2, 3]] += np.array([0.4, -0.3, 0.2, 0.1]) * WIDTHS[:4]
    sizes = np.array([2584.0, 1e6])
    traits = traits_of(COLUMNS, centers, centers * 0 + 1e-6, sizes, np.array([23.5, 23.5]))[0]
    assert sentence_of(traits, 2584.0, 23.5) == (
        "age higher, length of stay lower, visits higher; 2,584 ± 47 rows"
    )
    assert sentence_of([], -3.0, 5.0) == "nothing stands out from the noise; at most 10 rows"


def test_centres_that_differ_by_noise_alone_have_no_words():
    """However many clusters and columns there are: in one run of twenty at most."""
    rng, said = np.random.default_rng(0), 0
    schema = Schema({f"c{j}": Box(0, 1) for j in range(20)})
    for _ in range(200):
        errors = rng.uniform(0.01, 0.2, (8, 20))
        centers = 0.5 + rng.standard_normal((8, 20)) * errors
        sizes = rng.uniform(100, 1000, 8)
        said += any(traits_of(schema, centers, errors, sizes, np.ones(8)))
    assert said <= 10


@pytest.mark.parametrize("epsilon", [0.5, 5.0])
def test_nothing_is_said_about_rows_without_structure(epsilon):
    """All rows are one: whatever differs between clusters was made by noise."""
    rows, schema = np.full((3000, 3), 4.0), Schema({name: Box(0, 10) for name in "abc"})
    for seed in range(5):
        model = PrivateSummary(epsilon=epsilon, schema=schema, random_state=seed).fit(rows)
        most = min(4, int((model.counts_ > 0).sum()))
        for profile in model.profiles(most):
            assert profile.sentence.startswith("nothing stands out"), (seed, profile.sentence)


def test_nothing_is_said_about_a_column_that_has_no_part_in_the_clusters():
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.repeat([2.0, 8.0], 3000), rng.uniform(0, 10, (6000, 2))])
    rows[:, 1:] = 5 + (rows[:, 1:] - 5) / 10
    schema = Schema({"clear": Box(0, 10), "vague": Box(0, 10), "dull": Box(0, 10)})
    model = PrivateSummary(epsilon=2.0, schema=schema, random_state=0).fit(rows)
    words = [profile.sentence.split(";")[0] for profile in model.profiles(2)]
    assert sorted(words) == ["clear higher", "clear lower"]


def test_one_round_cloud_is_one_cluster_of_which_nothing_is_said():
    rows = np.random.default_rng(0).normal(5, 1, (8000, 2))
    schema = Schema({"x": Box(0, 10), "y": Box(0, 10)})
    model = PrivateSummary(epsilon=1.0, schema=schema, random_state=0).fit(rows)
    (profile,) = model.profiles(model.choose_k().suggestion)
    assert profile.sentence.startswith("nothing stands out from the noise; ")


def test_groups_are_shown_with_their_share_of_all_rows_and_the_largest_first():
    sizes, noise = np.array([100.0, 400, -30, 300, 200]), np.full(5, 10.0)
    groups = RowGroups(Schema({"age": Box(0, 100)}), np.full((5, 1), 50.0), None, sizes, noise)
    cards = groups.context()["cards"]
    shown = [(card["number"], card["share"], card["size"]) for card in cards]
    assert shown == [
        (1, "40 %", "about 400"),
        (3, "30 %", "about 300"),
        (4, "20 %", "about 200"),
        (0, "10 %", "about 100"),
    ]
