"""Players of any game from texts: a configuration, with its evaluator, or ``cmd:…``, a program that speaks the engine
protocol.

This is the referee's side of the wall: games are set up here.
"""

from __future__ import annotations

import contextlib

from darkchess.evaluation.registry import EvaluatorChoice
from klss.play.kit import AnyKit, Spec
from klss.play.limits import Limit
from uci_bridge.child_processes import own_program
from uci_bridge.commands import COMMAND, Program, command
from uci_bridge.protocol.engine_process import EngineProcess
from uci_bridge.protocol.host import AnyHosted, HostedPlayer, Thinking, rehearse


def player_spec(kit: AnyKit, text: str) -> Spec:
    """The player that ``text`` names: ``cmd:PROGRAM ARGUMENTS``, split as a shell does, or a player of the game's kit.

    Raises ConfigurationError: the text is wrong, with the reason; UciBridgeError: the player needs something that is
    not installed.
    """
    return command(text) if text.startswith(COMMAND) else kit.spec(text)


def engine_argv(kit: AnyKit, spec: Spec, choice: EvaluatorChoice) -> tuple[str, ...]:
    """The command line of ``klss engine`` that plays a configuration as this process would. Raises ConfigurationError:
    a field has a value that no text can give.
    """
    argv = own_program(
        "klss", "engine", "--game", kit.name, "--configuration", kit.text(spec), "--evaluator", choice.name
    )
    if choice.stockfish is not None:
        argv += ["--stockfish", choice.stockfish]
    return tuple(argv)


class PlayerMaker:
    """Makes the players of one text, game after game: hosts the process that they share, which is not started yet.

    ``spec`` is from :func:`player_spec`.
    """

    def __init__(
        self,
        kit: AnyKit,
        spec: Spec,
        choice: EvaluatorChoice,  # of the evaluator, if a configuration leaves it open
        budget: Limit | None = None,  # the player's limits
        *,
        ponders: bool = False,  # whether a configuration that can think in the opponent's time does
        whole: bool = False,  # see :class:`uci_bridge.protocol.host.HostedPlayer`
    ) -> None:
        self._kit, self._budget, self._whole = kit, budget or Limit(), whole
        self._ours = kit.is_ours(spec)
        # the name of the evaluator of a configuration, as people read it; None if it has none, or it is unknown
        self.label = kit.label(spec, choice) if self._ours else None
        if isinstance(spec, Program):
            self.process = spec.process(choice.stockfish)
        else:
            argv = engine_argv(kit, kit.pondering(spec, choice) if ponders else spec, choice)
            self.process = EngineProcess(argv, name=spec.name)

    def start(self) -> None:
        """Start the process; a fault is raised later, where the player is asked."""
        with contextlib.suppress(Exception):
            self.process.start()

    def player(self, seed: int, thinking: Thinking = contextlib.nullcontext) -> AnyHosted:
        """A player for games one after the other."""
        return HostedPlayer(self.process, self._kit.wire, seed=seed, whole=self._whole, thinking=thinking)

    def warm_up(self) -> None:
        """Load a player's code before a clock runs.

        A program that is not ours plays a dummy game for this only if the match has a clock. Errors are ignored here,
        since they will show again in the game.
        """
        self.start()
        if self.process.alive and (self._ours or self._budget.clock is not None) and not self.process.answered:
            rehearse(self.process, self._kit.wire)

    def close(self, *, at_once: bool = False) -> None:
        """End the process; from any thread. ``at_once``: kill it without waiting."""
        (self.process.kill if at_once else self.process.close)()
