"""How CSV files are written: a public fact like the others, never learned from the rows."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from privclust.exceptions import SchemaError
from privclust.schema.writing import check_decimal, check_format, check_thousands, check_words


@dataclass(frozen=True)
class Csv:
    """The dialect of CSV files; what is not declared is found in the header line, or is usual.

    Parameters
    ----------
    delimiter : str or None, default=None
        The character between fields. If not given, it is whichever of comma, semicolon, tab and bar
        splits the header line into the declared names.
    decimal : "." or ",", default="."
        The mark before the fraction of a number.
    encoding : str or None, default=None
        How characters are stored, such as ``"latin-1"``. If not given, UTF-8, or UTF-16 where the
        file begins with its mark.
    quote : str, default='"'
        The character around fields that hold delimiters; empty if no field is quoted.
    thousands : str, default=""
        The mark between thousands, such as ``"."`` in ``1.200,50``; one of ``. , ' _`` or a space.
    format : str or None, default=None
        How dates and times are written, such as ``"%d.%m.%Y"``; ISO 8601 if not given.
    true, false : sequence of str, default=()
        Words for yes and no where booleans are declared, such as ``["ja"]`` and ``["nein"]``.
    """

    delimiter: str | None = None
    decimal: str = "."
    encoding: str | None = None
    quote: str = '"'
    thousands: str = ""
    format: str | None = None
    true: Sequence[str] = ()
    false: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.delimiter is not None and not _is_mark(self.delimiter):
            raise SchemaError(
                'The delimiter must be one ASCII character, such as ";", and not a letter, digit '
                "or line end; correct it."
            )
        check_decimal(self.decimal)
        check_thousands(self.thousands)
        if self.format is not None:
            check_format(self.format)
        for name in ("true", "false"):
            object.__setattr__(self, name, check_words(getattr(self, name), name))
        if self.quote != "" and not _is_mark(self.quote):
            raise SchemaError(
                "The quote must be one ASCII character that is not a letter or digit, or empty; "
                "correct it."
            )
        if self.delimiter is not None and self.delimiter in (self.quote, self.decimal, "."):
            raise SchemaError(
                "The delimiter must differ from the quote and the decimal mark; correct one of "
                "them."
            )
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _known_encoding(self.encoding))

    def to_dict(self) -> dict[str, Any]:
        """Return what differs from the default, as in a file."""
        usual = asdict(Csv())
        changed = {key: value for key, value in asdict(self).items() if value != usual[key]}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in changed.items()}


def _is_mark(text: object) -> bool:
    if not isinstance(text, str) or len(text) != 1 or not text.isascii():
        return False
    return not text.isalnum() and text not in "\r\n\0"


def _known_encoding(name: object) -> str:
    """Return an encoding of text that exists; others (such as base64) change bytes only."""
    try:
        codec = codecs.lookup(str(name))
        if isinstance("".encode(codec.name), bytes):
            return codec.name
    except (LookupError, ValueError, TypeError):
        pass
    raise SchemaError(
        f'The encoding {name!r} is not known; use a name such as "utf-8" or "latin-1".'
    )
