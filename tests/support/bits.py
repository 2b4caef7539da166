"""Words that a test chooses."""

from __future__ import annotations

import numpy as np


class SameBits:
    """The same word again and again."""

    private = False

    def __init__(self, word: int) -> None:
        self.word = word

    def words(self, count: int) -> np.ndarray:
        return np.full(count, self.word, np.uint64)
