"""A finished game of pychess.org, from its page for embedding, which needs no login.

The bot API reports that a game is over, but not how; the game lists of the JSON API need a login in a browser. The page
has all of it in the attributes of its ``<body>``: players, result, status, and every move with the clocks after it,
also the last move, which the bot API never shows. Nothing is read of a game that goes on.

Source: pychess-variants, ``server/views/embed.py`` and ``__init__.py`` (add_game_context), ``templates/base.html``,
``server/const.py`` (GameStatus).
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

import chess
import msgspec

from klss.table.outcome import Outcome
from uci_bridge.bot.dialect import PYCHESS, FinishedGame, GameFull, MalformedLine

__all__ = ["finished_game", "page_of"]

_BODY = re.compile(r"""<body\b(?:[^>"']|"[^"]*"|'[^']*')*+>""")
_GOES_ON = -1
"""The largest status of a game that is not over."""
_REASONS = {
    0: "aborted", 1: "king_captured", 2: "resign", 3: "no_move", 4: "flag", 6: "flag", 7: "forfeit", 8: "forfeit",
    10: "forfeit", 12: "king_captured",
}  # fmt: skip
_WINNERS: dict[str, chess.Color | None] = {"1-0": chess.WHITE, "0-1": chess.BLACK, "1/2-1/2": None}


class _Step(msgspec.Struct):
    move: str = ""
    clocks: tuple[float, float] | None = None


class _Board(msgspec.Struct):
    steps: list[_Step]


class _Body(HTMLParser):
    attributes: dict[str, str | None] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the attributes of the first ``<body>``."""
        if tag == "body" and self.attributes is None:
            self.attributes = dict(attrs)


def page_of(game_id: str) -> str:
    """The path of a game's page."""
    return f"/embed/{game_id}"


def finished_game(text: str) -> FinishedGame | None:
    """The game of a page; None if it goes on. Raises MalformedLine: the page has no game, or values out of bounds."""
    said = _said(text)
    try:
        status, board = int(said["status"]), msgspec.json.decode(said["board"], type=_Board)
        initial_s, increment_s = 60.0 * float(said["base"]), float(said["inc"])
    except (KeyError, ValueError, msgspec.MsgspecError, RecursionError) as error:
        raise MalformedLine(f"page: got {type(error).__name__} ({str(error)[:80]}), expected a game") from None
    if status <= _GOES_ON:
        return None
    steps = board.steps[1:]
    last = next((step.clocks for step in reversed(board.steps) if step.clocks), (0.0, 0.0))
    line = {
        "type": "gameFull",
        "id": said["gameid"],
        "variant": {"name": said.get("variant", "")},
        "white": {"name": said.get("wplayer", "")},
        "black": {"name": said.get("bplayer", "")},
        "initialFen": said.get("initialfen", ""),
        "clock": {"initial": 1000.0 * initial_s},
        "state": {
            "moves": " ".join(step.move for step in steps),
            "wtime": last[0],
            "btime": last[1],
            "winc": increment_s,
            "binc": increment_s,
        },
    }
    full = PYCHESS.game_line(line)  # the same checks as for a line of the stream
    assert isinstance(full, GameFull)
    fen = full.fen or chess.STARTING_FEN
    first = 0 if fen.split()[1:2] != ["b"] else 1
    clocks = tuple(
        step.clocks[(first + number) % 2] / 1000.0 if step.clocks else None for number, step in enumerate(steps)
    )
    result = said.get("result", "")
    reason = _REASONS.get(status, "unknown") if result in _WINNERS else "aborted"
    return FinishedGame(full, Outcome(_WINNERS.get(result), reason), clocks)


def _said(text: str) -> dict[str, str]:
    """The data of the page's body, by name."""
    body = _Body()
    tag = _BODY.match(text, max(0, text.find("<body")))
    body.feed(tag[0] if tag else "")
    if body.attributes is None or "data-gameid" not in body.attributes:
        raise MalformedLine("page: got one that tells of no game, expected a game's")
    return {name.removeprefix("data-"): value or "" for name, value in body.attributes.items()}
