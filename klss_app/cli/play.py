"""``klss play``: a game in the terminal, a human against an engine or one engine against another.

Each engine plays in a process of its own. The first board is drawn before anything heavy is imported: the game is
imported and the engines are started beside it, and they load their compiled code (the first time: compile it) while the
human thinks about the first move. The engine's first turn waits for that. No clock runs until then.
"""

from __future__ import annotations

import contextlib
import datetime
import shlex
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import chess

from klss.play.contest import AnyPlayer, AnyReferee
from klss.play.outcome import Seat
from klss.support.seeds import NATURE, player_seed
from klss.support.signals import asked_to_end
from klss.support.text import counted
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.game_option import FOG, Game
from klss_app.cli.human import AnyHuman, Human, Quit
from klss_app.cli.options import Parser, add_game, add_game_options, add_players, output_file
from klss_app.cli.saved_game import add_resume, asked_game
from klss_app.cli.screen import boards, first_prompt, review
from klss_app.cli.terminal import InputClosed, Terminal
from klss_app.kept_games import HUMAN, Earlier, Settings, game_headers, keep_game, shown_name

if TYPE_CHECKING:
    from klss.play.arbiter import AnyPlayed
    from uci_bridge.players import PlayerMaker


def _parser(game: Game = FOG) -> Parser:
    parser = Parser(
        "play", f"{game.title} in the terminal. You are White against {game.default_player} by default.", game
    )
    add_players(parser, "human")
    add_game(parser)
    add_game_options(parser)
    parser.add_argument(
        game.record, dest="record", metavar="FILE", help="keep the game there, replacing it (default: in klss-games)"
    )
    if game.chess:
        add_resume(parser)
    parser.add_argument("--ascii", action="store_true", help="letters instead of chess figures, no colours")
    return parser


def run(arguments: Sequence[str], game: Game = FOG) -> int:
    """Run ``klss play``; see :mod:`klss_app.cli.main`."""
    parser = _parser(game)
    parsed = parser.parse(arguments)
    output_file(parsed.record, game.record)
    settings = asked_game(parser, arguments, parsed)
    if settings.engine is None:
        raise UsageError(
            "--white and --black: got human for both, expected one at most, since both would see one screen"
        )
    return TerminalGame(game, settings, Terminal(parsed.ascii), parsed.record).run()


def _loading_text(seconds: float) -> str:
    return f"loading the engine (the first time it is compiled: a minute)  {seconds:.0f} s"


class TerminalGame:
    """One game of ``klss play``; ``record`` is the file to write, None for that of a game that is resumed, or a new one
    in ``klss-games``.
    """

    def __init__(self, game: Game, settings: Settings, terminal: Terminal, record: str | None) -> None:
        self._game, self._settings, self._terminal = game, settings, terminal
        specs = settings.players
        self._earlier = settings.earlier or Earlier((), {}, datetime.datetime.now(datetime.UTC))
        self._record = self._earlier.path if record is None else Path(record)
        self._human = next(iter(settings.humans), None)
        self._names = {seat: "you" if spec == HUMAN else shown_name(spec) for seat, spec in specs.items()}
        self._clocks = settings.left_s
        self._hand: AnyHuman | None = None  # the human as a player
        self._referee: AnyReferee | None = None
        self._makers: dict[Seat, PlayerMaker] = {}
        self._engines: dict[Seat, AnyPlayer] = {}
        self._thinking: contextlib.ExitStack | None = None  # the spinner of an engine's present turn

    def run(self) -> int:
        """Play; return the exit code."""
        kept = None
        try:
            with ThreadPoolExecutor(1) as beside, asked_to_end():
                code, end = self._played(beside.submit(self._load))
                kept = self._save(end)
                if self._hand is not None and not end and self._referee is not None:
                    with contextlib.suppress(KeyboardInterrupt):
                        review(self._terminal, self._game.front, self._referee, self._hand.bottom)
        finally:
            for maker in self._makers.values():
                maker.close(at_once=self._referee is None or self._referee.outcome is None)
        if code == 0 and not end and kept is not None:
            for hint in self._game.front.hints(shlex.quote(str(kept))):
                print(f"klss play: {hint}", file=sys.stderr)
        return code

    def _played(self, loading: Future[AnyReferee]) -> tuple[int, str]:
        """Play; return the exit code, and why the game was left, if it was."""
        try:
            self._play(loading)
            return 0, ""
        except (InputClosed, Quit, KeyboardInterrupt) as why:
            return self._left(why)
        except BrokenPipeError:
            return 1, "left, since nobody reads any more"
        except BaseException:
            self._save("the game ended by an error")
            raise
        finally:
            self._pass()
            for engine in self._engines.values():
                engine.close()

    def _load(self) -> AnyReferee:
        """Import the game and start the engines' processes, beside the first prompt; return the true game."""
        from uci_bridge.players import PlayerMaker

        game, settings, kit = self._game, self._settings, self._game.kit
        setup = kit.setup(settings.fen, settings.ruleset.name if game.ruled else None)
        ponders = self._human is not None and settings.clock is not None
        for seat, spec in self._settings.players.items():
            if spec != HUMAN:
                chosen = game.player(spec, settings.evaluator.stockfish)
                self._makers[seat] = maker = PlayerMaker(
                    kit, chosen, settings.evaluator, settings.limit, ponders=ponders
                )
                maker.start()
        referee: AnyReferee = kit.referee(setup, self._earlier.moves, player_seed(settings.seed, NATURE))
        return referee

    def _play(self, loading: Future[AnyReferee]) -> None:
        asked = bool(self._human and self._game is FOG and self._settings.fen is None and not self._earlier.moves)
        if asked:
            first_prompt(self._terminal, self._names, self._clocks)
        with self._terminal.spinner(_loading_text):
            self._referee = referee = loading.result()

        from klss.play.arbiter import Arbiter
        from uci_bridge.evaluators import named

        settings, names, front = self._settings, self._names, self._game.front
        controls = settings.controls
        for seat, maker in self._makers.items():
            own_seed = player_seed(settings.seed, chess.COLOR_NAMES[seat])
            self._engines[seat] = maker.player(own_seed, partial(self._thinks, seat))
        # From now on the screen shows the evaluators' names, which were not known before.
        names.update({seat: named(names[seat], maker.label) for seat, maker in self._makers.items()})
        players: dict[Seat, AnyPlayer] = dict(self._engines)
        if self._human is not None:
            seen = len(referee.observations(self._human)) if self._earlier.moves else 0
            self._hand = Human(front.known, self._terminal, names, self._clocks, seen)
            self._hand.drawn = 0 if asked else -1
            players[self._human] = self._hand
        if self._human is None or settings.clock is not None:
            for maker in self._makers.values():
                self._warm_up(maker)
        if self._human is not None:  # who plays may see only the own side
            Arbiter(referee, players, controls, on_pass=self._pass, remaining_s=self._clocks).play()
            self._terminal.say("", *front.end_lines(referee, names))
        else:
            step = front.step(referee, 0)
            start = [] if step is None else boards(self._terminal, front, step)
            self._terminal.say(f"White: {names[True]}   Black: {names[False]}", *start)
            Arbiter(referee, players, controls, self._turn, on_pass=self._pass, remaining_s=self._clocks).play()
            last = front.steps(referee)[-1:] if step is None else []
            board = [line for each in last for line in boards(self._terminal, front, each)]
            self._terminal.say("", *board[1:], *front.end_lines(referee, names))
        for seat, engine in self._engines.items():
            if engine.last_fault:
                self._terminal.say(f"{names[seat]}: {engine.last_fault}")

    def _turn(self, played: AnyPlayed) -> None:
        """Show a turn of a game between engines."""
        front, referee = self._game.front, self._referee
        assert referee is not None
        step = front.step(referee, played.ply)
        words = [front.words(referee, played, self._names[played.seat])]
        self._terminal.say(*(words if step is None else boards(self._terminal, front, step)))

    def _warm_up(self, maker: PlayerMaker) -> None:
        """Wait until an engine's process has loaded its code."""
        with self._terminal.spinner(_loading_text):
            maker.warm_up()

    @contextlib.contextmanager
    def _thinks(self, seat: Seat) -> Iterator[None]:
        """Show a spinner from the first question to an engine in its turn to the turn's end: otherwise it would tell
        that a move was refused and that the engine thinks about another."""
        if self._thinking is None:
            self._warm_up(self._makers[seat])
            self._thinking = contextlib.ExitStack()
            name = shown_name(self._settings.players[seat])
            self._thinking.enter_context(self._terminal.spinner(lambda seconds: f"{name} thinks …  {seconds:.1f} s"))
        try:
            yield
        except BaseException:
            self._pass()
            raise

    def _pass(self, seat: Seat | None = None) -> None:
        """The turn is over."""
        if self._thinking is not None:
            self._thinking.close()
            self._thinking = None

    def _left(self, why: BaseException) -> tuple[int, str]:
        """The exit code of a game that was left before its end, and the reason in words."""
        seconds = None if self._hand is None else self._hand.seconds_left()
        if seconds is not None and self._human is not None:
            self._clocks[self._human] = max(0.0, seconds)
        if isinstance(why, InputClosed):
            count = counted(0 if self._referee is None else self._referee.ply, *self._game.front.turns)
            return 1, f"got the end of input after {count}, expected a move or a command"
        if isinstance(why, KeyboardInterrupt):
            with contextlib.suppress(OSError):  # the terminal may be closed
                print(file=sys.stderr)
        return 0 if self._human is not None else 1, "left before the end of the game"

    def _save(self, end: str = "") -> Path | None:
        """Write the game to its file, and print on stderr which one, and ``end`` if the game was left. Return the file;
        None for a game without a turn."""
        referee, begun = self._referee, self._earlier.begun
        if referee is None or (referee.ply == 0 and self._record is None and referee.outcome is None):
            if end:
                print(f"klss play: {end}", file=sys.stderr)
            return None
        kit, left_s = self._game.kit, self._clocks if referee.outcome is None else None
        headers = game_headers("klss play", self._settings.players, begun, self._settings, left_s)
        for seat, maker in self._makers.items():
            if maker.label is not None:
                headers[f"{'White' if seat else 'Black'}Evaluator"] = maker.label
        text = kit.record(referee, headers)
        try:
            path = keep_game(text, begun, self._record, kit.suffix)
        except OSError as error:
            sys.stderr.write(text)
            raise FailedError(f"can't write the game to {error.filename}: {error.strerror}; it stands above") from None
        on = ""
        if self._human is not None and end and self._game.chess:
            on = f"; klss {self._game.spelled('play')} --resume {shlex.quote(str(path))} goes on"
        with contextlib.suppress(OSError):
            print(f"klss play: {end + '; ' if end else ''}the game is kept in {path}{on}", file=sys.stderr)
        return path if referee.ply else None
