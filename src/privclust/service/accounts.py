"""Users, their passwords, their sessions and their tokens.

Secrets are stored as digests: a password by Argon2, a session and a token by SHA-256, because these
are 256 random bits that nobody can guess.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from privclust.ledger.ledger import EVERYONE
from privclust.ledger.operations import name_of
from privclust.ledger.transaction import LedgerTransaction
from privclust.service import clock
from privclust.service.database import Database
from privclust.service.errors import ConflictError, NotFoundError, ServiceError

ROLES: Final = ("steward", "analyst", "auditor")
SCOPES: Final = ("read", "run", "steward")
SHORTEST_PASSWORD: Final = 12
_LONGEST_PASSWORD = 200
_LONGEST_NAME = 60
_MOST_DAYS = 366
_COLUMNS = "id, name, role, must_change"


@dataclass(frozen=True)
class User:
    """Somebody who has an account."""

    id: str
    name: str
    role: str
    must_change: bool

    @property
    def is_steward(self) -> bool:
        """Whether the user may register data and grant budgets."""
        return self.role == "steward"

    @property
    def is_analyst(self) -> bool:
        """Whether the user asks questions and is granted budgets."""
        return self.role == "analyst"

    @property
    def reads_ledger(self) -> bool:
        """Whether the user may read statements of the ledger."""
        return self.role in ("steward", "auditor")


@dataclass(frozen=True)
class Session:
    """A browser that signed in, the token that its forms carry, and a notice for everybody."""

    user: User
    form: str
    notice: str = ""


@dataclass(frozen=True)
class Token:
    """A token for programs, as its owner sees it later: without its text."""

    id: str
    name: str
    scope: str
    expires: int
    revoked: bool


class Accounts:
    """Who may use the service.

    ``hasher``: how passwords are stored; Argon2id with the library's own settings if not given.
    ``one_time_hours``: how long a one-time password lasts that nobody uses.
    """

    def __init__(
        self,
        database: Database,
        hasher: PasswordHasher | None = None,
        session_hours: int = 12,
        one_time_hours: int = 72,
    ) -> None:
        self._database, self._hasher = database, hasher or PasswordHasher()
        self._seconds, self._one_time = session_hours * 3600, one_time_hours * 3600
        # A name that does not exist is refused after as long a time as a wrong password.
        self._nobody = self._hasher.hash(secrets.token_hex(16))

    # Accounts.
    def add(self, name: str, role: str) -> str:
        """Make an account and return its one-time password, which is shown once."""
        name = name_of("user", name)
        if name.lower() == EVERYONE or len(name) > _LONGEST_NAME:
            raise ServiceError(
                f"A user name has at most {_LONGEST_NAME} characters; choose another."
            )
        if role not in ROLES:
            raise ServiceError(f"A role is one of {', '.join(ROLES)}; choose one.")
        password = secrets.token_urlsafe(15)
        with self._database.write_transaction() as together:
            if together.run("SELECT 1 FROM service_users WHERE name = ?", (name,)):
                raise ConflictError("That user name is, or was, in use; choose another one.")
            self._insert(together, name, role, self._hasher.hash(password), must_change=True)
        return password

    def _insert(
        self, together: LedgerTransaction, name: str, role: str, password: str, *, must_change: bool
    ) -> None:
        expires = clock.now() + self._one_time if must_change else 0
        values = (secrets.token_hex(8), name, role, password, must_change + 0, clock.now(), expires)
        together.run("INSERT INTO service_users VALUES (?, ?, ?, ?, ?, 1, ?, ?, 0)", values)

    def all(self) -> list[tuple[User, bool]]:
        """Return every user, and whether the account is open."""
        sql = f"SELECT {_COLUMNS}, active FROM service_users WHERE deleted = 0 ORDER BY name"  # noqa: S608
        return [(_user(row[:4]), bool(row[4])) for row in self._database.rows(sql)]

    def by_name(self, name: str) -> User:
        """Return the user of a name."""
        name = name_of("user", name)
        for user, _ in self.all():
            if user.name == name:
                return user
        raise NotFoundError("There is no user of that name; check the spelling.")

    def by_id(self, user_id: str) -> User:
        """Return the user of an id."""
        sql = f"SELECT {_COLUMNS} FROM service_users WHERE id = ? AND deleted = 0"  # noqa: S608
        return _user(self._database.row(sql, user_id))

    def reset(self, user: User) -> str:
        """Return a new one-time password; all sessions and tokens of the user end."""
        password = secrets.token_urlsafe(15)
        self._set_password(user, password, must_change=True)
        return password

    def delete(self, user: User, by: User) -> None:
        """Delete an account for good; ledger and trail keep its name, which nobody can have again.

        ``by``: the steward who deletes it, and who is somebody else.
        """
        if user.id == by.id:
            raise ServiceError("You cannot delete your own account; ask another steward.")
        with self._database.write_transaction() as together:
            together.run(
                "UPDATE service_users SET active = 0, deleted = ?, password = '', must_change = 1, "
                "password_expires = 0 WHERE id = ?",
                (clock.now(), user.id),
            )
            for table in ("sessions", "tokens", "access"):
                together.run(f"DELETE FROM service_{table} WHERE user_id = ?", (user.id,))  # noqa: S608

    def set_active(self, user: User, *, active: bool) -> None:
        """Open or close an account; when it is closed, all its sessions and tokens end."""
        with self._database.write_transaction() as together:
            together.run("UPDATE service_users SET active = ? WHERE id = ?", (active + 0, user.id))
            together.run("DELETE FROM service_sessions WHERE user_id = ?", (user.id,))
            if not active:
                sql = "UPDATE service_tokens SET revoked = 1 WHERE user_id = ?"
                together.run(sql, (user.id,))

    def change_password(self, user: User, old: str, new: str) -> str:
        """Set a password that the user chose, and return the cookie of a new session.

        All other sessions and tokens of the user end.
        """
        if not self._fits(user.name, old):
            raise ServiceError("The current password is wrong; type it again.")
        if not SHORTEST_PASSWORD <= len(new) <= _LONGEST_PASSWORD or new == old:
            raise ServiceError(
                f"A password has at least {SHORTEST_PASSWORD} characters and is a new one; "
                "choose another."
            )
        self._set_password(user, new, must_change=False)
        return self._begin_session(user)

    def _set_password(self, user: User, password: str, *, must_change: bool) -> None:
        stored = self._hasher.hash(password)
        with self._database.write_transaction() as together:
            expires = clock.now() + self._one_time if must_change else 0
            sql = "UPDATE service_users SET password = ?, must_change = ?, password_expires = ?"
            together.run(f"{sql} WHERE id = ?", (stored, must_change + 0, expires, user.id))
            together.run("DELETE FROM service_sessions WHERE user_id = ?", (user.id,))
            together.run("UPDATE service_tokens SET revoked = 1 WHERE user_id = ?", (user.id,))

    def _fits(self, name: str, password: str) -> bool:
        """Return whether the password fits the name; it takes as long if there is no such name."""
        sql = (
            "SELECT password FROM service_users WHERE name = ? AND active = 1 "
            "AND (must_change = 0 OR password_expires > ?)"
        )
        rows = self._database.rows(sql, name, clock.now())
        try:
            self._hasher.verify(rows[0][0] if rows else self._nobody, password[:_LONGEST_PASSWORD])
        except (Argon2Error, InvalidHashError):
            return False
        return bool(rows)

    # Sessions.
    def sign_in(self, name: str, password: str) -> str | None:
        """Return the cookie of a new session, or None if the name or the password is wrong."""
        try:
            known = name_of("user", name)
        except ValueError:
            known = ""
        if not self._fits(known, password):
            return None
        return self._begin_session(self.by_name(known))

    def sign_in_external(self, name: str, role: str | None = None) -> str | None:
        """Return the cookie of a new session of somebody whom a provider vouches for.

        A one-time password that was never used ends with it.

        ``role``: the role that the provider's groups give; then an account is made if there is
        none.
        """
        try:
            known = name_of("user", name)
        except ValueError:
            return None
        if role is not None:
            self._take_role(known, role)
        sql = "UPDATE service_users SET password = '', must_change = 0 "
        self._database.write(sql + "WHERE name = ? AND active = 1 AND must_change = 1", known)
        users = [user for user, active in self.all() if active and user.name == known]
        return self._begin_session(users[0]) if users else None

    def _take_role(self, name: str, role: str) -> None:
        """Make an account with a role, or change its role; then tokens of the old role end."""
        with self._database.write_transaction() as together:
            sql = "SELECT id, role FROM service_users WHERE name = ?"
            rows = together.run(sql, (name,))
            if not rows:
                if name.lower() != EVERYONE and len(name) <= _LONGEST_NAME:
                    self._insert(together, name, role, "", must_change=False)
            elif rows[0][1] != role:
                for table in ("sessions", "tokens"):
                    sql = f"DELETE FROM service_{table} WHERE user_id = ?"  # noqa: S608
                    together.run(sql, (rows[0][0],))
                sql = "UPDATE service_users SET role = ? WHERE id = ?"
                together.run(sql, (role, rows[0][0]))

    def _begin_session(self, user: User) -> str:
        cookie = secrets.token_urlsafe(32)
        row = (_digest(cookie), user.id, secrets.token_urlsafe(32), clock.now() + self._seconds)
        with self._database.write_transaction() as together:
            together.run("DELETE FROM service_sessions WHERE expires < ?", (clock.now(),))
            together.run("INSERT INTO service_sessions VALUES (?, ?, ?, ?)", row)
        return cookie

    def session(self, cookie: str) -> Session | None:
        """Return the session of a cookie, if it lasts."""
        sql = (
            "SELECT u.id, u.name, u.role, u.must_change, s.form, (SELECT text FROM "
            "service_notices WHERE name = 'maintenance') FROM service_sessions s "
            "JOIN service_users u ON u.id = s.user_id "
            "WHERE s.id = ? AND s.expires > ? AND u.active = 1"
        )
        rows = self._database.rows(sql, _digest(cookie), clock.now())
        return Session(_user(rows[0][:4]), rows[0][4], rows[0][5] or "") if rows else None

    def sign_out(self, cookie: str) -> None:
        """End a session."""
        self._database.write("DELETE FROM service_sessions WHERE id = ?", _digest(cookie))

    # Tokens.
    def add_token(self, user: User, name: str, scope: str, days: int) -> str:
        """Return the text of a new token, which is shown once."""
        allowed = SCOPES if user.is_steward else SCOPES[:2]
        if scope not in allowed or (user.role == "auditor" and scope != "read"):
            raise ServiceError("You cannot give a token that scope; choose a smaller one.")
        if not 1 <= days <= _MOST_DAYS:
            raise ServiceError(f"A token lasts from 1 to {_MOST_DAYS} days; change the number.")
        text, now = f"pc_{secrets.token_urlsafe(32)}", clock.now()
        values = (secrets.token_hex(8), _digest(text), user.id, name_of("token", name), scope)
        sql = "INSERT INTO service_tokens VALUES (?, ?, ?, ?, ?, ?, 0, ?)"
        self._database.write(sql, *values, now + 86400 * days, now)
        return text

    def tokens(self, user: User) -> list[Token]:
        """Return the tokens of a user, the newest first."""
        sql = (
            "SELECT id, name, scope, expires, revoked FROM service_tokens WHERE user_id = ? "
            "ORDER BY created DESC, id"
        )
        rows = self._database.rows(sql, user.id)
        return [Token(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows]

    def revoke(self, user: User, token_id: str) -> None:
        """End one of the user's tokens, at once and for good."""
        sql = "UPDATE service_tokens SET revoked = 1 WHERE id = ? AND user_id = ? RETURNING id"
        if not self._database.write(sql, token_id, user.id):
            raise NotFoundError

    def holder_of(self, text: str) -> tuple[User, str] | None:
        """Return whose token this is and its scope, if it is good."""
        sql = (
            "SELECT u.id, u.name, u.role, u.must_change, t.scope FROM service_tokens t "
            "JOIN service_users u ON u.id = t.user_id WHERE t.digest = ? AND t.expires > ? "
            "AND t.revoked = 0 AND u.active = 1 AND u.must_change = 0"
        )
        rows = self._database.rows(sql, _digest(text), clock.now())
        return (_user(rows[0][:4]), str(rows[0][4])) if rows else None


def _user(row: tuple[object, ...]) -> User:
    return User(str(row[0]), str(row[1]), str(row[2]), bool(row[3]))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", errors="replace")).hexdigest()
