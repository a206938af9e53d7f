"""The flags that the subcommands of ``klss rbc`` share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from klss_app.cli.errors import UsageError
from klss_app.cli.options import (
    Parser,
    add_evaluator_options,
    add_limits,
    add_start,
    check_stockfish,
)

if TYPE_CHECKING:
    from darkchess.rbc.players.configuration import Configuration
    from uci_bridge.blind_players import Blind

__all__ = [
    "CONFIGURATION", "PLAYERS", "BlindParser", "add_blind_options", "blind_configured", "chosen_blind",
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
        from darkchess.rbc.players.configuration import CONFIGURATIONS

        return {"configurations": ", ".join(CONFIGURATIONS)}


def add_blind_options(parser: Parser, *, fen: bool = True, path_suffices: bool = False) -> None:
    """Add the flags of :func:`klss_app.cli.options.game_options`; there is one ruleset.

    ``fen``, ``path_suffices``: see :func:`klss_app.cli.options.add_game_options`.
    """
    add_limits(parser, "an answer", "900+5", ", for each of a turn's two questions")
    add_start(parser.add_argument_group("the game"), fen=fen)
    add_evaluator_options(parser, path_suffices=path_suffices)


def blind_configured(text: str, stockfish: str | None = None) -> Configuration:
    """The configuration that ``text`` describes; imports compiled code.

    Raises
    ------
    UsageError
        It describes none, or one that needs a Stockfish or a network that is not there.
    """
    from darkchess.rbc.players.configuration import ConfigurationError, configuration

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
    from darkchess.rbc.players.configuration import Configuration, ConfigurationError
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
    from darkchess.rbc.players.dsmcp import Synoptic
    from darkchess.rbc.synoptic.networks import network_of
    from klss.synoptic.residual import NetworkError

    if chosen.evaluator == "stockfish":
        check_stockfish(stockfish)
    if isinstance(chosen.thinking, Synoptic):
        try:
            network_of(chosen.thinking.network)
        except NetworkError as error:
            raise UsageError(f"configuration: network: {error}") from None
