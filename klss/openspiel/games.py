"""OpenSpiel's games by name: two players, zero-sum, in turns, with listed chance; others are refused in one line."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pyspiel

from klss.errors import GameError

_OF_MODULE = re.compile(r"([A-Za-z_][\w.]*):(.*)", re.DOTALL)


def spiel_game(game: str | Any) -> tuple[Any, str]:
    """Return a ``pyspiel.Game`` and its name; simultaneous moves become turns.

    ``game`` is one; a game string; or ``MODULE:NAME``, a game or a class of games in a module, or the game string of
    one that the module registers. Raises GameError: it is unknown, or not a zero-sum game of two players, or its chance
    nodes can't be listed.
    """
    name = game if isinstance(game, str) else str(game)
    if isinstance(game, str):
        game = of_module(name)
        if isinstance(game, type) and issubclass(game, pyspiel.Game):
            game = _made(name, game)
        elif not isinstance(game, str | pyspiel.Game):
            raise GameError(f"game {name!r}: got a {type(game).__name__}, expected a pyspiel.Game or a class of one")
    if isinstance(game, str):
        # Look the name up first: OpenSpiel's error for an unknown one is the list of all its games.
        short = game.split("(", 1)[0].strip()
        known = pyspiel.registered_names()
        if short not in known:
            near = difflib.get_close_matches(short, known, n=1, cutoff=0.4)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise GameError(f"game {name!r}: OpenSpiel has no game {short!r}{hint}")
        spiel = _made(name, lambda: pyspiel.load_game(game))
    else:
        spiel = game
    # The rest of the package needs: two players, zero-sum, chance that can be listed, one mover at a time.
    kind, types = spiel.get_type(), pyspiel.GameType
    faults = {
        f"has {spiel.num_players()} players": spiel.num_players() != 2,
        "is not zero-sum": kind.utility != types.Utility.ZERO_SUM,
        "samples its chance outcomes": kind.chance_mode == types.ChanceMode.SAMPLED_STOCHASTIC,
        "is a mean-field game": kind.dynamics == types.Dynamics.MEAN_FIELD,
    }
    if fault := next((what for what, holds in faults.items() if holds), None):
        raise GameError(f"game {name!r} {fault}; expected a zero-sum game of two players that lists nature's outcomes")
    return pyspiel.convert_to_turn_based(spiel) if kind.dynamics == types.Dynamics.SIMULTANEOUS else spiel, name


def of_module(text: str) -> Any:
    """Return what ``MODULE:NAME`` names, or NAME if the module has nothing of that name; any other text as it is."""
    found = _OF_MODULE.fullmatch(text)
    return text if found is None else getattr(imported(found[1]), found[2], found[2])


def imported(module: str) -> Any:
    """Return a module, which may register games with OpenSpiel. Raises GameError: it can't be imported."""
    try:
        return importlib.import_module(module)
    except Exception as error:  # a module may raise anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise GameError(
            f"module {module!r} can't be imported ({reason[:200]}); is its folder in PYTHONPATH?"
        ) from error


def _made(name: str, make: Callable[[], Any]) -> Any:
    try:
        with silenced():
            spiel = make()
            spiel.new_initial_state()  # some games check their parameters only here
            return spiel
    except MemoryError:
        raise
    except Exception as error:  # its parsers raise errors of any kind
        reason = " ".join(str(error).split())
        raise GameError(f"game {name!r}: OpenSpiel refuses it: {reason[:200]}") from error


def largest_payoff(game: Any) -> float:
    """Return the largest absolute payoff of a ``pyspiel.Game``; 1 if all payoffs are 0."""
    return max(abs(game.min_utility()), abs(game.max_utility())) or 1.0


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Suppress OpenSpiel's messages on stderr: it prints pages before it raises an error."""
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
