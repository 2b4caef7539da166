"""Declared terms that are a little too small, as a wrong proof would have them."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from fractions import Fraction
from types import SimpleNamespace
from unittest.mock import patch

from privclust.data.question import Pick, Question, Term


@contextmanager
def shrunk_terms(factor: Fraction):
    """Have every step between neighbours change a statistic by only this share of what it does."""
    original = Term.over

    def over(self, step):
        size = original(self, step)
        parts = {"l1": size.l1, "square": factor * size.square, "length": size.length}
        return SimpleNamespace(**{name: factor * part for name, part in parts.items()})

    with patch.object(Term, "over", over):
        yield


@contextmanager
def unguarded():
    """Let exact integers reach the noise as kernels find them, not held to what is declared.

    Otherwise a few rows could hide that too little is declared.
    """
    with ExitStack() as stack:
        for kind in (Question, Pick):
            stack.enter_context(patch.object(kind, "held", lambda self, exact, n_rows: exact))
        yield
