"""The players of a match of Reconnaissance Blind Chess, most of them in processes of their own, from game to game.

A configuration is played by ``klss rbc engine``, a command by its program, a player of ``reconchess`` by its host
(:mod:`uci_bridge.reconchess`): no side of a match can see more than she is told.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import chess

from darkchess.board.position import Position
from darkchess.rbc.game.contest import Asked, Look, Player
from darkchess.rbc.players.configuration import Configuration
from klss.table.contest import Forfeit
from klss.table.limits import Limit, TimeControl
from uci_bridge.blind_players import Blind, BlindMaker, Foreign, valued_by
from uci_bridge.evaluators import EvaluatorChoice
from uci_bridge.guarded_process import GuardedProcess
from uci_bridge.match.task import GameResult, GameTask, Side
from uci_bridge.protocol.blind.host import HostedBlindPlayer
from uci_bridge.protocol.engine_process import EngineProcess

__all__ = ["BlindEngines", "BlindSetup"]


@dataclass(frozen=True)
class BlindSetup:
    """What all games of a match have in common; see :class:`uci_bridge.match.task.GameSetup`.

    Attributes
    ----------
    a, b
        The players.
    budget
        What limits both, at each of a turn's two questions.
    evaluator
        For configurations that leave theirs open.
    check_truth
        Test mode: configurations play in this process, and the arbiter looks into their position sets.
    """

    a: Blind
    b: Blind
    budget: TimeControl
    evaluator: EvaluatorChoice = field(default_factory=EvaluatorChoice)
    check_truth: bool = False

    def spec(self, side: Side) -> Blind:
        """The player of that side."""
        return self.a if side == "a" else self.b

    def engines(self) -> BlindEngines:
        """See :class:`uci_bridge.match.task.GameSetup`."""
        return BlindEngines(self)

    def evaluator_label(self, side: Side) -> str | None:
        """See :class:`uci_bridge.match.task.GameSetup`."""
        return valued_by(self.spec(side), self.evaluator)

    def packages(self) -> tuple[str, ...]:
        """See :class:`uci_bridge.match.task.GameSetup`."""
        return ("reconchess",) if any(_is_foreign(spec) for spec in (self.a, self.b)) else ()

    def uses_stockfish(self) -> bool:
        """See :class:`uci_bridge.match.task.GameSetup`; ``reconchess``'s players are taken to use it."""
        return any(self._uses_stockfish(spec) for spec in (self.a, self.b))

    def _uses_stockfish(self, spec: Blind) -> bool:
        if not isinstance(spec, Configuration):
            return _is_foreign(spec)
        return "stockfish" in (spec.evaluator if spec.evaluator != "auto" else self.evaluator.name)


def _is_foreign(spec: Blind) -> bool:
    return isinstance(spec, Foreign)


class BlindEngines:
    """What plays the games of one worker, one game at a time; see :class:`uci_bridge.match.task.GameEngines`.

    Parameters
    ----------
    setup
        Of the match.
    """

    def __init__(self, setup: BlindSetup) -> None:
        self._setup = setup
        self._makers = {
            side: BlindMaker(
                setup.spec(side),
                setup.evaluator,
                setup.budget,
                process=GuardedProcess,
                seat=_Seat,
                apart=not setup.check_truth,
            )
            for side in ("a", "b")
        }
        for maker in self._makers.values():
            if not maker.hosts:
                maker.warm_up(chess.WHITE)

    def play(self, task: GameTask) -> GameResult:
        """See :class:`uci_bridge.match.task.GameEngines`."""
        from uci_bridge.match.blind.game import play_game  # which takes us

        return play_game(self._setup, task, self)

    def player(self, side: Side, seed: int) -> Player:
        """The player of a side for one game."""
        return self._makers[side].make(seed)

    def get_ready(self) -> None:
        """Start the processes that do not run, both at once, and have them load what they need before time is taken."""
        warming = [
            threading.Thread(target=maker.warm_up, args=(chess.WHITE,), daemon=True)
            for maker in self._makers.values()
            if maker.hosts  # what plays in this process is ready
        ]
        for thread in warming:
            thread.start()
        for thread in warming:
            thread.join()

    def close(self, *, at_once: bool = False) -> None:
        """See :class:`uci_bridge.match.task.GameEngines`."""
        for maker in self._makers.values():
            maker.close(at_once=at_once)


class _Seat(HostedBlindPlayer):
    """An engine in a game of a match: whose process ends in mid-game has lost it, also between two questions."""

    def __init__(self, engine: EngineProcess, *, seed: int = 0) -> None:
        super().__init__(engine, seed=seed)
        self._process = engine
        self._asked_once = False

    def start(self, color: chess.Color, start: Position) -> None:
        """See :class:`darkchess.rbc.game.contest.Player`."""
        super().start(color, start)
        self._asked_once = False

    def choose_sense(self, limit: Limit) -> Look:
        """See :class:`uci_bridge.protocol.blind.host.HostedBlindPlayer`."""
        self._check_alive()
        return super().choose_sense(limit)

    def choose_move(self, limit: Limit) -> Asked:
        """See :class:`uci_bridge.protocol.blind.host.HostedBlindPlayer`."""
        self._check_alive()
        return super().choose_move(limit)

    def _check_alive(self) -> None:
        if self._asked_once and not self._process.alive:
            words = self._process.stderr_tail
            self.trouble = self.trouble or f"it ended between two questions; its last words: {words}"
            raise Forfeit(self.trouble)
        self._asked_once = True
