"""Errors that a user can meet, each as one sentence on one line; anything else is a defect."""

from __future__ import annotations

__all__ = ["expected_errors", "sentence_of", "with_notes"]


def expected_errors() -> tuple[type[Exception], ...]:
    """Return the errors that are answers, not defects."""
    return (ValueError, OSError, MemoryError)


def sentence_of(error: BaseException) -> str:
    """Return what an expected error says; a path in it may hold line breaks, an answer does not."""
    text = str(error)
    if isinstance(error, MemoryError):
        text = "There is not enough memory; ask for less, or use a larger machine."
    if isinstance(error, OSError) and error.strerror:
        where = f"'{error.filename}': " if error.filename else ""
        text = f"{where}{error.strerror}."
    return with_notes(text, error)


def with_notes(sentence: str, error: BaseException) -> str:
    """Return the sentence with what was added on the error's way, such as what stays charged."""
    notes = [note[:1].lower() + note[1:].rstrip(".") for note in getattr(error, "__notes__", [])]
    whole = f"{sentence.rstrip('.')}; {'; '.join(notes)}." if notes else sentence
    return " ".join(whole.split())
