"""Signed releases: who vouches for a release, and whether it is still what was signed.

A signature is Ed25519 over everything that a release says, what its publisher says about it, and
the checksum of every array. It is stored with the release as ``signature.json``. The digest of a
release detects damage; only a signature, checked with a public key from another channel, shows that
nobody rewrote the release.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from privclust.exceptions import ReleaseError, install_hint
from privclust.release.npz import DamageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )


_ALGORITHM = "Ed25519"
# Signed together with the text, so that a signature made for something else never matches a
# release.
_PREFIX = b"privclust-release-signature 1\n"
_KEY_BYTES, _SIGNATURE_BYTES = 32, 64
_LARGEST_KEY_FILE = 2**14


@dataclass(frozen=True)
class Signature:
    """A signature and the public key that it was made for, both as hexadecimal text."""

    public_key: str
    value: str

    def to_json(self) -> bytes:
        """Return the content of ``signature.json``."""
        plain = {"algorithm": _ALGORITHM, "public_key": self.public_key, "signature": self.value}
        return (json.dumps(plain, indent=2) + "\n").encode("ascii")

    @classmethod
    def from_json(cls, content: bytes) -> Signature:
        """Read ``signature.json``, which is not trusted."""
        remedy = "remove signature.json or get a fresh copy"
        try:
            plain = json.loads(content.decode("utf-8"))
        except (ValueError, RecursionError):
            raise DamageError("signature.json is not valid JSON", remedy) from None
        if not isinstance(plain, dict) or plain.get("algorithm") != _ALGORITHM:
            raise DamageError("signature.json is not an Ed25519 signature", remedy)
        key = _hexadecimal(plain.get("public_key"), _KEY_BYTES)
        value = _hexadecimal(plain.get("signature"), _SIGNATURE_BYTES)
        if key is None or value is None or len(plain) != 3:
            raise DamageError("signature.json is not complete", remedy)
        return cls(key, value)

    def matches(self, document: Mapping[str, Any]) -> bool:
        """Return whether this is the signature of a document under its own public key."""
        keys = _keys()
        from cryptography.exceptions import InvalidSignature

        public = keys.Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.public_key))
        try:
            public.verify(bytes.fromhex(self.value), _message(document))
        except InvalidSignature:
            return False
        return True

    def found(self, document: Mapping[str, Any]) -> dict[str, str]:
        """Return who signed and whether it matches; unknown without the extra."""
        try:
            state = "fits" if self.matches(document) else "broken"
        except ReleaseError:
            state = "not checked"
        return {"key": self.public_key, "state": state}

    def check(
        self,
        document: Mapping[str, Any],
        public_key: Ed25519PublicKey | str | PathLike[str] | None,
    ) -> None:
        """Raise unless the signature matches the document, and the key if one is given."""
        wanted = None if public_key is None else public_key_from(public_key)
        if not self.matches(document):
            raise ReleaseError(
                "The signature does not match the release, which was changed after it was signed; "
                "get a fresh copy from its publisher."
            )
        if wanted not in (None, self.public_key):
            raise ReleaseError(
                "The release is signed with a key other than the one given; do not trust it."
            )


def sign_document(
    key: Ed25519PrivateKey | str | PathLike[str], document: Mapping[str, Any]
) -> Signature:
    """Return the signature of a document by a private key, or by that in a file."""
    _keys()
    private = _private_key(Path(key)) if isinstance(key, (str, PathLike)) else key
    value = private.sign(_message(document))
    return Signature(_raw(private.public_key()), value.hex())


def create_key(path: str | PathLike[str]) -> str:
    """Write a new private key, readable only by its owner, and return its public key.

    Parameters
    ----------
    path : path
        The file of the private key, which must not exist yet. The public key is written next to it,
        with ``.pub`` added to the name.

    Returns
    -------
    public_key : str
        As hexadecimal text, to be given to readers by another channel than the releases.
    """
    keys = _keys()
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
    )

    private = keys.Ed25519PrivateKey.generate()
    public = private.public_key()
    secret = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    shared = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    place = Path(path)
    _write_new(place, secret, 0o600)
    _write_new(place.with_name(place.name + ".pub"), shared, 0o644)
    return _raw(public)


def public_key_from(key: Ed25519PublicKey | str | PathLike[str]) -> str:
    """Return a public key as hexadecimal text, from such text or from a file."""
    keys = _keys()
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    if not isinstance(key, (str, PathLike)):
        return _raw(key)
    written = _hexadecimal(key, _KEY_BYTES)
    if written is not None:
        return written
    place = Path(key)
    content = _key_file(place)
    text = _hexadecimal(content.decode("ascii", errors="replace").strip(), _KEY_BYTES)
    if text is not None:
        return text
    try:
        public = load_pem_public_key(content)
    except Exception:
        public = None
    if not isinstance(public, keys.Ed25519PublicKey):
        raise ReleaseError(f"'{place}' is not an Ed25519 public key; give the file ending in .pub.")
    return _raw(public)


def _message(document: Mapping[str, Any]) -> bytes:
    """Return the bytes that are signed: the document in canonical form."""
    covered = {key: document[key] for key in document if key not in ("arrays_file", "digest")}
    return _PREFIX + json.dumps(covered, allow_nan=False, separators=(",", ":")).encode("ascii")


def _keys() -> Any:
    """Return the module of Ed25519 keys, an optional dependency."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ReleaseError(
            f"Signatures need the package 'cryptography'; {install_hint('signing')}."
        ) from None
    return ed25519


def _private_key(place: Path) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content = _key_file(place)
    try:
        private = load_pem_private_key(content, password=None)
    except TypeError:
        raise ReleaseError(
            f"The key in '{place}' is locked with a password; give an unlocked copy of it."
        ) from None
    except Exception:  # foreign errors differ by version, and may quote the key
        private = None
    if private is None or not isinstance(private, _keys().Ed25519PrivateKey):
        raise ReleaseError(
            f"'{place}' is not an Ed25519 private key; make one with 'privclust release keygen'."
        )
    return cast("Ed25519PrivateKey", private)


def _key_file(place: Path) -> bytes:
    try:
        with open(place, "rb") as file:
            return file.read(_LARGEST_KEY_FILE)
    except (OSError, ValueError):
        raise ReleaseError(f"The key '{place}' cannot be read; check the path.") from None


def _raw(public: Ed25519PublicKey) -> str:
    return public.public_bytes_raw().hex()


def _hexadecimal(text: object, length: int) -> str | None:
    """Return hexadecimal text of ``length`` bytes in lower case, or None for anything else."""
    if not isinstance(text, str) or len(text) != 2 * length:
        return None
    lower = text.lower()
    return lower if set(lower) <= set("0123456789abcdef") else None


def _write_new(place: Path, content: bytes, mode: int) -> None:
    try:
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except FileExistsError:
        raise ReleaseError(
            f"'{place}' exists, and keys are never replaced; choose another path."
        ) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ReleaseError(
            f"The key '{place}' cannot be written ({reason}); choose a writable path."
        ) from None
