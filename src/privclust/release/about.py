"""What a publisher says about a release: its title, whose data they were, whom to ask.

None of it comes from the data, so it may be added at any time. It is not part of the digest, which
a ledger knows before anything is published; a signature covers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from privclust.exceptions import ReleaseError
from privclust.release.errors import DamageError

__all__ = ["About"]

_LONGEST = 2000  # characters


@dataclass(frozen=True)
class About:
    """What stands at the head of the page about a release; all of it is public and optional.

    Parameters
    ----------
    title : str or None
        What the release is called.
    dataset : str or None
        The data that were clustered.
    holder : str or None
        Who holds them.
    contact : str or None
        Whom to ask.
    purpose : str or None
        What the release was made for.
    names : sequence of str
        Public names of what a release numbers: the columns of a co-clustering, the new centres of
        a source-target release.
    """

    title: str | None = None
    dataset: str | None = None
    holder: str | None = None
    contact: str | None = None
    purpose: str | None = None
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in _LINES:
            object.__setattr__(self, name, _checked_line(name, getattr(self, name)))
        if isinstance(self.names, str) or not all(isinstance(name, str) for name in self.names):
            raise ReleaseError(
                "The names of a release must be a list of text; give one name per item."
            )
        object.__setattr__(self, "names", tuple(_one_line(name) for name in self.names))

    @property
    def lines(self) -> dict[str, str]:
        """What is said, without the names, by what it is about."""
        lines = {name: getattr(self, name) for name in _LINES}
        return {name: text for name, text in lines.items() if text is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return what is said as plain data."""
        return self.lines | ({"names": list(self.names)} if self.names else {})

    @classmethod
    def from_dict(cls, plain: Any) -> About:
        """Read it back from :meth:`to_dict`; the data come from a file and are not trusted."""
        known = {field.name for field in fields(cls)}
        if not isinstance(plain, Mapping) or not set(plain) <= known:
            raise DamageError("'about' in release.json holds something that is not known here")
        if not isinstance(plain.get("names", []), list):
            raise DamageError("the names in release.json are not a list")
        try:
            return cls(**plain)
        except ReleaseError:
            raise DamageError("'about' in release.json is not plain text") from None


_LINES = ("title", "dataset", "holder", "contact", "purpose")


def _checked_line(name: str, text: object) -> str | None:
    if text is None:
        return None
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise ReleaseError(f"The {name} of a release must be short text; shorten or drop it.")
    return _one_line(text) or None


def _one_line(text: str) -> str:
    """Return printable text on one line; half a surrogate pair could not be written to a file."""
    readable = text.encode("utf-8", errors="replace").decode("utf-8")
    return " ".join("".join(char if char.isprintable() else " " for char in readable).split())
