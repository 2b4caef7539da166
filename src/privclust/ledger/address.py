"""Where a ledger is, without its password.

A handle is copied, pickled, cloned, printed and kept as a parameter of estimators. So it never
holds a password: one in an address is removed and remembered by this process alone. Another process
needs ``PGPASSWORD`` or ``~/.pgpass``.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from privclust.exceptions import LedgerError

_PARTS = re.compile(
    r"(?P<scheme>postgres(?:ql)?)://(?:(?P<user>[^/?@:]*)(?::(?P<password>[^/?@]*))?@)?"
    r"(?P<host>(?:\[[^\]/?@]*\]|[^/?@:\[\]])*(?::\d*)?(?:,[^/?@]*)?)"
    r"(?P<path>/[^?@]*)?(?:\?(?P<query>.*))?"
)

_passwords: dict[str, str] = {}


def is_server(address: str) -> bool:
    """Return whether an address is that of a server, not of a file."""
    return "://" in address


def has_password(address: str) -> bool:
    """Return whether an address contains a password."""
    return is_server(address) and _split(address)[1] is not None


def without_password(address: str) -> str:
    """Return the address to keep; a password in it is remembered by this process."""
    scheme = address.split("://", 1)[0] if is_server(address) else ""
    if not scheme:
        return str(Path(address).expanduser().absolute())
    if scheme not in ("postgresql", "postgres"):
        raise LedgerError(
            f"A ledger is the path of an SQLite file or a postgresql:// address, not {scheme}://."
        )
    kept, password = _split(address)
    if password is not None:
        _passwords[kept] = password
    return kept


def password_for(address: str) -> str | None:
    """Return the password that was given to this process with the address."""
    return _passwords.get(address)


def display_address(address: str) -> str:
    """Return the address for readers: no password, and no settings of the connection."""
    return address.partition("?")[0] if is_server(address) else address


def _split(address: str) -> tuple[str, str | None]:
    """Return the address without a password, and the password."""
    parts = _PARTS.fullmatch(address)
    settings = parts["query"].split("&") if parts and parts["query"] else []
    names = [unquote(setting.partition("=")[0]) for setting in settings]
    if parts is None or not all("=" in setting for setting in settings) or "sslpassword" in names:
        raise LedgerError(
            "The address of the ledger cannot be read; write postgresql://user@host/database and "
            "leave passwords to PGPASSWORD, ~/.pgpass or a service file."
        )
    others = [it for it, name in zip(settings, names, strict=True) if name != "password"]
    secrets = [it for it, name in zip(settings, names, strict=True) if name == "password"]
    written = [parts["password"], *(secret.partition("=")[2] for secret in secrets)]
    user = f"{parts['user']}@" if parts["user"] is not None else ""
    query = f"?{'&'.join(others)}" if others else ""
    kept = f"{parts['scheme']}://{user}{parts['host']}{parts['path'] or ''}{query}"
    passwords = [unquote(word) for word in written if word]
    return kept, passwords[-1] if passwords else None
