"""A player's observations in a game of OpenSpiel, and their keys for the search.

If a game has information states, these contain all that a player has learned. They are read at the player's own turns
only: what it learns while waiting counts as learned at its next turn, because in some games the names of a waiting
player's infosets are inexact (:mod:`klss.openspiel.enumeration`). If a game has only observations, they are read at
every turn of either player. At its own turn a player also knows its legal actions, which some games' texts do not tell
(a die that was rolled). An observation that repeats the last one, without an own move between them, is left out, so
that a player can't count the turns of an opponent whose moves were refused.

Only the referee's side calls :meth:`Sight.look` and :meth:`Sight.along` on the true game: they return what one player
may know.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from klss.errors import GameError

NOTHING = 0
"""The key of no observation: a player that waits stays in its infoset (:class:`klss.search.model.Expansion`)."""


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


def key_of(text: str, actions: Sequence[int] = ()) -> int:
    """Return a 64-bit key of a text and the legal actions, never :data:`NOTHING`, the same in every process."""
    told = f"{text}\0{actions}" if actions else text
    return int.from_bytes(blake2b(told.encode(), digest_size=8).digest(), "little") or 1


def history_key(state: Any) -> tuple[int, int]:
    """Return a key of the history of a ``pyspiel.State``: two 64-bit numbers."""
    digest = blake2b(state.history_str().encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


class Sight:
    """The view of ``player``, 0 or 1, of a ``pyspiel.Game`` of two players in turns. Raises GameError: the game has
    neither information states nor observations as text.
    """

    def __init__(self, game: Any, player: int) -> None:
        kind = game.get_type()
        self.player = player
        self.by_turn: bool = kind.provides_information_state_string
        if not self.by_turn and not kind.provides_observation_string:
            raise GameError(
                f"game {str(game)!r} has neither information states nor observations as strings; expected one of them"
            )

    def text(self, state: Any, mover: int) -> str | None:
        """Return the player's text at a decision node where ``mover`` acts; None if none is read there."""
        if not self.by_turn:
            return str(state.observation_string(self.player))
        return str(state.information_state_string(self.player)) if mover == self.player else None

    def look(self, state: Any, last: Seen | None, own: int | None) -> Seen | None:
        """Return the player's observation at ``state``, or None, after its observation ``last`` and action ``own``."""
        mover = state.current_player()
        text = self.text(state, mover) if mover >= 0 else None
        turn = mover == self.player
        if text is None or not (turn or own is not None or last is None or last.text != text):
            return None
        actions = tuple(state.legal_actions()) if turn else ()
        names = tuple(state.action_to_string(self.player, action) for action in actions)
        return Seen(0 if last is None else last.ply + 1, text, actions, names, own)

    def along(self, start: Any, history: Iterable[int]) -> list[Seen]:
        """Return all observations of the player from the state ``start`` on, by the actions of ``history``."""
        state, seen, own = start.clone(), list[Seen](), None
        actions = iter(history)
        while True:
            found = self.look(state, seen[-1] if seen else None, own)
            if found is not None:
                seen.append(found)
                own = None
            action = next(actions, None)
            if action is None:
                return seen
            own = action if state.current_player() == self.player else own
            state.apply_action(action)
