"""Logs: one JSON object per line, of facts that are listed here, so that no row is among them."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

__all__ = ["log_to_stderr"]

# What may stand in a line besides its time and message. Nothing else is written, whatever is given.
_ALLOWED = ("job", "stored", "method", "route", "status", "milliseconds", "user", "error")


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in _ALLOWED if hasattr(record, name)}
        return json.dumps(line)


def log_to_stderr() -> None:
    """Write what the service logs to the standard error stream."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    logger = logging.getLogger("privclust.service")
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False
