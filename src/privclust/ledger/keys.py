"""Public keys by which readers check signatures of releases, as a ledger writes them down."""

from __future__ import annotations

import base64
import binascii
import re

from privclust.exceptions import LedgerError

__all__ = ["public_key"]

_HEX = re.compile(r"[0-9a-fA-F]{64}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{43}=?")


def public_key(text: str) -> str:
    """Return an Ed25519 public key, given as hex or base64, as 64 hex digits.

    Parameters
    ----------
    text : str
        The 32 bytes of the key as 64 hex digits or as base64, with or without ``ed25519:`` before.
    """
    bare = text.strip().removeprefix("ed25519:")
    if _HEX.fullmatch(bare):
        return bare.lower()
    if _BASE64.fullmatch(bare):
        padded = bare.rstrip("=").replace("-", "+").replace("_", "/") + "="
        try:
            return base64.b64decode(padded, validate=True).hex()
        except binascii.Error:
            pass
    raise LedgerError(
        "A public key is the 32 bytes of an Ed25519 key as 64 hex digits or as base64; give the "
        "public key, never the private one."
    )
