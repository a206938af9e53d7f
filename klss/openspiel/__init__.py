"""OpenSpiel's games: the one package that imports pyspiel.

>>> from klss import openspiel
>>> bots = [openspiel.bot("kuhn_poker", player, nodes=100) for player in (0, 1)]

Reading order:
- ``games`` loading by name, with the games refused; ``enumeration`` the whole tree as :class:`klss.theory.game.Game`;
  ``suits`` deals that are alike
- ``observations`` how a game is stepped, and what each player may see: all other modules have it from there
- ``model`` the game as the search sees it; ``belief`` every history that agrees with the observations
- ``players`` our players, which get only observations; ``ismcts`` OpenSpiel's own search as one; ``named_players``
  their names
- ``strategies`` policies of OpenSpiel as strategies by names
- ``exploiter`` a searching best response to a known strategy
- ``referee`` the true game; ``bots`` our players in OpenSpiel's own loops
- ``search_table`` how far the play of whole games can be exploited, by method and nodes
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from klss.errors import MAX_NODES, GameError
from klss.openspiel.enumeration import load

if TYPE_CHECKING:
    from klss.openspiel.bots import Bot

__all__ = ["MAX_NODES", "GameError", "bot", "load"]


def bot(game: str | Any, player: int, name: str = "kluss", **options: Any) -> Bot:
    """Return an OpenSpiel bot for one seat of a game; see :class:`klss.openspiel.bots.Bot` for the options."""
    from klss.openspiel.bots import Bot

    return Bot(game, player, name, **options)
