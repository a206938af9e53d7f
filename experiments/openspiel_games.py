"""The search on OpenSpiel's games: ``python -m experiments.openspiel_games --time 0.1``.

``kluss`` against OpenSpiel's ISMCTS at equal time. If a game can't draw states for ISMCTS itself, they are drawn from
our exact belief. A game counts as won, drawn or lost, whatever its payoff. Played games are kept, so that the command
can be resumed; ``results/openspiel_games.json`` has the scores with their intervals.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from experiments.series import blind

__all__ = ["GAMES", "main"]

GAMES = {
    "phantom-ttt": "phantom_ttt",
    "dark-hex": "dark_hex(board_size=3)",
    "abrupt-dark-hex": "dark_hex(board_size=3,gameversion=adh)",
    "latent-ttt": "latent_ttt",
    "liars-dice": "liars_dice",
    "liars-dice-2": "liars_dice(numdice=2)",
    "leduc": "leduc_poker",
    "goofspiel-5": "goofspiel(num_cards=5,imp_info=True,points_order=descending)",
    "goofspiel-6": "goofspiel(num_cards=6,imp_info=True,points_order=descending)",
    "universal-poker": "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=1 1,raiseSize=2 4,firstPlayer=1 1,"
    "maxRaises=2 2,numSuits=2,numRanks=12,numHoleCards=1,numBoardCards=0 1)",
    "battleship": "battleship(board_width=3,board_height=3,ship_sizes=[1;2],ship_values=[1;2],num_shots=6)",
    "kriegspiel": "kriegspiel(board_size=4)",
    "dark-chess": "dark_chess(board_size=4)",
}
"""Name -> game string."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    about = (__doc__ or "").splitlines()[0]
    pairings = dict.fromkeys(GAMES, ("kluss", "ismcts", 1.0))
    places = {name: f"openspiel:{game}" for name, game in GAMES.items()}
    return blind.main("openspiel_games", about, pairings, arguments, nodes=1000, games=places)


if __name__ == "__main__":
    sys.exit(main())
