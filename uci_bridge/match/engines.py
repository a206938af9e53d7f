"""The players of a match's games, in processes of their own, that live on from game to game and end with this process.

A configuration is played by ``klss engine``, a command by its program; both speak the engine protocol, so neither side
of a match can see more than her views. None outlives this process (:mod:`uci_bridge.guarded_process`).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import chess

from darkchess.board.position import Position
from darkchess.fog.game.contest import Decision, Player
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import PAPER, Ruleset
from darkchess.fog.game.view import View
from darkchess.fog.players.configuration import Configuration
from klss.table.contest import Forfeit
from klss.table.limits import Limit, TimeControl
from uci_bridge.evaluators import evaluator_label
from uci_bridge.guarded_process import GuardedProcess
from uci_bridge.match.task import GameResult, GameTask, Side
from uci_bridge.players import Command, EvaluatorChoice, PlayerMaker, engine_argv
from uci_bridge.protocol.engine_process import EngineProcess
from uci_bridge.protocol.host import HostedPlayer

__all__ = ["Engines", "Insider", "InsiderMaker", "Setup", "Side", "Spec"]


class InsiderMaker(Protocol):
    """Makes the players of one :class:`Insider` in one worker, game after game."""

    def make(self, seed: int, referee: Referee) -> Player:
        """A player of ``referee``'s game, which may look at it."""
        ...

    def close(self) -> None:
        """End what is held."""
        ...


@dataclass(frozen=True)
class Insider:
    """A player that the caller brings. It plays in the worker's own process and is given the referee itself, so it may
    see the true game: it is behind no wall, and no front door takes one.

    Attributes
    ----------
    chosen
        What results hold of it, and the evaluator that it names.
    maker
        Makes its players, of ``chosen``, for configurations that leave their evaluator open, and the ruleset; a class
        or function of a module, since it is sent to the workers.
    """

    chosen: Configuration
    maker: Callable[[Configuration, EvaluatorChoice, Ruleset], InsiderMaker]

    @property
    def name(self) -> str:
        """As it is named in results."""
        return self.chosen.name

    def fields(self) -> dict[str, Any]:
        """What results hold."""
        return self.chosen.fields()


Spec = Configuration | Command | Insider
"""Who may play a match of Fog of War."""


@dataclass(frozen=True)
class Setup:
    """What all games of a match have in common; it is sent to the workers.

    Attributes
    ----------
    a, b
        The players.
    budget
        What limits both.
    ruleset
        See :mod:`darkchess.fog.game.rules`.
    evaluator
        For configurations that leave theirs open.
    check_truth
        Test mode: configurations play in this process, and the arbiter looks into their position sets.
    budget_b
        What limits B, where it is not what limits A.
    """

    a: Spec
    b: Spec
    budget: TimeControl
    ruleset: Ruleset = PAPER
    evaluator: EvaluatorChoice = field(default_factory=EvaluatorChoice)
    check_truth: bool = False
    budget_b: TimeControl | None = None

    def spec(self, side: Side) -> Spec:
        """The player of that side."""
        return self.a if side == "a" else self.b

    def budget_of(self, side: Side) -> TimeControl:
        """What limits that side."""
        return self.budget if side == "a" or self.budget_b is None else self.budget_b

    def engines(self) -> Engines:
        """See :class:`uci_bridge.match.task.GameSetup`."""
        return Engines(self)

    def evaluator_label(self, side: Side) -> str | None:
        """See :class:`uci_bridge.match.task.GameSetup`."""
        chosen = _configuration(self.spec(side))
        return None if chosen is None else evaluator_label(chosen, self.evaluator)

    def packages(self) -> tuple[str, ...]:
        """See :class:`uci_bridge.match.task.GameSetup`."""
        return ()

    def uses_stockfish(self) -> bool:
        """See :class:`uci_bridge.match.task.GameSetup`."""
        chosen = (_configuration(spec) for spec in (self.a, self.b))
        named = (each.evaluator for each in chosen if each is not None)
        return any("stockfish" in (name if name != "auto" else self.evaluator.name) for name in named)


def _configuration(spec: Spec) -> Configuration | None:
    """A foreign engine has none."""
    if isinstance(spec, Insider):
        return spec.chosen
    return spec if isinstance(spec, Configuration) else None


class Engines:
    """What plays the games of one worker, one game at a time. An :class:`Insider` plays in this process: there is no
    wall that it could be behind.

    Parameters
    ----------
    setup
        Of the match.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._processes: dict[Side, EngineProcess] = {}
        self._makers: dict[Side, PlayerMaker] = {}
        self._insiders: dict[Side, InsiderMaker] = {}
        for side in ("a", "b"):
            spec = setup.spec(side)
            if isinstance(spec, Command):
                self._processes[side] = GuardedProcess(spec.argv, name=spec.name)
            elif isinstance(spec, Insider):
                self._insiders[side] = spec.maker(spec.chosen, setup.evaluator, setup.ruleset)
            elif not setup.check_truth:
                argv = engine_argv(spec, setup.evaluator)
                self._processes[side] = GuardedProcess(argv, name=spec.name)
            else:
                self._makers[side] = PlayerMaker(spec, setup.evaluator, setup.ruleset)
                self._makers[side].warm_up(chess.WHITE)

    def play(self, task: GameTask) -> GameResult:
        """See :class:`uci_bridge.match.task.GameEngines`."""
        from uci_bridge.match.game import play_game  # which takes us

        return play_game(self._setup, task, self)

    def player(self, side: Side, seed: int, referee: Referee) -> Player:
        """The player of a side for one game; ``referee`` is for an :class:`Insider` alone."""
        if side in self._processes:
            return _Seat(self._processes[side], seed=seed)
        if side in self._makers:
            return self._makers[side].make(seed)
        return self._insiders[side].make(seed, referee)

    def get_ready(self) -> None:
        """Start the processes that do not run, both at once, and have them load what they need before time is taken.

        A foreign engine is asked for a move in a game that nobody plays only where a clock runs. What goes wrong here
        goes wrong again in the game, where it is counted.
        """
        warming = []
        for side, process in self._processes.items():
            with contextlib.suppress(Exception):
                process.start()
            foreign = isinstance(self._setup.spec(side), Command)
            if (not foreign or self._setup.budget_of(side).clock is not None) and not process.answered:
                warming.append(threading.Thread(target=process.warm_up, daemon=True))
        for thread in warming:
            thread.start()
        for thread in warming:
            thread.join()

    def close(self, *, at_once: bool = False) -> None:
        """End the processes; ``at_once``: without leaving them a moment."""
        for process in self._processes.values():
            if at_once:
                process.kill()
            else:
                process.close()
        for maker in self._makers.values():
            maker.close()
        for insider in self._insiders.values():
            insider.close()


class _Seat(HostedPlayer):
    """An engine in a game of a match: whose process ends in mid-game has lost it, also between two moves."""

    def __init__(self, engine: EngineProcess, *, seed: int) -> None:
        super().__init__(engine, seed=seed)
        self._process = engine
        self._asked_once = False

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """See :class:`darkchess.fog.game.contest.Player`."""
        super().start(view, start, ruleset)
        self._asked_once = False

    def choose(self, limit: Limit, progress: Any = None) -> Decision:
        """See :class:`uci_bridge.protocol.host.HostedPlayer`."""
        if self._asked_once and not self._process.alive:
            self.trouble = self.trouble or f"it ended between two moves; its last words: {self._process.stderr_tail}"
            raise Forfeit(self.trouble)
        self._asked_once = True
        return super().choose(limit, progress)
