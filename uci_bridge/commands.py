"""Programs that play: the text that names another engine, and the text that describes a configuration to ours."""

from __future__ import annotations

import shlex
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from klss.support.configuration_text import ConfigurationError, FlatConfiguration
from klss.support.text import Document, printable
from uci_bridge.protocol.engine_process import EngineProcess

COMMAND = "cmd:"
"""The prefix of a text that names another engine; its command line follows."""


class Program(ABC):
    """A player that is no configuration of ours: a program that speaks the engine protocol."""

    @abstractmethod
    def process(self, stockfish: str | None) -> EngineProcess:
        """Its process, not started yet; ``stockfish``: the path that was given."""


@dataclass(frozen=True)
class Command(Program):
    """A program by its command line."""

    name: str  # its name in results: the whole text
    argv: tuple[str, ...]

    def fields(self) -> Document:
        """Its description in results; see :meth:`darkchess.fog.players.named_fog_players.Configuration.fields`."""
        return {"name": self.name, "argv": list(self.argv)}

    def process(self, stockfish: str | None) -> EngineProcess:
        return EngineProcess(self.argv, name=self.name)


def command(text: str) -> Command:
    """The program that ``cmd:PROGRAM ARGUMENTS`` names, split as a shell does. Raises ConfigurationError: there is no
    such program.

    >>> command("cmd:sh -c 'exit 1'").argv
    ('sh', '-c', 'exit 1')
    """
    try:
        argv = shlex.split(text.removeprefix(COMMAND))
    except ValueError as error:
        raise ConfigurationError(f"player: got {text!r} ({error}), expected cmd:PROGRAM ARGUMENTS") from None
    if not argv:
        raise ConfigurationError(f"player: got {text!r}, expected cmd:PROGRAM ARGUMENTS")
    if shutil.which(argv[0]) is None:
        raise ConfigurationError(f"player: got {argv[0]!r} in {text!r}, expected a program that can be run")
    return Command(printable(text), tuple(argv))


_Kind = TypeVar("_Kind", bound=FlatConfiguration)


def described(chosen: _Kind, known: Mapping[str, _Kind], read: Callable[[str], _Kind]) -> str:
    """A text that describes ``chosen`` to another process, also on another machine, without a file.

    ``read`` makes of it a configuration that is equal in all but its name, which is the text. The text begins with a
    name of ``known`` for the same kind of player. Raises ConfigurationError: a field has a value that no text can give.
    """
    base = known.get(chosen.name.partition(",")[0])
    if base is None or base.player != chosen.player:
        base = next(each for each in known.values() if each.player == chosen.player)
    usual = base.fields()
    changes = [
        f"{field}={value}" for field, value in chosen.fields().items() if field != "name" and value != usual.get(field)
    ]
    text = ",".join([base.name, *changes])
    if read(text).fields() | {"name": chosen.name} != chosen.fields():
        raise ConfigurationError(
            f"configuration {chosen.name}: got {', '.join(changes)}, expected values that NAME,field=value can say"
        )
    return text
