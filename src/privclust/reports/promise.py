"""The privacy statement in plain words, for readers new to differential privacy.

Every sentence is a consequence of the definition. With pure ε, odds change by a factor of at most
e^ε, whatever the prior knowledge about the rest. With a δ the definition bounds the chances of
conclusions, and what it says about odds is weaker: it bounds how often they change by more than
e^2ε. Words never sound stronger than the numbers, and every bound is rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from privclust.budget import Budget
from privclust.reports.words import chance, exact_decimal, factor, least, most, one_in, power
from privclust.statement import PrivacyStatement
from privclust.unit.matrix import group_words
from privclust.unit.words import UnitWords, words_of

# Odds before the release: guesses of 1 %, 10 % and one half.
_PRIORS = {"1 %": Fraction(1, 99), "10 %": Fraction(1, 9), "50 %": Fraction(1)}
_CERTAIN = 100  # from a factor of e^100 on, no guess can be distinguished from certainty
_WEAK, _VERY_WEAK = 5, 10
_LARGE_DELTA, _VERY_LARGE_DELTA = Fraction(1, 1000), Fraction(1, 10)
# δ counts for each row: it should be far below one in the number of rows, or below this.
_SMALL_DELTA = Fraction(1, 10**5)
_FAR_BELOW = 10
# The loss is stated for people with this many of what a unit protects one by one.
_SEVERAL = (2, 10, 20)


@dataclass(frozen=True)
class Guess:
    """How far a guess can move: what someone believed before, and the extremes afterwards."""

    before: str
    least: str
    most: str


@dataclass(frozen=True)
class Promise:
    """The promise of a release in words."""

    strength: str  # one or two words: "strong", "moderate", "weak" or "very weak"
    odds: str  # the promise as a bound on odds or, with a δ, on the chance of any conclusion
    verdict: str  # what the strength means, in a sentence
    guess: str  # what the guesses are about
    guesses: tuple[Guess, ...]  # examples; none if nothing is promised about odds
    delta: str  # what a δ leaves of the bound on odds; empty when there is none
    limits: tuple[str, ...]  # what is not promised


_GENERAL_LIMIT = (
    "It hides individuals, not facts about groups. What the clusters show about many people can "
    "be learned and used, even about someone who took no part."
)
_ADDING_UP = (
    "Losses add up. If more is published about the same people, the ε add up (the factors "
    "multiply), and the δ add up too; a ledger holds the sums within what was granted."
)


def explain_promise(privacy: PrivacyStatement, rows: float | None = None) -> Promise:
    """Return what a statement promises, in words.

    ``rows``: the released, noisy number of rows, to judge the size of δ.
    """
    words = words_of(str(privacy.unit.get("name")))
    strength = _strength(float(privacy.epsilon), privacy.delta, rows)
    exponent = _exponent(privacy)
    told = _chance_beyond(privacy) < 1
    return Promise(
        strength=strength,
        odds=_odds(privacy, words),
        verdict=_verdict(strength, privacy, words),
        guess=words.guess,
        guesses=tuple(_guess(*prior, exponent) for prior in _PRIORS.items()) if told else (),
        delta=_delta(privacy, words, rows),
        limits=(_limit(privacy, words), _GENERAL_LIMIT, _ADDING_UP),
    )


def _odds(privacy: PrivacyStatement, words: UnitWords) -> str:
    """State the definition: for δ = 0 about odds, by Bayes; otherwise about conclusions."""
    times = factor(privacy.epsilon)
    if not privacy.delta:
        return (
            f"Whatever someone knew before, seeing this release can change the odds {words.odds} "
            f"by at most a factor of e^ε ≈ {times}."
        )
    return (
        f"Whatever is concluded from this release, the chance of concluding it {words.here} is at "
        f"most {times} (e^ε, rounded up) times the chance {words.there}, plus "
        f"{chance(exact_decimal(privacy.delta))} (δ); and the other way round."
    )


def _exponent(privacy: PrivacyStatement) -> Fraction:
    """Return the exponent of the stated factor on odds."""
    return privacy.epsilon * (2 if privacy.delta else 1)


def _chance_beyond(privacy: PrivacyStatement) -> Decimal:
    """Return a bound on the chance that the odds change by more than e^2ε, if there is a δ.

    With the loss Z = ln P/Q, the definition says that E_P (1 - e^(ε - Z))₊ is at most δ. Where Z is
    above 2ε the number in the mean is at least 1 - e^-ε, so P(Z > 2ε) ≤ δ / (1 - e^-ε). The other
    way round Q(Z < -2ε) has the same bound, and P(Z < -2ε) is at most e^-2ε times that.
    """
    small = power(-privacy.epsilon)
    return exact_decimal(privacy.delta) * (1 + small * small) / (1 - small)


def _delta(privacy: PrivacyStatement, words: UnitWords, rows: float | None) -> str:
    if not privacy.delta:
        return ""
    bound = _chance_beyond(privacy)
    if bound < 1:
        number = f" (1 in {one_in(bound)})" if bound < Decimal("0.1") else ""
        text = (
            f"With a chance of at most {chance(bound)}{number} the odds {words.odds} change by "
            f"more than a factor of e^(2ε) ≈ {factor(_exponent(privacy))}."
        )
    else:
        text = "With such a large δ nothing is promised about odds."
    if not _is_small(privacy.delta, rows):
        many = words.many
        text += f" δ is not small: it should be far below one divided by the number of {many}."
    return text


def _limit(privacy: PrivacyStatement, words: UnitWords) -> str:
    """Say what the unit leaves open, and how well people with several units are protected."""
    if not words.per_person:
        return words.limit
    budget = Budget(privacy.epsilon, privacy.delta)
    *some, last = (group_words(budget, size) for size in _SEVERAL)
    *sizes, largest = map(str, _SEVERAL)
    same = ", at the same δ" if privacy.delta else ""
    return (
        f"{words.limit} A person with {', '.join(sizes)} or {largest} {words.per_person} is "
        f"protected at ε = {', '.join(some)} or {last}{same}."
    )


def _guess(before: str, odds: Fraction, exponent: Fraction) -> Guess:
    change = power(min(exponent, Fraction(_CERTAIN)))
    prior = exact_decimal(odds)
    return Guess(before, least(_share(prior / change)), most(_share(prior * change)))


def _share(odds: Decimal) -> Decimal:
    return odds / (1 + odds)


def _strength(epsilon: float, delta: Fraction, rows: float | None) -> str:
    """Return the strength in words: the weaker of what ε alone and what δ alone would be called."""
    if epsilon > _VERY_WEAK or delta > _VERY_LARGE_DELTA:
        return "very weak"
    if epsilon > _WEAK or delta > _LARGE_DELTA or _rows_times(delta, rows) > 1:
        return "weak"
    return "strong" if epsilon <= 1 and _is_small(delta, rows) else "moderate"


def _rows_times(delta: Fraction, rows: float | None) -> float:
    """Return δ for all rows together, if their number is known."""
    return 0.0 if rows is None else max(rows, 0.0) * float(delta)


def _is_small(delta: Fraction, rows: float | None) -> bool:
    if rows is None or rows < 1:
        return delta <= _SMALL_DELTA
    return _FAR_BELOW * _rows_times(delta, rows) <= 1


def _verdict(strength: str, privacy: PrivacyStatement, words: UnitWords) -> str:
    if strength == "strong":
        return "This is a strong guarantee: a single release of this kind gives little away."
    if strength == "moderate" and privacy.epsilon <= 1:
        return (
            "This is a moderate guarantee: ε is small, but δ is not far enough below one divided "
            f"by the number of {words.many}."
        )
    if strength == "moderate":
        return (
            "This is a moderate guarantee: nobody becomes certain, but a suspicion can grow "
            "noticeably."
        )
    if privacy.epsilon <= _WEAK:
        return (
            f"This is a {strength} guarantee, because δ = {chance(exact_decimal(privacy.delta))} "
            f"is large for the number of {words.many}."
        )
    certain = _guess("50 %", Fraction(1), _exponent(privacy)).most
    return (
        f"This is a {strength} guarantee: the bound allows an even guess to become {certain} "
        "certain. Attacks known today rarely get that far, but nothing here rules them out; treat "
        "the release with care and share it only with people you trust."
    )
