"""OpenSpiel games as :class:`klss.game.Game`: the one file that imports pyspiel.

Any two-player zero-sum game; simultaneous ones go through OpenSpiel's own conversion to turns. At every decision node
both players' infosets are asked for, and an infoset's name also says whether it is the player's turn.

Deviations: OpenSpiel names infosets of the player who waits carelessly in some games (a name forgets what an earlier
one told). Where that breaks perfect recall, a player is taken to learn at her next turn whatever she learns while she
waits. Where a game has observations but no information states, an infoset is the whole history of a player's
observations and actions.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyspiel

from klss.errors import GameError, TooLargeError
from klss.game import CHANCE, TERMINAL, Game, assemble

__all__ = ["MAX_NODES", "load"]

MAX_NODES = 5_000_000

_TURN, _WAIT = "", "[waits] "


def load(game: str | Any, *, max_nodes: int = MAX_NODES, on_progress: Callable[[int], None] | None = None) -> Game:
    """Flatten a game.

    Parameters
    ----------
    game : str or pyspiel.Game
        An OpenSpiel game string such as ``"leduc_poker"`` or ``"liars_dice(dice_sides=4)"``.
    max_nodes : int
        Give up beyond this many nodes.
    on_progress : callable, optional
        Called with the number of nodes about every 50,000.

    Returns
    -------
    Game
        Infoset keys are OpenSpiel's information states; action names are OpenSpiel's.

    Raises
    ------
    GameError
        An unknown game, or one that is not a zero-sum game of two players, or breaks a law.
    TooLargeError
        More than ``max_nodes`` nodes; the message tells how far it got.
    """
    spiel, name = _spiel_game(game)
    return _Flattening(spiel, name, max_nodes, on_progress).run()


def _spiel_game(game: str | Any) -> tuple[Any, str]:
    if isinstance(game, str):
        short = game.split("(", 1)[0].strip()
        known = pyspiel.registered_names()
        if short not in known:
            near = difflib.get_close_matches(short, known, n=1, cutoff=0.4)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise GameError(f"game {game!r}: OpenSpiel has no game {short!r}{hint}")
        try:
            with _silenced():
                spiel = pyspiel.load_game(game)
        except (pyspiel.SpielError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise GameError(f"game {game!r}: OpenSpiel refuses it: {reason[:200]}") from error
    else:
        spiel = game
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


def _moved(state: Any, action: int) -> Any:
    """The state itself after ``action``: the last child needs no copy."""
    state.apply_action(action)
    return state


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
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


class _Flattening:
    """One depth-first walk; everything it collects is a flat list."""

    def __init__(self, spiel: Any, name: str, max_nodes: int, on_progress: Callable[[int], None] | None) -> None:
        self.spiel = spiel
        self.name = name
        self.max_nodes = max_nodes
        self.on_progress = on_progress
        self.by_history = not spiel.get_type().provides_information_state_string
        if self.by_history and not spiel.get_type().provides_observation_string:
            raise GameError(
                f"game {name!r} has neither information states nor observations as strings; expected one of them"
            )

    def run(self) -> Game:
        try:
            return self._walk(remember_waits=False)
        except GameError as error:
            if self.by_history or not str(error).startswith("perfect recall"):
                raise
        return self._walk(remember_waits=True)

    def _walk(self, remember_waits: bool) -> Game:
        parent: list[int] = []
        player: list[int] = []
        action: list[int] = []
        probability: list[float] = []
        utility: list[float] = []
        label: tuple[list[int], list[int]] = ([], [])
        keys: tuple[list[Any], list[Any]] = ([], [])
        actions: tuple[list[list[int]], list[list[int]]] = ([], [])
        names: tuple[list[tuple[str, ...]], list[tuple[str, ...]]] = ([], [])
        turns: tuple[list[bool], list[bool]] = ([], [])
        seen: tuple[tuple[dict[str, int], dict[str, int]], ...] = (({}, {}), ({}, {}))
        history = self.by_history or remember_waits
        # With histories: what each player knew at the decision node before, and did there.
        stack: list[tuple[Any, int, int, float, Any]] = [(self.spiel.new_initial_state(), -1, -1, 1.0, ("", ""))]
        limit, told = self.max_nodes, 50_000
        while stack:
            state, above, edge, chance, past = stack.pop()
            node = len(parent)
            if node >= limit:
                raise TooLargeError(
                    f"game {self.name!r}: more than {limit:,} nodes (stopped there at depth "
                    f"{len(state.full_history())}); "
                    "expected one that can be enumerated; raise the limit with --max-nodes"
                )
            if node >= told:
                told += 50_000
                if self.on_progress is not None:
                    self.on_progress(node)
            who = state.current_player()
            parent.append(above)
            action.append(edge)
            probability.append(chance)
            if who >= 0:
                player.append(who)
                utility.append(0.0)
                legal = state.legal_actions()
                texts = self._texts(state, who, past, history)
                for i in (0, 1):
                    text = texts[i]
                    turn = who == i
                    known = seen[i][turn]
                    j = known.get(text, -1)
                    if j < 0:
                        j = len(keys[i])
                        known[text] = j
                        keys[i].append(text if turn else _WAIT + text)
                        actions[i].append(legal if turn else [])
                        names[i].append(tuple([state.action_to_string(i, a) for a in legal]) if turn else ())
                        turns[i].append(turn)
                    elif turn and actions[i][j] != legal:
                        raise GameError(
                            f"one infoset, one action set: game {self.name!r}, player {i}, infoset "
                            f"{text!r} has actions {actions[i][j]} and {legal}"
                        )
                    label[i].append(j)
                for k in range(len(legal) - 1, -1, -1):
                    then = self._then(past, texts, who, legal[k]) if history else past
                    stack.append((state.child(legal[k]) if k else _moved(state, legal[0]), node, k, 1.0, then))
            elif who == pyspiel.PlayerId.CHANCE:
                player.append(CHANCE)
                utility.append(0.0)
                label[0].append(-1)
                label[1].append(-1)
                outcomes = state.chance_outcomes()
                for k in range(len(outcomes) - 1, -1, -1):
                    outcome, p = outcomes[k]
                    stack.append((state.child(outcome) if k else _moved(state, outcome), node, k, p, past))
            else:
                player.append(TERMINAL)
                returns = state.returns()
                if abs(returns[0] + returns[1]) > 1e-9 * max(1.0, abs(returns[0])):
                    raise GameError(f"zero-sum: game {self.name!r} ends with returns {returns[0]:g} and {returns[1]:g}")
                utility.append(returns[0])
                label[0].append(-1)
                label[1].append(-1)
        return assemble(
            parent=np.array(parent, np.int64),
            player=np.array(player, np.int64),
            action=np.array(action, np.int64),
            probability=np.array(probability),
            utility=np.array(utility),
            infoset=np.array(label, np.int64).reshape(2, -1),
            turns=turns,
            keys=keys,
            action_names=names,
        )

    def _texts(self, state: Any, who: int, past: Any, history: bool) -> tuple[str, str]:
        if not history:
            return state.information_state_string(0), state.information_state_string(1)
        if not self.by_history:
            # Who waits learns at her next turn whatever she learns.
            mine = state.information_state_string(who)
            return (mine, past[1]) if who == 0 else (past[0], mine)
        # Seeing once more what was seen last, without having moved, tells nothing.
        now = [f"\n> {state.observation_string(i)}" for i in (0, 1)]
        return tuple(past[i] if past[i].endswith(now[i]) else past[i] + now[i] for i in (0, 1))

    def _then(self, past: Any, texts: tuple[str, str], who: int, chosen: int) -> tuple[str, str]:
        after = [texts[0], texts[1]]
        after[who] = f"{texts[who]}\n< {chosen}"
        return after[0], after[1]
