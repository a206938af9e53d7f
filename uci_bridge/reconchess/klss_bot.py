"""Our player for the programs of ``reconchess``, which take a bot by the path of its file or by its module.

They make it without arguments, so the configuration comes from the environment: ``KLSS_RBC_PLAYER``. Its seed is
random, so that an earlier opponent can't predict its moves.
"""

from __future__ import annotations

import os

from darkchess.rbc.game.contest import DEFAULT_PLAYER
from klss.support import seeds
from uci_bridge.reconchess import player


class KlssBot(player.ReconchessPlayer):
    """The default configuration, or that of ``KLSS_RBC_PLAYER``; its time is a share of the clock."""

    def __init__(self) -> None:
        super().__init__(os.environ.get("KLSS_RBC_PLAYER") or DEFAULT_PLAYER, seed=seeds.fresh_seed())
