"""The mechanisms: what turns an exact answer into one that may leave, and what that costs.

A mechanism is a frozen record of its noise and of the sensitivity it was made for. ``draw`` answers
once; ``loss`` is the privacy loss of that answer, about data sets that are neighbours in the sense
in which the sensitivity was derived. A mechanism knows nothing of rows: stating the neighbours and
the sensitivity is the business of the query that makes it. Proofs: one page each in ``proofs/``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from privclust.budget import Share
from privclust.privacy.additive import BallLaplace, DiscreteGaussian, DiscreteLaplace
from privclust.privacy.selections import Exponential, NoisyTopK, PermuteAndFlip

__all__ = [
    "AdditiveNoise",
    "BallLaplace",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "NoisyTopK",
    "PermuteAndFlip",
    "Selection",
    "additive_noise",
    "selection",
]

AdditiveNoise: TypeAlias = BallLaplace | DiscreteGaussian | DiscreteLaplace
Selection: TypeAlias = Exponential | NoisyTopK | PermuteAndFlip


def additive_noise(
    share: Share, *, l1_sensitivity: Fraction, squared_l2_sensitivity: Fraction
) -> DiscreteLaplace | DiscreteGaussian:
    """Return the noise for an integer vector that suits the currency of ``share``."""
    if share.currency == "pure":
        return DiscreteLaplace.within(share, l1_sensitivity)
    return DiscreteGaussian.within(share, squared_l2_sensitivity)


def selection(share: Share, *, score_range: Fraction) -> PermuteAndFlip | Exponential:
    """Return the selection that suits the currency of ``share``."""
    if share.currency == "pure":
        return PermuteAndFlip.within(share, score_range)
    return Exponential.within(share, score_range)
