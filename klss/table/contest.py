"""Who meets at the table: players, and the referee that asks them; the ways out of a game.

A game with hidden information is *questions and observations*. A referee asks one seat at a time; that player has
observed something since its last answer, and answers. Everything else here is the same for every game. What a question,
an answer and an observation are is the game's: Fog of War asks for a move and shows a view after each ply;
Reconnaissance Blind Chess asks for a sense, then for a request, and reports what came of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from klss.table.limits import Limit, Progress
from klss.table.outcome import Outcome, Seat

if TYPE_CHECKING:  # a command line draws its first board before numpy is loaded
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "Contradiction", "Decision", "Forfeit", "OutOfTime", "Player", "Positions", "Referee", "Resignation",
    "TruthCount",
]  # fmt: skip


class Contradiction(ValueError):
    """Observations that no game gives: they contradict themselves, one another or the rules."""


class Resignation(Exception):
    """Raised by a player's ``answer``: the player gives up."""


class OutOfTime(Exception):
    """Raised by a player's ``answer``: the player noticed that its own clock ran out."""


class Forfeit(Exception):
    """Raised by a player's ``answer``: there is no answer, or none that is legal; says why."""


@dataclass(frozen=True)
class Decision:
    """What a player decided."""

    answer: Any  # to the referee's question
    # what the player reports about it, by name (the engine protocol's ``diagnostics``): numbers and short texts
    diagnostics: dict[str, Any] = field(default_factory=dict)


class Positions(Protocol):
    """What a player holds possible, as far as a host may ask."""

    @property
    def size(self) -> int:
        """How many states."""
        ...

    @property
    def capped_by(self) -> str | None:
        """None where they are all that agree with the observations; else why they are a sample."""
        ...

    def contains(self, row: npt.NDArray[np.uint64], /) -> bool:
        """Whether the state ``row`` is among them."""
        ...


class Player:
    """Whoever plays one seat of one game after the other: ours, a human at a terminal, a process.

    This base has the answers of a player that keeps nothing and holds nothing.
    """

    last_fault: str | None = None  # the player's last fault that cost it something, for the records

    @property
    def position_set(self) -> Positions | None:
        """What the player holds possible, up to date with all it observed; None if it does not say."""
        return None

    def begin(self, seat: Seat, setup: Any) -> None:
        """Begin a game at ``seat``; ``setup`` is what both players know of it: the start, the rules."""
        raise NotImplementedError

    def observe(self, observation: Any) -> None:
        """Take in an observation; each is given once, in order."""
        raise NotImplementedError

    def answer(self, question: Any, limit: Limit, progress: Progress | None = None) -> Decision:
        """Answer the referee's question.

        Raises
        ------
        Resignation, OutOfTime, Forfeit
            The game ends by them.
        """
        raise NotImplementedError

    def end(self, outcome: Outcome) -> None:
        """Learn how the game ended."""
        return

    def close(self) -> None:
        """Free what is held."""
        return


class Referee(Protocol):
    """The true game. Only the referee's side of the wall holds one."""

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended; None while it goes on."""
        ...

    @property
    def ply(self) -> int:
        """Turns that were played, of either side."""
        ...

    @property
    def turn(self) -> Seat:
        """The seat that is asked."""
        ...

    @property
    def question(self) -> Any:
        """What it is asked; a turn may have several questions."""
        ...

    @property
    def truth(self) -> Any:
        """The true state, as :meth:`Positions.contains` takes it; for tests of players."""
        ...

    @property
    def setup(self) -> Any:
        """What both players know before the game begins."""
        ...

    def observations(self, seat: Seat) -> Sequence[Any]:
        """Everything that ``seat`` has observed, in order; it only grows while the game goes on."""
        ...

    def answer(self, answer: Any) -> None:
        """Take the answer to :attr:`question`; an illegal one raises a ValueError of the game's."""
        ...

    def resign(self, seat: Seat) -> None:
        """``seat`` gives up."""
        ...

    def flag(self, seat: Seat) -> None:
        """The clock of ``seat`` ran out."""
        ...

    def end(self, outcome: Outcome) -> None:
        """End the game by something that is no answer."""
        ...


@dataclass
class TruthCount:
    """How often the true state was looked for in a player's set, and not found (test mode only)."""

    checks: int = 0  # looks at a set that claims to be complete
    lost: int = 0  # those that did not hold the true state
    sampled: int = 0  # looks left out, because the set had declared itself a sample
