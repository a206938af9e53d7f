"""Players of any game from texts: a configuration, with its evaluator, or ``cmd:…``, a program that speaks the engine
protocol.

This is the referee's side of the wall: games are set up here.
"""

from __future__ import annotations

from darkchess.evaluation.registry import EvaluatorChoice
from klss.play.contest import AnyPlayer
from klss.play.kit import AnyKit, AnyMaker, Spec
from klss.play.limits import TimeControl
from klss.play.outcome import Seat
from uci_bridge.child_processes import own_program
from uci_bridge.commands import COMMAND, Program, command
from uci_bridge.protocol.engine_process import EngineProcess
from uci_bridge.protocol.host import HostedPlayer, rehearse


def player_spec(kit: AnyKit, text: str) -> Spec:
    """The player that ``text`` names: ``cmd:PROGRAM ARGUMENTS``, split as a shell does, or a player of the game's kit.

    Raises ConfigurationError: the text is wrong, with the reason; UciBridgeError: the player needs something that is
    not installed.

    >>> from uci_bridge.kits.fog import FOG
    >>> player_spec(FOG, "cmd:sh -c 'exit 1'").argv
    ('sh', '-c', 'exit 1')
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
    """Makes the players of one text, game after game; holds their shared evaluator or process.

    Raises StockfishMissing (see :func:`uci_bridge.evaluators.make_evaluator`).
    """

    def __init__(
        self,
        kit: AnyKit,
        spec: Spec,  # see :func:`player_spec`
        choice: EvaluatorChoice,  # of the evaluator, if a configuration leaves it open
        setup: object = None,  # what both players know, of the kit's own type; None: the usual
        budget: TimeControl | None = None,  # the player's limits
        *,
        apart: bool = False,  # whether a configuration plays in a process of its own
        whole: bool = False,  # see :class:`uci_bridge.protocol.host.HostedPlayer`
    ) -> None:
        self._kit, self._spec, self._choice, self._whole = kit, spec, choice, whole
        self._budget = budget or TimeControl()
        self._process: EngineProcess | None = None
        self._maker: AnyMaker | None = None
        if isinstance(spec, Program):
            self._process = spec.process(self._budget, choice.stockfish)
        elif apart:
            self._process = EngineProcess(engine_argv(kit, spec, choice), name=spec.name)
        else:
            self._maker = kit.maker(spec, choice, kit.setup() if setup is None else setup)

    @property
    def hosts(self) -> bool:
        """Whether the player is a process that speaks the engine protocol."""
        return self._process is not None

    @property
    def label(self) -> str | None:
        """The name of the evaluator of a configuration, as people read it; None if it has none, or it is unknown."""
        return self._kit.label(self._spec, self._choice) if self._kit.is_ours(self._spec) else None

    def make(self, seed: int) -> AnyPlayer:
        """A player for games one after the other."""
        if self._process is not None:
            return HostedPlayer(self._process, self._kit.wire, seed=seed, whole=self._whole)
        assert self._maker is not None
        return self._maker.player(seed)

    def warm_up(self, seat: Seat) -> None:
        """Load a player's code before a clock runs.

        A program that is not ours plays a dummy game for this only if the match has a clock. Errors are ignored here,
        since they will show again in the game.
        """
        ours = self._kit.is_ours(self._spec)
        if self._process is None:
            player = self.make(0)
            self._kit.warm_up(player, seat)
            player.close()
            return
        try:
            self._process.start()
        except Exception:
            return
        if (ours or self._budget.clock is not None) and not self._process.answered:
            rehearse(self._process, self._kit.wire)

    def close(self, *, at_once: bool = False) -> None:
        """End evaluator and process; from any thread. ``at_once``: kill the process without waiting."""
        if self._process is not None and at_once:
            self._process.kill()
        elif self._process is not None:
            self._process.close()
        if self._maker is not None:
            self._maker.close()
