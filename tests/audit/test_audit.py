"""The audit keeps its splits apart, states its bound honestly and explains itself."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from privclust.audit.auditor import audit
from privclust.audit.events import epsilon_bound
from privclust.audit.neighbours import NeighbourPair
from privclust.budget import Budget

RUNS = 1200


def response(bit, runs, rng, honesty=0.9):
    """Randomised response: the truth with probability ``honesty``."""
    return np.where(rng.random(runs) < honesty, bit, 1 - bit)


class CountRows(BaseEstimator):
    """Releases a noisy mean and, by mistake, the exact number of rows."""

    def __init__(self, exact=False, random_state=None):
        self.exact = exact
        self.random_state = random_state

    def fit(self, rows):
        rng = np.random.default_rng(self.random_state)
        self.mean_ = round(rows.sum() + rng.laplace(scale=2))
        if self.exact:
            self.rows_seen_ = len(rows)
        self._rows_ = len(rows)
        return self


class Unclonable(BaseEstimator):
    def __init__(self, size=1):
        self.size = [size]

    def fit(self, rows):
        return self


def test_the_report_follows_from_the_counts_of_its_witness():
    report = audit(response, (0, 1), 1, RUNS, 0.9, batch=True, random_state=0)
    witness = report.witness
    assert witness.runs == RUNS // 3
    hits = sorted([witness.left_hits, witness.right_hits], reverse=True)
    assert report.epsilon_lower == pytest.approx(epsilon_bound(*hits, witness.runs, 0.1))
    assert report.confidence == 0.9
    assert report.claimed == Budget(1)


def test_several_pairs_share_the_allowed_error():
    pairs = [NeighbourPair(f"pair {name}", 0, 1) for name in "abcde"]
    report = audit(response, pairs, 1, RUNS, 0.9, batch=True, random_state=0)
    witness = report.witness
    hits = sorted([witness.left_hits, witness.right_hits], reverse=True)
    assert report.epsilon_lower == pytest.approx(epsilon_bound(*hits, witness.runs, 0.1 / 5))


def test_delta_is_taken_off_the_likelier_side():
    report = audit(response, (0, 1), Budget(1, 0.2), RUNS, batch=True, random_state=0)
    witness = report.witness
    hits = sorted([witness.left_hits, witness.right_hits], reverse=True)
    expected = epsilon_bound(*hits, witness.runs, 0.05, delta=0.2)
    assert report.epsilon_lower == pytest.approx(expected)


def test_the_verdict_compares_the_bound_with_the_claim():
    def verdict(claimed):
        return audit(response, (0, 1), claimed, RUNS, batch=True, random_state=0).verdict

    # The truth is ln 9 = 2.2.
    assert verdict(1) == "violated"
    assert verdict(Budget(1)) == "violated"
    assert verdict(2.5) == "not refuted"


def test_only_fresh_runs_count():
    served = 0

    def leaks_at_first(bit, runs):
        nonlocal served
        served += runs
        return np.full(runs, bit if served <= 4 * (RUNS // 3) else 0)

    report = audit(leaks_at_first, (0, 1), 1, RUNS, batch=True)
    # Both splits in which the event is found leak everything; the third tells nothing.
    assert served == 2 * RUNS
    assert report.epsilon_lower == 0


def test_both_directions_are_tried():
    def falls_silent(bit, runs, rng):
        return np.where(rng.random(runs) < 0.3, 1 - bit, 0)

    for pair, side in (((0, 1), "left"), ((1, 0), "right")):
        report = audit(falls_silent, pair, 1, RUNS, batch=True, random_state=0)
        assert report.verdict == "violated"
        assert report.witness.likelier == side


def test_the_worst_pair_is_the_witness():
    def reads_large_numbers(data, runs, rng):
        return response(data > 5, runs, rng, 0.99 if data > 5 else 0.5)

    pairs = [NeighbourPair("small", 0, 1), NeighbourPair("large", 1, 9), (2, 3)]
    report = audit(reads_large_numbers, pairs, 1, RUNS, batch=True, random_state=0)
    assert report.witness.pair == "large"


def test_pairs_can_be_given_in_a_tuple_of_pairs():
    pairs = NeighbourPair("same", 0, 0), NeighbourPair("other", 0, 1)
    report = audit(response, pairs, 1, RUNS, batch=True, random_state=0)
    assert report.witness.pair == "other"


@pytest.mark.system
def test_the_same_seed_gives_the_same_report_with_any_number_of_processes():
    def one_run(bit, rng):
        return response(bit, 1, rng)

    alone = audit(one_run, (0, 1), 1, 300, random_state=3)
    together = audit(one_run, (0, 1), 1, 300, random_state=3, n_jobs=2)
    assert alone == together
    assert alone != audit(one_run, (0, 1), 1, 300, random_state=4)


def test_what_an_estimator_releases_is_audited_and_what_it_hides_is_not():
    pair = (np.zeros(5), np.zeros(6))
    careful = audit(CountRows(random_state=0), pair, 0.5, 600, random_state=0)
    assert careful.verdict == "not refuted"
    report = audit(CountRows(exact=True, random_state=0), pair, 0.5, 600, random_state=0)
    assert report.verdict == "violated"
    assert report.witness.event == "rows_seen_ == 5"


def test_an_exception_is_a_witness():
    def fails_without_rows(rows, rng):
        if len(rows) == 0:
            raise ValueError("no rows")
        return round(rng.laplace())

    pair = (np.zeros(0), np.zeros(1))
    report = audit(fails_without_rows, pair, 1, 600, random_state=0)
    assert report.verdict == "violated"
    assert report.witness.event == "exception type is ValueError"
    with pytest.raises(ValueError, match=r"^no rows$"):
        audit(fails_without_rows, pair, 1, 600, features="values", random_state=0)


def test_the_message_of_an_exception_is_a_witness():
    def complains(rows):
        raise ValueError(f"{len(rows)} rows are too few")

    report = audit(complains, (np.zeros(3), np.zeros(4)), 1, 600)
    assert report.witness.event == "exception message is 3 rows are too few"
    assert report.verdict == "violated"


def test_a_pair_that_no_run_survives_is_passed_over_unless_it_is_the_only_one():
    def needs_numbers(data, rng):
        return response(abs(data), 1, rng)

    report = audit(needs_numbers, [("a", "b"), (0, 1)], 1, RUNS, random_state=0)
    assert report.witness.pair == "pair 2"
    with pytest.raises(ValueError, match=r"TypeError: bad operand.* Make sure that fit accepts"):
        audit(needs_numbers, ("a", "b"), 1, RUNS)


def test_features_restrict_what_is_seen():
    def telling_shape(bit, rng):
        return rng.integers(2, size=2 + bit)

    pair = (0, 1)
    seen = audit(telling_shape, pair, 1, 600, features="shapes", random_state=0)
    assert seen.witness.event in ("form of output is int64[2]", "form of output is int64[3]")
    unseen = audit(telling_shape, pair, 1, 600, features="low_bits", random_state=0)
    assert "form of output" not in unseen.witness.features


def test_feature_functions_see_what_groups_do_not():
    def telling_sign(bit, rng):
        numbers = rng.standard_normal(20)
        numbers[0] *= (1 - 2 * bit) * np.sign(np.prod(numbers))
        return numbers

    def sign_of_product(numbers):
        return np.sign(np.prod(numbers))

    blind = audit(telling_sign, (0, 1), 1, 600, random_state=0)
    assert blind.verdict == "not refuted"
    chosen = ["values", sign_of_product]
    report = audit(telling_sign, (0, 1), 1, 600, features=chosen, random_state=0)
    assert report.verdict == "violated"
    assert list(report.witness.features) == ["feature 0 (sign_of_product)"]


def test_a_constant_output_has_no_witness():
    report = audit(lambda data: "same", (0, 1), 1, 300)
    assert (report.epsilon_lower, report.witness) == (0.0, None)
    assert "every run gave the same output" in str(report)


def test_the_report_reads_in_a_few_lines():
    report = audit(response, NeighbourPair("one bit", 0, 1), Budget(1, 1e-6), RUNS, batch=True)
    lines = str(report).splitlines()
    assert len(lines) == 5
    assert lines[0] == "Privacy claim violated: ε = 1, δ = 1e-06"
    assert f"ε >= {report.epsilon_lower:.3f} with 0.95 confidence" in lines[1]
    witness = report.witness
    assert f"'one bit', event '{witness.event}': {witness.left_hits} of 400 runs" in lines[3]
    assert "output" in lines[3]
    for part in ("epsilon_lower=", "confidence=0.95", "verdict='violated'", "witness=Witness("):
        assert part in repr(report)


def test_a_learned_event_names_the_features_that_matter():
    def only_together(bit, runs, rng):
        # Neither sign tells anything alone; whether they agree does.
        first = rng.choice([-1, 1], size=runs)
        agree = 2 * response(bit, runs, rng) - 1
        return np.column_stack([first, first * agree, rng.integers(5, size=(runs, 2))])

    chosen = {"features": "values", "batch": True, "random_state": 0}
    report = audit(only_together, (0, 1), 1, 3000, **chosen)
    assert report.verdict == "violated"
    assert report.witness.event.startswith("learned score")
    assert {"output[0]", "output[1]"} <= set(report.witness.features)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"neighbours": []}, ValueError, "give at least one pair"),
        ({"neighbours": [(0, 1), 2]}, TypeError, "entry 2 is neither"),
        ({"neighbours": (0, 1, 2)}, TypeError, "entry 1 is neither"),
        ({"claimed": 0}, ValueError, "epsilon must be above zero"),
        ({"runs": 299}, ValueError, "at least 300, got 299"),
        ({"runs": 3e4}, ValueError, "runs must be an integer"),
        ({"confidence": 1}, ValueError, "confidence must be above 0 and below 1"),
        ({"confidence": 0}, ValueError, "confidence must be above 0 and below 1"),
        ({"features": "bits"}, ValueError, "names from exceptions, shapes, values, low_bits"),
        ({"features": []}, ValueError, "at least one"),
        ({"fit": 3}, TypeError, "must be a callable"),
        ({"fit": CountRows}, TypeError, "CountRows; pass an instance"),
        ({"fit": Unclonable()}, TypeError, "Unclonable cannot be cloned; let its __init__"),
        ({"fit": CountRows(), "batch": True}, ValueError, "leave batch=False"),
        ({"fit": abs, "n_jobs": 2}, ValueError, "take a parameter rng"),
        ({"fit": abs, "n_jobs": -1}, ValueError, "or use n_jobs=1"),
    ],
)
def test_errors_say_what_to_do(change, error, sentence):
    arguments = {"fit": abs, "neighbours": (0, 1), "claimed": 1, "runs": 300} | change
    with pytest.raises(error, match=sentence):
        audit(**arguments)
