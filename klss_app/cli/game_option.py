"""The games that commands take with ``--game``: the facts that are known before a game's compiled code is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from darkchess.evaluation.registry import AUTO, EvaluatorChoice, check_evaluator_name, evaluator_class
from darkchess.fog.game.contest import DEFAULT_PLAYER
from klss_app.cli.errors import UsageError

if TYPE_CHECKING:
    from klss.play.kit import AnyKit, Spec
    from klss_app.front import Front

BY_PATH = "stockfish"
"""The evaluator whose path ``--stockfish`` gives."""


@dataclass(frozen=True)
class Game:
    """A game as the command line knows it; ``name`` is what ``--game`` takes, ``title`` its name in sentences."""

    name: str
    title: str
    default_player: str  # the configuration that plays by default
    # configurations that are known without an import; others are looked up before the first board
    known: tuple[str, ...] = ()
    # the unit of a limit in the help, such as ``a move``, and further words of the help on limits
    each: str = "an answer"
    of: str = ""
    clock: str = "180+2"  # a usual clock, as ``--clock`` takes it
    ruled: bool = False  # whether it has rulesets and openings
    record: str = "--record"  # the flag of ``klss play`` for the file that keeps the game
    starts: bool = True  # whether another start position may be given, as a FEN
    # whether it is played on a chessboard: a game that was left can go on, and the board's page has its settings
    chess: bool = False

    def spelled(self, command: str) -> str:
        """A command as it is typed for this game, after ``klss``."""
        if self.name == "fog":
            return command
        return f"rbc {command}" if self.name == "rbc" else f"{command} --game {self.name}"

    @property
    def kit(self) -> AnyKit:
        """The game's kit, which imports compiled code. Raises ConfigurationError: there is none of that name."""
        from uci_bridge.kits.named import kit_named

        return kit_named(self.name)

    @property
    def front(self) -> Front:
        """How people see the game; imports compiled code."""
        from klss_app.front import front_of

        return front_of(self.kit)

    def player(self, text: str, stockfish: str | None = None) -> Spec:
        """See :func:`uci_bridge.players.player_spec`; imports compiled code. Raises EvaluatorError too: its
        evaluator is missing. ``stockfish`` is ``--stockfish``."""
        from darkchess.player_configuration import PlayerConfiguration
        from uci_bridge.players import player_spec

        found = player_spec(self.kit, text)
        if isinstance(found, PlayerConfiguration) and found.evaluator != AUTO:
            check_evaluator(found.evaluator, stockfish)
        return found

    def configuration(self, text: str, stockfish: str | None = None) -> Spec:
        """The configuration of ours that ``text`` describes; raises as :meth:`player` does."""
        found = None if text.startswith("cmd:") else self.player(text, stockfish)
        if found is None or not self.kit.is_ours(found):
            raise UsageError(
                f"--configuration: got {text[:80]!r}, expected one of {', '.join(self.kit.configurations)}"
            )
        return found


FOG = Game(
    "fog",
    "Fog of War chess",
    DEFAULT_PLAYER,
    known=(DEFAULT_PLAYER, "klss2021", "greedy", "random"),
    each="a move",
    ruled=True,
    record="--pgn",
    chess=True,
)


def game_named(name: str) -> Game:
    """The game that ``--game`` names. Raises ConfigurationError: there is none."""
    if name == "fog":
        return FOG
    if name == "rbc":
        from darkchess.rbc.game.contest import DEFAULT_PLAYER

        of = ", for each of a turn's two questions"
        title = "Reconnaissance Blind Chess"
        return Game(name, title, DEFAULT_PLAYER, of=of, clock="900+5", record="--history", chess=True)
    kit = Game(name, name, "").kit
    return Game(kit.name, kit.title, kit.default_player, ruled=bool(kit.rules), starts=kit.starts)


def game_of(arguments: list[str]) -> str | None:
    """Remove ``--game NAME`` from a command's arguments, and return the name; None: it is not there. A number is left
    in: it belongs to the other flag ``--game N``, a game in a file of several.

    >>> arguments = ["a", "--game", "rbc", "b"]
    >>> game_of(arguments), arguments
    ('rbc', ['a', 'b'])
    >>> game_of(["GAME.pgn", "--game", "3"]) is None
    True
    """
    for at, argument in enumerate(arguments):
        given, equals, value = argument.partition("=")
        if given == "--game":
            value = value if equals else " ".join(arguments[at + 1 : at + 2])
            if value and not value.isdigit() and not value.startswith("-"):
                del arguments[at : at + (1 if equals else 2)]
                return value
    return None


def check_evaluator(name: str, stockfish: str | None) -> None:
    """Raise EvaluatorError unless the evaluator and its program are there; Stockfish too, if its path is given.

    The default evaluator is always there, so nothing is imported for it.
    """
    check_evaluator_name(name)
    for needed in {name, *([BY_PATH] if stockfish is not None else [])} - {EvaluatorChoice.name}:
        evaluator_class(needed).check(EvaluatorChoice(needed, stockfish))
