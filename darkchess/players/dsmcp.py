"""A player who plans on synopses: a best response to a modelled opponent, by playouts over sets of positions.

Source: G. Clark, *Deep Synoptic Monte Carlo Planning in Reconnaissance Blind Chess* (NeurIPS 2021); the algorithm is
:mod:`klss.synoptic`, which lists where it differs, the game :mod:`darkchess.synoptic`.

Deviations: the source's game has senses; the opponent is modelled as the best that the network knows; time is that of
all our players; where more than the cap are possible she goes on with a sample instead of playing at random.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import chess

from darkchess.belief.position_set import PositionSet
from darkchess.board.position import Position
from darkchess.game.contest import Decision, Limit, Progress, king_capture
from darkchess.game.rules import PAPER, Ruleset
from darkchess.game.view import View
from darkchess.players.tracking import Followed, TrackingPlayer, started
from darkchess.synoptic.networks import network_of
from darkchess.synoptic.synopsis import Memory, synopsis
from darkchess.synoptic.worlds import DarkBelief, DarkModel, action_of, move_of
from klss.synoptic.model import Network
from klss.synoptic.planner import Planner
from klss.synoptic.playouts import Headsets
from klss.synoptic.thinking import Thinking

__all__ = ["Synoptic", "SynopticPlayer"]

_HEADSETS = Headsets()


@dataclass(frozen=True)
class Synoptic(Thinking):
    """How a :class:`SynopticPlayer` thinks.

    Attributes
    ----------
    depth
        Moves of a playout.
    root, answer
        As the source has it, and its largest mean: what else there is was measured on the other game only.
    """

    root: Literal["bound", "improved"] = "bound"
    answer: Literal["total", "mean", "visits", "improved"] = "mean"
    depth: int = 12


class _Followed(Followed):
    """A game as she follows it, with her memory and the planner beside the set.

    Parameters
    ----------
    thinking, network, start
        Hers, and of the game.
    seed, threads, more
        See :class:`~darkchess.players.tracking.Followed`.
    """

    def __init__(
        self,
        thinking: Synoptic,
        network: Network,
        view: View,
        start: Position,
        ruleset: Ruleset,
        *,
        seed: int,
        threads: int,
        **more: Any,
    ) -> None:
        super().__init__(view, start, ruleset, seed=seed, threads=threads, **more)
        self._model = DarkModel(view.color, ruleset)
        self._passed = start.ep_square
        self._thinking = thinking
        self._network = network
        self._seed = seed
        self._playing = threads

    def _begin(self, known: PositionSet) -> None:
        self.memory = Memory(known.view, self._passed)
        self.planner = Planner(
            self._model, self._network, self._thinking, _HEADSETS,
            DarkBelief.of(known, self.memory.words), depth=self._thinking.depth, seed=self._seed,
            threads=self._playing,
        )  # fmt: skip

    def _go_on(self, known: PositionSet, before: View) -> None:
        move, planes, action = known.view.own_move, None, None
        if move is not None:
            belief = self.planner.belief
            cut = belief.members(self._thinking.most, self._seed + before.ply)
            planes = synopsis(belief.own, cut, self.memory.words)
            # A promotion that she would not make herself counts as the one that she would.
            action = action_of(chess.Move(move.from_square, move.to_square), before.color)
        self.memory.observe(before, known.view, planes)
        self.planner.happened(action, DarkBelief.of(known, self.memory.words))


class SynopticPlayer(TrackingPlayer):
    """See the module.

    Parameters
    ----------
    thinking
    network
        None: the one that ``thinking`` names.
    seed
        Of all that is drawn.
    cap, threads
        Of the position set; playouts take as many threads.
    """

    def __init__(
        self,
        thinking: Synoptic | None = None,
        network: Network | None = None,
        *,
        seed: int = 0,
        cap: int = 2_000_000,
        threads: int = 1,
    ) -> None:
        super().__init__(seed=seed, cap=cap, threads=threads)
        self._thinking = thinking or Synoptic()
        self._network = network or network_of(self._thinking.network)
        self._game: _Followed | None = None

    def start(self, view: View, start: Position, ruleset: Ruleset = PAPER) -> None:
        """See :class:`darkchess.game.contest.Player`."""
        self._game = self._followed = _Followed(
            self._thinking, self._network, view, start, ruleset, seed=self._seed, cap=self._cap, threads=self._threads
        )

    def close(self) -> None:
        """See :class:`darkchess.game.contest.Player`."""
        super().close()
        self._game = None

    def choose(self, limit: Limit, progress: Progress | None = None) -> Decision:
        """See :class:`darkchess.game.contest.Player`. ``nodes`` are sets that the network saw, or that were decided."""
        began = time.monotonic()
        view = self._turn().views[-1]
        game = started(self._game)
        share = limit.set_seconds()
        known = game.up_to_date(None if share is None else began + share)
        told: dict[str, Any] = {"positions": known.size, "capped_by": known.capped_by}
        taking = king_capture(view) if self._thinking.static else None
        if taking is not None or len(view.legal_moves) == 1:
            value = {} if taking is None else {"value": 1.0}
            return Decision(taking or view.legal_moves[0], told | value | {"nodes": 0})
        planned = game.planner.plan(
            self._thinking.depth, view.ply, nodes=limit.nodes, seconds=limit.seconds(), began=began
        )
        seconds = 0.0 if limit.seconds() is None else time.monotonic() - began
        return Decision(
            move_of(planned.action, game.planner.belief.own, view.color),
            told | game.planner.told(planned) | {"seconds": seconds},
        )
