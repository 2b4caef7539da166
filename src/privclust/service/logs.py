"""Logs: one JSON object per line, of facts that are listed here, so that no row is among them."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

# What may stand in a line besides its time and message. Nothing else is written, whatever is given.
_ALLOWED = (
    "job",
    "stored",
    "method",
    "route",
    "status",
    "milliseconds",
    "user",
    "error",
    "address",
    "act",
    "what",
)

_LEVELS = {
    "privclust.service": logging.INFO,
    "uvicorn": logging.WARNING,
    "uvicorn.error": logging.WARNING,
    "asyncio": logging.WARNING,
}


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        ours = record.name.startswith("privclust.")
        line = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "level": record.levelname.lower(),
            # Of other libraries the words alone: what they put in, and tracebacks, may hold values.
            "message": record.getMessage() if ours else str(record.msg),
        }
        line |= {name: getattr(record, name) for name in _ALLOWED if hasattr(record, name)}
        return json.dumps(line)


def log_to_stderr() -> None:
    """Write what the service logs to the standard error stream."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    for name, level in _LEVELS.items():
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
