"""``klss rbc``: Reconnaissance Blind Chess; a subcommand is a module here of the same name, with ``run(arguments)``.

Reading order: ``options`` the flags that subcommands share.

Commands: ``play`` with ``human``, ``spoken`` and ``review``; ``match``; ``engine``; ``track``; ``analyse``; ``verify``;
``bench``.
"""

from __future__ import annotations

from collections.abc import Sequence

from klss_app.cli.dispatch import dispatch
from klss_app.cli.own_name import own_name

__all__ = ["COMMANDS", "run"]

COMMANDS: dict[str, str] = {
    "play": "play against an engine in the terminal, or watch two engines play",
    "match": "play many games between two players and count",
    "track": "sizes of both players' position sets along a game",
    "verify": "hold the referee and the position sets against reconchess and OpenSpiel",
    "analyse": "what the engine thinks at one turn of a game",
    "bench": "how fast the position set is here",
    "engine": "an engine on stdin and stdout, for other programs: one JSON object a line",
}
"""Subcommand -> its line in the help; the module of the same name here holds ``run(arguments) -> exit code``."""


def run(arguments: Sequence[str]) -> int:
    """Run ``klss rbc``; see :mod:`klss_app.cli.main`."""
    last = f"{own_name()} rbc COMMAND --help tells a command's flags; docs/rbc.md tells the rules."
    return dispatch("klss rbc", "klss_app.cli.rbc", COMMANDS, arguments, last)
