"""``klss play``: a game in the terminal, a human against an engine or an engine against another.

The first board is drawn before anything heavy is imported: the engine's compiled code loads (the first time: compiles)
in a thread while the human thinks about the first move. No clock runs before it is there.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import os
import shlex
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from darkchess.fog.game.contest import DEFAULT_PLAYER, Decision, Player
from darkchess.fog.game.rules import PAPER, Ruleset
from klss.support.seeds import player_seed
from klss.support.text import printable
from klss.table.limits import Limit, Progress
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.human import HELP, HumanPlayer, Quit, screen
from klss_app.cli.options import (
    PLAYERS,
    GameOptions,
    Parser,
    add_game_options,
    chosen_player,
    game_options,
    writable_file,
)
from klss_app.cli.own_name import own_name
from klss_app.cli.review import ply_lines, result_text, review
from klss_app.cli.saved_game import LAST, SavedGame, saved_game
from klss_app.cli.terminal import InputClosed, Terminal
from klss_app.kept_games import Terms, begun_at, game_headers, keep_game
from uci_bridge.child_processes import end_descendants

if TYPE_CHECKING:
    from darkchess.board.position import Position
    from darkchess.fog.game.arbiter import Played
    from darkchess.fog.game.referee import Referee
    from darkchess.fog.game.view import View
    from uci_bridge.players import PlayerMaker

__all__ = ["HUMAN", "LOADING", "Interrupt", "run", "seats", "shown_name"]

HUMAN = "human"
PLAIN_NAMES = (DEFAULT_PLAYER, "klss2021", "greedy", "random")
"""Configurations that are known without importing any; others are looked up before the first board."""
LOADING = "loading the engine (the first time it is compiled: a minute)"
START_VISIBLE = 0xFFFF_FFFF
"""What White sees of the usual start position: ranks 1 to 4."""


def _parser() -> Parser:
    parser = Parser("play", "Fog of War chess in the terminal. You are White against kluss unless told.")
    sides = parser.add_argument_group("the players")
    for side in ("white", "black"):
        sides.add_argument(f"--{side}", metavar="PLAYER", help=f"human, {PLAYERS}")
    add_game_options(parser)
    parser.add_argument(
        "--pgn", metavar="FILE", help="keep the game there, replacing it (default: klss-games/<UTC time>.pgn)"
    )
    parser.add_argument(
        "--resume",
        metavar="FILE",
        help=f"go on with a game that was left, by its own clocks and limits ({LAST}: the last one in klss-games)",
    )
    parser.add_argument("--ascii", action="store_true", help="letters instead of chess figures, no colours")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss play``; see :mod:`klss_app.cli.main`."""
    parser = _parser()
    parsed = parser.parse(arguments)
    if parsed.pgn is not None:
        writable_file(Path(parsed.pgn), "--pgn")
    left = None if parsed.resume is None else saved_game(parsed.resume)
    specs = seats(parsed.white, parsed.black, DEFAULT_PLAYER) if left is None else _specs_of(left, parsed)
    for spec in specs.values():
        if spec != HUMAN and spec not in PLAIN_NAMES:
            chosen_player(spec, parsed.stockfish)
    options = game_options(parsed)
    if left is not None:
        options = _options_of(left, parsed, options)
        if parsed.pgn is None:
            writable_file(left.path, "--resume")
    game = TerminalGame(options, specs, Terminal(parsed.ascii), parsed.pgn, left)
    return game.run()


def _specs_of(left: SavedGame, parsed: argparse.Namespace) -> dict[chess.Color, str]:
    """Who plays on: the human where she sat, against the engine of then or the one that the command line names."""
    for flag in ("fen", "clock", "rules"):
        if flag in parsed.given:
            raise UsageError(f"--{flag}: got it with --resume, expected it in the game alone: it goes on as it began")
    given = {chess.WHITE: parsed.white, chess.BLACK: parsed.black}
    if given[left.human] not in (None, HUMAN):
        side = chess.COLOR_NAMES[left.human]
        raise UsageError(f"--{side}: got {given[left.human]!r} with --resume, where {side} is human; expected human")
    engine = given[not left.human]
    if engine == HUMAN:
        side = chess.COLOR_NAMES[not left.human]
        raise UsageError(f"--{side}: got human with --resume, where the human is on the other side; expected an engine")
    if engine is None and (left.engine.startswith("cmd:") or left.engine.endswith(".toml")):
        raise UsageError(
            f"--resume: got a game against {printable(left.engine)!r}, which no file may start; expected "
            f"--{chess.COLOR_NAMES[not left.human]} beside it, with what shall play"
        )
    return {left.human: HUMAN, not left.human: engine or left.engine}


def _options_of(left: SavedGame, parsed: argparse.Namespace, options: GameOptions) -> GameOptions:
    """The game's own options, but for limits and a seed that the command line gives."""
    terms = left.terms
    if not parsed.given & {"time", "nodes"} and (terms.time_s, terms.nodes, terms.clock) != (None, None, None):
        options = dataclasses.replace(options, time_s=terms.time_s, nodes=terms.nodes)
    return dataclasses.replace(
        options,
        clock=terms.clock,
        seed=terms.seed if parsed.seed is None else parsed.seed,
        fen=left.record.fen,
        ruleset=left.ruleset,
    )


def seats(white: str | None, black: str | None, engine: str) -> dict[chess.Color, str]:
    """Who plays: whoever is not named is the human, or ``engine`` once the human sits on the other side.

    Raises
    ------
    UsageError
        The human sits on both sides.
    """
    if white is None and black is None:
        white = HUMAN
    if white is None:
        white = engine if black == HUMAN else HUMAN
    if black is None:
        black = engine if white == HUMAN else HUMAN
    if white == black == HUMAN:
        raise UsageError("--white and --black: got human for both, expected one at most: they'd see each other's board")
    return {chess.WHITE: white, chess.BLACK: black}


def shown_name(spec: str) -> str:
    """A player's name on the screen: her text, without the directories of a command line."""
    if not spec.startswith("cmd:"):
        return spec
    return printable(" ".join(word.rsplit("/", 1)[-1] for word in spec.split()))


class Interrupt:
    """Ctrl-C while an engine thinks.

    Where it strikes inside a library's callback, Python prints the exception and drops it; so it is also noted, and
    raised once more when the engine's move is there.
    """

    def __init__(self) -> None:
        self._noted = False
        self._previous: Any = None

    def __enter__(self) -> Interrupt:
        self._previous = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._previous)

    def _note(self, *_: object) -> None:
        self._noted = True
        raise KeyboardInterrupt

    def check(self) -> None:
        """Raise what was dropped."""
        if self._noted:
            raise KeyboardInterrupt


class Watched(Player):
    """An engine with a spinner while it thinks."""

    def __init__(self, player: Player, name: str, terminal: Terminal) -> None:
        self._player = player
        self._name = name
        self._terminal = terminal
        self._state: dict[str, Any] = {}

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._player.start(view, start, ruleset)

    def observe(self, view: View) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._state = {}
        with self._terminal.spinner(self._text):
            self._player.observe(view)

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._state = {}
        with self._terminal.spinner(self._text), Interrupt() as interrupt:
            decision = self._player.choose(limit, self._state.update)
            interrupt.check()
            return decision

    def end(self, view: View) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        self._player.end(view)

    def _text(self, seconds: float) -> str:
        state = self._state
        text = f"{self._name} thinks …  {seconds:.1f} s"
        if "nodes" in state:
            text += f"  {int(state['nodes']):,} nodes  depth {int(state.get('depth', 0))}"
        return text


class Loading(threading.Thread):
    """Imports and warms up what a game needs, in the background; :meth:`wait` gives it, or raises what went wrong."""

    def __init__(self, options: GameOptions, specs: dict[chess.Color, str], played: Sequence[chess.Move] = ()) -> None:
        super().__init__(daemon=True)
        self._options = options
        self._played = played
        self._specs = specs
        self._error: BaseException | None = None
        self._makers: list[PlayerMaker] = []
        self.players: dict[chess.Color, Player] = {}
        self.evaluators: dict[chess.Color, str] = {}
        self.referee: Referee | None = None

    def run(self) -> None:
        """Load; called by the thread."""
        try:
            self._load()
        except BaseException as error:
            self._error = error

    def _load(self) -> None:
        from darkchess.fog.game.referee import Referee
        from darkchess.fog.players.configuration import Configuration
        from uci_bridge.players import PlayerMaker

        options = self._options
        referee = Referee(options.fen, options.ruleset)
        for move in self._played:
            referee.push(move)
        self.referee = referee
        choice = options.evaluator_choice(path_suffices=True)
        for color, spec in self._specs.items():
            if spec != HUMAN:
                seed = player_seed(options.seed, chess.COLOR_NAMES[color])
                chosen = chosen_player(spec, options.stockfish)
                if isinstance(chosen, Configuration) and HUMAN in self._specs.values() and options.clock is not None:
                    chosen = chosen.pondering()
                maker = PlayerMaker(chosen, choice, options.ruleset)
                self._makers.append(maker)
                self.players[color] = maker.make(seed)
                if maker.evaluator_label is not None:
                    self.evaluators[color] = maker.evaluator_label
                maker.warm_up(color, clock=options.clock is not None)

    def wait(self) -> Referee:
        """The referee, once all is there."""
        self.join()
        if self._error is not None:
            raise self._error
        assert self.referee is not None
        return self.referee

    def close(self) -> None:
        """Free what the players hold, and end engines' processes."""
        if not self.is_alive():
            for player in self.players.values():
                player.close()
        for maker in self._makers:
            maker.close()


class TerminalGame:
    """One game of ``klss play``.

    Parameters
    ----------
    options
        The game's flags.
    specs
        Who plays.
    terminal
        Where.
    pgn
        ``--pgn``; None for a file in ``klss-games``, or the one of ``left``.
    left
        The game that goes on; None: a new one.
    """

    def __init__(
        self,
        options: GameOptions,
        specs: dict[chess.Color, str],
        terminal: Terminal,
        pgn: str | None,
        left: SavedGame | None = None,
    ) -> None:
        self._options = options
        self._specs = specs
        self._terminal = terminal
        self._pgn = pgn if pgn is not None or left is None else str(left.path)
        self._left_game = left
        self._begun = (None if left is None else begun_at(left.record.headers)) or datetime.datetime.now(datetime.UTC)
        self._human = next((color for color in chess.COLORS if specs[color] == HUMAN), None)
        self._names = {color: "you" if spec == HUMAN else shown_name(spec) for color, spec in specs.items()}
        self._clocks = {} if options.clock is None else dict.fromkeys(chess.COLORS, options.clock[0])
        if left is not None:
            self._clocks.update(left.left_s)
        self._player: HumanPlayer | None = None
        self._kept: Path | None = None
        self._loading = Loading(options, specs, () if left is None else left.record.moves)

    def run(self) -> int:
        """Play; the exit code."""
        self._loading.start()
        try:
            code, end = self._play(), ""
        except (InputClosed, Quit, KeyboardInterrupt) as why:
            code, end = self._left(why)
        except BrokenPipeError:
            code, end = 1, "left, since nobody reads any more"
        except BaseException:
            self._save("the game ended by an error")
            raise
        finally:
            self._loading.close()
        self._save(end)
        if code == 0 and not end and self._kept is not None:
            name = shlex.quote(str(self._kept))
            print(f"klss play: see it again: {own_name()} board {name}", file=sys.stderr)
            print(f"klss play: what moves cost: {own_name()} analyse {name}", file=sys.stderr)
        if self._loading.is_alive():
            # Compiled code can't be stopped half-way, and waiting for it would hold the shell for nothing.
            sys.stdout.flush()
            sys.stderr.flush()
            end_descendants()
            os._exit(code)
        return code

    def _play(self) -> int:
        human, resumed = None, 0 if self._left_game is None else len(self._left_game.record.moves)
        if self._human is not None:
            human = self._player = HumanPlayer(self._terminal, self._names, self._clocks, resumed)
        if human is not None and self._human == chess.WHITE and self._options.fen is None and not resumed:
            self._first_prompt()
            human.board_is_drawn()
        with self._terminal.spinner(lambda seconds: f"{LOADING}  {seconds:.0f} s"):
            referee = self._loading.wait()

        from darkchess.fog.game.arbiter import Arbiter
        from klss.table.limits import TimeControl
        from uci_bridge.evaluators import named

        options = self._options
        players: dict[chess.Color, Player] = {
            color: Watched(player, self._names[color], self._terminal)
            for color, player in self._loading.players.items()
        }
        # From here on the screen says what values positions: before, it was not known.
        self._names.update({color: named(self._names[color], told) for color, told in self._loading.evaluators.items()})
        controls = {color: TimeControl(options.time_s, options.nodes, options.clock) for color in chess.COLORS}
        if human is not None and self._human is not None:
            players[self._human] = human
            controls[self._human] = TimeControl(clock=options.clock)
        arbiter = Arbiter(
            referee, players, controls, None if human is not None else self._print_ply, remaining_s=self._clocks
        )
        if human is None:
            names = self._names
            self._terminal.say(f"White: {names[chess.WHITE]}   Black: {names[chess.BLACK]}", "")
            self._terminal.say(*ply_lines(referee, 0, self._terminal, chess.WHITE))
        arbiter.play()
        self._terminal.say("", result_text(referee))
        if human is not None:
            self._save()
            with contextlib.suppress(KeyboardInterrupt):
                review(referee, self._terminal, human.bottom)
        return 0

    def _first_prompt(self) -> None:
        """White's first board and her first line, while the engine is loading."""
        men = {square: piece for square, piece in chess.Board().piece_map().items() if piece.color == chess.WHITE}
        terminal = self._terminal
        terminal.clear()
        terminal.say(*screen(men, START_VISIBLE, (), chess.WHITE, self._names, self._clocks, terminal))
        terminal.say(" You see your men and where they could move; the rest is fog. help tells what to type.")
        while True:
            text = terminal.ask(" 1. your move: ")
            if text.lower() in ("quit", "exit"):
                raise Quit
            if text.lower() in ("help", "?"):
                terminal.say(HELP)
            elif text:
                terminal.type_ahead(text)
                return

    def _print_ply(self, played: Played) -> None:
        referee = self._loading.referee
        assert referee is not None
        self._terminal.say("", *ply_lines(referee, played.ply, self._terminal, chess.WHITE))

    def _left(self, why: BaseException) -> tuple[int, str]:
        """The exit code of a game that was left before its end, and what to say of it."""
        seconds = None if self._player is None else self._player.seconds_left()
        if seconds is not None and self._human is not None:
            self._clocks[self._human] = max(0.0, seconds)
        if isinstance(why, InputClosed):
            referee = self._loading.referee
            ply = 0 if referee is None else referee.ply
            return 1, f"got the end of input after {ply} plies, expected a move or a command"
        if isinstance(why, KeyboardInterrupt):
            print(file=sys.stderr)
        return 0 if self._human is not None else 1, "left before the end of the game"

    def _save(self, end: str = "") -> None:
        """Write the game to its PGN file, once; say on stderr where it is, and how it ended if it was left."""
        referee, self._loading.referee = self._loading.referee, None
        if referee is None or (referee.ply == 0 and self._pgn is None and referee.outcome is None):
            if end:
                print(f"klss play: {end}", file=sys.stderr)
            return
        from darkchess.fog.game.record import GameRecord, write_pgn

        options = self._options
        terms = Terms(options.seed, options.clock, options.time_s, options.nodes, options.ruleset.name)
        left_s = self._clocks if referee.outcome is None else None
        headers = game_headers("klss play", self._specs, self._begun, terms, left_s)
        for color, name in self._loading.evaluators.items():
            headers[f"{'White' if color else 'Black'}Evaluator"] = name
        text = write_pgn(GameRecord(referee.moves, referee.outcome, options.fen, headers))
        try:
            path = keep_game(text, self._begun, None if self._pgn is None else Path(self._pgn))
        except OSError as error:
            sys.stderr.write(text)
            raise FailedError(f"can't write the game to {error.filename}: {error.strerror}; it stands above") from None
        on = f"; {own_name()} play --resume {shlex.quote(str(path))} goes on" if self._human is not None and end else ""
        print(f"klss play: {end + '; ' if end else ''}the game is kept in {path}{on}", file=sys.stderr)
        self._kept = path if referee.ply else None
