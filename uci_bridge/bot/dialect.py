"""The messages of a lichess-style server as a few checked values, with one small object per dialect.

A server is not trusted: every shape is checked, and every length and number bounded, before other modules see it.
Unknown kinds of line become :class:`Other`; unknown fields are ignored.

Sources: the source of pychess.org (repository gbtami/pychess-variants: ``server/bot_api.py``, ``game.py``,
``seek.py``, ``clock.py``) for :data:`PYCHESS`; the bot API of lichess.org (``lichess.org/api``) for :data:`LICHESS`.

:class:`Dialect` has the differences that a bot can notice, except the usual start position: pychess writes ``""`` or
``"None"``, lichess ``"startpos"``. At the end of a game pychess sends a ``gameEnd`` line without a reason, lichess a
last state with ``status`` and ``winner``. pychess reports a ``resign`` to nobody until ``abort``.

Deviation from lichess.org's own documents: it has no variant ``fogofwar``; :data:`LICHESS` speaks its plain dialect to
any server that has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import chess
import msgspec

from klss.play.outcome import Outcome
from klss.support.text import printable

MAX_PLIES = 2048
"""Most half-moves of a game; no server lets one go on so long (pychess ends them at ply 600)."""

_ID = r"^[A-Za-z0-9_-]{1,32}\Z"
_MAX_S = 10 * 366 * 24 * 3600

GameId = Annotated[str, msgspec.Meta(pattern=_ID)]
_Text = Annotated[str, msgspec.Meta(max_length=128, pattern=r"^[^\x00-\x1f\x7f-\x9f]*\Z")]
_Moves = Annotated[
    str, msgspec.Meta(max_length=6 * MAX_PLIES, pattern=r"^\s*([a-h][1-8][a-h][1-8][qrbnQRBN]?(\s+|\Z))*\Z")
]
_Seconds = Annotated[float, msgspec.Meta(ge=-_MAX_S, le=_MAX_S)]
_Milliseconds = Annotated[float, msgspec.Meta(ge=-1000 * _MAX_S, le=1000 * _MAX_S)]


@dataclass(frozen=True)
class Challenge:
    """A challenge to a game."""

    id: str  # of the challenge; the game gets the same one
    player: str  # the challenger
    player_is_bot: bool  # the challenger has the title BOT
    variant: str
    chess960: bool
    rated: bool
    # the clock in seconds; None when there is none (correspondence, or no limit)
    initial_s: float | None
    increment_s: float | None


@dataclass(frozen=True)
class GameStart:
    """A game of ours is under way: a new one, or one to resume after a reconnect."""

    id: str
    chess960: bool = False


@dataclass(frozen=True)
class GameState:
    """The state of a game: **all true moves of both sides**, and the clocks."""

    moves: tuple[str, ...]  # UCI, from the first; may be shorter than the last time (a take-back)
    clock_ms: tuple[int, int]  # (White's, Black's) time as of the last move
    increment_ms: tuple[int, int]  # (White's, Black's) increment
    outcome: Outcome | None = None  # the end; None while it goes on, and in dialects that don't report it


@dataclass(frozen=True)
class GameFull:
    """A game and its state."""

    id: str
    variant: str
    white: str
    black: str
    fen: str | None  # the start position; None for the usual one
    state: GameState
    # whether it is rated, the clock at the start, which sides are bots: None if the dialect does not report it
    rated: bool | None = None
    initial_s: float | None = None
    bots: tuple[bool, bool] | None = None


@dataclass(frozen=True)
class GameEnd:
    """The game is over; the line has no more than that."""

    id: str


@dataclass(frozen=True)
class Other:
    """A line that needs no action: a keep-alive (kind ``ping``), a chat line, any unknown kind."""

    kind: str


Event = Challenge | GameStart | Other
GameLine = GameFull | GameState | GameEnd | Other


class _Player(msgspec.Struct):
    name: _Text | None = None
    id: _Text | None = None
    title: _Text | None = None

    @property
    def shown(self) -> str:
        """Its name, or ``?`` if the server reports none (somebody without an account)."""
        return printable(self.name or self.id or "?")


class _Variant(msgspec.Struct):
    key: _Text | None = None
    name: _Text | None = None


class _TimeControl(msgspec.Struct):
    type: _Text = ""
    limit: _Seconds | None = None
    increment: _Seconds | None = None


class _Challenge(msgspec.Struct):
    id: GameId
    challenger: _Player | None
    variant: _Variant
    rated: bool
    timeControl: _TimeControl
    chess960: bool = False


class _Game(msgspec.Struct):
    id: _Text = ""
    gameId: _Text = ""
    chess960: bool | _Text = False


class _Clock(msgspec.Struct):
    initial: _Milliseconds


class _State(msgspec.Struct):
    moves: _Moves
    wtime: _Milliseconds
    btime: _Milliseconds
    winc: _Milliseconds = 0.0  # see :attr:`Dialect.increment_unit_ms`
    binc: _Milliseconds = 0.0
    status: _Text = "started"
    winner: _Text | None = None


class _Full(msgspec.Struct):
    id: GameId
    variant: _Variant
    white: _Player | None
    black: _Player | None
    state: _State
    initialFen: _Text | None = None
    rated: bool | None = None
    clock: _Clock | None = None


def valid_id(text: str) -> str:
    """Return ``text`` if it is a safe id of a game, since ids become parts of URLs. Raises ValueError otherwise."""
    if not re.match(_ID, text):
        raise ValueError(f"id: got {text[:40]!r}, expected 1 to 32 letters, digits, '_' and '-'")
    return text


def _fen(text: str | None) -> str | None:
    return None if text is None or text.strip() in ("", "None", "startpos") else printable(text)


_ENDS = {
    "mate": "no_move", "stalemate": "no_move", "resign": "resign", "timeout": "flag", "outoftime": "flag",
    "draw": "unknown", "aborted": "aborted", "cheat": "forfeit", "noStart": "aborted", "unknownFinish": "unknown",
    "variantEnd": "king_captured",
}  # fmt: skip
_COLORS = {"white": chess.WHITE, "black": chess.BLACK}


@dataclass(frozen=True)
class Dialect:
    """The API of one kind of server."""

    name: str  # its name in ``bot.yml``
    variant: str = "fogofwar"  # its name for Fog of War
    # the header of the event stream that lists the variants that the bot plays; None if there is none
    capabilities_header: str | None = None
    increment_unit_ms: float = 1.0  # unit of ``winc`` and ``binc``
    resign_steps: tuple[str, ...] = ("resign",)  # the calls that resign a game, in order
    quiet_s: float = 60.0  # seconds without requests after an answer 429 without ``Retry-After``

    def event_headers(self) -> dict[str, str]:
        """Headers that the event stream needs."""
        if self.capabilities_header is None:
            return {}
        capabilities = {"version": 1, "variants": [self.variant]}
        return {self.capabilities_header: json.dumps(capabilities, separators=(",", ":"))}

    def event(self, line: Mapping[str, object]) -> Event:
        """A line of the event stream. Raises msgspec.ValidationError or ValueError: it has the wrong shape."""
        kind = line.get("type")
        if kind == "challenge":
            return self._challenge(msgspec.convert(line.get("challenge"), _Challenge))
        if kind == "gameStart":
            game = msgspec.convert(line.get("game"), _Game)
            return GameStart(valid_id(game.gameId or game.id), game.chess960 in (True, "True", "true", "1"))
        return Other(str(kind)[:40])

    def game_line(self, line: Mapping[str, object]) -> GameLine:
        """A line of a game's stream. Raises msgspec.ValidationError or ValueError: it has the wrong shape."""
        kind = line.get("type")
        if kind == "gameFull":
            return self._full(msgspec.convert(line, _Full))
        if kind == "gameState":
            return self._state(msgspec.convert(line, _State))
        if kind == "gameEnd":
            game = msgspec.convert(line.get("game", {}), _Game)
            return GameEnd(game.id[:40])
        return Other(str(kind)[:40])

    def _challenge(self, wire: _Challenge) -> Challenge:
        control = wire.timeControl
        clock = control.type == "clock" and control.limit is not None
        challenger = wire.challenger or _Player()
        return Challenge(
            id=wire.id,
            player=challenger.shown,
            player_is_bot=challenger.title == "BOT",
            variant=printable(wire.variant.key or ""),
            chess960=wire.chess960,
            rated=wire.rated,
            initial_s=control.limit if clock else None,
            increment_s=(control.increment or 0.0) if clock else None,
        )

    def _state(self, wire: _State) -> GameState:
        unit, over = self.increment_unit_ms, wire.status not in ("created", "started")
        return GameState(
            moves=tuple(wire.moves.lower().split()),
            clock_ms=(int(wire.wtime), int(wire.btime)),
            increment_ms=(int(wire.winc * unit), int(wire.binc * unit)),
            outcome=Outcome(_COLORS.get(wire.winner or ""), _ENDS.get(wire.status, "unknown")) if over else None,
        )

    def _full(self, wire: _Full) -> GameFull:
        # Only lichess reports ``rated``, the clock and the titles here.
        white, black = wire.white or _Player(), wire.black or _Player()
        titles = (white.title, black.title)
        return GameFull(
            id=wire.id,
            variant=printable(wire.variant.key or wire.variant.name or ""),
            white=white.shown,
            black=black.shown,
            fen=_fen(wire.initialFen),
            state=self._state(wire.state),
            rated=wire.rated,
            initial_s=None if wire.clock is None else wire.clock.initial / 1000.0,
            bots=None if titles == (None, None) else (titles[0] == "BOT", titles[1] == "BOT"),
        )


PYCHESS = Dialect(
    "pychess",
    capabilities_header="X-PyChess-Bot-Capabilities",
    increment_unit_ms=1000.0,
    resign_steps=("resign", "abort"),
    quiet_s=10.0,
)
"""pychess.org."""

LICHESS = Dialect("lichess")
"""The plain dialect of lichess.org."""

DIALECTS: Mapping[str, Dialect] = {dialect.name: dialect for dialect in (PYCHESS, LICHESS)}
"""Every dialect by its name."""
