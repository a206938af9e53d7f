"""The players of a match's games. Most run in processes of their own, which play game after game.

A configuration is played by ``klss engine``, a command by its program. Both speak the engine protocol, so neither side
of a match can see more than its observations. None outlives this process.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from darkchess.evaluation.registry import EvaluatorChoice
from klss.table.arbiter import SEATS
from klss.table.contest import Player
from klss.table.kit import Kit, Spec
from klss.table.limits import TimeControl
from uci_bridge.evaluators import evaluator_versions
from uci_bridge.match.task import Side
from uci_bridge.players import PlayerMaker
from uci_bridge.stockfish.evaluator import StockfishEvaluator


@dataclass(frozen=True)
class Setup:
    """The part that all games of a match have in common; it is sent to the workers. See
    :class:`uci_bridge.match.match.Match` for the fields.
    """

    kit: Kit
    a: Spec
    b: Spec
    budget: TimeControl
    rules: str | None = None
    evaluator: EvaluatorChoice = field(default_factory=EvaluatorChoice)
    check_truth: bool = False

    def spec(self, side: Side) -> Spec:
        """The player of that side."""
        return self.a if side == "a" else self.b

    def evaluator_label(self, side: Side) -> str | None:
        """The name of that side's evaluator, as people read it; None if it has none, or it is unknown."""
        chosen = self._chosen(side)
        return None if chosen is None else self.kit.label(chosen, self.evaluator)

    def packages(self) -> tuple[str, ...]:
        """The packages that the players come from, other than klss."""
        found = (getattr(self.spec(side), "package", None) for side in ("a", "b"))
        return tuple(dict.fromkeys(package for package in found if package is not None))

    def programs(self) -> dict[str, str | None]:
        """The evaluators' programs, and their versions; players of other packages are assumed to run Stockfish."""
        found = StockfishEvaluator.versions(self.evaluator) if self.packages() else {}
        for chosen in map(self._chosen, ("a", "b")):
            if hasattr(chosen, "evaluator"):
                found |= evaluator_versions(chosen, self.evaluator)
        return found

    def _chosen(self, side: Side) -> Any:
        """The configuration of that side; a program has none."""
        spec = self.spec(side)
        return spec if self.kit.is_ours(spec) else None


class Engines:
    """The players of one worker, for one game at a time."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._makers: dict[Side, PlayerMaker] = {}
        common = setup.kit.setup(None, setup.rules)
        for side in ("a", "b"):
            maker = PlayerMaker(
                setup.kit, setup.spec(side), setup.evaluator, common, setup.budget,
                apart=not setup.check_truth, whole=True,
            )  # fmt: skip
            self._makers[side] = maker
            if not maker.hosts:
                maker.warm_up(SEATS[0])

    def player(self, side: Side, seed: int) -> Player:
        """The player of a side for one game."""
        return self._makers[side].make(seed)

    def get_ready(self) -> None:
        """Start the processes that do not run, both at once, and have them load their code before a clock runs."""
        warming = [
            threading.Thread(target=maker.warm_up, args=(SEATS[0],), daemon=True)
            for maker in self._makers.values()
            if maker.hosts  # players in this process were warmed up when made
        ]
        for thread in warming:
            thread.start()
        for thread in warming:
            thread.join()

    def close(self, *, at_once: bool = False) -> None:
        """End the processes; ``at_once``: kill them without waiting."""
        for maker in self._makers.values():
            maker.close(at_once=at_once)
