"""Errors that a user can meet, each as one sentence on one line; anything else is a defect."""

from __future__ import annotations

__all__ = ["expected_errors", "sentence_of"]


def expected_errors() -> tuple[type[Exception], ...]:
    """Return the errors that are answers, not defects."""
    return (ValueError, OSError)


def sentence_of(error: Exception) -> str:
    """Return what an expected error says; a path in it may hold line breaks, an answer does not."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        where = f"'{error.filename}': " if error.filename else ""
        text = f"{where}{error.strerror}."
    return " ".join(text.split())
