"""The bot's log: one JSON object a line on stderr, with the token blotted out whatever happens."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import TextIO

from uci_bridge.bot.lichess import Token

__all__ = ["JsonLines", "log_to"]


class JsonLines(logging.Formatter):
    """A record as one JSON object: ``time`` (UTC), ``level``, ``event``, then the record's ``fields``; a traceback,
    where there is one, under ``traceback``. The token should not get as far as this; if it does, it stops here.
    """

    def __init__(self, token: Token | None = None) -> None:
        super().__init__()
        self.token = token

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its newline."""
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        when = f"{when}.{int(record.msecs):03d}Z"
        line = {"time": when, "level": record.levelname.lower(), "event": record.getMessage()}
        if not record.name.startswith("uci_bridge"):
            line["logger"] = record.name
        for name, value in getattr(record, "fields", {}).items():
            line.setdefault(name, value)
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        text = "".join(map(_seen, json.dumps(line, ensure_ascii=False, default=str)))
        return text if self.token is None else self.token.hide(text)


def _seen(sign: str) -> str:
    """A character of a JSON text as a terminal may be shown it: itself, or as JSON escapes it."""
    return sign if sign.isprintable() else json.dumps(sign)[1:-1]


def log_to(stream: TextIO | None = None, *, level: int = logging.INFO) -> JsonLines:
    """Send everything that is logged in this process to ``stream`` (stderr), and give the formatter, which learns the
    token once it is read."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    formatter = JsonLines()
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    return formatter
