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
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from klss.play.contest import Answer, AnyPlayer, AnyReferee, Decision, Observation, Player, Setup
from klss.play.limits import Limit, Progress, TimeControl
from klss.play.outcome import Outcome, Seat
from klss.support.seeds import NATURE, player_seed
from klss.support.signals import asked_to_end
from klss.support.text import counted
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.games import FOG, Game
from klss_app.cli.human import Quit
from klss_app.cli.options import (
    GameOptions,
    Parser,
    add_game,
    add_game_options,
    add_players,
    output_file,
)
from klss_app.cli.saved_game import SavedGame, add_resume, asked_game
from klss_app.cli.screen import Screen
from klss_app.cli.terminal import InputClosed, Terminal
from klss_app.kept_games import HUMAN, Terms, game_headers, keep_game, shown_name
from klss_app.progress import ENGINE, THOUGHT

if TYPE_CHECKING:
    from uci_bridge.players import PlayerMaker

LOADING = "loading the engine (the first time it is compiled: a minute)"


def _parser(game: Game = FOG) -> Parser:
    parser = Parser(
        "play", f"{game.title} in the terminal. You are White against {game.default_player} by default.", game
    )
    add_players(parser, "human")
    add_game(parser)
    add_game_options(parser, game=game)
    parser.add_argument(
        game.record, dest="record", metavar="FILE", help="keep the game there, replacing it (default: in klss-games)"
    )
    if game.chess:
        add_resume(parser)
    parser.add_argument("--ascii", action="store_true", help="letters instead of chess figures, no colours")
    return parser


def run(arguments: Sequence[str], game: Game = FOG) -> int:
    """Run ``klss play``; see :mod:`klss_app.cli.main`."""
    parsed = _parser(game).parse(arguments)
    output_file(parsed.record, game.record)
    left, specs, options = asked_game(game, parsed)
    if {*specs.values()} == {HUMAN}:
        raise UsageError(
            "--white and --black: got human for both, expected one at most, since both would see one screen"
        )
    for spec in specs.values():
        if spec != HUMAN and spec not in game.known:
            game.player(spec, parsed.stockfish)
    if left is not None and parsed.record is None:
        output_file(left.path, "--resume")
    return TerminalGame(game, options, specs, Terminal(parsed.ascii), parsed.record, left).run()


def _loading_text(seconds: float) -> str:
    return f"{LOADING}  {seconds:.0f} s"


class EngineAtTerminal(Player[Setup, Observation, Answer]):
    """An engine, which plays in a process of its own, with a spinner while it loads and thinks.

    The spinner runs from a turn's first question to the turn's end, and shows a search's progress only if ``counts``:
    otherwise it would tell that a move was refused and that the engine thinks about another.
    """

    def __init__(
        self,
        maker: PlayerMaker,
        player: Player[Setup, Observation, Answer],
        name: str,
        terminal: Terminal,
        counts: bool,
    ) -> None:
        self._maker, self._player, self._name = maker, player, name
        self._terminal, self._counts = terminal, counts
        self._said = ""  # what it had said before the question
        self._turn: contextlib.ExitStack | None = None  # the spinner of the present turn

    @property
    def fault(self) -> str | None:
        """The last fault of its process."""
        return self._player.last_fault

    def load(self) -> None:
        """Wait until its process has loaded its code."""
        with self._terminal.spinner(_loading_text):
            self._maker.warm_up()

    def begin(self, seat: Seat, setup: Setup) -> None:
        self._player.begin(seat, setup)

    def observe(self, observation: Observation) -> None:
        self._player.observe(observation)

    def answer(self, question: str, limit: Limit, progress: Progress | None = None) -> Decision[Answer]:
        if self._turn is None:
            self.load()
            self._turn = contextlib.ExitStack()
            self._turn.enter_context(self._terminal.spinner(self._text))
        self._said = self._maker.process.stderr_tail
        try:
            return self._player.answer(question, limit)
        except BaseException:
            self.turn_over()
            raise

    def turn_over(self) -> None:
        """The engine's turn is over."""
        if self._turn is not None:
            self._turn.close()
            self._turn = None

    def end(self, outcome: Outcome) -> None:
        self._player.end(outcome)

    def close(self) -> None:
        self.turn_over()
        self._player.close()

    def _text(self, seconds: float) -> str:
        said = self._maker.process.stderr_tail
        progress = (
            said.rpartition("\n")[2].partition(ENGINE + THOUGHT)[2] if self._counts and said != self._said else ""
        )
        return f"{self._name} thinks …  {seconds:.1f} s{progress}"


class TerminalGame:
    """One game of ``klss play``: the game, the flags, the players, the terminal. ``left`` is the game to resume, None
    for a new one; ``record`` is the file to write, None for that of ``left`` or a new one in ``klss-games``.
    """

    def __init__(
        self,
        game: Game,
        options: GameOptions,
        specs: dict[Seat, str],
        terminal: Terminal,
        record: str | None,
        left: SavedGame | None = None,
    ) -> None:
        self._game, self._options, self._specs, self._terminal = game, options, specs, terminal
        self._record = record if record is not None or left is None else str(left.path)
        self._left_game = left
        self._begun = datetime.datetime.now(datetime.UTC) if left is None else left.begun
        self._human = next((seat for seat in specs if specs[seat] == HUMAN), None)
        self._names = {seat: "you" if spec == HUMAN else shown_name(spec) for seat, spec in specs.items()}
        self._clocks = {} if options.clock is None else dict.fromkeys(specs, options.clock[0])
        if left is not None:
            self._clocks.update(left.left_s)
        self._screen = Screen(game, terminal, self._names, self._clocks)
        self._referee: AnyReferee | None = None
        self._makers: dict[Seat, PlayerMaker] = {}
        self._engines: dict[Seat, EngineAtTerminal[Any, Any, Any]] = {}  # of a game that was chosen by name
        self._kept: Path | None = None
        self._saved = False
        self._error: BaseException | None = None
        self._setting_up = threading.Thread(target=self._set_up)

    def run(self) -> int:
        """Play; return the exit code."""
        self._setting_up.start()
        try:
            code, end = self._played()
            self._save(end)
        finally:
            self._setting_up.join()
            for maker in self._makers.values():
                maker.close(at_once=self._referee is None or self._referee.outcome is None)
        if code == 0 and not end and self._kept is not None:
            for hint in self._screen.front.hints(shlex.quote(str(self._kept))):
                print(f"klss play: {hint}", file=sys.stderr)
        return code

    def _played(self) -> tuple[int, str]:
        """Play; return the exit code, and why the game was left, if it was."""
        try:
            with asked_to_end():
                return self._play(), ""
        except (InputClosed, Quit, KeyboardInterrupt) as why:
            return self._left(why)
        except BrokenPipeError:
            return 1, "left, since nobody reads any more"
        except BaseException:
            self._save("the game ended by an error")
            raise
        finally:
            for engine in self._engines.values():
                engine.close()

    def _set_up(self) -> None:
        """Import the game and start the engines' processes: for a thread beside the first prompt."""
        try:
            self._load()
        except BaseException as error:
            self._error = error

    def _load(self) -> None:
        from uci_bridge.players import PlayerMaker

        game, options, kit = self._game, self._options, self._game.kit
        setup = kit.setup(options.fen, options.ruleset.name if game.ruled else None)
        choice = options.evaluator_choice(path_suffices=True)
        ponders = self._human is not None and options.clock is not None
        for seat, spec in self._specs.items():
            if spec != HUMAN:
                chosen = game.player(spec, options.stockfish)
                maker = PlayerMaker(
                    kit, chosen, choice, options.control, ponders=ponders, progress=self._terminal.spins
                )
                self._makers[seat] = maker
                maker.start()
        moves = () if self._left_game is None else self._left_game.moves
        self._referee = kit.referee(setup, moves, player_seed(options.seed, NATURE))

    def _play(self) -> int:
        resumed = 0 if self._left_game is None else self._left_game.plies
        if self._human and self._options.fen is None and not resumed:
            self._screen.first_prompt()
        with self._terminal.spinner(_loading_text):
            self._setting_up.join()
        if self._error is not None:
            raise self._error

        from klss.play.arbiter import Arbiter
        from uci_bridge.evaluators import named

        options, names, screen, referee = self._options, self._names, self._screen, self._referee
        assert referee is not None
        counts = self._game.chess or self._human is None
        for seat, maker in self._makers.items():
            own_seed = player_seed(options.seed, chess.COLOR_NAMES[seat])
            self._engines[seat] = EngineAtTerminal(maker, maker.player(own_seed), names[seat], self._terminal, counts)
        # From now on the screen shows the evaluators' names, which were not known before.
        names.update({seat: named(names[seat], maker.label) for seat, maker in self._makers.items()})
        players: dict[Seat, AnyPlayer] = dict(self._engines)
        controls = dict.fromkeys(self._specs, options.control)
        if self._human is not None:
            players[self._human] = screen.human(resumed)
            controls[self._human] = TimeControl(clock=options.clock)
        if self._human is None or options.clock is not None:
            for engine in self._engines.values():
                engine.load()
        if self._human is None:
            self._terminal.say(f"White: {names[True]}   Black: {names[False]}", *screen.start_lines(referee))
        told = self._human is None  # a human who plays may see only the own side
        on_turn = (lambda played: self._terminal.say(*screen.turn_lines(referee, played))) if told else None
        Arbiter(referee, players, controls, on_turn, on_pass=self._pass, remaining_s=self._clocks).play()
        self._terminal.say("", *screen.end_lines(referee))
        for seat, engine in self._engines.items():
            if engine.fault:
                self._terminal.say(f"{names[seat]}: {engine.fault}")
        if self._human is not None:
            self._save()
            with contextlib.suppress(KeyboardInterrupt):
                screen.review(referee)
        return 0

    def _pass(self, seat: Seat) -> None:
        if seat in self._engines:
            self._engines[seat].turn_over()

    def _left(self, why: BaseException) -> tuple[int, str]:
        """The exit code of a game that was left before its end, and the reason in words."""
        seconds = self._screen.seconds_left()
        if seconds is not None and self._human is not None:
            self._clocks[self._human] = max(0.0, seconds)
        if isinstance(why, InputClosed):
            referee = self._referee
            count = 0 if referee is None else referee.ply
            return (
                1,
                f"got the end of input after {counted(count, *self._screen.front.turns)}, expected a move or a command",
            )
        if isinstance(why, KeyboardInterrupt):
            with contextlib.suppress(OSError):  # the terminal may be closed
                print(file=sys.stderr)
        return 0 if self._human is not None else 1, "left before the end of the game"

    def _save(self, end: str = "") -> None:
        """Write the game to its file, once; print the file on stderr, and ``end`` if the game was left."""
        referee = self._referee
        if self._saved:
            return
        self._saved = True
        if referee is None or (referee.ply == 0 and self._record is None and referee.outcome is None):
            if end:
                print(f"klss play: {end}", file=sys.stderr)
            return
        options, kit = self._options, self._game.kit
        terms = Terms(options.seed, options.clock, options.time_s, options.nodes, options.ruleset.name)
        left_s = self._clocks if referee.outcome is None else None
        headers = game_headers("klss play", self._specs, self._begun, terms, left_s)
        for seat, maker in self._makers.items():
            if maker.label is not None:
                headers[f"{'White' if seat else 'Black'}Evaluator"] = maker.label
        text = kit.record(referee, headers)
        try:
            path = keep_game(text, self._begun, None if self._record is None else Path(self._record), kit.suffix)
        except OSError as error:
            sys.stderr.write(text)
            raise FailedError(f"can't write the game to {error.filename}: {error.strerror}; it stands above") from None
        on = ""
        if self._human is not None and end and self._game.chess:
            on = f"; klss {self._game.spelled('play')} --resume {shlex.quote(str(path))} goes on"
        with contextlib.suppress(OSError):
            print(f"klss play: {end + '; ' if end else ''}the game is kept in {path}{on}", file=sys.stderr)
        self._kept = path if referee.ply else None
