"""Texts made into players of Reconnaissance Blind Chess: a configuration's, with the evaluator that it names; a program
that speaks the engine protocol (``cmd:…``); or a player of the package ``reconchess`` (:mod:`uci_bridge.reconchess`).

This is the referee's side: games are set up here.
"""

from __future__ import annotations

import contextlib
from typing import Any, Protocol, runtime_checkable

import chess

from darkchess.rbc.game.contest import Player
from darkchess.rbc.players.configuration import CONFIGURATIONS, Configuration, configuration, make_player
from darkchess.rbc.warm_up import warm_up
from klss.table.limits import TimeControl
from uci_bridge.commands import COMMAND, Command, command, described, program_argv
from uci_bridge.evaluators import EvaluatorChoice, evaluator_label, make_evaluator
from uci_bridge.protocol.blind.host import HostedBlindPlayer, rehearse
from uci_bridge.protocol.engine_process import EngineProcess

__all__ = ["Blind", "BlindMaker", "Foreign", "blind_spec", "engine_argv", "valued_by"]


@runtime_checkable
class Foreign(Protocol):
    """A player of another package, hosted; :class:`uci_bridge.reconchess.bots.Foreign`."""

    @property
    def name(self) -> str:
        """As it is named in results."""
        ...

    def fields(self) -> dict[str, Any]:
        """What results hold."""
        ...

    def make(self, seed: int, nodes: int | None, time_s: float | None, stockfish: str | None) -> Player:
        """A player for a game."""
        ...


Blind = Configuration | Command | Foreign
"""Who may play."""


def blind_spec(text: str) -> Blind:
    """What a player's text describes: a player of ``reconchess``, ``cmd:PROGRAM ARGUMENTS``, or a configuration.

    Raises
    ------
    ConfigurationError
        Says what is wrong with it.
    ReconchessMissing
        It is a player of ``reconchess``, which is not installed.
    """
    if text.startswith(COMMAND):
        return command(text)
    if text.partition(",")[0].strip() not in CONFIGURATIONS:
        from uci_bridge.reconchess import foreign

        found = foreign(text)
        if found is not None:
            return found
    return configuration(text)


def engine_argv(chosen: Configuration, choice: EvaluatorChoice) -> tuple[str, ...]:
    """The command line of ``klss rbc engine`` that plays ``chosen`` as this process would.

    Raises
    ------
    ConfigurationError
        A field has a value that no text gives.
    """
    base = CONFIGURATIONS.get(chosen.name.partition(",")[0])
    if base is None or base.player != chosen.player:
        base = next(item for item in CONFIGURATIONS.values() if item.player == chosen.player)
    return program_argv(("rbc", "engine"), described(chosen, base, configuration), choice)


def valued_by(spec: Blind, choice: EvaluatorChoice) -> str | None:
    """See :func:`uci_bridge.evaluators.evaluator_label`; None for whoever is foreign."""
    return evaluator_label(spec, choice) if isinstance(spec, Configuration) else None


class BlindMaker:
    """Makes the players of one text, game after game; holds what they share: an evaluator, or a process.

    Parameters
    ----------
    spec
        See :func:`blind_spec`.
    choice
        See :class:`uci_bridge.evaluators.EvaluatorChoice`.
    budget
        What limits her.
    process
        What runs a program.
    seat
        What plays on it.
    apart
        Whether a configuration plays in a process of its own.

    Raises
    ------
    StockfishMissing
        See :func:`uci_bridge.evaluators.make_evaluator`.
    """

    def __init__(
        self,
        spec: Blind,
        choice: EvaluatorChoice,
        budget: TimeControl,
        *,
        process: type[EngineProcess] = EngineProcess,
        seat: type[HostedBlindPlayer] = HostedBlindPlayer,
        apart: bool = False,
    ) -> None:
        self._spec, self._choice, self._budget, self._seat = spec, choice, budget, seat
        self._process: EngineProcess | None = None
        self._evaluator = None
        if isinstance(spec, Command):
            self._process = process(spec.argv, name=spec.name)
        elif isinstance(spec, Configuration) and apart:
            self._process = process(engine_argv(spec, choice), name=spec.name)
        elif isinstance(spec, Configuration):
            self._evaluator = make_evaluator(spec, choice)

    @property
    def hosts(self) -> bool:
        """Whether a process plays that speaks the engine protocol."""
        return self._process is not None

    def make(self, seed: int) -> Player:
        """A player for a game."""
        spec, budget = self._spec, self._budget
        if self._process is not None:
            return self._seat(self._process, seed=seed)
        if isinstance(spec, Configuration):
            return make_player(spec, self._evaluator, seed=seed)
        assert isinstance(spec, Foreign)
        return spec.make(seed, budget.nodes, budget.time_s, self._choice.stockfish)

    def warm_up(self, color: chess.Color) -> None:
        """Load what a player needs before time counts.

        A program that is not ours is asked in a game that nobody plays only where a clock runs. What goes wrong here
        goes wrong again in the game, where it is told.
        """
        if self._process is None:
            if isinstance(self._spec, Configuration):
                player = self.make(0)
                warm_up(player, color)
                player.close()
            return
        with contextlib.suppress(Exception):
            self._process.start()
        ours = isinstance(self._spec, Configuration)
        if (ours or self._budget.clock is not None) and not self._process.answered:
            rehearse(self._process)

    def close(self, *, at_once: bool = False) -> None:
        """End what is held; from any thread. ``at_once``: without leaving a process a moment."""
        if self._process is not None and at_once:
            self._process.kill()
        elif self._process is not None:
            self._process.close()
        if self._evaluator is not None:
            self._evaluator.close()
