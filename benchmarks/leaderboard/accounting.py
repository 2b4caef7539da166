"""Normal noise that just fits a budget, exactly: to the favour of methods in our own words."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr


def largest_shift(epsilon: float, delta: float) -> float:
    """Return by how many standard deviations normal noise may be shifted within (ε, δ)."""

    def excess(log_shift: float) -> float:
        shift = math.exp(log_shift)
        left, right = shift / 2 - epsilon / shift, -shift / 2 - epsilon / shift
        return float(np.exp(log_ndtr(left)) - np.exp(epsilon + log_ndtr(right))) - delta

    return math.exp(brentq(excess, -30.0, math.log(10 * (1 + math.sqrt(epsilon)) ** 2)))
