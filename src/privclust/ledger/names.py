"""Names of data sets and holders: one name for everything that looks the same.

Two names that a reader cannot tell apart would be two data sets with a budget each. So a name is
put into one form (Unicode's NFKC, single blanks inside, none at the ends) wherever it enters, and a
name that holds invisible characters is refused.
"""

from __future__ import annotations

import re
import unicodedata

from privclust.exceptions import LedgerError

__all__ = ["LONGEST", "name_of", "text_of"]

LONGEST = 200

# What Unicode counts as printable although nothing is seen of it: joiners, fillers, selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)


def name_of(what: str, text: str) -> str:
    """Return the one form of a name, if it can serve as one.

    Parameters
    ----------
    what : str
        What is named, for the message.
    text : str
        The name as somebody wrote it.
    """
    if not isinstance(text, str):
        raise LedgerError(f"The {what} is named by text, not by {type(text).__name__}.")
    name = re.sub(" +", " ", unicodedata.normalize("NFKC", text)).strip(" ")
    if not name:
        raise LedgerError(f"The {what} needs a name.")
    if _UNSEEN.search(name):
        raise LedgerError(
            f"The name of the {what} holds invisible characters ({name[:50]!a}); leave them out."
        )
    return text_of(what, name)


def text_of(what: str, text: str, longest: int = LONGEST) -> str:
    """Return a text if it is short and printable."""
    if len(text) > longest or not text.isprintable():
        raise LedgerError(
            f"The {what} must be at most {longest} printable characters, got {text[:50]!a}."
        )
    return text
