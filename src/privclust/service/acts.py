"""The trail of acts: who did what, when and from where; for auditors, and one line in the log each.

The ledger says what was granted, charged and released. This says the rest: who signed in and who
failed to, who froze, who made an account or a token.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass

from privclust.service import clock
from privclust.service.database import Database

log = logging.getLogger("privclust.service")

_LONGEST = 300


@dataclass(frozen=True)
class Act:
    """One line of the trail.

    Attributes
    ----------
    number : int
        Position, from 1.
    at : int
        Seconds since 1970 in UTC.
    who : str
        The name of an account; for a sign-in that failed, the name that was tried.
    address : str
        Where the request came from.
    act : str
        What was done.
    what : str
        To what, or to whom.
    """

    number: int
    at: int
    who: str
    address: str
    act: str
    what: str

    def to_dict(self) -> dict[str, object]:
        """Return the line as plain data."""
        return asdict(self)


class Acts:
    """The trail.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, who: str, address: str, act: str, what: str = "") -> None:
        """Write down what was done."""
        line = (who[:_LONGEST], address[:_LONGEST], act, what[:_LONGEST])
        with self._database.writing() as together:
            together.run(
                "INSERT INTO service_acts (number, at, who, address, act, what) "
                "SELECT coalesce(max(number), 0) + 1, ?, ?, ?, ?, ? FROM service_acts",
                (clock.now(), *line),
            )
        told = dict(zip(("user", "address", "act", "what"), line, strict=True))
        log.info("act", extra=told)

    def all(self) -> list[Act]:
        """Return the trail, the oldest act first."""
        sql = "SELECT number, at, who, address, act, what FROM service_acts ORDER BY number"
        return [Act(*row) for row in self._database.rows(sql)]
