"""The bot's log: one JSON object per line on stderr, without the token in any case."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from uci_bridge.bot.lichess import Token


class JsonLines(logging.Formatter):
    """Format a record as one JSON object: ``time`` (UTC), ``level``, ``event``, then the record's ``fields``, and a
    ``traceback`` if there is one. The token should never reach the log; if it does, it is replaced here.
    """

    def __init__(self, token: Token | None = None) -> None:
        super().__init__()
        self.token = token

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its newline."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": when.replace("+00:00", "Z"), "level": record.levelname.lower(), "event": record.getMessage()}
        if not record.name.startswith("uci_bridge"):
            line["logger"] = record.name
        for name, value in getattr(record, "fields", {}).items():
            line.setdefault(name, value)
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        text = json.dumps(line, default=str)  # in ASCII, of which a terminal obeys nothing
        return text if self.token is None else self.token.hide(text)


def log_to_stderr(level: int) -> JsonLines:
    """Send all logging of this process to stderr; return the formatter, so that it can be given the token once that is
    read.
    """
    handler = logging.StreamHandler(sys.stderr)
    formatter = JsonLines()
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    return formatter
