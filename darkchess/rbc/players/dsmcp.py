"""A player that plans on synopses: a best response to a modelled opponent, by playouts over sets of positions.

Source: G. Clark, *Deep Synoptic Monte Carlo Planning in Reconnaissance Blind Chess* (NeurIPS 2021), the program
Penumbra. The algorithm is :mod:`klss.synoptic`, which lists its own deviations; the game is
:mod:`darkchess.rbc.synoptic`.

Deviations: the policy is not mixed into the bandit (``mixing``), and other constants differ (:class:`Synoptic`); the
network is small (32 channels, 3 blocks), so that two cores can train and play it; the time for a question is divided as
for all our players, not only in proportion to the time left; if more positions than the cap are possible, planning
continues with a sample instead of playing at random.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import chess

from darkchess.board.kernels.tables import TABLES
from darkchess.board.position import Position
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.observation import Moved, Notice, Sensed
from darkchess.rbc.players.holding import HoldingPlayer
from darkchess.rbc.synoptic._kernels.forced import forced_win
from darkchess.rbc.synoptic._kernels.members import PASS, request_of
from darkchess.rbc.synoptic._kernels.synopsis import MOVE, SENSE
from darkchess.rbc.synoptic.networks import network_of
from darkchess.rbc.synoptic.synopsis import Memory, synopsis
from darkchess.rbc.synoptic.worlds import BlindBelief, BlindModel, Played, request_action, sense_action
from klss.play.contest import Decision
from klss.play.limits import Limit
from klss.play.time_plan import TimePlan
from klss.synoptic.model import Network
from klss.synoptic.planner import Planner
from klss.synoptic.planning import MOST, Planning
from klss.synoptic.playouts import Planned

_WON_OF = 5_000
"""Most positions for which a sure win is looked for: larger sets seldom have one, and the test takes time."""


@dataclass(frozen=True)
class Synoptic(Planning):
    """Settings of a :class:`SynopticPlayer`: the constants of :class:`~klss.synoptic.planning.Planning`, and those of
    this game.
    """

    # ``packaged``; ``rl``, which learned only from its own games; or the file of a network
    network: str = "packaged"
    # actions of a playout that begins with a sense, and with a move. Defaults 6, as in the source, and 8 (there 12)
    depth_sense: int = 6
    depth_move: int = 8

    RANGES: ClassVar = {**Planning.RANGES, "depth_sense": (1, MOST), "depth_move": (1, MOST)}


class SynopticPlayer(HoldingPlayer):
    """See the module.

    Parameters
    ----------
    thinking
    network
        None: the one that ``thinking`` names.
    seed
        Seed of all draws.
    cap, threads
        Those of the position set; playouts use as many threads.
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

    def begin(self, seat: chess.Color, setup: Position) -> None:
        super().begin(seat, setup)
        self._memory = Memory(flipped=seat == chess.BLACK)
        self._played = 0
        self._planner = Planner(
            BlindModel(seat), self._network, self._thinking,
            BlindBelief.of(self.known, self._memory.words, acts=setup.turn == seat, stage=SENSE),
            seed=self._seed, threads=self._threads,
        )  # fmt: skip

    def _followed(self, notice: Notice, known: PositionSet) -> None:
        self._memory.noticed(notice)
        # The opponent's turn was two actions: its sense, of which the player learns nothing, and its move.
        before = self._planner.belief
        if not before.acts:
            self._planner.happened(None, replace(before, stage=MOVE, follows=None))
            lost = -1 if notice.square is None else self.known.own.upward(notice.square)
            self._planner.happened(None, self._belief(SENSE, acts=True, follows=Played(-1, -1, lost)))

    def sensed(self, sensed: Sensed) -> None:
        self.known.sensed(sensed)
        # A player that senses nowhere learns nothing; the planner has no such action, so any window stands for it.
        square = self.known.own.upward(sensed.square) if sensed.square is not None else None
        action = sense_action(square if square is not None else chess.B2)
        self._planner.happened(action, self._belief(MOVE, acts=True))

    def moved(self, moved: Moved) -> None:
        # The synopsis of a sample of the possible positions.
        cut = self._planner.belief.members(self._thinking.max_members, self._seed + self._played)
        planes = synopsis(self.known.own_row, cut, MOVE, self._memory.words)
        request, taken = self.known.code(moved.requested), self.known.code(moved.taken)
        capture = -1 if moved.capture_square is None else self.known.own.upward(moved.capture_square)
        self.known.moved(moved)
        self._memory.moved(moved, planes)
        # A promotion to another piece than a queen has no action: a pass stands for it.
        action = request_action(request)
        self._planner.happened(
            PASS if action is None else action, self._belief(SENSE, acts=False, follows=Played(request, taken, capture))
        )

    # ------------------------------------------------------------------------------------------------ the questions
    def choose_sense(self, limit: Limit) -> Decision[int | None]:
        plan = self.time_plan(limit, sense=True)
        self._up_to_date(plan.tracking_deadline())
        action, diagnostics = self._answered(plan.renewed(), sense=True)
        return Decision(self.known.own.upward(action // 65), diagnostics)

    def choose_move(self, limit: Limit) -> Decision[chess.Move | None]:
        action, diagnostics = self._answered(self.time_plan(limit, sense=False), sense=False)
        return Decision(self.known.request(request_of(self.known.own_row, action)), diagnostics)

    def _answered(self, time: TimePlan, *, sense: bool) -> tuple[int, dict[str, object]]:
        """Return the action that answers a question, and its diagnostics."""
        known = self.known
        if known.size <= _WON_OF:
            won = int(forced_win(known.own_row, known.halves, SENSE if sense else MOVE, TABLES))
            if won >= 0:
                return won, self._about_set | {"value": 1.0, "nodes": 0, "sure": True}
        planned = self.plan(time, sense=sense)
        about = {"value": planned.value, "nodes": planned.nodes, "playouts": planned.playouts}
        return self._chosen(planned), self._about_set | about | {"particles": len(self._planner.particles)}

    def _chosen(self, found: Planned) -> int:
        """Return the action to take after planning."""
        return found.action

    def plan(self, time: TimePlan, *, sense: bool) -> Planned:
        """Plan by playouts where to sense, or what to request, even if a win is sure; 0 nodes: by the network alone."""
        self._played += 1
        depth = self._thinking.depth_sense if sense else self._thinking.depth_move
        return self._planner.plan(depth, self._played, nodes=time.nodes, seconds=time.seconds, began=time.began)

    # ------------------------------------------------------------------------------------------------ helpers
    def _belief(self, stage: int, *, acts: bool, follows: Played | None = None) -> BlindBelief:
        return BlindBelief.of(self.known, self._memory.words, acts=acts, stage=stage, follows=follows)
