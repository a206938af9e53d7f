"""Games one after the other between the same seats, and what is kept of them.

Everything here runs in the server's thread unless its docstring says otherwise; games have their own threads, engines
their own processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import chess
import msgspec

from darkchess.board.position import Position
from darkchess.errors import DarkchessError
from klss.play.arbiter import Arbiter
from klss.play.contest import AnyPlayer
from klss.play.limits import Limit
from klss.play.outcome import Outcome
from klss.support.seeds import NATURE, fresh_seed, player_seed
from klss.support.text import Document, printable
from klss_app.front import Front, Reviewed
from klss_app.kept_games import HUMAN, Earlier, Settings, game_headers, keep_game, shown_name
from klss_app.web.analyses import Analyses
from klss_app.web.engines import BoardEngine
from klss_app.web.guard import new_token, same_token
from klss_app.web.running_game import GameClock, RunningGame
from klss_app.web.seats import AnyHumanAtBoard, AnyInbox, Draw, Ended, HumanAtBoard, Inbox, Line

_MOST_GAMES = 200

_LONGEST_S = 24 * 3600.0
_MoveSeconds = Annotated[float, msgspec.Meta(ge=0.01, le=_LONGEST_S)]
_ClockSeconds = Annotated[float, msgspec.Meta(ge=1.0, le=_LONGEST_S)]
_Increment = Annotated[float, msgspec.Meta(ge=0.0, le=_LONGEST_S)]


class Wish(msgspec.Struct, frozen=True, tag="new"):
    """A page's wish for a new game: an engine by its shown name (None: a friend, by an invitation), the human's colour,
    and limits, start (or None)."""

    engine: str | None
    color: Literal["white", "black", "random"]
    time: _MoveSeconds | None = None
    clock: tuple[_ClockSeconds, _Increment] | None = None
    fen: Annotated[str, msgspec.Meta(max_length=120)] | None = None


class Refused(Exception):
    """A page asked for something it can't have; it shows the text."""


@dataclass
class Seat:
    """A human's place in the room, for everybody who knows the ``token``, with any number of pages (``lines``).

    ``shown`` is the last message of this game to them. ``invitation``: a code that lets one browser in, until the seat
    is taken."""

    color: chess.Color
    token: str = field(default_factory=new_token)
    lines: set[Line] = field(default_factory=set)
    shown: Document | None = None
    player: AnyHumanAtBoard | None = None
    sat: bool = False
    wants_rematch: bool = False
    invitation: str | None = None

    def invites(self, code: object) -> bool:
        """Whether ``code`` lets a browser in."""
        return self.invitation is not None and same_token(code, self.invitation)

    def send(self, message: Mapping[str, object]) -> None:
        """Send to all of the seat's pages."""
        for line in tuple(self.lines):
            line.send(message)


class Room:
    """The seats, the game that runs, the games that are over.

    ``settings`` are those of the first game. ``keep`` writes a game's file to the given path or a new one; it is called
    by a game's thread.
    """

    def __init__(
        self, settings: Settings, kind: Front, *, keep: Callable[[str, datetime.datetime, Path | None], None]
    ) -> None:
        self.settings = settings
        self.kind = kind
        self.analyses = Analyses(kind, self.tell)
        self.seats = [Seat(color) for color in settings.humans]
        for seat in self.seats[1:]:
            seat.invitation = new_token()
        self.origins: Sequence[str] = ()  # the server's addresses for pages, for the invitation to the second seat
        self.finished: dict[int, Reviewed] = {}
        self.opened: int | None = None
        self.last: int | None = None
        self._keep = keep
        self._loop = asyncio.get_running_loop()
        self._numbers = 0
        self._game: RunningGame | None = None
        self._clock = GameClock({})
        self._offer: chess.Color | None = None  # the side that offers a draw
        self._engine: BoardEngine | None = None
        self.changing = asyncio.Lock()  # held while a game begins or is left, and while an analysis begins
        self._beginning = False
        self._wish: Wish | None = None
        # held while a game is replayed for a review: one at a time, so that many requests leave time for a running game
        self.reading = asyncio.Lock()
        self._own_engine = settings.engine
        self._loading = False  # compiled code, in this process

    # ------------------------------------------------------------------------------------------------- what pages see
    @property
    def playing(self) -> bool:
        """Whether a game is going on, or is about to."""
        return self._game is not None or self._beginning

    def described(self, seat: Seat) -> Document:
        """The message that describes the room to a page: all but the game itself."""
        settings = self.settings
        code = self.seats[-1].invitation if seat is self.seats[0] else None
        return {
            "type": "room",
            "kind": self.kind.kit.name,
            "starts": self.kind.kit.starts,
            "color": chess.COLOR_NAMES[seat.color],
            "humans": len(self.seats),
            "engines": self._engines() if seat is self.seats[0] else {},
            "asks": self.settings.asks and self._numbers == 0,
            "engine": None if settings.engine is None else shown_name(settings.engine),
            "time": settings.time_s,
            "clock": settings.clock,
            "playing": self.playing,
            "loading": self._loading or (self._engine is not None and not self._engine.warm),
            "waiting": not all(each.sat for each in self.seats),
            "invitation": None if code is None else [f"{origin}/#invite={code}" for origin in self.origins],
            "away": any(each.sat and not each.lines for each in self.seats if each is not seat),
            "games": sorted(self.finished),
            "last": self.last,
            "opened": self.opened,
        }

    def game_message(self, seat: Seat) -> Document | None:
        """The message of the game as the seat knows it now; None before its first game."""
        if seat.shown is None:
            return None
        over = seat.shown["over"] is not None
        turn = seat.shown["turn"] == "white"
        # The clock of a human who begins stands still (klss.play.arbiter).
        stands = over or (seat.shown["ply"] == 0 and self.settings.players[turn] == HUMAN)
        return {
            "type": "game",
            "number": self._numbers,
            **seat.shown,
            "names": {chess.COLOR_NAMES[color]: self._name(color, seat) for color in chess.COLORS},
            "clock": self._clock.shown(None if stands else turn),
            "offer": None if over or self._offer is None else chess.COLOR_NAMES[self._offer],
        }

    def _name(self, color: chess.Color, seat: Seat) -> str:
        spec = self.settings.players[color]
        if spec == HUMAN:
            return "you" if color == seat.color else "opponent"
        return shown_name(spec) if self._engine is None else self._engine.label

    def _engines(self) -> Mapping[str, str]:
        """The engines that a page may ask for, with a few words on each: named configurations, and the engine that was
        given on the command line.
        """
        if self._own_engine is None:
            return {}
        own = shown_name(self._own_engine)
        offered = self.kind.engines()
        return offered if own in offered else {own: "", **offered}

    def warm_up(self) -> None:
        """Load the compiled code of games, by showing two people the beginning of one, and tell the pages when it is
        there; in a thread of its own."""
        self._loading = True
        try:
            kit = self.kind.kit
            inbox: AnyInbox = Inbox(lambda offer: None)
            people = {color: HumanAtBoard(self.kind.known, inbox, lambda message: None) for color in chess.COLORS}
            referee = kit.referee(kit.setup(), self.kind.opening)
            Arbiter(referee, people, dict.fromkeys(chess.COLORS, Limit())).begin()
        finally:
            self._loading = False
            self._soon(self._describe_to_all)

    def tell(self, message: Mapping[str, object]) -> None:
        """Send to all pages of all seats."""
        for seat in self.seats:
            seat.send(message)

    def _describe_to_all(self) -> None:
        for seat in self.seats:
            seat.send(self.described(seat))

    # ------------------------------------------------------------------------------------------------- what pages ask
    async def sit(self, seat: Seat, line: Line) -> None:
        """Seat a page; the first game begins once all seats are taken."""
        seat.lines.add(line)
        first = not seat.sat
        seat.sat, seat.invitation = True, None
        if len(seat.lines) > 1:
            line.send(self.described(seat))
        else:
            self._describe_to_all()  # the others hear that somebody is there
        message = self.game_message(seat)
        if message is not None:
            line.send(message)
        if first and self.opened is None and not self.settings.asks and all(each.sat for each in self.seats):
            async with self.changing:
                await self._begin(self.settings)

    def leave(self, seat: Seat, line: Line) -> None:
        """Remove a page that is gone."""
        seat.lines.discard(line)
        if not seat.lines:
            self._describe_to_all()

    def move(self, seat: Seat, text: str, ply: int) -> None:
        """Pass on a page's move; raises :class:`Refused`."""
        if seat.player is None or not self.playing:
            raise Refused("no game is going on")
        why = seat.player.move(text, ply)
        if why is not None:
            raise Refused(why)

    def resign(self, seat: Seat) -> None:
        """Resign for a page; does nothing if no game is going on."""
        if self._game is not None:
            self._game.inbox.put(Ended(Outcome(not seat.color, "resign")))

    def draw(self, seat: Seat, accepts: bool) -> None:
        """Offer a draw for a page, or accept the other's offer (``accepts``); does nothing if no game is going on.
        Raises :class:`Refused`.
        """
        if len(self.seats) != 2:
            raise Refused("an engine answers no offers of a draw")
        if self._game is not None:
            self._game.inbox.put(Draw(seat.color, accepts))

    async def rematch(self, seat: Seat) -> None:
        """Ask for a rematch; once every human in the room has asked, the next game begins with colours swapped."""
        if self.playing:
            raise Refused("the game is still going on")
        seat.wants_rematch = True
        if not all(each.wants_rematch for each in self.seats):
            for each in self.seats:
                each.send({"type": "rematch", "mine": each is seat})
            return
        async with self.changing:
            if self.playing:
                return  # two tabs asked
            players = self.settings.players
            for each in self.seats:
                each.color = not each.color
            await self._begin(
                replace(self.settings, players={color: players[not color] for color in chess.COLORS}, seed=fresh_seed())
            )

    async def new_game(self, seat: Seat, wish: Wish) -> None:
        """Begin a new game as ``wish`` says, one with a friend once that has come; a running game against the engine is
        left. Raises :class:`Refused`.

        Setting up a game takes a while: a wish is refused if another one came while it waited.
        """
        if seat is not self.seats[0] or (len(self.seats) > 1 and self.playing):
            raise Refused("two humans play here; ask for a rematch once the game is over")
        settings = self._wished(wish)
        self._wish = wish
        async with self.changing:
            if self._wish is not wish:
                raise Refused("another game was asked for since")
            await self._leave_game()
            for other in self.seats[1:]:
                other.send({"type": "error", "why": "left"})
            self.seats, self.opened, seat.color = [seat], None, next(iter(settings.players))
            if settings.engine is not None:
                await self._begin(settings)
                return
            self.seats.append(Seat(not seat.color, invitation=new_token()))
            self.settings, seat.shown = settings, None
            self._describe_to_all()

    def _wished(self, wish: Wish) -> Settings:
        if self._own_engine is None or not (wish.engine is None or wish.engine in self._engines()):
            raise Refused(f"got the engine {printable(str(wish.engine), 40)!r}, expected one of those offered")
        spec = self._own_engine if wish.engine == shown_name(self._own_engine) else wish.engine or HUMAN
        human = random.SystemRandom().random() < 0.5 if wish.color == "random" else wish.color == "white"
        fen = wish.fen or None
        if fen is not None:
            if not self.kind.kit.starts:
                raise Refused("got a start position, expected none in this game")
            try:
                fen = Position.from_fen(fen).fen()
                outcome = self.kind.kit.referee(self.kind.kit.setup(fen, self.settings.ruleset.name)).outcome
            except DarkchessError as error:
                raise Refused(printable(str(error), 200)) from None
            if outcome is not None:
                raise Refused("got a start position in which the game is over")
        return replace(
            self.settings,
            players={human: HUMAN, not human: spec},
            time_s=wish.time,
            nodes=self.settings.nodes if wish.time is None and wish.clock is None else None,
            clock=wish.clock,
            fen=fen,
            seed=fresh_seed(),
            asks=False,
        )

    # ------------------------------------------------------------------------------------------------- games
    async def _begin(self, settings: Settings) -> None:
        """Begin the next game; the caller holds ``changing``."""
        self._beginning = True
        try:
            await self._set_up(settings)
        finally:
            self._beginning = False

    async def _set_up(self, settings: Settings) -> None:
        await self.analyses.stop()
        earlier = settings.earlier or Earlier((), {}, datetime.datetime.now(datetime.UTC))
        kit, drawn = self.kind.kit, player_seed(settings.seed, NATURE)
        # In threads: the first referee loads compiled code, and pages are answered meanwhile.
        setup = await asyncio.to_thread(kit.setup, settings.fen, settings.ruleset.name)
        referee = await asyncio.to_thread(kit.referee, setup, earlier.moves, drawn)
        self._clock = GameClock(settings.left_s)
        self.settings = settings = replace(settings, earlier=None)  # the games after this one begin anew
        self._numbers += 1
        number, clock = self._numbers, settings.clock
        self._offer = None
        inbox: AnyInbox = Inbox(partial(self._soon, self._offered, number))
        players: dict[chess.Color, AnyPlayer] = {}
        for seat in self.seats:
            seat.shown, seat.wants_rematch = None, False
            show = partial(self._soon, self._show, seat, number)
            seen = len(referee.observations(seat.color)) if earlier.moves else 0
            seat.player = HumanAtBoard(self.kind.known, inbox, show, seen)
            players[seat.color] = seat.player
        engine = await self._engine_for(settings)
        for color in chess.COLORS:
            if settings.players[color] != HUMAN:
                assert engine is not None
                players[color] = engine.player(player_seed(settings.seed, chess.COLOR_NAMES[color]), inbox)
        self._game = game = RunningGame(
            referee,
            players,
            settings.controls,
            inbox,
            self._clock,
            prepared=lambda: None if engine is None or clock is None else engine.wait_until_warm(),
            ended=lambda game: self._game_ended(game, settings, earlier, engine),
        )
        self._describe_to_all()
        game.start()

    def _soon(self, call: Callable[..., None], *values: object) -> None:
        """Have the server's thread call this; from any thread."""
        with contextlib.suppress(RuntimeError):  # the server is closing
            self._loop.call_soon_threadsafe(call, *values)

    def _show(self, seat: Seat, number: int, message: Document) -> None:
        """Send what a seat may know to its pages."""
        if number == self._numbers:
            seat.shown = message
            self._send_game(seat)

    def _offered(self, number: int, offer: chess.Color | None) -> None:
        """Tell all pages of an offer of a draw. Its end needs no message of its own: the message after the move that
        ended it says so.
        """
        if number != self._numbers:
            return
        self._offer = offer
        if offer is not None:
            for seat in self.seats:
                self._send_game(seat)

    def _send_game(self, seat: Seat) -> None:
        message = self.game_message(seat)
        if message is not None:
            seat.send(message)

    def _game_ended(self, game: RunningGame, settings: Settings, earlier: Earlier, engine: BoardEngine | None) -> None:
        """Keep the game, then tell the pages; called by the game's thread."""
        referee = game.referee
        assert referee.outcome is not None
        left = referee.outcome.reason == "aborted"
        headers = game_headers(
            "klss board",
            {color: shown_name(spec) for color, spec in settings.players.items()},
            earlier.begun,
            settings,
            self._clock.left_s(referee.turn) if left else None,
        )
        if engine is not None and engine.evaluator is not None:
            headers[f"{'Black' if settings.players[chess.WHITE] == HUMAN else 'White'}Evaluator"] = engine.evaluator
        reviewed = self.kind.kept(referee, headers, settings.ruleset.name)
        if game.fault is not None:
            _say(f"klss board: the game ended by an error: {game.fault!r}")
        if engine is not None and referee.outcome.reason == "forfeit":
            _say(f"klss board: {engine.label} forfeited: {engine.last_fault}")
        if referee.ply > 0 or not left:
            self._keep(reviewed.text, earlier.begun, earlier.path)
        self._soon(self._public, game, reviewed, settings.humans[0])

    def _public(self, game: RunningGame, reviewed: Reviewed, color: chess.Color) -> None:
        if self._game is game:
            self._game = None
        self.last = self.add(reviewed, color)
        self._describe_to_all()

    def add(self, reviewed: Reviewed, color: chess.Color = chess.WHITE) -> int:
        """Add a game that may be reviewed; return its number."""
        number = max(self.finished, default=0) + 1
        self.finished[number] = replace(reviewed, number=number, color=color)
        while len(self.finished) > _MOST_GAMES:
            del self.finished[min(self.finished)]
        return number

    async def _leave_game(self) -> None:
        game, self._game = self._game, None
        if game is None:
            return
        # The engine before the wait: the game's thread may be waiting until it is loaded.
        game.leave()
        if self._engine is not None:
            await self._engine.quiet(loading_too=True)
        await asyncio.to_thread(game.leave, 5.0)

    async def _engine_for(self, settings: Settings) -> BoardEngine | None:
        if settings.engine is None:
            return None
        if self._engine is not None:
            await self._engine.quiet()
            if self._engine.plays(settings):
                return self._engine
            await asyncio.to_thread(self._engine.close)
        self._engine = BoardEngine(self.kind.kit, settings, lambda: self._soon(self._describe_to_all))
        return self._engine

    async def close(self) -> None:
        """Leave the game and keep it, then end the engine."""
        self._wish = None
        async with self.changing:
            await self.analyses.stop()
            await self._leave_game()
            if self._engine is not None:
                await asyncio.to_thread(self._engine.close)


def keep_in_folder(text: str, begun: datetime.datetime, to: Path | None, suffix: str) -> None:
    """Write a game to ``to`` or a new file in ``klss-games``, and print the path on stderr; if that fails, the game."""
    try:
        path = keep_game(text, begun, to, suffix)
    except OSError as error:
        _say(f"{text}klss board: can't write the game to {error.filename}: {error.strerror}; it stands above")
    else:
        _say(f"klss board: the game is kept in {path}")


def _say(text: str) -> None:
    """Print to stderr, whose reader may be gone, while the pages still are to hear of the end of the game."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)
