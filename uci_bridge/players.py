"""Texts made into players: a configuration's, with the evaluator that it names, or ``cmd:…``, a foreign engine's.

This is the referee's side: games are set up here. What an engine process needs of it is in
:mod:`uci_bridge.evaluators`.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

import chess

from darkchess.evaluation.evaluator import Evaluator
from darkchess.fog.game.contest import Player
from darkchess.fog.game.rules import PAPER, Ruleset
from darkchess.fog.players.configuration import (
    CONFIGURATIONS,
    Configuration,
    configuration,
    make_player,
)
from darkchess.fog.warm_up import warm_up
from uci_bridge.commands import COMMAND, Command, command, described, program_argv
from uci_bridge.evaluators import EvaluatorChoice, evaluator_label, make_evaluator
from uci_bridge.protocol.host import EngineProcess, HostedPlayer

__all__ = [
    "COMMAND", "Command", "EvaluatorChoice", "PlayerMaker", "configuration_text", "configured_player", "engine_argv",
    "make_evaluator", "player_spec",
]  # fmt: skip


def player_spec(text: str) -> Configuration | Command:
    """What a player's text describes: ``cmd:PROGRAM ARGUMENTS``, split as a shell does, or a configuration.

    Raises
    ------
    ConfigurationError
        Says what is wrong with it: no such program, or see :func:`darkchess.fog.players.configuration.configuration`.

    Examples
    --------
    >>> player_spec("cmd:sh -c 'exit 1'").argv
    ('sh', '-c', 'exit 1')
    """
    if not text.startswith(COMMAND):
        return configuration(text)
    return command(text)


def configuration_text(chosen: Configuration) -> str:
    """A text that describes ``chosen`` to another process, on another machine too: no file is needed to read it.

    What it describes is the same in all but its name, which is then the text.

    Raises
    ------
    ConfigurationError
        A field has a value that no text gives.

    Examples
    --------
    >>> from darkchess.fog.players.configuration import configuration
    >>> configuration_text(configuration("klss2021,reach=false"))
    'klss2021,reach=False'
    """
    base = CONFIGURATIONS.get(chosen.name.partition(",")[0], CONFIGURATIONS["klss2021"])
    return described(chosen, base, configuration)


def engine_argv(chosen: Configuration, choice: EvaluatorChoice) -> tuple[str, ...]:
    """The command line of ``klss engine`` that plays ``chosen`` as :func:`configured_player` would in this process."""
    return program_argv(("engine",), configuration_text(chosen), choice)


class PlayerMaker:
    """Makes the players of one text, game after game; holds what they share: an evaluator, or an engine process.

    Parameters
    ----------
    spec
        See :func:`player_spec`.
    choice
        See :class:`EvaluatorChoice`.
    ruleset
        Of the games.

    Raises
    ------
    StockfishMissing
        See :func:`make_evaluator`.
    """

    def __init__(self, spec: Configuration | Command, choice: EvaluatorChoice, ruleset: Ruleset = PAPER) -> None:
        self._choice = choice
        self._source: EngineProcess | tuple[Configuration, Evaluator]
        if isinstance(spec, Command):
            self._source = EngineProcess(spec.argv, name=spec.name)
        else:
            self._source = spec, make_evaluator(spec, choice, ruleset)

    @property
    def evaluator_label(self) -> str | None:
        """See :func:`uci_bridge.evaluators.evaluator_label`; None for a foreign engine."""
        if isinstance(self._source, EngineProcess):
            return None
        chosen, evaluator = self._source
        found: Literal["builtin", "stockfish"] = "stockfish" if evaluator.name == "stockfish" else "builtin"
        return evaluator_label(chosen, dataclasses.replace(self._choice, name=found))

    def make(self, seed: int) -> Player:
        """A player for a game, or for one after the other."""
        if isinstance(self._source, EngineProcess):
            return HostedPlayer(self._source, seed=seed)
        chosen, evaluator = self._source
        return make_player(chosen, evaluator, seed=seed)

    def warm_up(self, color: chess.Color, *, clock: bool = False) -> None:
        """Load what a player needs before time counts.

        Parameters
        ----------
        color
            Hers.
        clock
            Whether a clock runs. Only then a foreign engine is asked for a move in a game that nobody plays.
        """
        if not isinstance(self._source, EngineProcess):
            warm_up(self.make(0), color)
        elif clock:
            self._source.warm_up()

    def close(self) -> None:
        """End what is held; from any thread."""
        held = self._source if isinstance(self._source, EngineProcess) else self._source[1]
        held.close()


def configured_player(
    configuration: Configuration, choice: EvaluatorChoice, *, seed: int, ruleset: Ruleset = PAPER
) -> tuple[Player, Evaluator]:
    """The player of ``configuration`` and its evaluator, which the caller closes after the player.

    Parameters
    ----------
    configuration
        See :func:`darkchess.fog.players.configuration.configuration`.
    choice
        See :class:`EvaluatorChoice`.
    seed
        Of all its random choices.
    ruleset
        Of the game; what a side without a move is worth follows it.

    Raises
    ------
    StockfishMissing
        See :func:`make_evaluator`.
    """
    evaluator = make_evaluator(configuration, choice, ruleset)
    return make_player(configuration, evaluator, seed=seed), evaluator
