"""The players of a match's games. Most run in processes of their own, which play game after game.

A configuration is played by ``klss engine``, a command by its program. Both speak the engine protocol, so neither side
of a match can see more than its observations. None outlives this process (:mod:`uci_bridge.guarded_process`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from klss.table.arbiter import SEATS
from klss.table.contest import Player, Referee
from klss.table.kit import Kit, Spec
from klss.table.limits import TimeControl
from uci_bridge.evaluators import EvaluatorChoice, evaluator_versions
from uci_bridge.guarded_process import GuardedProcess
from uci_bridge.match.task import Side
from uci_bridge.players import PlayerMaker
from uci_bridge.stockfish.evaluator import StockfishEvaluator

__all__ = ["Engines", "Insider", "InsiderMaker", "Setup"]


class InsiderMaker(Protocol):
    """Makes the players of one :class:`Insider` in one worker, game after game."""

    def make(self, seed: int, referee: Any) -> Player:
        """A player of ``referee``'s game, which may look at it."""
        ...

    def close(self) -> None:
        """End evaluators and processes."""
        ...


@dataclass(frozen=True)
class Insider:
    """A player that the caller brings. It plays in the worker's own process and gets the referee itself, so it may see
    the true game: it is behind no wall, and no command of klss takes such a player.
    """

    chosen: Any  # its configuration: the fields in results, and its evaluator
    # makes its players from ``chosen``, the evaluator for configurations that leave it open, and the game's setup; must
    # be a class or function of a module, since it is pickled for the workers
    maker: Callable[[Any, EvaluatorChoice, Any], InsiderMaker]

    @property
    def name(self) -> str:
        """Its name in results."""
        return str(self.chosen.name)

    def fields(self) -> dict[str, Any]:
        """Its description in results."""
        return dict(self.chosen.fields())


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
        if isinstance(spec, Insider):
            return spec.chosen
        return spec if self.kit.is_ours(spec) else None


class Engines:
    """The players of one worker, for one game at a time. An :class:`Insider` plays in this process, without a wall."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._makers: dict[Side, PlayerMaker | InsiderMaker] = {}
        common = setup.kit.setup(None, setup.rules)
        for side in ("a", "b"):
            spec = setup.spec(side)
            if isinstance(spec, Insider):
                self._makers[side] = spec.maker(spec.chosen, setup.evaluator, common)
                continue
            maker = PlayerMaker(
                setup.kit, spec, setup.evaluator, common, setup.budget,
                process=GuardedProcess, apart=not setup.check_truth, whole=True,
            )  # fmt: skip
            self._makers[side] = maker
            if not maker.hosts:
                maker.warm_up(SEATS[0])

    def player(self, side: Side, seed: int, referee: Referee) -> Player:
        """The player of a side for one game; ``referee`` is for an :class:`Insider` alone."""
        maker = self._makers[side]
        return maker.make(seed) if isinstance(maker, PlayerMaker) else maker.make(seed, referee)

    def get_ready(self) -> None:
        """Start the processes that do not run, both at once, and have them load their code before a clock runs."""
        warming = [
            threading.Thread(target=maker.warm_up, args=(SEATS[0],), daemon=True)
            for maker in self._makers.values()
            if isinstance(maker, PlayerMaker) and maker.hosts  # players in this process were warmed up when made
        ]
        for thread in warming:
            thread.start()
        for thread in warming:
            thread.join()

    def close(self, *, at_once: bool = False) -> None:
        """End the processes; ``at_once``: kill them without waiting."""
        for maker in self._makers.values():
            if isinstance(maker, PlayerMaker):
                maker.close(at_once=at_once)
            else:
                maker.close()
