"""Where the analysis of a whole game is kept while it is made, and afterwards: ``klss analyse GAME.pgn --out FILE``.

The file is the document of docs/analyse.md at any moment, with the turns that are known so far, and is written whole or
not at all. An analysis that was interrupted goes on from there, if it is of the same game by the same settings.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from klss.support.text import printable, read_text
from klss.support.whole_file import write_whole
from klss_app.cli.errors import FailedError, UsageError

__all__ = ["AnalysisFile"]

_EVERY_S = 1.0
_MOST_SHOWN = 60


class AnalysisFile:
    """The file at ``path``; ``question`` are the fields of its document that come before any turn is known,
    ``document`` makes the whole of the turns that are.
    """

    def __init__(
        self, path: Path, question: Mapping[str, Any], document: Callable[[list[dict[str, Any]]], dict[str, Any]]
    ) -> None:
        self._path = path
        self._question = json.loads(json.dumps(question))
        self._document = document
        self._written = 0.0

    def turns(self) -> list[dict[str, Any]]:
        """The turns that it holds, from the first on; none where there is no file yet. Raises :class:`UsageError` where
        it is something else, or was made of another game or by other settings: those don't mix."""
        try:
            found = json.loads(read_text(self._path))
            turns = found["turns"]
            plies = [turn["ply"] for turn in turns]
            whole = all(turn.keys() >= {"color", "positions", "played", "best"} for turn in turns)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UsageError(f"--out: can't read {str(self._path)!r}: {error.strerror}") from None
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            plies, whole = [], False
        if not whole or plies != list(range(len(plies))) or len(plies) > self._question["plies"]:
            raise UsageError(
                f"--out: got {str(self._path)!r}, which holds no analysis of a whole game; expected a file that does, "
                "or a new one"
            )
        for key, wanted in self._question.items():
            if found.get(key) != wanted:
                raise UsageError(
                    f"--out: got {str(self._path)!r}, an analysis with {key} {_shown(found.get(key))}; "
                    f"expected {_shown(wanted)}, or a new file"
                )
        return list(turns)

    def keep(self, turns: list[dict[str, Any]], *, at_once: bool = False) -> None:
        """Write what is known, once a second at most unless it is to be kept ``at_once``."""
        now = time.monotonic()
        if not at_once and now - self._written < _EVERY_S:
            return
        self._written = now
        try:
            write_whole(self._path, json.dumps(self._document(turns), allow_nan=False) + "\n")
        except OSError as error:
            raise FailedError(f"can't write the analysis to {error.filename}: {error.strerror}") from None


def _shown(value: Any) -> str:
    """A field's value in a complaint, which stays one line."""
    text = json.dumps(value)
    return printable(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…")
