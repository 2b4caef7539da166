"""Seeded damage to good inputs, and what every answer to one must be: a result or one sentence.

A few inputs each in every run; ``PRIVCLUST_FUZZ=10000`` tries so many, as ``make fuzz`` does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from random import Random

INPUTS = int(os.environ.get("PRIVCLUST_FUZZ", "60"))

# What breaks parsers, and what the loaders themselves look for.
WORDS = [
    *('"', "'", "[", "]", "\n", "=", "{}", "-", ".", "\x00", "\ud7ff", "[" * 200, "9" * 400),
    *("nan", "inf", "1e999", "0x", "true", "2020-01-01", "date", "hours", "error", "category"),
    *("low", "high", "form", "missing", "edges", "values", "unknown"),
    *("columns", "ball", "csv", "ignore", "note", "delimiter", "decimal", "encoding", "quote"),
]
_PAGE = 4096


def damaged(content: bytes, chance: Random) -> bytes:
    """Return good bytes, some of them overwritten, cut out, doubled or put elsewhere."""
    made = bytearray(content)
    for _ in range(chance.randint(0, 6)):
        start = chance.randint(0, len(made))
        stop = min(len(made), start + chance.randint(0, 12))
        kinds = (
            chance.randbytes(chance.randint(0, 8)),
            bytes(made[start:stop]) * 2,
            bytes([chance.choice((0, 1, 127, 128, 255))]) * (stop - start),
            chance.choice(WORDS).encode(),
        )
        made[start:stop] = chance.choice(kinds)
    return bytes(made)


def overwritten(content: bytes, chance: Random) -> bytes:
    """Return a file of pages with bytes, bits or pages overwritten, so that pages stay in place."""
    made = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        page = chance.randrange(len(made) // _PAGE) * _PAGE
        # Half of the damage hits the first bytes of a page, which say what is on it.
        place = page + chance.randrange(chance.choice((16, _PAGE - 16)))
        length = chance.randint(1, 16)
        kind = chance.randrange(5)
        if kind == 0:
            made[place] ^= 1 << chance.randrange(8)
        elif kind == 1:
            made[place] = (made[place] + chance.choice((-1, 1))) % 256
        elif kind == 2:
            made[place : place + length] = chance.randbytes(length)
        elif kind == 3:
            made[place : place + length] = bytes([chance.choice((0, 1, 127, 255))]) * length
        else:
            other = chance.randrange(len(made) // _PAGE) * _PAGE
            made[page : page + _PAGE] = made[other : other + _PAGE]
    return bytes(made)


def attempts(
    content: bytes, damage: Callable[[bytes, Random], bytes] = damaged, inputs: int = INPUTS
) -> Iterator[bytes]:
    """Yield damaged inputs, the same in every run; the number of the failing one is in locals."""
    for number in range(inputs):
        yield damage(content, Random(number))


def as_one_sentence(error: BaseException, private: Collection[str] = ()) -> None:
    """Check that an error is one sentence, and that nothing it carries quotes a private value."""
    message = str(error)
    assert message.endswith((".", '."')), message
    assert "\nTraceback" not in message
    for link in chain(error):
        for value in private:
            assert value not in f"{link} {link.args!r}", f"{link!r} quotes {value}"


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all that it was raised from or during."""
    waiting, seen = [error], set()
    while waiting:
        link = waiting.pop()
        if id(link) not in seen:
            seen.add(id(link))
            yield link
            waiting += [it for it in (link.__cause__, link.__context__) if it is not None]
