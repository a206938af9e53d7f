"""A game of OpenSpiel from place to place: how it is stepped, what each player observes on the way, and how that is
named. Listing, search, belief, players and the true game have it from here.

If a game has information states, these contain all that a player has learned. They are read at the player's own turns
only: what it learns while waiting counts as learned at its next turn, because in some games the names of a waiting
player's infosets are inexact (:mod:`klss.openspiel.enumeration`). If a game has only observations, they are read at
every turn of either player. At its own turn a player also knows its legal actions, which some games' texts do not tell
(a die that was rolled). An observation that repeats the last one, without an own move between them, is left out, so
that a player can't count the turns of an opponent whose moves were refused.

On the true game only the referee's side calls :meth:`Sight.seen` and :meth:`Sight.along`: they return what one player
may know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple, Self

import pyspiel

from klss.errors import GameError
from klss.theory.movers import CHANCE, TERMINAL

NOTHING = 0
"""The key of no observation: a player that waits stays in its infoset (:class:`klss.search.model.Expansion`)."""

_SHARED = 100_000
"""Most texts and tuples of actions of which equal ones are one object; then it begins anew."""

_CHANCE = int(pyspiel.PlayerId.CHANCE)


@dataclass(frozen=True)
class Seen:
    """An observation."""

    ply: int  # number of this player's observations before (a waiting player may not know that of the game's plies)
    text: str  # the information state or observation
    actions: tuple[int, ...] = ()  # the legal actions at the player's own turn; () while it waits
    names: tuple[str, ...] = ()  # OpenSpiel's names of them
    own: int | None = None  # the player's action since its last observation; None if there was none

    def __post_init__(self) -> None:
        """Refuse a number of names that differs from that of the actions."""
        if len(self.names) != len(self.actions):
            raise ValueError(f"names: got {len(self.names)} of them, expected {len(self.actions)}: one an action")

    @property
    def acts(self) -> bool:
        """Whether it is the player's turn."""
        return bool(self.actions)

    @property
    def key(self) -> int:
        """The observation's key for the search."""
        return key_of(self.text, self.actions)


class Look(NamedTuple):
    """An observation of a player without its number and names, and an action of its own beside it."""

    text: str = "\0"  # by default what no text is equal to: nothing was observed yet
    actions: tuple[int, ...] = ()
    own: int | None = None


class Place(NamedTuple):
    """A state, and what the two players know there, the one whose :class:`Sight` it is first."""

    state: Any
    mover: int  # 0 (the sight's player), 1, CHANCE or TERMINAL
    known: tuple[Look, Look]  # their last observations, and their actions since
    shown: tuple[Look | None, Look | None]  # their observations on reaching it, and their actions before; None: none


def key_of(text: str, actions: Sequence[int] = ()) -> int:
    """Return a 64-bit key of a text and the legal actions, never :data:`NOTHING`, the same in every process."""
    told = f"{text}\0{actions}" if actions else text
    return int.from_bytes(blake2b(told.encode(), digest_size=8).digest(), "little") or 1


def history_key(state: Any) -> tuple[int, int]:
    """Return a key of the history of a ``pyspiel.State``: two 64-bit numbers."""
    digest = blake2b(state.history_str().encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def acted(name: str, action: int) -> str:
    """Return the name of a history of observations and own actions with one more action."""
    return f"{name}\n< {action}"


def told(name: str, text: str) -> str:
    """Return the name with one more text, which is nothing new if it repeats the last one and there was no own action
    between.
    """
    now = f"\n> {text}"
    return name if name.endswith(now) else name + now


def history_name(seen: Iterable[Seen | Look], own: int | None = None) -> str:
    """Return the name of an infoset in a game without information states: the history of a player's observations and
    actions, with its action since, if there was one.
    """
    name = ""
    for each in seen:
        name = told(name if each.own is None else acted(name, each.own), each.text)
    return name if own is None else acted(name, own)


def is_history(name: str) -> bool:
    """Whether an infoset's name is one of :func:`history_name`."""
    return name.startswith("\n> ")


class Sight:
    """The view of ``player``, 0 or 1, of a ``pyspiel.Game`` of two players in turns. Raises GameError: the game has
    neither information states nor observations as text.
    """

    def __init__(self, game: Any, player: int) -> None:
        kind = game.get_type()
        self.game, self.player = game, player
        self._shared = dict[Any, Any]()
        self.by_turn: bool = kind.provides_information_state_string
        if not self.by_turn and not kind.provides_observation_string:
            raise GameError(
                f"game {str(game)!r} has neither information states nor observations as strings; expected one of them"
            )

    def __deepcopy__(self, memo: object) -> Self:
        """Share it: a true game that is copied (:meth:`klss.play.small_game.SmallReferee.copy`) has the same rules."""
        return self

    @cached_property
    def start(self) -> Place:
        """The place at which the game begins."""
        return self.reached(self.game.new_initial_state())

    def text(self, state: Any, who: int) -> str:
        """Return what ``who`` of the sight's players, 0 or 1, is told at a decision node."""
        player = who ^ self.player
        found: str = state.information_state_string(player) if self.by_turn else state.observation_string(player)
        return found

    def reached(self, state: Any, known: tuple[Look, Look] = (Look(), Look())) -> Place:
        """Return the place of ``state``; ``known`` is what both players know on the way there."""
        player = state.current_player()
        if player < 0:
            return Place(state, CHANCE if player == _CHANCE else TERMINAL, known, (None, None))
        mover = player ^ self.player
        after, shown = [*known], list[Look | None]((None, None))
        for who in (mover,) if self.by_turn else (0, 1):
            text, (last, _, own) = self.text(state, who), known[who]
            if who == mover or own is not None or text != last:
                actions = tuple(state.legal_actions()) if who == mover else ()
                # Places are kept by the thousand, and many have the same texts and actions.
                if len(self._shared) >= _SHARED:
                    self._shared.clear()
                look = Look(self._shared.setdefault(text, text), self._shared.setdefault(actions, actions), own)
                after[who], shown[who] = look if own is None else look._replace(own=None), look
        return Place(state, mover, (after[0], after[1]), (shown[0], shown[1]))

    def child(self, place: Place, action: int) -> Place:
        """Return the place to which an action, or an outcome of nature, leads."""
        known, mover = place.known, place.mover
        if mover >= 0:
            text, actions, _ = known[mover]
            after = Look(text, actions, action)
            known = (known[0], after) if mover else (after, known[1])
        return self.reached(place.state.child(action), known)

    def edges(self, place: Place) -> tuple[list[int], list[float] | None]:
        """Return the actions at a place, and their probabilities if it is nature's."""
        if place.mover != CHANCE:
            return place.state.legal_actions(), None
        actions, probabilities = zip(*place.state.chance_outcomes(), strict=True)
        return list(actions), list(probabilities)

    def seen(self, place: Place, ply: int, who: int = 0) -> Seen | None:
        """Return the observation number ``ply`` of one of the sight's players on reaching a place, if there is one."""
        shown = place.shown[who]
        if shown is None:
            return None
        names = tuple(place.state.action_to_string(who ^ self.player, action) for action in shown.actions)
        return Seen(ply, shown.text, shown.actions, names, shown.own)

    def places(self, start: Any, history: Iterable[int]) -> Iterator[Place]:
        """Yield the places from the state ``start`` on, by the actions of ``history``."""
        yield (place := self.reached(start))
        for action in history:
            yield (place := self.child(place, action))

    def along(self, start: Any, history: Iterable[int]) -> list[Seen]:
        """Return all observations of the player from the state ``start`` on, by the actions of ``history``."""
        found = list[Seen]()
        for place in self.places(start, history):
            seen = self.seen(place, len(found))
            if seen is not None:
                found.append(seen)
        return found
