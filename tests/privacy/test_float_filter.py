"""The float filter's bounds hold for NumPy at its worst, and are missed when a term is left out.

NumPy is replaced by one whose log, exp, cosine and sine are off by four units in the last place,
the most that the proofs assume, in one direction and in the other. True values come from
``decimal`` and from the exact side.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise, permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from privclust.privacy.noise import ball, exact, float_filter, lazy
from privclust.privacy.noise.exact import FILTER_ERROR, ExactNoise
from privclust.privacy.noise.lazy import LazyUniform

PRECISE = Context(prec=80)
ULPS = 4
PROOFS = Path(__file__).parents[2] / "proofs"


class WorstNumpy:
    """NumPy with functions that are off by as much as the proofs allow."""

    def __init__(self, ulps: int) -> None:
        for name in ("log", "exp", "cos", "sin"):
            setattr(self, name, self._off(getattr(np, name), ulps))

    def __getattr__(self, name: str) -> object:
        return getattr(np, name)

    @staticmethod
    def _off(function, ulps):
        def called(values):
            results = function(values)
            return results + ulps * np.spacing(np.abs(results))

        return called


@pytest.fixture(params=[-ULPS, 0, ULPS], ids=lambda ulps: f"{ulps} ulps")
def worst_numpy(request, monkeypatch):
    for module in (float_filter, ball):
        monkeypatch.setattr(module, "np", WorstNumpy(request.param))


def fraction(value: float) -> Fraction:
    return Fraction(float(value))


def minus_log(value: Fraction) -> Fraction:
    ratio = PRECISE.divide(Decimal(value.numerator), Decimal(value.denominator))
    return -Fraction(PRECISE.ln(ratio))


def ends(words: np.ndarray) -> list[tuple[Fraction, Fraction]]:
    """Return the ends of the interval in which each uniform number lies; no end is zero."""
    length = 8 * words.itemsize
    return [(Fraction(int(w), 2**length), Fraction(int(w) + 1, 2**length)) for w in words]


def some_words(kind: type) -> np.ndarray:
    """Return words of every size, powers of two and their neighbours among them."""
    top = 8 * np.dtype(kind).itemsize
    rng = np.random.default_rng(1)
    sizes = [int(rng.integers(2**bits, 2 ** (bits + 1), dtype=np.uint64)) for bits in range(top)]
    edges = [2**bits + step for bits in (1, 8, top // 2, top - 1) for step in (-1, 0, 1)]
    inner = [int(word) for word in rng.integers(2 ** (top - 2), 2**top, 60, dtype=np.uint64)]
    return np.array([*sizes, *edges, *inner, 2**top - 1], kind)


def assert_enclosed(value, error, truths) -> None:
    for found, bound, both in zip(value.ravel(), error.ravel(), truths, strict=True):
        for truth in both:
            assert abs(fraction(found) - truth) <= fraction(bound)


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_exponential_variates_are_within_their_bounds(worst_numpy, kind):
    words = some_words(kind)
    value, error = float_filter.exponentials(words, FILTER_ERROR)
    assert_enclosed(value, error, [[minus_log(end) for end in both] for both in ends(words)])


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_gumbel_variates_are_within_their_bounds(worst_numpy, kind):
    words = some_words(kind)
    value, error = float_filter.gumbels(words, FILTER_ERROR)
    known = np.isfinite(error)
    assert known.mean() > 0.8
    truths = [[minus_log(minus_log(end)) for end in both] for both in ends(words[known])]
    assert_enclosed(value[known], error[known], truths)


@pytest.mark.parametrize("ulps", [-3 * ULPS, 3 * ULPS])
def test_gumbel_variates_allow_for_logarithms_three_times_as_wrong_as_assumed(monkeypatch, ulps):
    """What the arrival leaves unused hides the term for the second logarithm at four ulps."""
    monkeypatch.setattr(float_filter, "np", WorstNumpy(ulps))
    words = some_words(np.uint64)
    value, error = float_filter.gumbels(words, FILTER_ERROR)
    known = np.isfinite(error)
    truths = [[minus_log(minus_log(end)) for end in both] for both in ends(words[known])]
    assert_enclosed(value[known], error[known], truths)


@pytest.mark.parametrize("scale", [Fraction(2**53 + 1, 2**53), Fraction(10, 3), Fraction(2**45, 7)])
@pytest.mark.parametrize("gap", [0, -7, -(2**52) - 1])
def test_shifted_variates_are_within_their_bounds(worst_numpy, scale, gap):
    words = some_words(np.uint64)
    gaps = np.full(len(words), gap)
    variates = float_filter.exponentials(words, FILTER_ERROR)
    value, error = float_filter.shift_with_error(gaps, scale, *variates, FILTER_ERROR)
    truths = [[gap + scale * minus_log(end) for end in both] for both in ends(words)]
    assert_enclosed(value, error, truths)


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(1001, 10), Fraction(2**90 + 1, 3)])
def test_acceptance_margins_are_within_their_bounds(worst_numpy, variance):
    proposal = Fraction(int(np.sqrt(float(variance))) + 1)
    words = some_words(np.uint64)
    spread = np.linspace(0, 30, len(words)) * float(variance) ** 0.5
    proposals = np.rint(spread).astype(np.int64)
    margin, error = float_filter.acceptance_margins(
        proposals, variance, proposal, *float_filter.exponentials(words, FILTER_ERROR), FILTER_ERROR
    )
    truths = [
        [minus_log(end) - (int(y) - variance / proposal) ** 2 / (2 * variance) for end in both]
        for y, both in zip(proposals, ends(words), strict=True)
    ]
    assert_enclosed(margin, error, truths)


def boundary(gap: int, scale: Fraction) -> Decimal:
    """Return where the distribution function of two columns steps from the first to the second."""
    weight = PRECISE.exp(PRECISE.divide(Decimal(gap), Decimal(scale.numerator)))
    return PRECISE.divide(Decimal(1), PRECISE.add(Decimal(1), weight))


@pytest.mark.parametrize("gap", [-1, -3, -11])
@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_a_sure_selection_is_right_for_every_uniform_number_in_the_word(worst_numpy, gap, kind):
    top, scale = 8 * np.dtype(kind).itemsize, Fraction(3)
    at = Fraction(boundary(gap, scale)) * 2**top
    steps = [*range(-40, 41), *(s * 2**k for k in range(6, 20) for s in (-1, 1))]
    words = np.array([int(at) + step for step in steps], kind)
    gaps = np.tile([0, gap], (len(words), 1))
    picked, sure = float_filter.selections(gaps, scale, words, FILTER_ERROR)
    assert sure.any()
    assert not sure.all()
    for word, column in zip(words[sure], picked[sure], strict=True):
        assert column == (int(word) >= at) == (int(word) + 1 > at)


def test_a_selection_among_many_allows_for_the_rounding_of_their_sum():
    """Equal weights are rounded in the same direction, so that their sums drift from the truth."""
    many, scale = 2**15, Fraction(3)
    gaps = np.full((1, many), -1)
    gaps[0, 0] = 0
    weight = Fraction(PRECISE.exp(PRECISE.divide(Decimal(-1), Decimal(3))))
    true_total, sums = 1 + (many - 1) * weight, np.cumsum(np.exp(gaps / 3.0), axis=1)[0]
    drifts = [fraction(sums[at]) - (1 + at * weight) for at in range(0, many, 64)]
    at = 64 * max(range(len(drifts)), key=lambda index: abs(drifts[index]))
    between = (1 + at * weight + fraction(sums[at])) / 2 / true_total
    words = np.array([int(between * 2**64)], np.uint64)
    assert max(map(abs, drifts)) > 8 * FILTER_ERROR * true_total
    assert not float_filter.selections(gaps, scale, words, FILTER_ERROR)[1].any()


# What the bounds settle: brute force over every combination of ends.
tables = st.integers(2, 4).flatmap(
    lambda columns: st.tuples(
        st.lists(st.integers(-4, 4), min_size=columns, max_size=columns),
        st.lists(st.integers(0, 3), min_size=columns, max_size=columns),
    )
)


def corners(value, error):
    return product(*[(v - e, v + e) for v, e in zip(value, error, strict=True)])


@given(tables, st.integers(1, 4))
@example(([4, 2, 1], [0, 0, 4]), 1)  # not the next, but the one after it may win
def test_a_ranking_is_sure_exactly_if_no_other_is_possible_within_the_bounds(table, k):
    k = min(k, len(table[0]))
    value, error = (np.array([row], float) for row in table)
    order, sure = float_filter.certain_rankings(value, error, k)
    assert order.shape == (1, k)
    possible = {
        places[:k]
        for numbers in corners(*table)
        for places in permutations(range(len(numbers)))
        if all(numbers[left] >= numbers[right] for left, right in pairwise(places))
    }
    assert sure[0] == (possible == {tuple(order[0].tolist())})


@given(st.floats(-1e15, 1e15), st.floats(0, 3))
def test_a_floor_is_sure_exactly_if_both_ends_have_it(value, error):
    floors, sure = float_filter.floors(np.array([value]), np.array([error]))
    low, high = (int(np.floor(end)) for end in (value - error, value + error))
    assert sure[0] == (low == high)
    assert floors[0] == (low if sure[0] else 0)


class LaterWords:
    """First words as given, and one word for all that are asked for later."""

    private = False

    def __init__(self, first: np.ndarray | None, later: int) -> None:
        self.first, self.later = first, later

    def words(self, count: int) -> np.ndarray:
        if self.first is not None:
            taken, self.first = self.first.view(np.uint64), None
            assert len(taken) == count
            return taken
        return np.full(count, self.later, np.uint64)


ZEROS, ONES = 0, 2**64 - 1


def half_words(*words: int) -> np.ndarray:
    return np.array(words, np.uint32)


def test_a_floor_next_to_a_boundary_follows_the_later_words():
    word = int(PRECISE.multiply(Decimal(2**32), PRECISE.exp(Decimal(-1))))
    for later, floor in ((ZEROS, 1), (ONES, 0)):  # a smaller uniform is a larger exponential
        noise = ExactNoise(LaterWords(half_words(word, word), later))
        assert noise._geometric(Fraction(1), 2).tolist() == [floor, floor]


def test_a_selection_next_to_a_boundary_follows_the_later_words():
    word = int(boundary(-1, Fraction(1)) * 2**32)
    scores = np.array([[0, -1], [0, -1]])
    for later, column in ((ZEROS, 0), (ONES, 1)):
        noise = ExactNoise(LaterWords(half_words(word, word), later))
        assert noise.exponential_rows(scores, Fraction(1)).tolist() == [column, column]


@pytest.mark.parametrize("method", ["permute_and_flip_rows", "top_k_rows"])
def test_equal_words_are_told_apart_by_the_later_ones(method, monkeypatch):
    calls = []
    original = lazy.certain_order
    monkeypatch.setattr(lazy, "certain_order", lambda *asked: calls.append(1) or original(*asked))
    words = half_words(2**31, 2**31, 2**20, 2**30)  # a tie; and a clear case
    noise = ExactNoise(LaterWords(words, ZEROS))
    extra = (1,) if method == "top_k_rows" else ()
    monkeypatch.setattr(LaterWords, "words", alternating(LaterWords.words))
    picked = getattr(noise, method)(np.zeros((2, 2), np.int64), Fraction(1), *extra)
    assert len(calls) == 1
    # The first column gets zeros, hence the smaller uniform and the larger exponential; a Gumbel
    # variate is the larger, the larger its uniform.
    assert picked.ravel().tolist() == ([0, 0] if method == "permute_and_flip_rows" else [1, 1])


def alternating(words):
    """Give zeros to the first who asks for a later word, ones to the second, and so on."""

    def called(self, count):
        given = words(self, count)
        self.later = ONES - self.later if self.first is None and count == 1 else self.later
        return given

    return called


# A quarter turn, where the cosine is next to nothing, and others.
TURNS = [2**62, 2**62 + 5, 2**63 - 1, 3 * 2**62, 12345 * 2**45]


def check_vector(dimension: int, straight: np.ndarray, turn: int) -> None:
    """Compare a vector with the exact side, for the least and the largest later words."""
    scale = Fraction(2**40, 3)
    words = np.append(straight, np.full(-(-dimension // 2), turn, np.uint64))
    variates, errors = float_filter.exponentials(straight[None], FILTER_ERROR)
    turns = words[None, len(straight) :].astype(float) * 2.0**-64
    value, error = ball.filter_vectors(
        float(scale), dimension, variates, errors, turns, FILTER_ERROR
    )
    assert np.isfinite(error).all()
    for later in (ZEROS, ONES):
        uniforms = [LazyUniform(int(word), 64, LaterWords(None, later)) for word in words]
        for uniform in uniforms:
            uniform.refine()
            uniform.refine()
        truths = ball._coordinates(scale, dimension, uniforms)
        assert_enclosed(value, error, [(truth.low, truth.high) for truth in truths])


@pytest.mark.parametrize(
    ("dimension", "turn"), [*product([2, 3], TURNS), (1, TURNS[-1]), (4, TURNS[0])]
)
def test_vectors_are_within_their_bounds(worst_numpy, dimension, turn):
    rng = np.random.default_rng(dimension)
    straight = rng.integers(2**50, 2**64, dimension - (-dimension // 2), dtype=np.uint64)
    check_vector(dimension, straight, turn)


@pytest.mark.parametrize("unknown", range(5))
def test_vectors_are_within_their_bounds_where_a_word_says_little(unknown):
    straight = np.full(5, 2**63 + 12345, np.uint64)  # three for the length, two for the radii
    straight[unknown] = 2**9
    check_vector(3, straight, 12345 * 2**45)


@given(st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0, 0.5))
def test_relative_errors_of_a_vector_add_up_as_the_proof_says(a, b, length):
    """(1 ± l) √((1 ± a)/(1 ∓ b)) is within 1 ± (a + b + l), the product l (a + b) included."""
    total = a + b + length
    if total > 0.5:
        a, b, length = (part / total / 2 for part in (a, b, length))
        total = a + b + length
    assert (1 + length) * ((1 + a) / (1 - b)) ** 0.5 <= 1 + total + 1e-12
    assert (1 - length) * ((1 - a) / (1 + b)) ** 0.5 >= 1 - total - 1e-12


def test_the_proof_names_the_constants_of_the_code():
    text = (PROOFS / "float-filter.md").read_text(encoding="utf-8")
    assert 2.0 ** -int(re.search(r"η = 2\^-(\d+) = 32u", text)[1]) == FILTER_ERROR
    assert int(re.search(r"scales up to 2\^(\d+)", text)[1]) == exact.MAX_SCALE.bit_length() - 1
    assert f"at most {ULPS} ulp" in text
    angle = (PROOFS / "ball-laplace.md").read_text(encoding="utf-8")
    assert int(re.search(r"together (\d+)u;", angle)[1]) == 19 + 2 * ULPS < FILTER_ERROR * 2**53
