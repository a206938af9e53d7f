"""``klss rbc play``: a game of Reconnaissance Blind Chess in the terminal, a human against an engine or two engines.

The human's first board is drawn while the engine's compiled code loads (the first time: compiles); where a clock runs,
before it.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import chess

from darkchess.rbc.game.contest import DEFAULT_PLAYER, Asked, Look, Player
from klss.support.seeds import player_seed
from klss.table.limits import Limit
from klss_app.cli.errors import FailedError
from klss_app.cli.human import Quit
from klss_app.cli.options import GameOptions, game_options, writable_file
from klss_app.cli.play import HUMAN, LOADING, Interrupt, seats, shown_name
from klss_app.cli.rbc.options import PLAYERS, BlindParser, add_blind_options, chosen_blind
from klss_app.cli.review import ended_text
from klss_app.cli.terminal import InputClosed, Terminal
from klss_app.kept_games import keep_game
from uci_bridge.child_processes import end_descendants

if TYPE_CHECKING:
    from darkchess.board.position import Position
    from darkchess.rbc.game.arbiter import Played
    from darkchess.rbc.game.observation import Moved, Notice, Sensed
    from klss.table.outcome import Outcome
    from uci_bridge.blind_players import Blind, BlindMaker

__all__ = ["run"]


def _parser() -> BlindParser:
    parser = BlindParser(
        "play", f"Reconnaissance Blind Chess in the terminal. You are White against {DEFAULT_PLAYER} unless told."
    )
    sides = parser.add_argument_group("the players")
    for side in ("white", "black"):
        sides.add_argument(f"--{side}", metavar="PLAYER", help=f"human; {PLAYERS}")
    add_blind_options(parser, path_suffices=True)
    parser.add_argument(
        "--history",
        metavar="FILE",
        help="keep the game there, replacing it (default: klss-games/<UTC time>.json); rc-replay opens it",
    )
    parser.add_argument("--ascii", action="store_true", help="letters instead of chess figures, no colours")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss rbc play``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    if parsed.history is not None:
        writable_file(Path(parsed.history), "--history")
    specs = seats(parsed.white, parsed.black, DEFAULT_PLAYER)
    options = game_options(parsed)
    chosen = {color: chosen_blind(text, options.stockfish) for color, text in specs.items() if text != HUMAN}
    return _Game(options, specs, chosen, Terminal(parsed.ascii), parsed.history).run()


class _Engine(Player):
    """An engine that loads in the background, with a spinner while it thinks; it is waited for at its first turn."""

    def __init__(self, maker: BlindMaker, seed: int, name: str, terminal: Terminal) -> None:
        self._maker = maker
        self._seed = seed
        self._name = name
        self._terminal = terminal
        self._player: Player | None = None
        self._begin: Callable[[Player], None] = lambda player: None
        self._error: BaseException | None = None
        self._loading = threading.Thread(target=self._load, daemon=True)
        self._loading.start()

    @property
    def loading(self) -> bool:
        """Whether compiled code is still being loaded."""
        return self._loading.is_alive()

    @property
    def trouble(self) -> str | None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        return None if self._player is None else self._player.trouble

    @trouble.setter
    def trouble(self, told: str | None) -> None:
        self.wait().trouble = told

    def _load(self) -> None:
        try:
            self._maker.warm_up(chess.WHITE)
        except BaseException as error:
            self._error = error

    def wait(self) -> Player:
        """The player, once all is there and her game has begun."""
        if self._player is None:
            with self._terminal.spinner(lambda seconds: f"{LOADING}  {seconds:.0f} s"):
                self._loading.join()
            if self._error is not None:
                raise self._error
            self._player = self._maker.make(self._seed)
            self._begin(self._player)
        return self._player

    def start(self, color: chess.Color, start: Position) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        self._begin = lambda player: player.start(color, start)
        if self._player is not None:
            self._begin(self._player)

    def notice(self, notice: Notice) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        player = self.wait()
        with self._terminal.spinner(self._text):
            player.notice(notice)

    def choose_sense(self, limit: Limit) -> Look:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        with self._terminal.spinner(self._text), Interrupt() as interrupt:
            look = self.wait().choose_sense(limit)
            interrupt.check()
            return look

    def sensed(self, sensed: Sensed) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        self.wait().sensed(sensed)

    def choose_move(self, limit: Limit) -> Asked:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        with self._terminal.spinner(self._text), Interrupt() as interrupt:
            asked = self.wait().choose_move(limit)
            interrupt.check()
            return asked

    def moved(self, moved: Moved) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        self.wait().moved(moved)

    def end(self, outcome: Outcome) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        if self._player is not None:
            self._player.end(outcome)

    def close(self) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        if self._player is not None:
            self._player.close()
        self._maker.close()

    def _text(self, seconds: float) -> str:
        return f"{self._name} thinks …  {seconds:.1f} s"


class _Game:
    """One game.

    Parameters
    ----------
    options
        The game's flags.
    specs
        Who plays, by their texts.
    chosen
        Who that is, of those who are no human.
    terminal
        Where.
    history
        ``--history``; None for a file in ``klss-games``.
    """

    def __init__(
        self,
        options: GameOptions,
        specs: dict[chess.Color, str],
        chosen: dict[chess.Color, Blind],
        terminal: Terminal,
        history: str | None,
    ) -> None:
        from darkchess.rbc.game.referee import Referee
        from klss.table.limits import TimeControl
        from klss_app.cli.rbc.human import BlindHuman
        from uci_bridge.blind_players import BlindMaker, valued_by
        from uci_bridge.evaluators import named

        self._options = options
        self._specs = specs
        self._terminal = terminal
        self._history = history
        self._begun = datetime.datetime.now(datetime.UTC)
        self._saved = False
        self._referee = Referee(options.fen)
        choice = options.evaluator_choice(path_suffices=True)
        budget = TimeControl(options.time_s, options.nodes, options.clock)
        clocks = {} if options.clock is None else dict.fromkeys(chess.COLORS, options.clock[0])
        names = {
            color: "you" if spec == HUMAN else named(shown_name(spec), valued_by(chosen[color], choice))
            for color, spec in specs.items()
        }
        self._names, self._clocks = names, clocks
        self._engines = {
            color: _Engine(
                BlindMaker(spec, choice, budget),
                player_seed(options.seed, chess.COLOR_NAMES[color]),
                shown_name(specs[color]),
                terminal,
            )
            for color, spec in chosen.items()
        }
        self._human = None if len(chosen) == 2 else BlindHuman(terminal, names, clocks)
        self._controls = {
            color: budget if color in chosen else TimeControl(clock=options.clock) for color in chess.COLORS
        }

    def run(self) -> int:
        """Play; the exit code."""
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
            for engine in self._engines.values():
                engine.close()
        self._save(end)
        if any(engine.loading for engine in self._engines.values()):
            # Compiled code can't be stopped half-way, and waiting for it would hold the shell for nothing.
            sys.stdout.flush()
            sys.stderr.flush()
            end_descendants()
            os._exit(code)
        return code

    def _play(self) -> int:
        from darkchess.fog.game.render import ALL_SQUARES, Style, board_lines
        from darkchess.rbc.game.arbiter import Arbiter

        terminal, names = self._terminal, self._names
        players: dict[chess.Color, Player] = {color: self._engines.get(color) or self._seat() for color in chess.COLORS}
        if self._options.clock is not None or self._human is None:
            for engine in self._engines.values():
                engine.wait()
        arbiter = Arbiter(
            self._referee,
            players,
            self._controls,
            None if self._human is not None else self._print_turn,
            remaining_s=self._clocks,
        )
        if self._human is None:
            terminal.say(f"White: {names[chess.WHITE]}   Black: {names[chess.BLACK]}")
        arbiter.play()
        style = Style(unicode=terminal.unicode, color=terminal.color)
        bottom = chess.WHITE if self._human is None else self._human.bottom
        board = board_lines(
            self._referee.position.pieces, ALL_SQUARES, bottom=bottom, style=style, cell=3 if terminal.color else 2
        )
        terminal.say(
            "",
            " The board:",
            *(" " + line for line in board),
            "",
            ended_text(self._referee.outcome, f"{self._referee.ply} turns"),
        )
        for color, engine in self._engines.items():
            if engine.trouble:
                terminal.say(f"{names[color]}: {engine.trouble}")
        if self._human is not None and self._referee.ply > 0:
            from klss_app.cli.rbc.review import review

            self._save()
            with contextlib.suppress(KeyboardInterrupt):
                review(self._referee, terminal, self._human.bottom)
        return 0

    def _seat(self) -> Player:
        assert self._human is not None
        return self._human

    def _print_turn(self, played: Played) -> None:
        from klss_app.cli.rbc.spoken import turn_text

        self._terminal.say(turn_text(played.turn, played.ply - 1))

    def _left(self, why: BaseException) -> tuple[int, str]:
        """The exit code of a game that was left before its end, and what to say of it."""
        if isinstance(why, InputClosed):
            return 1, f"got the end of input after {self._referee.ply} turns, expected a square, a move or a command"
        if isinstance(why, KeyboardInterrupt):
            print(file=sys.stderr)
        return 0 if self._human is not None else 1, "left before the end of the game"

    def _save(self, end: str = "") -> None:
        """Write the game to its file, once; say on stderr where it is, and how it ended if it was left."""
        if self._saved:
            return
        self._saved = True
        referee = self._referee
        if referee.ply == 0 and self._history is None and referee.outcome is None:
            if end:
                print(f"klss rbc play: {end}", file=sys.stderr)
            return
        from darkchess.rbc.game.history import history_text
        from klss.table.outcome import Outcome

        if referee.outcome is None:
            referee.end(Outcome(None, "aborted"))
        text = history_text(referee, self._specs[chess.WHITE], self._specs[chess.BLACK])
        try:
            path = keep_game(text, self._begun, None if self._history is None else Path(self._history), ".json")
        except OSError as error:
            sys.stderr.write(text)
            raise FailedError(f"can't write the game to {error.filename}: {error.strerror}; it stands above") from None
        print(f"klss rbc play: {end + '; ' if end else ''}the game is kept in {path}", file=sys.stderr)
