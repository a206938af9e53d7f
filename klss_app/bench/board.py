"""Many games at once at the board: processes of ``klss board``, each with a page that plays random moves.

A page here is only the other end of the websocket: it moves at random, and asks for a rematch, with colours swapped,
when all games of a round are over. Errors are counted: refusals and error messages of a server, games that end by a
fault of the server or the engine, connections that break and programs that end.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import signal
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from klss.table.limits import Limit
from klss_app.bench.report import Figures, Report, Say, load, spread
from uci_bridge.child_processes import descendants
from uci_bridge.own_program import own_program

__all__ = ["board"]

_PAUSE_S = 0.06
"""Seconds before a page sends a move: a page that sends more than 20 messages a second for long is cut off."""

_PATIENCE_S = 120.0
"""Longest wait for the next message of a server: its engine may still be loading, beside all the others."""

_FAULTS = ("forfeit", "aborted", "flag")


@dataclass
class _Board:
    """One program and its page: its errors in words, the plies of the finished games, and the seconds from each sent
    move to the board after it, before the engine's answer.
    """

    seed: int
    program: asyncio.subprocess.Process
    link: str = ""
    token: str = ""
    socket: aiohttp.ClientWebSocketResponse | None = None
    errors: list[str] = field(default_factory=list)
    plies: list[int] = field(default_factory=list)
    answers_s: list[float] = field(default_factory=list)

    async def linked(self) -> None:
        """Wait for the program's first line."""
        assert self.program.stdout is not None
        line = (await self.program.stdout.readline()).decode()
        match = re.fullmatch(r"klss board: (http://\S+)/#seat=(\S+)\n", line)
        if match is None:
            _, said = await self.program.communicate()
            raise RuntimeError(f"klss board said {line!r} and {said.decode()!r}, expected its link")
        self.link, self.token = match.groups()

    async def close(self) -> None:
        """End the program by Ctrl-C; all it has printed, except the files of its games, counts as an error."""
        if self.socket is not None:
            await self.socket.close()
        with contextlib.suppress(ProcessLookupError):
            self.program.send_signal(signal.SIGINT)
        _, said = await self.program.communicate()
        self.errors += [line for line in said.decode().splitlines() if "the game is kept in" not in line]
        if self.program.returncode:
            self.errors.append(f"klss board ended with {self.program.returncode}")

    async def play(self, session: aiohttp.ClientSession) -> None:
        """Play a game to its end, the first or a rematch; errors go to ``errors``."""
        try:
            if self.socket is None:
                self.socket = await session.ws_connect(f"{self.link}/ws", headers={"Origin": self.link})
                await self.socket.send_json({"type": "sit", "token": self.token})
            else:
                await self.socket.send_json({"type": "rematch"})
            await self._play(self.socket, random.Random(self.seed * 1_000_003 + len(self.plies)))
        except (TimeoutError, aiohttp.ClientError, ConnectionError, TypeError, ValueError) as error:
            self.errors.append(f"the line ended: {error!r}")

    async def _play(self, socket: aiohttp.ClientWebSocketResponse, chooser: random.Random) -> None:
        sent: tuple[int, float] | None = None
        ply = -1
        while True:
            message = json.loads(await asyncio.wait_for(socket.receive_str(), _PATIENCE_S))
            if message["type"] in ("error", "refused"):
                self.errors.append(message["why"])
                return
            if message["type"] == "table" and not message["playing"] and ply >= 0:
                return
            if message["type"] != "game":
                continue
            if sent is not None and message["ply"] == sent[0] + 1:
                self.answers_s.append(time.perf_counter() - sent[1])
                sent = None
            if message["over"] is not None:
                self.plies.append(message["ply"])
                if message["over"]["reason"] in _FAULTS:
                    self.errors.append(f"the game ended by {message['over']['reason']}")
            elif message["turn"] == message["color"] and message["ply"] > ply:
                await asyncio.sleep(_PAUSE_S)
                sent = message["ply"], time.perf_counter()
                move = chooser.choice(message["moves"])
                await socket.send_json({"type": "move", "move": move, "ply": message["ply"]})
            ply = message["ply"]


def board(player: str, *, games: int, rounds: int, limit: Limit, seed: int = 0, say: Say = lambda line: None) -> Report:
    """Play ``rounds`` times ``games`` games at once against ``player``, a configuration's text.

    Figures ``errors``; ``plies`` of a game; ``answer_ms``, from a sent move to the board after it, without the engine's
    answer; ``server_mb_first`` and ``_last``, ``engine_mb_first`` and ``_last``: resident memory of a server and of its
    engine after the first round and after the last (None without ``/proc``). The samples are the rounds, the 0th before
    any game, with the errors in words.
    """
    limits = ["--nodes", str(limit.nodes)] if limit.nodes is not None else ["--time", str(limit.time_s)]
    return asyncio.run(_measured(["--black", player, *limits], games, rounds, seed, say))


async def _measured(arguments: list[str], games: int, rounds: int, seed: int, say: Say) -> Report:
    boards: list[_Board] = []
    figures: Figures = {}
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="klss-bench-") as folder:
        try:
            for number in range(games):
                boards.append(await _started(arguments, Path(folder), seed + number))
            await asyncio.gather(*(each.linked() for each in boards))
            async with aiohttp.ClientSession() as session:
                for number in range(rounds + 1):
                    began = time.perf_counter()
                    if number:
                        await asyncio.gather(*(each.play(session) for each in boards))
                    memory = _memory_mb(boards)
                    wrong = [why for each in boards for why in each.errors]
                    seconds = time.perf_counter() - began
                    rows.append({"round": number, "seconds": seconds, "errors": wrong, "load": load(), **memory})
                    held = ", ".join(f"{name}s {sum(values):.0f} MB" for name, values in memory.items() if values)
                    say(f"round {number} of {rounds}: {len(wrong)} errors, {seconds:.1f} s; {held or 'memory unknown'}")
        finally:
            await asyncio.gather(*(each.close() for each in boards))
    wrong = [why for each in boards for why in each.errors]
    for when, row in (("first", rows[1]), ("last", rows[-1])):
        figures |= {f"{name}_mb_{when}": spread(row[name], "MB resident") for name in ("server", "engine")}
    figures["errors"] = spread([float(len(wrong))], "in all games")
    figures["plies"] = spread([float(plies) for each in boards for plies in each.plies], "plies")
    answers = [1e3 * answer for each in boards for answer in each.answers_s]
    figures["answer_ms"] = spread(answers, "ms")
    for why in sorted(set(wrong)):
        say(f"{wrong.count(why)} × {why}")
    return Report(figures, None, rows)


async def _started(arguments: list[str], folder: Path, seed: int) -> _Board:
    """A program; its games are kept in ``folder``."""
    pipe = asyncio.subprocess.PIPE
    return _Board(seed, await asyncio.create_subprocess_exec(
        *own_program("klss", "board", "--no-open", "--port", "0", "--seed", str(seed), *arguments),
        cwd=folder, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe,
    ))  # fmt: skip


def _memory_mb(boards: list[_Board]) -> dict[str, list[float]]:
    """Resident memory of each server, and of its child processes; empty if that can't be read."""
    servers, engines = [], []
    for each in boards:
        mine = _resident_mb(each.program.pid)
        if mine is not None:
            servers.append(mine)
            engines.append(sum(_resident_mb(pid) or 0.0 for pid in descendants(each.program.pid)))
    return {"server": servers, "engine": engines}


def _resident_mb(pid: int) -> float | None:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024.0
    return None
