"""The entry point: finds the command, runs it, and turns what went wrong into one line and an exit code.

Exit codes: 0 done; 1 ran and failed (also: interrupted); 2 bad input, with one line on stderr that says what, got,
expected.
A command's module is imported only when that command runs, so ``klss --help`` starts at once.
"""

from __future__ import annotations

import difflib
import importlib
import io
import os
import sys
from collections.abc import Sequence

from klss import __version__
from klss.cli.errors import CliError, UsageError

__all__ = ["COMMANDS", "main"]

COMMANDS: dict[str, str] = {
    "play": "play Fog of War chess against the engine in the terminal, or watch two engines play",
    "engine": "the engine on stdin and stdout, for other programs: one JSON object a line",
    "bot": "play on a lichess-style server (pychess.org) as its bot account",
    "match": "play many games between two players and count",
    "track": "sizes of both players' position sets along a game",
    "analyse": "what the engine thinks at one turn of a game, from that player's views alone",
    "solve": "equilibrium of any two-player zero-sum OpenSpiel game",
    "tables": "the tables of the paper, measured here",
    "bench": "how fast the engine is here, and a signature of what it does",
}
"""Command -> its line in the help; the module of the same name here holds ``run(arguments) -> exit code``."""


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {summary}" for name, summary in COMMANDS.items()]
    return "\n".join(
        [
            "usage: klss COMMAND …",
            "",
            "commands:",
            *lines,
            "",
            "klss COMMAND --help tells a command's flags; klss --version the version.",
        ]
    )


def _dispatch(arguments: Sequence[str]) -> int:
    if not arguments:
        raise UsageError(f"no command given; expected one of {', '.join(COMMANDS)} (klss --help says more)")
    name, *rest = arguments
    if name in ("-h", "--help", "help"):
        print(_help())
        return 0
    if name in ("-V", "--version"):
        print(f"klss {__version__}")
        return 0
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(COMMANDS)}"
        raise UsageError(f"no such command: {name!r}; {hint}")
    module = importlib.import_module(f"klss.cli.{name}")
    code: int = module.run(rest)
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The command and its flags; ``sys.argv[1:]`` when absent.

    Returns
    -------
    int
        0 done, 1 ran and failed, 2 bad input.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an ellipsis is no reason to fail in a terminal without Unicode
            stream.reconfigure(errors="replace")
    prefix = f"klss {arguments[0]}" if arguments and arguments[0] in COMMANDS else "klss"
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except CliError as error:
        sys.stdout.flush()
        print(f"{prefix}: {' '.join(str(error).split())}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"{prefix}: interrupted", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output went away: nothing to say, and nobody to say it to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
