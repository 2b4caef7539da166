"""Chance that is the same in two services: ids, tokens and one-time passwords are counted."""

from __future__ import annotations

import hashlib
import secrets
import sys
import uuid
from collections import Counter
from types import FrameType

import pytest


def with_counted_secrets(patch: pytest.MonkeyPatch) -> None:
    """Let the next secret of every function be the same in every service that is made now.

    Each function that draws has a count of its own: one job that ends earlier than another does not
    change what somebody else draws meanwhile.
    """
    drawn = Counter[str]()

    def text(asked: FrameType, length: int) -> str:
        who = asked.f_code.co_qualname
        drawn[who] += 1
        return hashlib.shake_256(f"{who} {drawn[who]}".encode()).hexdigest(length)

    def urlsafe(length: int = 32) -> str:
        return text(sys._getframe(1), length)[: -(-length * 4 // 3)]

    for module in ("secrets", "privclust.ledger.sqlite"):
        patch.setattr(f"{module}.token_hex", lambda length=32: text(sys._getframe(1), length))
    patch.setattr(secrets, "token_urlsafe", urlsafe)
    patch.setattr(
        "privclust.ledger.operations.uuid4", lambda: uuid.UUID(text(sys._getframe(1), 16))
    )
