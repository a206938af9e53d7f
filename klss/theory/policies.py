"""Strategies by names, and their files: infoset's name -> action's name -> probability, as ``klss solve`` writes.

A probability is a number, or a text such as "1/3" (``klss solve --exact``).
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from klss.errors import GameError, KlssError, TooLargeError
from klss.support.arrays import Floats
from klss.support.memory import check_memory
from klss.support.text import printable, read_text
from klss.support.whole_file import write_whole
from klss.theory.best_response import best_response
from klss.theory.certificate import ExactStrategy
from klss.theory.game import Game
from klss.theory.sequence_form import SequenceForm
from klss.theory.treeplex import realization, uniform_behaviour

Named = Mapping[str, Mapping[str, float]]
"""One player's strategy: infoset's name -> action's name -> probability."""

_SUM = 1e-6
"""Largest error of an infoset's sum of probabilities; within it they are normalised."""

_BYTES_A_BYTE = 40
"""Memory that strategies take while they are read, for each byte of their file (measured: 19 to 33)."""


class PolicyError(KlssError, ValueError):
    """A file of strategies can't be read."""


def read_policy(path: Path, max_bytes: int | None = None) -> tuple[Named, Named]:
    """Read both players' strategies from a file.

    Raises
    ------
    PolicyError
        The file can't be read; the message is one line that begins with the path.
    TooLargeError
        Reading it would take more than ``max_bytes`` of this process.
    """
    try:
        check_memory(f"{path}: reading it", path.stat().st_size * _BYTES_A_BYTE, max_bytes)
        players = json.loads(read_text(path))["players"]
        first, second = (
            {str(key): {str(a): _number(p) for a, p in dict(each).items()} for key, each in player["infosets"].items()}
            for player in players
        )
        for each in (first, second):
            for key, named in each.items():
                if not all(0.0 <= p <= 1.0 for p in named.values()):
                    raise ValueError(f"a probability of {printable(key, 60)!r} is not from 0 to 1")
    except OSError as error:
        raise PolicyError(f"{path}: {error.strerror}; expected a file of klss solve --out") from None
    except TooLargeError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, ArithmeticError) as error:
        why = printable(str(error), 100) or type(error).__name__
        raise PolicyError(f"{path}: got no strategies ({why}); expected a file of klss solve --out") from None
    return first, second


def _number(probability: str | float) -> float:
    above, _, below = str(probability).partition("/")
    return float(above) / float(below or "1")


def write_policy(path: Path, name: str, players: tuple[Named, Named] | tuple[ExactStrategy, ExactStrategy]) -> None:
    """Write both players' strategies of the game ``name``, fractions as texts; raises OSError."""
    document = {"game": name, "players": [{"infosets": player} for player in players]}
    write_whole(path, json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False, default=str) + "\n")


def behaviour_of(game: Game, player: int, named: Named, *, partial: bool = False) -> Floats:
    """Return a player's strategy as float64[S].

    At infosets that ``named`` does not name it is uniform, or NaN with ``partial``.

    Raises
    ------
    GameError
        An infoset or an action that the game does not have, or probabilities that do not sum to 1.
    """
    observations, treeplex = game.observations[player], game.treeplex(player)
    weights = np.full(treeplex.sequence_count, math.nan) if partial else uniform_behaviour(treeplex)
    keys = [str(observations.keys[j]) for j in observations.turn_infosets]
    place = {key: i for i, key in enumerate(keys)}
    for key, actions in named.items():
        if key not in place:
            near = difflib.get_close_matches(key, keys[:10_000], n=1, cutoff=0.0)
            hint = f"the nearest is {printable(near[0], 80)!r}" if near else "this player never moves"
            raise GameError(f"policy of player {player}: got infoset {printable(key, 80)!r}, which is none; {hint}")
        # Its actions by their names; those left out have probability 0.
        i = place[key]
        names = observations.action_names[observations.turn_infosets[i]]
        other = sorted(set(actions) - set(names))
        if other:
            raise GameError(
                f"policy of player {player}, infoset {printable(key, 80)!r}: got action {printable(other[0], 40)!r}, "
                f"expected {', '.join(names[:20])}"
            )
        row = np.array([actions.get(name, 0.0) for name in names])
        if abs(row.sum() - 1.0) > _SUM:
            raise GameError(
                f"policy of player {player}, infoset {printable(key, 80)!r}: probabilities sum to {row.sum():.6g}, "
                "expected 1"
            )
        first = treeplex.first_sequence[i]
        weights[first : first + len(names)] = row / row.sum()
    return weights


@dataclass(frozen=True)
class Exploited:
    """What a best response wins against one player's strategy."""

    player: int  # the player of the strategy
    value: float  # that player's payoff of the profile
    worst_case: float  # that player's payoff against a best response
    response: dict[str, str]  # the best response: infoset's name -> action, at infosets that it reaches
    # the best response's gain at each infoset of the other player, largest first; the sum is ``value - worst_case``
    where: list[tuple[str, float]]


def exploit(form: SequenceForm, behaviours: tuple[Floats, Floats], player: int) -> Exploited:
    """Compare the best response to ``player``'s strategy with the other player's strategy.

    The gain at an infoset is the best action's value minus that of the other player's strategy there, with best actions
    after it, times the probability with which that strategy reaches the infoset (Kakade & Langford, ICML 2002, Lemma
    6.1).
    """
    game = form.game
    if game is None:
        raise GameError("exploit: a sequence form has no names; expected one made by sequence_form")
    other = 1 - player
    plans = [realization(treeplex, each) for treeplex, each in zip(form.treeplexes, behaviours, strict=True)]
    utility = form.payoff @ plans[1] if other == 0 else form.payoff_transposed @ plans[0]
    treeplex, sign = form.treeplexes[other], 1.0 if other == 0 else -1.0
    best = best_response(treeplex, utility, maximize=other == 0)
    # The gain at each infoset: the best response's value minus that of the strategy's actions followed by best ones.
    # Sequences after the empty one are ordered by infoset, as reduceat needs.
    gain = np.zeros(treeplex.infoset_count)
    if gain.size:
        chosen = np.add.reduceat(behaviours[other][1:] * best.sequence_value[1:], treeplex.first_sequence - 1)
        gain = sign * (best.infoset_value - chosen) * plans[other][treeplex.parent_sequence]
    # By names: the best response at infosets that it reaches, and its gains, the largest first.
    observations = game.observations[other]
    keys = [str(observations.keys[j]) for j in observations.turn_infosets]
    response = {
        keys[i]: observations.action_names[j][int(np.argmax(best.plan[first : first + size]))]
        for i, (j, first, size) in enumerate(
            zip(observations.turn_infosets, treeplex.first_sequence, treeplex.action_count, strict=True)
        )
        if best.plan[treeplex.parent_sequence[i]] > 0.0
    }
    order = np.argsort(-gain, kind="stable")
    where = [(keys[i], float(gain[i])) for i in order.tolist() if gain[i] > 1e-12]
    value = form.value(plans[0], plans[1])
    return Exploited(player, -sign * value, -sign * best.value, response, where)
