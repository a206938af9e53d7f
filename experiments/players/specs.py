"""The texts of players in experiments: those of :func:`darkchess.fog.players.configuration.configuration`, and the
players of this package.
"""

from __future__ import annotations

from darkchess.fog.belief.weights import BeliefSettings
from darkchess.fog.players import configuration as named
from darkchess.fog.players.configuration import Configuration
from experiments.players.cheat import CheatMaker
from experiments.players.contrary import Contrary, ContraryMaker
from experiments.players.oracle import KlussOracle, OracleMaker
from uci_bridge.match.engines import Insider

__all__ = ["configuration", "player"]

_OURS = {
    chosen.name: (chosen, maker)
    for chosen, maker in (
        (Configuration("stockfish-cheat", "stockfish-cheat", evaluator="stockfish"), CheatMaker),
        (Configuration("kluss-oracle", "kluss-oracle", beliefs=BeliefSettings(), search=KlussOracle()), OracleMaker),
        (Configuration("kluss-contrary", "contrary", beliefs=BeliefSettings(), search=Contrary()), ContraryMaker),
    )
}
_KNOWN = named.CONFIGURATIONS | {name: chosen for name, (chosen, _) in _OURS.items()}
_MAKERS = {chosen.player: maker for chosen, maker in _OURS.values()}


def configuration(text: str) -> Configuration:
    """The configuration that ``text`` describes.

    Raises
    ------
    ConfigurationError
        See :func:`darkchess.fog.players.configuration.configuration`.

    Examples
    --------
    >>> configuration("kluss-oracle,prior=0.4").fields()["prior"]
    0.4
    """
    return named.configuration(text, _KNOWN)


def player(text: str) -> Configuration | Insider:
    """The player of a match that ``text`` names; raises as :func:`configuration` does."""
    chosen = configuration(text)
    return Insider(chosen, _MAKERS[chosen.player]) if chosen.player in _MAKERS else chosen
