"""A player of Reconnaissance Blind Chess by the nested KLSS search (:mod:`experiments.rbc_nested.model`)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import chess
import numpy as np

from blindchess.belief.position_set import PositionSet
from blindchess.game.contest import Asked, Look, Player
from blindchess.game.observation import Moved, Notice, Sensed
from blindchess.players.dsmcp import Synoptic, SynopticPlayer
from blindchess.synoptic.synopsis import MOVE, SENSE
from blindchess.synoptic.worlds import PASS, request_action, sense_action
from darkchess.board.position import Position
from darkchess.game.contest import Limit
from experiments.rbc_nested.model import (
    WAITED,
    NestedBelief,
    NestedBlind,
    mixed,
    observed_notice,
    observed_request,
    observed_sense,
)
from klss.arrays import Keys
from klss.search import Budget, Kluss, Search

__all__ = ["SEARCH", "Nested", "NestedPlayer"]

SEARCH = Kluss(
    order=1, particles=16, most_carried=8, share=float("inf"), belief="filter", slope=0.0, even=0.0,
)  # fmt: skip
"""1-KLSS: second-order roots are one infoset of the opponent's each. They weigh by their particles."""


class NestedPlayer(SynopticPlayer):
    """See the module: holds possible what ``dsmcp`` does, of herself and of the opponent, and searches where that one
    plays out.

    Parameters
    ----------
    thinking
    seed
        Of all that is drawn.
    """

    def __init__(self, thinking: Nested, *, seed: int = 0) -> None:
        super().__init__(Synoptic(particles=thinking.particles), seed=seed, cap=thinking.cap)
        self._nested = thinking

    def start(self, color: chess.Color, start: Position) -> None:
        """See :class:`blindchess.game.contest.Player`."""
        super().start(color, start)
        nested = self._nested
        self._model = NestedBlind(
            color, self._network, senses=nested.senses, requests=nested.requests, most=self._thinking.most
        )
        self._search = Search(self._model, nested.search, seed=self._seed)
        self._key = 1
        self._black = color == chess.BLACK

    # ------------------------------------------------------------------------------------------------ what she is told
    def _observed(self, action: int | None, observation: Keys | np.uint64, *, acts: bool) -> None:
        """One action, hers or (None) the opponent's, as the model has it in its trees."""
        did = np.array([1 if action is None else action + 2], dtype=np.uint64)
        self._key = int(mixed(np.uint64(self._key) ^ mixed(observation ^ mixed(did)))[0])
        self._search.observe(-1 if action is None else action, int(observation), acts)

    def _followed(self, notice: Notice, known: PositionSet) -> None:
        before = self._planner.belief
        super()._followed(notice, known)
        if before is not self._planner.belief:
            self._observed(None, WAITED, acts=False)
            self._observed(None, observed_notice(self._any(), self._black)[0], acts=True)

    def sensed(self, sensed: Sensed) -> None:
        """See :class:`blindchess.game.contest.Player`."""
        super().sensed(sensed)
        square = chess.B2 if sensed.square is None else self._upward(sensed.square)
        area = np.array([sum(1 << at for at, _ in sensed.contents)], dtype=np.uint64)
        self._observed(sense_action(square), observed_sense(self._any(), area)[0], acts=True)

    def moved(self, moved: Moved) -> None:
        """See :class:`blindchess.game.contest.Player`."""
        request = request_action(self.known.code(moved.requested))
        super().moved(moved)
        captured = np.array([0 if moved.capture_square is None else 1 << moved.capture_square], dtype=np.uint64)
        observation = observed_request(self._any(), self._black, captured)[0]
        self._observed(PASS if request is None else request, observation, acts=False)

    def _any(self) -> Keys:
        """A state that she holds possible: what she knows is the same in all."""
        return self._planner.belief.sample(1, 0)

    # ------------------------------------------------------------------------------------------------ the questions
    def choose_sense(self, limit: Limit) -> Look:
        """See :class:`blindchess.game.contest.Player`."""
        self._follow(limit)
        won = self._won(SENSE)
        if won is not None:
            return Look(self.square_of(won), self._sure)
        action, told = self._searched()
        return Look(self.square_of(action), told)

    def choose_move(self, limit: Limit) -> Asked:
        """See :class:`blindchess.game.contest.Player`."""
        won = self._won(MOVE)
        if won is not None:
            return Asked(self.request_of(won), self._sure)
        action, told = self._searched()
        return Asked(self.request_of(action), told)

    def _searched(self) -> tuple[int, dict[str, object]]:
        """An action, and what there is to say of it."""
        self._planner.fill()
        self._played += 1
        belief, particles = self._planner.belief, self._planner.particles
        roots = NestedBelief(belief, particles, self._model, self._key, self._seed + self._played)
        found = self._search.search(roots, Budget(nodes=self._nested.nodes))
        standing = self._search.standing
        assert standing is not None
        self._model.keep(standing.trunk.states[: standing.trunk.node_count])
        report = found.report
        return found.action, {
            "positions": self.known.size,
            "capped_by": self.known.capped_by,
            "value": report.value,
            "nodes": report.nodes,
            "roots": report.sampled + report.carried,
            "carried": report.carried,
            "depth": report.depth_mean,
            "actions": len(found.actions),
        }


@dataclass(frozen=True)
class Nested:
    """The player as one side of a match: :class:`uci_bridge.blind_players.Foreign`.

    Attributes
    ----------
    nodes
        Of her search at each question, whatever the match says: the other side's nodes are other nodes.
    particles
        That are kept of each time.
    cap
        Of the position set.
    """

    nodes: int
    name: str = "rbc-nested"
    senses: int = 6
    requests: int = 8
    particles: int = 32
    cap: int = 20_000
    search: Kluss = field(default=SEARCH)

    def fields(self) -> dict[str, Any]:
        """What results hold."""
        own = asdict(self)
        return own | {
            "search": {name: str(value) if value == math.inf else value for name, value in own["search"].items()}
        }

    def make(self, seed: int, nodes: int | None, time_s: float | None, stockfish: str | None) -> Player:
        """A player for a game."""
        return NestedPlayer(self, seed=seed)
