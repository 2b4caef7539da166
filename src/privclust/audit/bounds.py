"""From counts to a bound on ε: the only statistics that the confidence of an audit rests on.

An event that happens with probability p on one data set and q on its neighbour refutes every
(ε, δ) with p > e^ε q + δ. The auditor counts the event in independent runs on both sides, bounds
p from below and q from above with the exact interval of Clopper and Pearson, each with half of
the allowed error, and reports ln((p - δ) / q).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from privclust._typing import Floats

__all__ = ["epsilon_bound", "probability_above", "probability_below"]


def probability_below(hits: ArrayLike, trials: int, error: float) -> Floats:
    """Return a lower bound on a probability, wrong with probability at most ``error``.

    Parameters
    ----------
    hits : int or array of ints
        How often the event happened.
    trials : int
        Number of independent runs.
    error : float
        Probability, above 0 and below 1, that the bound exceeds the true probability.
    """
    counts = np.asarray(hits, dtype=np.float64)
    bound = betaincinv(np.maximum(counts, 1), trials - counts + 1, error)
    return np.where(counts > 0, bound, 0.0)


def probability_above(hits: ArrayLike, trials: int, error: float) -> Floats:
    """Return an upper bound on a probability, wrong with probability at most ``error``.

    The parameters are those of :func:`probability_below`.
    """
    return 1.0 - probability_below(trials - np.asarray(hits), trials, error)


def epsilon_bound(
    likely_hits: ArrayLike, unlikely_hits: ArrayLike, trials: int, error: float, delta: float = 0.0
) -> Floats:
    """Return a lower bound on ε at ``delta``, wrong with probability at most ``error``.

    Parameters
    ----------
    likely_hits, unlikely_hits : int or array of ints
        How often the event happened on the data set where it is likelier, and on its neighbour.
    trials : int
        Number of independent runs on each of the two.
    error : float
        Total error probability; half of it goes to each of the two probabilities, so the bound
        holds whether or not the two sides are independent of each other.
    delta : float, default=0
        The δ at which ε is bounded.

    Returns
    -------
    array of floats
        May be negative or minus infinity, which says nothing about ε but still ranks events.
    """
    p = probability_below(likely_hits, trials, error / 2)
    q = probability_above(unlikely_hits, trials, error / 2)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(p - delta, 0.0)) - np.log(q)
