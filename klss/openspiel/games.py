"""OpenSpiel's games by name: two players, zero-sum, in turns, chance listed; anything else is refused in one line."""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
from collections.abc import Iterator
from typing import Any

import pyspiel

from klss.errors import GameError

__all__ = ["largest_payoff", "silenced", "spiel_game"]


def spiel_game(game: str | Any) -> tuple[Any, str]:
    """A ``pyspiel.Game`` and its name, from a game string or from such a game; simultaneous moves become turns.

    Raises
    ------
    GameError
        An unknown game, or one that is not a zero-sum game of two players, or whose chance nodes can't be listed.
    """
    if isinstance(game, str):
        # The name is looked up first: OpenSpiel answers to an unknown one with the list of all that it knows.
        short = game.split("(", 1)[0].strip()
        known = pyspiel.registered_names()
        if short not in known:
            near = difflib.get_close_matches(short, known, n=1, cutoff=0.4)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise GameError(f"game {game!r}: OpenSpiel has no game {short!r}{hint}")
        try:
            with silenced():
                spiel = pyspiel.load_game(game)
                spiel.new_initial_state()  # some games look at their parameters only here
        except MemoryError:
            raise
        except Exception as error:  # of whatever kind its parsers raise
            reason = " ".join(str(error).split())
            raise GameError(f"game {game!r}: OpenSpiel refuses it: {reason[:200]}") from error
    else:
        spiel = game
    # What the rest of the package takes: two players, one sum, chance that can be listed, one mover at a time.
    name = game if isinstance(game, str) else str(spiel)
    kind = spiel.get_type()
    if spiel.num_players() != 2:
        raise GameError(f"game {name!r} has {spiel.num_players()} players; expected a zero-sum game of two players")
    if kind.utility != pyspiel.GameType.Utility.ZERO_SUM:
        what = str(kind.utility).rsplit(".", 1)[-1].lower().replace("_", "-")
        raise GameError(
            f"game {name!r} is not zero-sum (OpenSpiel says: {what}); expected a zero-sum game of two players"
        )
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise GameError(f"game {name!r} samples its chance outcomes; expected a game whose chance nodes list them")
    if kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        spiel = pyspiel.convert_to_turn_based(spiel)
    elif kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise GameError(
            f"game {name!r} is a mean-field game; expected a game of two players who take turns or move at once"
        )
    return spiel, name


def largest_payoff(game: Any) -> float:
    """The largest absolute payoff of a ``pyspiel.Game``; 1 where nobody can win anything."""
    return max(abs(game.min_utility()), abs(game.max_utility())) or 1.0


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Keep OpenSpiel's own complaints off stderr: it prints pages before it raises."""
    sys.stderr.flush()
    kept = os.dup(2)
    sink = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(sink, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(sink)
