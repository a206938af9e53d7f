"""What a player observes in a game of OpenSpiel, and under which keys a search knows it.

Where a game has information states, they tell all that a player has learned, and they are read at the player's own
turns only: what it learns while it waits counts as learned at its next turn, since some games name the infosets of a
player that waits carelessly (:mod:`klss.openspiel.enumeration`). Where a game has observations alone, they are read at
every turn of either player; one that repeats the last, without a move of the player's own between them, tells nothing
and is left out, so that nobody can count the turns of an opponent who was refused a move.

Only the referee's side calls :meth:`Sight.look` and :meth:`Sight.along` on the true game: they give what one player may
know.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from klss.errors import GameError

__all__ = ["NOTHING", "Seen", "Sight", "key_of"]

NOTHING = 0
"""The key of observing nothing: who waits stays where it was (:class:`klss.search.model.Expansion`)."""


@dataclass(frozen=True)
class Seen:
    """An observation.

    Attributes
    ----------
    ply
        How many observations of this player came before. Who waits may not know how many plies of the game did.
    text
        The information state or observation.
    actions, names
        The legal actions at the player's own turn, and what OpenSpiel calls them; () while it waits.
    own
        The player's action since its last observation; None: it made none.
    """

    ply: int
    text: str
    actions: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    own: int | None = None

    @property
    def acts(self) -> bool:
        """Whether it is the player's turn."""
        return bool(self.actions)

    def action(self, text: str) -> int | None:
        """The action of that name, or of that number in the list, as a human types it; None: there is none."""
        if text in self.names:
            return self.actions[self.names.index(text)]
        if text.isdecimal() and text.isascii() and 1 <= int(text[:9]) <= len(self.actions):
            return self.actions[int(text) - 1]
        return None


def key_of(text: str) -> int:
    """A 64-bit key of a text, never :data:`NOTHING`; the same in every process."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") or 1


class Sight:
    """How one player sees a game.

    Parameters
    ----------
    game
        A ``pyspiel.Game`` of two players in turns.
    player
        0 or 1.

    Raises
    ------
    GameError
        The game shows nothing as text.
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
        """What the player sees at a decision node where ``mover`` acts; None where nothing is read."""
        if not self.by_turn:
            return str(state.observation_string(self.player))
        return str(state.information_state_string(self.player)) if mover == self.player else None

    def look(self, state: Any, last: Seen | None, own: int | None) -> Seen | None:
        """What the player observes at ``state``, if anything, having seen ``last`` before and played ``own`` since."""
        mover = state.current_player()
        text = self.text(state, mover) if mover >= 0 else None
        turn = mover == self.player
        if text is None or not (turn or own is not None or last is None or last.text != text):
            return None
        actions = tuple(state.legal_actions()) if turn else ()
        names = tuple(state.action_to_string(self.player, action) for action in actions)
        return Seen(0 if last is None else last.ply + 1, text, actions, names, own)

    def along(self, start: Any, history: Iterable[int]) -> list[Seen]:
        """All that the player observes from the state ``start`` on, by the actions of ``history``."""
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
