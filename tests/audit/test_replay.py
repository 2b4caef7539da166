"""Replay finds a planted fault in toy mechanisms of every kind, and none in sound ones or ours."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import check_random_state

from privclust import (
    AddRemoveRow,
    Box,
    Budget,
    Ledger,
    MatrixCount,
    MatrixEntry,
    MatrixRow,
    Person,
    PrivateKMeans,
    ReplaceRow,
    Schema,
)
from privclust.audit import MethodNoise, replay
from privclust.budget import Loss, exact
from privclust.cli.audit import audit_subject
from privclust.families import FAMILIES
from support.estimators import ESTIMATORS
from support.noise import HalvedNoise, halved_sensitivities
from support.scripts import scripts

(planted_faults,) = scripts("planted_faults")
ROWS, MORE, FAR = planted_faults.ROWS, planted_faults.MORE, planted_faults.FAR
FAULTY = planted_faults.FAULTY


def sums(rows, rng):
    return np.clip(rows, 0, 1).sum(axis=0) + rng.laplace(scale=2, size=2)


def normal_sums(rows, rng):
    noisy = np.clip(rows, 0, 1).sum(axis=0)
    noisy += rng.normal(size=2) * math.sqrt(2) * 5
    return noisy


def noise_around_the_value(rows, rng):
    return rng.laplace(len(rows), 1), rng.laplace(loc=np.clip(rows, 0, 1).sum(axis=0), scale=4)


def old_generator(rows):
    return len(rows) - np.random.laplace(scale=1.0)


def own_generator(rows):
    return np.random.default_rng().laplace(0, 1, 3)[1] + len(rows)


def exponential_mechanism(rows, rng):
    scores = np.array([(rows[:, 0] > 0.5).sum(), (rows[:, 1] > 0.5).sum(), 2])
    chances = np.exp(scores / 2)
    return rng.choice(3, p=chances / chances.sum())


def noisy_max(rows, rng):
    counts = np.histogram(rows[:, 0], bins=4, range=(0, 1))[0]
    return int((counts + rng.gumbel(0, 1, 4)).argmax())


def lloyd(rows, rng, *, steps=2):
    """Return centres after noisy steps in which noise is a loop over rows of a table."""
    centres = np.array([[0.25, 0.25], [0.75, 0.75]])
    for _ in range(steps):
        clipped = np.clip(rows, 0, 1)
        labels = ((clipped[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        noise = rng.laplace(scale=2 * 2 * steps, size=(2, 2))
        sizes = np.bincount(labels, minlength=2) + rng.laplace(scale=2 * steps, size=2)
        for label, row in enumerate(noise):
            total = clipped[labels == label].sum(axis=0) + row
            centres[label] = np.clip(total / max(sizes[label], 1), 0, 1)
    return centres


def scaled_in_place(rows, rng):
    noise = np.random.RandomState(3).normal(size=(2, 2)).T.reshape(4)[:2]
    noise *= 10
    noise /= 0.5
    public = rng.laplace(size=2)
    public += noise  # public numbers may be added to each other in any way
    return public, check_random_state(np.random.RandomState(4)).laplace(len(rows), 1.0)


SOUND = [
    scaled_in_place, sums, noise_around_the_value, old_generator, own_generator,
    exponential_mechanism, noisy_max, lloyd,
]  # fmt: skip


@pytest.mark.parametrize("mechanism", SOUND)
def test_sound_mechanisms_keep_their_claim(mechanism):
    claimed = 1.5 if mechanism is noise_around_the_value else 1
    for neighbour in (MORE, ROWS[1:], FAR):
        report = replay(mechanism, ROWS, neighbour, claimed, noise="numpy")
        assert (report.verdict, report.faults) == ("kept", ())
        assert report.epsilon <= claimed * (1 + 1e-9)


def test_losses_are_added_up_exactly():
    assert replay(sums, ROWS, MORE, 1, noise="numpy").epsilon == 1
    assert replay(noise_around_the_value, ROWS, MORE, 2, noise="numpy").epsilon == 1.5
    assert replay(noisy_max, ROWS, MORE, 1, noise="numpy").epsilon == 1


def test_the_epsilon_of_normal_noise_is_that_of_its_profile():
    # One row moves the sums by a vector of length √2, against noise of deviation 5 √2.
    report = replay(normal_sums, ROWS, MORE, Budget(1, 1e-6), noise="numpy")
    shift, epsilon = 1 / 5, report.epsilon
    gaps = [side * shift / 2 - epsilon / shift for side in (1, -1)]
    tails = [math.erfc(-gap / math.sqrt(2)) / 2 for gap in gaps]
    assert tails[0] - math.exp(epsilon) * tails[1] == pytest.approx(1e-6)
    assert report.verdict == "kept"


def test_there_are_at_least_ten_toys():
    assert len(FAULTY) >= 10


@pytest.mark.parametrize("mechanism", FAULTY)
def test_a_planted_fault_is_found(mechanism):
    neighbour, words = FAULTY[mechanism]
    report = replay(mechanism, ROWS, neighbour, 1, noise="numpy")
    assert report.verdict == "violated"
    assert any(words in fault for fault in report.faults), report.faults
    assert report.epsilon > 1
    assert words in str(report)


def test_one_number_for_all_is_told_with_certainty():
    report = replay(planted_faults.one_number_for_all, ROWS, MORE, 1, noise="numpy")
    assert report.epsilon == math.inf
    assert report.answers[0].epsilon == math.inf


def test_normal_noise_keeps_no_pure_claim():
    report = replay(normal_sums, ROWS, MORE, 1, noise="numpy")
    assert (report.verdict, report.epsilon) == ("violated", math.inf)


def test_many_laplace_answers_with_a_delta_are_only_bounded():
    def many(rows, rng):
        return len(rows) + rng.laplace(scale=50, size=100)

    def each_its_own(rows, rng):
        return [len(rows) + rng.laplace(scale=50) for _ in range(100)]

    assert replay(each_its_own, ROWS, MORE, Budget(2, 1e-6), noise="numpy").verdict == "kept"
    report = replay(each_its_own, ROWS, MORE, Budget(0.5, 1e-6), noise="numpy")
    assert report.verdict == "undecided"
    assert replay(many, ROWS, MORE, 2, noise="numpy").epsilon == 2


def test_generators_are_put_back():
    before = np.random.default_rng, np.random.laplace, np.random.get_state()[1].copy()
    replay(old_generator, ROWS, MORE, 1, noise="numpy")
    after = np.random.default_rng, np.random.laplace, np.random.get_state()[1]
    assert before[:2] == after[:2]
    np.testing.assert_array_equal(before[2], after[2])


# OpenDP, and classes of others.


def test_opendp_measurements_are_followed():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    count = dp.m.make_laplace(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), 1.0)
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
    whole = space >> dp.t.then_count() >> dp.m.then_laplace(2.0)
    vector = dp.vector_domain(dp.atom_domain(T="f64", nan=False)), dp.l2_distance(T="f64")
    normal = dp.m.make_gaussian(*vector, 10.0)

    def sound(rows):
        return count(len(rows)), whole([1] * len(rows))

    def faulty(rows):
        return count(len(rows)) / len(rows)

    def gaussian(rows):
        return normal(np.clip(rows, 0, 1).sum(axis=0).tolist())

    assert replay(sound, ROWS, MORE, 1.5, noise="opendp").epsilon == 1.5
    assert replay(sound, ROWS, MORE, 1, noise="opendp").verdict == "violated"
    assert "output" in replay(faulty, ROWS, MORE, 1, noise="opendp").faults[0]
    assert replay(gaussian, ROWS, MORE, Budget(1, 1e-6), noise="opendp").verdict == "kept"


class Mechanism:
    def __init__(self, epsilon, sensitivity):
        self.epsilon, self.sensitivity = epsilon, sensitivity

    def randomise(self, value):
        return value + 17


def test_a_class_with_a_method_that_adds_noise_is_followed():
    def loss(mechanism, one, two):
        share = exact(mechanism.epsilon) * exact(abs(one - two)) / exact(mechanism.sensitivity)
        return Loss.of_pure(share)

    watched = MethodNoise(
        Mechanism, "randomise", loss, lambda made: (made.epsilon, made.sensitivity)
    )
    count = replay(lambda rows: Mechanism(1, 1).randomise(len(rows)), ROWS, MORE, 1, noise=watched)
    assert (count.verdict, count.epsilon) == ("kept", 1)
    faulty = replay(
        lambda rows: Mechanism(1, len(rows)).randomise(len(rows)), ROWS, MORE, 1, noise=watched
    )
    assert "depends on the rows" in faulty.faults[0]
    assert Mechanism.randomise(Mechanism(1, 1), 0) == 17


# Our own fits.


@pytest.mark.parametrize("record", ESTIMATORS, ids=lambda record: record.name)
def test_no_fault_is_found_in_any_estimator(record):
    def fit(data):
        return record.fit(record.make(random_state=7), data).release().to_json()

    pair = record.neighbours(record.data())
    model = record.make()
    report = replay(fit, pair.left, pair.right, Budget(model.epsilon, model.delta))
    assert (report.verdict, report.faults) == ("kept", ())
    assert 0 < report.epsilon <= model.epsilon
    assert all(answer.change <= answer.allowed for answer in report.answers)


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("family", [family.command for family in FAMILIES])
def test_no_fault_is_found_on_any_pair_of_the_command(family, delta):
    fit, pairs = audit_subject(family, epsilon=1.0, delta=delta)
    for pair in pairs:
        report = replay(fit, pair.left, pair.right, Budget(1, delta), unit=pair.unit)
        assert (report.verdict, report.faults) == ("kept", ())
        assert report.epsilon <= 1


SQUARE = Schema({name: Box(0, 1, missing=0.5) for name in ("x", "y")})
POINTS = pd.DataFrame(np.tile(ROWS, (10, 1)), columns=["x", "y"])


def test_halved_noise_and_halved_sensitivities_are_found_in_ours(monkeypatch):
    model = PrivateKMeans(2, epsilon=1, schema=SQUARE)
    with halved_sensitivities():
        report = replay(model, POINTS, POINTS[:-1])
    assert report.verdict == "violated"
    assert any("was allowed" in fault for fault in report.faults)
    monkeypatch.setattr("privclust.data.door.ExactNoise", HalvedNoise)
    report = replay(model, POINTS, POINTS[:-1])
    assert report.faults == ("The answers tell ε = 2, more than was claimed.",)


# Input that cannot be judged.


def test_a_fit_without_a_transcript_is_refused():
    with pytest.raises(ValueError, match=r'left no transcript: .* noise="numpy"'):
        replay(lambda rows: rows.sum(), ROWS, MORE, 1)


def test_an_error_before_any_answer_is_shown():
    with pytest.raises(ValueError, match="Column"):
        replay(PrivateKMeans(2, epsilon=1, schema=SQUARE), POINTS[["x"]], POINTS[["x"]][:-1])


@pytest.mark.parametrize(
    ("neighbour", "unit", "words"),
    [
        (POINTS[:-2], AddRemoveRow(), "2 rows"),
        (POINTS[:-1], ReplaceRow(), "1 rows"),
        (POINTS.assign(x=POINTS["y"]), "replace-row", "40 rows"),
    ],
)
def test_data_that_are_no_neighbours_are_refused(neighbour, unit, words):
    model = PrivateKMeans(2, epsilon=1, schema=SQUARE, unit=unit)
    with pytest.raises(ValueError, match=f"differ by {words}, .* one step of the unit"):
        replay(model, POINTS, neighbour)


def test_the_order_of_rows_is_no_difference():
    model = PrivateKMeans(2, epsilon=1, schema=SQUARE)
    assert replay(model, POINTS, POINTS[::-1]).epsilon == 0


def test_neighbours_of_persons_differ_in_one_of_them():
    people = POINTS.assign(who=[str(number // 4) for number in range(40)])
    model = PrivateKMeans(2, epsilon=1, schema=SQUARE, unit=Person("who", 4))
    assert replay(model, people, people[people["who"] != "3"]).verdict == "kept"
    with pytest.raises(ValueError, match="rows of 2 persons"):
        replay(model, people, people[6:])


@pytest.mark.parametrize(
    ("changes", "unit", "fine"),
    [
        ([(0, 0, 1)], MatrixCount(), True),
        ([(0, 0, 2)], MatrixCount(), False),
        ([(0, 0, 2)], MatrixEntry(3), True),
        ([(0, 0, 1), (0, 1, 1)], MatrixEntry(3), False),
        ([(0, 0, 1), (0, 1, 1)], MatrixRow(), True),
        ([(0, 0, 1), (1, 1, 1)], MatrixRow(), False),
    ],
)
def test_neighbours_of_a_matrix_differ_as_the_unit_says(changes, unit, fine):
    matrix = np.ones((3, 2), int)
    neighbour = matrix.copy()
    for row, column, step in changes:
        neighbour[row, column] += step

    def fit(counts, rng):
        return counts.sum() + rng.laplace(scale=100)

    if fine:
        replay(fit, matrix, neighbour, 1, noise="numpy", unit=unit)
    else:
        with pytest.raises(ValueError, match="more than one step"):
            replay(fit, matrix, neighbour, 1, noise="numpy", unit=unit)


def test_a_claim_a_source_and_no_ledger_are_needed(tmp_path):
    with pytest.raises(ValueError, match="Say what the fit claims"):
        replay(sums, ROWS, MORE, noise="numpy")
    with pytest.raises(ValueError, match="noise must be"):
        replay(sums, ROWS, MORE, 1, noise="torch")
    ledger = Ledger(str(tmp_path / "ledger.db"))
    with pytest.raises(ValueError, match="without a ledger"):
        replay(PrivateKMeans(2, epsilon=1, schema=SQUARE, ledger=ledger), POINTS, POINTS[:-1])
