"""The privacy statement in plain words, for readers new to differential privacy.

Every sentence is a consequence of the definition: with pure ε, the odds of any two neighbouring
data sets change by a factor of at most e^ε, whatever the prior knowledge about the rest; δ bounds
the chance that this fails. Words never sound stronger than the numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from privclust.privacy.statement import PrivacyStatement

__all__ = ["Guess", "Promise", "decimal", "factor", "percent", "promise_in_words"]

_PRIORS = (0.01, 0.1, 0.5)
_WEAK, _VERY_WEAK = 5, 10
_LARGE_DELTA, _VERY_LARGE_DELTA = Fraction(1, 1000), Fraction(1, 10)
# δ is a chance for each row: it should be far below one in the number of rows, or else below this.
_SMALL_DELTA = Fraction(1, 10**5)
_FAR_BELOW = 10


@dataclass(frozen=True)
class Guess:
    """How far a guess can move: what someone believed before, and the extremes afterwards."""

    before: str
    least: str
    most: str


@dataclass(frozen=True)
class Promise:
    """The promise of a release in words.

    Attributes
    ----------
    strength : str
        One or two words: "strong", "moderate", "weak" or "very weak".
    odds : str
        The promise as a bound on odds.
    verdict : str
        What the strength means, in a sentence.
    guess : str
        What the guesses are about.
    guesses : tuple of Guess
        Examples.
    delta : str
        About the chance of failure; empty when there is none.
    limits : tuple of str
        What is not promised.
    """

    strength: str
    odds: str
    verdict: str
    guess: str
    guesses: tuple[Guess, ...]
    delta: str
    limits: tuple[str, ...]


# What a guess is about, the guess itself, and what the unit leaves open.
_UNITS = {
    "add-remove-row": (
        "that a given row is in the data",
        "that this row is in the data",
        "Each row is protected by itself. If one person has several rows, the protection of the "
        "person as a whole is weaker: the factor is multiplied once for every row.",
    ),
    "replace-row": (
        "between any two guesses about what a given row says",
        "that the row says one thing and not another",
        "How many rows there are is not protected, only what they say. If one person has several "
        "rows, the protection of the person as a whole is weaker.",
    ),
    "person": (
        "that a given person is in the data",
        "that this person is in the data",
        "All rows of a person are protected together, as far as they carry the same identifier.",
    ),
}
_OTHER_UNIT = (
    "between the data with and without what is protected",
    "that it is in the data",
    "The protection covers what the sentence above names, and nothing larger.",
)
_GENERAL_LIMIT = (
    "It hides individuals, not facts about groups. What the clusters show about many people can "
    "be learned and used, even about someone who took no part."
)
_ADDING_UP = (
    "Losses add up. If more is published about the same data, the factors multiply, unless all of "
    "it is counted in one budget."
)


def promise_in_words(privacy: PrivacyStatement, rows: float | None = None) -> Promise:
    """Say what a statement promises.

    Parameters
    ----------
    privacy : PrivacyStatement
        The statement.
    rows : float or None
        The released, noisy number of rows, to judge the size of δ by.
    """
    epsilon = float(privacy.epsilon)
    odds, guess, limit = _UNITS.get(str(privacy.unit.get("name")), _OTHER_UNIT)
    strength = _strength(epsilon, privacy.delta, rows)
    return Promise(
        strength=strength,
        odds=(
            f"Whatever someone knew before, seeing this release can change the odds {odds} by at "
            f"most a factor of e^ε ≈ {factor(epsilon)}"
            + (", except for a small chance δ of failure." if privacy.delta else ".")
        ),
        verdict=_verdict(strength, epsilon, privacy.delta),
        guess=guess,
        guesses=tuple(_guess(prior, epsilon) for prior in _PRIORS),
        delta=_delta(privacy.delta, rows),
        limits=(limit, _GENERAL_LIMIT, _ADDING_UP),
    )


def factor(epsilon: float) -> str:
    """Return e^ε for a reader; large ones in round numbers."""
    if epsilon > 14:  # above a million
        return f"10^{math.floor(epsilon / math.log(10))}"
    value = math.exp(epsilon)
    if value >= 10:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 1.2 else f"{value:.2g}"


def percent(share: float) -> str:
    """Return a probability for a reader, never rounded to certainty."""
    value = 100 * share
    if 0 < value < 0.001:
        return "less than 0.001 %"
    if value > 99.999:
        return "more than 99.999 %"
    if value > 99:  # as many digits as tell it from 100
        digits = -math.floor(math.log10(100 - value))
        return f"{value:.{digits}f} %"
    text = f"{value:.2g}" if value < 10 else f"{value:.0f}"
    return f"{text} %"


def decimal(amount: Fraction) -> str:
    """Return an exact amount as a short decimal."""
    return f"{float(amount):.4g}"


def _guess(prior: float, epsilon: float) -> Guess:
    # In logits, so that no ε is too large to compute with.
    logit = math.log(prior / (1 - prior))
    least, most = (_logistic(logit + step) for step in (-epsilon, epsilon))
    return Guess(percent(prior), percent(least), percent(most))


def _logistic(logit: float) -> float:
    small = math.exp(-abs(logit))
    return 1 / (1 + small) if logit > 0 else small / (1 + small)


def _strength(epsilon: float, delta: Fraction, rows: float | None) -> str:
    """Return the strength in words: the weaker of what ε alone and what δ alone would be called."""
    if epsilon > _VERY_WEAK or delta > _VERY_LARGE_DELTA:
        return "very weak"
    if epsilon > _WEAK or delta > _LARGE_DELTA or _expected_failures(delta, rows) > 1:
        return "weak"
    return "strong" if epsilon <= 1 and _is_small(delta, rows) else "moderate"


def _expected_failures(delta: Fraction, rows: float | None) -> float:
    """Return in how many rows the bound may fail on average, if the number of rows is known."""
    return 0.0 if rows is None else max(rows, 0.0) * float(delta)


def _is_small(delta: Fraction, rows: float | None) -> bool:
    if rows is None or rows < 1:
        return delta <= _SMALL_DELTA
    return _FAR_BELOW * _expected_failures(delta, rows) <= 1


def _verdict(strength: str, epsilon: float, delta: Fraction) -> str:
    if strength == "strong":
        return "This is a strong guarantee: a single release of this kind gives little away."
    if strength == "moderate" and epsilon <= 1:
        return (
            "This is a moderate guarantee: ε is small, but the chance δ of failure is not far "
            "enough below one divided by the number of rows."
        )
    if strength == "moderate":
        return (
            "This is a moderate guarantee: nobody becomes certain, but a suspicion can grow "
            "noticeably."
        )
    if epsilon <= _WEAK:
        return (
            f"This is a {strength} guarantee, because the chance δ of failure, "
            f"{float(delta):g}, is large for the number of rows."
        )
    certain = percent(_logistic(epsilon))
    return (
        f"This is a {strength} guarantee: in the worst case an even guess becomes {certain} "
        "certain. Attacks known today rarely get that far, but nothing here rules them out; treat "
        "the release with care and share it only with people you trust."
    )


def _delta(delta: Fraction, rows: float | None) -> str:
    if not delta:
        return ""
    text = (
        f"This bound may fail with a probability of at most δ = {float(delta):g} "
        f"(1 in {float(1 / delta):,.0f})."
    )
    if not _is_small(delta, rows):
        text += " That is not small: δ should be far below one divided by the number of rows."
    return text
