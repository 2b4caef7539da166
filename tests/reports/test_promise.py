"""The sentences about privacy hold of mechanisms whose loss is known exactly.

Gaussian noise that spends the ρ of a budget is what most fits with a δ draw; three outcomes make a
mechanism that meets the definition with equality. What is printed must bound both.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privclust.budget import Budget
from privclust.reports.promise import explain_promise
from privclust.reports.words import factor
from privclust.unit import MATRIX_UNITS, ROW_UNITS
from privclust.unit.matrix import MatrixCount, MatrixEntry, MatrixRow, group_epsilon
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow
from support.releases import make_release, statement

BUDGETS = [(1, 1e-6), (0.5, 1e-6), (0.1, 1e-6), (1, 1e-5), (2, 1e-8), (5, 1e-6)]
words_only = pytest.mark.usefixtures("blank_pictures")


def above(x: float) -> float:
    """Return the chance that a standard normal number exceeds x."""
    return 0.5 * math.erfc(x / math.sqrt(2))


def gaussian_tail(rho: float, loss: float) -> float:
    """Return the chance that Gaussian noise of this ρ loses more than ``loss``, exactly."""
    return above((loss - rho) / math.sqrt(2 * rho))


def gaussian_delta(rho: float, epsilon: float) -> float:
    """Return the smallest δ at which Gaussian noise of this ρ is (ε, δ)-private."""
    m = math.sqrt(2 * rho)
    return above(epsilon / m - m / 2) - math.exp(epsilon) * above(epsilon / m + m / 2)


def said(pattern: str, text: str) -> list[float]:
    """Return the numbers that a sentence says, where ``pattern`` stands in it."""
    found = re.search(pattern, text)
    assert found, text
    return [float(number.replace(",", "")) for number in found.groups()]


def said_of_odds(epsilon: float, delta: float) -> tuple[float, float]:
    """Return the chance and the factor that are printed about odds."""
    text = explain_promise(statement(epsilon, delta)).delta
    chance, times = said(r"at most (\S+)\D.* factor of e\^\(2ε\) ≈ ([\d.,]*\d)", text)
    return chance, times


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_the_odds_of_gaussian_noise_keep_the_sentence_and_not_the_one_that_named_delta(
    epsilon, delta
):
    rho = float(Budget(epsilon, delta).amount)
    chance, times = said_of_odds(epsilon, delta)
    assert gaussian_tail(rho, 2 * epsilon) + gaussian_tail(rho, 2 * epsilon + 2 * rho) <= chance
    assert times >= math.exp(2 * epsilon)
    # "The odds change by more than e^ε with a chance of at most δ" is false of the same noise.
    assert gaussian_tail(rho, epsilon) > 1.2 * delta


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_the_chance_about_odds_is_attained_by_three_outcomes(epsilon, delta):
    rare = delta / -math.expm1(-epsilon)
    p = np.array([rare, rare * math.exp(-2 * epsilon)])  # the third outcome is equally likely
    q = p[::-1]
    assert (p - math.exp(epsilon) * q).clip(0).sum() == pytest.approx(delta)
    chance, _ = said_of_odds(epsilon, delta)
    beyond = p[np.abs(np.log(p / q)) >= 2 * epsilon * (1 - 1e-9)].sum()
    assert beyond <= chance < 1.1 * beyond
    assert beyond > delta


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_randomised_response_that_tells_all_with_chance_delta_keeps_both_sentences(epsilon, delta):
    told = delta, (1 - delta) / (1 + math.exp(-epsilon)), (1 - delta) / (1 + math.exp(epsilon))
    yes, no = np.array([told[0], 0, told[1], told[2]]), np.array([0, told[0], told[2], told[1]])
    times, plus = said(
        r"at most (\S+) \(e\^ε, rounded up\).*plus (\S+) \(δ\)",
        explain_promise(statement(epsilon, delta)).odds,
    )
    for events in range(16):
        event = np.array([events >> i & 1 for i in range(4)], bool)
        assert yes[event].sum() <= times * no[event].sum() + plus
    assert said_of_odds(epsilon, delta)[0] >= told[0]


@pytest.mark.parametrize(("epsilon", "delta"), [*BUDGETS, (Fraction(1, 3), Fraction(1, 3 * 10**6))])
def test_no_printed_bound_is_rounded_down(epsilon, delta):
    epsilon, delta = Fraction(str(epsilon)), Fraction(str(delta))
    odds = explain_promise(statement(epsilon, delta)).odds
    times, plus = said(r"at most (\S+) \(e\^ε, rounded up\).*plus (\S+) \(δ\)", odds)
    assert math.exp(epsilon) <= times < 1.01 * math.exp(epsilon)
    assert delta <= Fraction(str(plus)) < 1.01 * delta
    printed = make_release(privacy=statement(epsilon, delta)).privacy.promise
    loss, chance = said(r"ε = (\S+), δ = (\S+)", printed)
    assert epsilon <= Fraction(str(loss)) < 1.0001 * epsilon
    assert delta <= Fraction(str(chance)) < 1.0001 * delta


@pytest.mark.parametrize("epsilon", [1e-4, 0.01, 0.1, 0.7, 1, 2, 5, 13.9, 14.1, 100, 10**6, 10**12])
def test_factors_are_never_rounded_down(epsilon):
    text = factor(epsilon).replace(",", "")
    power = re.fullmatch(r"10\^(\d+)", text)
    printed = int(power[1]) * math.log(10) if power else math.log(float(text))
    assert epsilon <= printed * (1 + 1e-15) < epsilon + 2.31


@pytest.mark.parametrize("unit", [AddRemoveRow(), ReplaceRow()])
@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_a_person_with_several_rows_has_the_loss_that_is_printed_and_not_so_many_epsilon(
    unit, epsilon, delta
):
    limits = " ".join(explain_promise(statement(epsilon, delta, unit=unit)).limits)
    losses = said(r"2, 10 or 20 rows is protected at ε = (\S+), (\S+) or (\S+), at", limits)
    rho = float(Budget(epsilon, delta).amount)
    for rows, loss in zip((2, 10, 20), losses, strict=True):
        assert gaussian_delta(rho * rows**2, loss) <= delta
        assert loss >= rows * epsilon  # of a fit that was paid in pure ε
        assert loss >= group_epsilon(Budget(epsilon, delta), rows) > 0.99 * loss
    # "The factor is multiplied once for every row" is false of the same noise.
    assert gaussian_delta(rho * 20**2, 20 * epsilon) > 10 * delta


def test_the_sentence_about_several_rows_as_it_is_printed():
    with_delta, pure = (explain_promise(statement(1, delta)).limits[0] for delta in (1e-6, 0))
    assert "with 2, 10 or 20 rows is protected at ε = 2.12, 13.2 or 31.7, at the same δ." in (
        with_delta
    )
    assert pure.endswith("with 2, 10 or 20 rows is protected at ε = 2, 10 or 20.")


@pytest.mark.parametrize("unit", [Person("id", 5), MatrixCount()])
def test_units_that_cover_all_rows_of_a_person_or_none_say_nothing_about_several(unit):
    assert "20 rows" not in " ".join(explain_promise(statement(1, 1e-6, unit=unit)).limits)


@pytest.mark.parametrize(
    ("unit", "several"),
    [(MatrixCount(), "counts"), (MatrixEntry(3), "entries"), (MatrixRow(), "rows")],
)
def test_people_with_several_counts_entries_or_rows_of_a_matrix_have_the_loss_of_so_many_steps(
    unit, several
):
    limits = " ".join(explain_promise(statement(1, 1e-6, unit=unit)).limits)
    pattern = rf"2, 10 or 20 {several} is protected at ε = (\S+), (\S+) or (\S+), at"
    for size, loss in zip((2, 10, 20), said(pattern, limits), strict=True):
        assert loss >= group_epsilon(Budget(1, 1e-6), size) > 0.99 * loss


@pytest.mark.parametrize("delta", [0, 1e-6, 0.01, 0.5])
@pytest.mark.parametrize("name", [*ROW_UNITS, *(f"matrix-{name}" for name in MATRIX_UNITS)])
def test_every_unit_has_words_of_its_own(name, delta):
    promise, unknown = (
        explain_promise(replace(statement(1, delta), unit={"name": unit}), rows=100)
        for unit in (name, "of a later version")
    )
    assert promise.odds != unknown.odds
    assert promise.guess != unknown.guess
    assert promise.limits[0] != unknown.limits[0]
    said_of_it = [promise.odds, promise.guess, promise.verdict, promise.delta, *promise.limits]
    assert "what is protected" not in " ".join(said_of_it)


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_epsilon_and_delta_of_several_releases_add_up(delta):
    adding = explain_promise(statement(1, delta)).limits[-1]
    assert "the ε add up (the factors multiply), and the δ add up too" in adding


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0), *BUDGETS])
def test_guesses_move_by_twice_epsilon_where_there_is_a_delta(epsilon, delta):
    moved = math.exp(epsilon * (2 if delta else 1))
    for prior, guess in zip(
        (0.01, 0.1, 0.5), explain_promise(statement(epsilon, delta)).guesses, strict=True
    ):
        odds = prior / (1 - prior)
        most, least = odds * moved / (1 + odds * moved), odds / (moved + odds)
        if "than" not in guess.most:
            assert 100 * most <= float(guess.most.rstrip(" %")) < min(100, 112 * most)
        if "than" not in guess.least:
            assert 88 * least < float(guess.least.rstrip(" %")) <= 100 * least


def test_a_delta_too_large_for_odds_says_nothing_about_them():
    promise = explain_promise(statement(0.1, 0.5))
    assert "nothing is promised about odds" in promise.delta
    assert promise.guesses == ()
    assert "How far a guess" not in make_release(privacy=statement(0.1, 0.5)).to_html()


@words_only
@pytest.mark.parametrize("unit", [AddRemoveRow(), ReplaceRow(), Person("id", 3), MatrixCount()])
def test_reports_with_a_delta_speak_of_chances_and_not_of_failure(unit):
    page = make_release(privacy=statement(1, 1e-6, unit=unit)).to_html()
    assert "at most 2.72 (e<sup>ε</sup>, rounded up) times the chance" in page
    assert "plus 0.000001 (δ); and the other way round." in page
    assert "With a chance of at most 0.0000018 (1 in 556,000) the odds" in page
    assert "e<sup>(2ε)</sup> ≈ 7.39" in page
    assert "except with that chance" in page
    for false in ("fail", "multiplied once", "chance δ"):
        assert false not in page.split("How this works")[0]
