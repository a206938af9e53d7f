"""What commands do in this process, in one JSON object on stdout: name -> exit code, stdout, stderr; and what else is
asked of a system."""

import contextlib
import importlib
import io
import json
import os
import pkgutil
import signal
import sys
import tempfile
import threading
import urllib.request
from typing import Any

from klss.support.file_lock import lock
from klss_app.cli.main import main
from uci_bridge.child_processes import own_program
from uci_bridge.protocol.engine_process import EngineProcess
from uci_bridge.protocol.fog import FOG
from uci_bridge.protocol.host import rehearse


class Board(io.StringIO):
    """A stdout that asks the board for its page once it says where it is, and then presses Ctrl-C."""

    page = ""
    visited = False

    def write(self, text: str) -> int:
        if "http://" in text and not self.visited:  # two seats, two links: one visit, as it ends the board
            self.visited = True
            address = text.split()[-1].partition("#")[0]
            threading.Thread(target=self._visit, args=(address,), daemon=True).start()
        return super().write(text)

    def _visit(self, address: str) -> None:
        try:
            with urllib.request.urlopen(address, timeout=20) as answer:
                self.page = answer.read().decode()
        finally:
            os.kill(os.getpid(), signal.SIGINT)


def ran(*arguments: str, typed: str = "", out: io.StringIO | None = None) -> dict[str, Any]:
    """What a command does with lines on stdin."""
    said, complained = out or io.StringIO(), io.StringIO()
    sys.stdin = io.StringIO(typed)
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        code = main(arguments)
    return {"code": code, "out": said.getvalue(), "err": complained.getvalue()}


def engine() -> Any:
    """What is wrong with ``klss engine`` as a process that is asked for a move; None: nothing."""
    process = EngineProcess(own_program("klss", "engine", "--configuration", "greedy"))
    try:
        return rehearse(process, FOG)
    finally:
        process.close()


def locked() -> list[bool]:
    """Whether a file can be taken that is free, is taken, and is free again."""
    path = os.path.join(tempfile.mkdtemp(), "lock")
    with open(path, "wb") as first, open(path, "wb") as second:
        taken = [lock(first), lock(second)]
    with open(path, "wb") as third:
        return [*taken, lock(third)]


def not_imported() -> dict[str, str | None]:
    """Our modules that can't be imported, and what each lacks."""
    failed = {}
    for package in ("klss", "darkchess", "uci_bridge", "klss_app"):
        for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            try:
                if not found.name.endswith("__main__"):
                    importlib.import_module(found.name)
            except ImportError as error:
                failed[found.name] = error.name
    return failed


if __name__ == "__main__":
    board = Board()
    humans = ("--white", "human", "--black", "human")
    found = {
        "solve": ran("solve", "kuhn_poker", "--json"),
        "tables": ran("tables", "2", "--game", "kuhn", "--json"),
        "track": ran("track", "--moves", "e4", "--json"),
        "play": ran("play", "--black", "random", "--nodes", "1", typed="e4\nresign\ny\n"),
        "board": ran("board", "--port", "0", "--no-open", *humans, out=board) | {"page": board.page},
        "engine": engine(),
        "reconchess bots": ran("rbc", "match", "attacker", "trout", "--games", "1", "--nodes", "1"),
        "locked": locked(),
        "not imported": not_imported(),
    }
    print(json.dumps(found), flush=True)
