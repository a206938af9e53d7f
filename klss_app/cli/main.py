"""The entry point: finds the command, runs it, and turns errors into one line and an exit code.

Exit codes: 0 done; 1 ran and failed (also: interrupted); 2 bad input, with one line on stderr that says what, got,
expected.
A command's module is imported only when that command runs, so ``klss --help`` starts at once.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence

from darkchess.errors import DarkchessError
from klss import __version__
from klss.errors import KlssError, SolverError
from klss.support.text import printable
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.game_option import game_named, game_of
from klss_app.stdout import discard, own_stdout, release
from uci_bridge.child_processes import adopt_orphans, end_descendants
from uci_bridge.errors import EngineFailed, NeverAnswered, UciBridgeError

COMMANDS: dict[str, str] = {
    "play": "play against the engine in the terminal, or watch two engines play",
    "board": "play in the browser, and review a game there",
    "engine": "run the engine on stdin and stdout for other programs: one JSON object a line",
    "bot": "play on a lichess-style server (pychess.org) with a bot account",
    "match": "play many games between two players and count the results",
    "rbc": "Reconnaissance Blind Chess: play, match, engine and more",
    "track": "sizes of both players' position sets along a game",
    "games": "what is in a file of games, of any server",
    "analyse": "what the engine thinks at one turn, or which moves of a whole game cost the most",
    "puzzles": "find the move: positions of real games with one right move, proved",
    "openings": "the opening book: what kluss plays at first, beside what people play",
    "solve": "equilibrium of a two-player zero-sum game, from OpenSpiel or from a file of Gambit",
    "exploit": "the best response to given strategies: what it wins, and where",
    "tables": "the tables of the paper, measured on this machine",
    "bench": "speed of the engine on this machine, and a signature of its behaviour",
    "about": "versions, and where the packaged weights come from",
}
"""Command -> its line in the help; the module of the same name here holds ``run(arguments) -> exit code``."""

RBC_COMMANDS = {name: COMMANDS[name] for name in ("play", "board", "match", "engine", "track", "analyse")}
"""The commands of ``klss rbc``. The same commands take ``--game``; their modules have ``run(arguments, game)``."""


def _dispatch(arguments: Sequence[str]) -> int:
    """Run the command that the first argument names, or show the help; return the exit code."""
    program, commands, name, rest = "klss", COMMANDS, "fog", list(arguments)
    last = "klss COMMAND --help lists a command's flags; klss --version prints the version."
    if rest and rest[0] == "rbc":  # another spelling of --game rbc
        program, commands, name, rest = "klss rbc", RBC_COMMANDS, "rbc", rest[1:]
        last = "klss rbc COMMAND --help lists a command's flags; docs/rbc.md has the rules."
    elif rest and rest[0] in RBC_COMMANDS:  # in other commands --game has another meaning
        name = game_of(rest) or "fog"
        commands = COMMANDS if name == "fog" else RBC_COMMANDS
    command, *rest = rest or [""]
    if command in ("-V", "--version") and rest in ([], ["--json"]):
        if rest:
            return int(importlib.import_module("klss_app.cli.about").run(rest))
        print(f"klss {__version__}")
        return 0
    if command in ("-h", "--help", "help"):
        width = max(map(len, commands))
        lines = [f"  {each:<{width}}  {summary}" for each, summary in commands.items()]
        print("\n".join([f"usage: {program} COMMAND …", "", "commands:", *lines, "", last]))
        return 0
    if command not in commands:
        raise UsageError(f"got the command {command!r}, expected one of {', '.join(commands)} ({program} --help)")
    game = game_named(name)
    run = importlib.import_module(f"klss_app.cli.{command}").run
    code: int = run(rest, game) if command in RBC_COMMANDS else run(rest)
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, by default ``sys.argv``'s; return the exit code: 0 done, 1 ran and failed, 2 bad input."""
    if arguments is None:  # run as a program: this process and all below it are ours, so they may be changed and ended
        adopt_orphans()
        own_stdout()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads are ours; numpy is not imported yet
        try:
            return main(sys.argv[1:])
        finally:
            end_descendants()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # so that an ellipsis does not raise in a terminal without Unicode
            stream.reconfigure(errors="replace")
    prefix = f"klss {arguments[0]}" if arguments and arguments[0] in COMMANDS else "klss"
    try:
        code, line = _run(arguments)
    finally:
        release()
    try:
        print(end="", flush=True)
    except OSError as error:
        code, line = code or 1, line or _reason(error)
        discard(sys.stdout)
    if line:
        try:
            print(f"{prefix}: {printable(line)}", file=sys.stderr, flush=True)
        except OSError:
            discard(sys.stderr)
    return code


def _run(arguments: Sequence[str]) -> tuple[int, str]:
    """Run a command; return its exit code, and the error line if that is not 0."""
    try:
        return _dispatch(arguments), ""
    except FailedError as error:
        return error.exit_code, str(error)
    except (SolverError, EngineFailed, NeverAnswered) as error:
        return 1, str(error)
    except (KlssError, DarkchessError, UciBridgeError) as error:  # what the packages refuse is the caller's
        return 2, str(error)
    except SystemExit as done:  # argparse has shown a help
        return done.code if isinstance(done.code, int) else 0, ""
    except KeyboardInterrupt:
        return 1, "interrupted"
    except UnicodeEncodeError as error:
        return 2, f"got {error.object!r}, expected text in UTF-8 (rename a file with such a name)"
    except OSError as error:
        return 1, _reason(error)
    except MemoryError:
        return 1, "got no more memory from the system, expected more; use a smaller problem or a larger machine"


def _reason(error: OSError) -> str:
    """The system's error text and the file; empty if the reader of our output went away, since nobody would read it."""
    if isinstance(error, BrokenPipeError):
        return ""
    return f"{error.strerror or error}" + ("" if error.filename is None else f": {error.filename!r}")
