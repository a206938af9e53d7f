"""The flags that the subcommands of ``klss rbc`` share."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from darkchess.game.contest import DEFAULT_TIME_S
from klss_app.cli.errors import UsageError
from klss_app.cli.options import (
    GameOptions,
    Parser,
    add_evaluator_options,
    check_evaluator,
    check_fen,
    check_network,
    check_stockfish,
    chosen_seed,
    clock,
    nodes,
    seconds,
    seed,
)

if TYPE_CHECKING:
    from blindchess.players.configuration import Configuration
    from uci_bridge.blind_players import Blind

__all__ = [
    "CONFIGURATION", "PLAYERS", "BlindParser", "add_blind_options", "blind_configured", "blind_options", "chosen_blind",
]  # fmt: skip

CONFIGURATION = "{configurations}; NAME,field=value,…; FILE.toml"
"""What may stand where a configuration is asked for; :class:`BlindParser` puts the names in."""

PLAYERS = f"{CONFIGURATION}; trout, attacker, random, FILE.py or module:Class of reconchess; cmd:PROGRAM …"
"""What may stand where a player is asked for."""


class BlindParser(Parser):
    """:class:`klss_app.cli.options.Parser` with the names of this game's configurations."""

    def __init__(self, command: str, description: str) -> None:
        super().__init__(f"rbc {command}", description)

    def names(self) -> dict[str, str]:
        """See :class:`klss_app.cli.options.Parser`."""
        from blindchess.players.configuration import CONFIGURATIONS

        return {"configurations": ", ".join(CONFIGURATIONS)}


def add_blind_options(parser: Parser) -> None:
    """Add the flags of :func:`blind_options`."""
    limits = parser.add_argument_group("limits of the engine's thinking, for each of a turn's two questions")
    limits.add_argument("--time", type=seconds, metavar="S", help=f"seconds an answer (default {DEFAULT_TIME_S:g})")
    limits.add_argument(
        "--nodes", type=nodes, metavar="N", help="nodes an answer: nothing reads a clock, games can be repeated"
    )
    limits.add_argument(
        "--clock", type=clock, metavar="S+I", help="a clock, as 900+5: seconds, and seconds added a turn"
    )
    game = parser.add_argument_group("the game")
    game.add_argument("--fen", metavar="FEN", help="start position, known to both players")
    game.add_argument("--seed", type=seed, metavar="N", help="seed of all random choices (default: a fresh one)")
    add_evaluator_options(parser)


def blind_options(arguments: argparse.Namespace) -> GameOptions:
    """What :func:`add_blind_options` added, checked; there is one ruleset.

    Raises
    ------
    UsageError
        An unknown evaluator, a bad FEN, or Stockfish named and not there.
    """
    from darkchess.game.rules import PAPER

    check_evaluator(arguments.evaluator, arguments.stockfish)
    limited = arguments.time is not None or arguments.nodes is not None or arguments.clock is not None
    if arguments.fen is not None:
        check_fen(arguments.fen)
    return GameOptions(
        ruleset=PAPER,
        time_s=arguments.time if limited else DEFAULT_TIME_S,
        nodes=arguments.nodes,
        clock=arguments.clock,
        seed=chosen_seed(arguments.seed),
        fen=arguments.fen,
        evaluator=arguments.evaluator,
        stockfish=arguments.stockfish,
        evaluator_processes=arguments.evaluator_processes,
    )


def blind_configured(text: str, stockfish: str | None = None) -> Configuration:
    """The configuration that ``text`` describes; imports compiled code.

    Raises
    ------
    UsageError
        It describes none, or one that needs a Stockfish or a network that is not there.
    """
    from blindchess.players.configuration import ConfigurationError, configuration

    try:
        found = configuration(text)
    except ConfigurationError as error:
        raise UsageError(str(error)) from None
    _check_needs(found, stockfish)
    return found


def chosen_blind(text: str, stockfish: str | None = None) -> Blind:
    """Whoever ``text`` describes (:func:`uci_bridge.blind_players.blind_spec`); imports compiled code.

    Raises
    ------
    UsageError
        It describes nobody, or one that needs what is not there.
    """
    from blindchess.players.configuration import Configuration, ConfigurationError
    from uci_bridge.blind_players import blind_spec
    from uci_bridge.errors import UciBridgeError

    try:
        found = blind_spec(text)
    except (ConfigurationError, UciBridgeError) as error:
        raise UsageError(str(error)) from None
    if isinstance(found, Configuration):
        _check_needs(found, stockfish)
    return found


def _check_needs(chosen: Configuration, stockfish: str | None) -> None:
    """Refuse a configuration that needs a Stockfish or a network that is not there, before anybody plays."""
    from blindchess.players.dsmcp import Synoptic
    from blindchess.synoptic.networks import network_of

    if chosen.evaluator == "stockfish":
        check_stockfish(stockfish)
    if isinstance(chosen.thinking, Synoptic):
        check_network(chosen.thinking.network, network_of)
