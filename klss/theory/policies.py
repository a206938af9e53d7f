"""Strategies by names, from whatever form the caller has them in, and their files.

A strategy is infoset's name -> action's name -> probability, as ``klss solve`` writes; a probability is a number, or a
text such as "1/3" (``klss solve --exact``).
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from klss.errors import GameError, TooLargeError
from klss.support.arrays import Floats
from klss.support.memory import check_memory
from klss.support.text import printable, read_text
from klss.theory.best_response import best_response, worst_case
from klss.theory.game import Game, Named
from klss.theory.sequence_form import SequenceForm
from klss.theory.treeplex import realization, uniform_behaviour

if TYPE_CHECKING:
    from klss.theory.implicit import ImplicitForm

FORMS = (
    "a dict, a file of klss solve, a Solution, a policy of OpenSpiel, a profile of pygambit, a function, 'uniform', "
    "or two of them"
)
"""What :func:`strategies` takes."""

_UNIFORM = (None, "uniform", "random")
"""Names of the strategy that plays all actions with equal probability."""

_SUM = 1e-6
"""Largest error of an infoset's sum of probabilities; within it they are normalised."""

_FRACTION = re.compile(r"\d{1,4000}(/\d{1,4000})?")
"""A probability as ``klss solve --exact`` writes it; Python reads no longer whole numbers."""

_BYTES_A_BYTE = 40
"""Memory that strategies take while they are read, for each byte of their file (measured: 19 to 33)."""


def read_policy(path: Path, max_bytes: int | None = None) -> tuple[Named, Named]:
    """Read both players' strategies from a file.

    Raises
    ------
    GameError
        The file can't be read; the message is one line that begins with the path.
    TooLargeError
        Reading it would take more than ``max_bytes`` of this process.
    """
    try:
        check_memory(f"{path}: reading it", path.stat().st_size * _BYTES_A_BYTE, max_bytes)
        first, second = (
            {str(key): _row(said, player, str(key), ()) for key, said in each["infosets"].items()}
            for player, each in enumerate(json.loads(read_text(path))["players"])
        )
    except OSError as error:
        raise GameError(f"{path}: {error.strerror}; expected a file of klss solve --out") from None
    except TooLargeError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        why = printable(str(error), 100) or type(error).__name__
        raise GameError(f"{path}: got no strategies ({why}); expected a file of klss solve --out") from None
    return first, second


def is_uniform(given: Any) -> bool:
    """Whether both players' strategies are the uniform one, by its name."""
    return given is None or (isinstance(given, str) and given in _UNIFORM)


def opened(given: Any, max_bytes: int | None = None) -> Any:
    """Return both players' strategies if ``given`` is a file's path (:func:`read_policy`), all else as it is."""
    return read_policy(Path(given), max_bytes) if isinstance(given, str | Path) and not is_uniform(given) else given


def strategies(given: Any, game: Game | None, spiel: Any = None) -> tuple[Named, Named]:
    """Return both players' strategies by names.

    Parameters
    ----------
    given : dict, str, Path, Solution, policy of OpenSpiel, pygambit.MixedBehaviorProfile, function, "uniform",
        None, or two of them, one a player
        A dict has the infosets of both. An infoset has probabilities by actions' names, or in the order of the actions,
        or the name of the action played. A function of the infoset's name and its actions' returns one of these.
        Infosets without are uniform.
    game : Game, optional
        None: too large to list; policies and functions can't be asked then.
    spiel : pyspiel.Game, optional
        The game in OpenSpiel, which its policies need.

    Raises
    ------
    GameError
        It is none of these, or has no probabilities.
    """
    given = opened(given)
    if hasattr(given, "mixed_behaviors"):
        from klss.gambit import strategy_of

        given = [strategy_of(behaviour) for _, behaviour in given.mixed_behaviors()]
    if isinstance(given, Mapping) and game is not None:
        # Each player's own infosets, and those of neither, which behaviour_of refuses.
        mine, yours = ({str(key) for key in tree.keys} for tree in game.observations)
        given = [{key: said for key, said in given.items() if key not in other or key in own}
                 for own, other in ((mine, yours), (yours, mine))]  # fmt: skip
    if not isinstance(given, tuple | list):
        given = given, given
    if len(given) != 2:
        raise GameError(f"policy: got {len(given)} of them, expected two, one for each player")
    return _of_player(given[0], game, spiel, 0), _of_player(given[1], game, spiel, 1)


def _of_player(given: Any, game: Game | None, spiel: Any, player: int) -> Named:
    given = opened(given)
    if isinstance(given, tuple):  # a file has both players'
        given = given[player]
    if given is None or isinstance(given, str):
        return {}
    if callable(strategy := getattr(given, "strategy", None)):
        return strategy(player)  # type: ignore[no-any-return]
    actions = dict[str, tuple[str, ...]]()
    if game is not None:
        tree = game.observations[player]
        actions = {str(tree.keys[j]): tree.action_names[j] for j in tree.turn_infosets.tolist()}
    if isinstance(given, Mapping):
        return {str(key): _row(said, player, str(key), actions.get(str(key), ())) for key, said in given.items()}
    asks = hasattr(given, "action_probabilities")
    if not callable(given) and not asks:
        raise GameError(f"policy: got a {type(given).__name__}, expected {FORMS}")
    if game is None or (asks and spiel is None):
        raise GameError(
            "policy: got a function or a policy of OpenSpiel, expected a dict or a file in a game that is too large to "
            "list, or that is not OpenSpiel's"
        )
    if asks:
        from klss.openspiel.strategies import asked

        return asked(given, game, spiel, player)
    return {key: _row(given(key, names), player, key, names) for key, names in actions.items()}


def _row(said: Any, player: int, key: str, names: Sequence[str]) -> Mapping[str, float | Fraction]:
    """Return the probabilities at an infoset by actions' names."""
    try:
        if isinstance(said, str):
            said = {said: 1.0}
        pairs = said.items() if isinstance(said, Mapping) else zip(names, said, strict=True)
        row = {str(action): _number(p) for action, p in pairs}
        if all(0.0 <= p <= 1.0 for p in row.values()):
            return row
        raise ValueError
    except (TypeError, ValueError, ArithmeticError):
        raise GameError(
            f"policy of player {player}, infoset {printable(key, 80)!r}: got {printable(repr(said), 60)}, expected the "
            f"probabilities of {', '.join(names[:20]) or 'its actions'}"
        ) from None


def _number(probability: Any) -> float | Fraction:
    text = str(probability)
    return Fraction(text) if _FRACTION.fullmatch(text) else float(text)


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
        row = np.array([float(actions.get(name, 0.0)) for name in names])
        if abs(row.sum() - 1.0) > _SUM:
            raise GameError(
                f"policy of player {player}, infoset {printable(key, 80)!r}: probabilities sum to {row.sum():.6g}, "
                "expected 1"
            )
        first = treeplex.first_sequence[i]
        weights[first : first + len(names)] = row / row.sum()
    return weights


@dataclass(frozen=True, repr=False)
class Exploited:
    """What a best response wins against one player's strategy, or a searching responder, which wins no more."""

    player: int  # the player of the strategy
    value: float | None  # that player's payoff of the profile; None in games
    worst_case: float  # that player's payoff against a best response; at most, if it was found in games
    interval: tuple[float, float] | None = None  # in games: the 95 % interval of ``worst_case``
    games: int | None = None  # the number of games, if the tree was too large to list
    named: int = 0  # the number of infosets that the strategy names; it is uniform at the others
    infosets: int | None = None  # of how many; None in games
    # the best response's gain at each infoset of the other player, largest first; the sum is ``value - worst_case``
    where: Sequence[tuple[str, float]] = ()
    # the best response: infoset's name -> action, at infosets that it reaches
    response: Mapping[str, str] = field(default_factory=dict)

    @property
    def gain(self) -> float | None:
        """What the best response wins more than the other strategy of the profile; None in games."""
        return None if self.value is None else max(0.0, self.value - self.worst_case)

    def __repr__(self) -> str:
        beside = f"{self.value:.6g} against the other" if self.games is None else f"at most, in {self.games:,} games"
        return f"<player {self.player}'s strategy: {self.worst_case:.6g} against a best response, {beside}>"


def exploit_uniform(form: ImplicitForm, player: int) -> Exploited:
    """Return what a best response wins against the uniform strategy in a game that is not listed, without names."""
    plans = [realization(treeplex, uniform_behaviour(treeplex)) for treeplex in form.treeplexes]
    sign = 1.0 - 2.0 * player
    worst = sign * worst_case(form, player, plans[player])  # type: ignore[arg-type]
    return Exploited(player, sign * form.value(*plans), worst, infosets=form.treeplexes[player].infoset_count)


def exploit(form: SequenceForm, behaviours: tuple[Floats, Floats], player: int, constant: float = 0.0) -> Exploited:
    """Compare the best response to ``player``'s strategy with the other player's strategy; both players' payoffs sum to
    ``constant``.

    The gain at an infoset is the best action's value minus that of the other player's strategy there, with best actions
    after it, times the probability with which that strategy reaches the infoset (Kakade & Langford, ICML 2002, Lemma
    6.1).
    """
    game = form.game
    assert game is not None, "the form is one of sequence_form"
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
    size = form.treeplexes[player].infoset_count
    total = constant if player else 0.0
    paid, worst = total - sign * value, total - sign * best.value
    return Exploited(player, paid, worst, infosets=size, where=where, response=response)
