"""What the bot's tests share: quick waits, a player without a process, a bot against the fake server in one call, the
command as a process."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import chess
import msgspec

from darkchess.fog.game.record import GameRecord, read_pgn
from darkchess.fog.game.view import View
from tests.uci_bridge.fake_server import BOT, TOKEN, FakeServer, Opponent
from uci_bridge.bot.account import Bot
from uci_bridge.bot.config import BotConfig
from uci_bridge.bot.dialect import DIALECTS
from uci_bridge.bot.lichess import Account, Client, Timing, Token
from uci_bridge.bot.record import Records

ROOT = Path(__file__).resolve().parents[2]
ENGINE = [sys.executable, str(ROOT / "tests/uci_bridge/foreign_engine.py")]
GOOD = [*ENGINE, "good", "0"]

QUICK = Timing(
    connect_s=2.0, call_s=3.0, idle_s=2.0, first_retry_s=0.02, last_retry_s=0.3, settle_s=0.03, room_s=0.3,
    confirm_s=0.4,
)  # fmt: skip

PLENTY = {"concurrency": 8, "per_player": 8, "bots": True}


class RandomSeat:
    """Plays at random, from views only."""

    def __init__(self, fen: str | None, ply: int) -> None:
        self.chooser = random.Random(7)

    async def choose(self, views: Sequence[View], clock: tuple[float, float]) -> chess.Move:
        assert clock[0] > 0
        return self.chooser.choice(views[-1].legal_moves)

    async def tell(self, views: Sequence[View]) -> None:
        pass

    async def close(self) -> None:
        pass


def play(
    server: FakeServer, folder: Path, until: Callable[[Bot], bool], *, seat: Callable[..., Any] | None = RandomSeat,
    grace_s: float = 5.0, during: Callable[[], None] | None = None, **keys: Any,
) -> Bot:  # fmt: skip
    """Run a bot against ``server`` until ``until(bot)``; ``during`` runs in a thread once it listens."""
    raw = {"url": server.url, "token": {"env": "UNUSED"}, "dialect": server.dialect, "accept": PLENTY, **keys}
    config = msgspec.convert(raw, BotConfig)

    async def work() -> Bot:
        records = Records(folder)
        try:
            async with Client(server.url, Token(TOKEN), DIALECTS[server.dialect], QUICK) as client:
                bot = Bot(config, client, Account(BOT, "BOT"), records, folder=folder, seat=seat)
                running = asyncio.create_task(bot.run(grace_s))
                if during is not None:
                    await asyncio.to_thread(during)
                deadline = time.monotonic() + 30.0
                while not until(bot) and not running.done() and time.monotonic() < deadline:
                    await asyncio.sleep(0.01)
                reached = until(bot)
                bot.stop()
                await running
                assert reached, "the bot did not come that far"
                return bot
        finally:
            records.close()

    return asyncio.run(work())


def play_games(server: FakeServer, folder: Path, scripts: Sequence[Opponent], **keys: Any) -> Bot:
    """Challenge the bot once a script, all at once, and play all games to their end."""

    def challenge() -> None:
        for number, script in enumerate(scripts):
            server.challenge(f"human{number}", script=script, color=("white", "black")[number % 2])

    return play(server, folder, lambda bot: bot.finished >= len(scripts), during=challenge, **keys)


def recorded(folder: Path) -> dict[str, GameRecord]:
    """The games in the records, by their ids."""
    text = "".join(path.read_text() for path in sorted(folder.glob("games-*.pgn")))
    games = read_pgn(text)
    assert len(games) == len(re.findall(r"^\[GameId ", text, re.MULTILINE))
    found = {game.headers["GameId"]: game for game in games}
    assert len(found) == len(games), "a game stands twice"
    return found


def under_way(folder: Path) -> dict[str, object]:
    try:
        return json.loads((folder / "under_way.json").read_text())  # type: ignore[no-any-return]
    except FileNotFoundError:
        return {}


# The command, as a process.


def write_config(folder: Path, url: str, *, engine: str | None = None, **keys: str) -> Path:
    path = folder / "bot.yml"
    lines = {
        "url": url,
        "token": "{file: token}",
        "accept": "{concurrency: 4, per_player: 4, bots: true}",
        "records": "records",
        "engine": engine or json.dumps({"command": GOOD, "nodes": 5}),
        **keys,
    }
    path.write_text("".join(f"{key}: {value}\n" for key, value in lines.items()))
    secret = folder / "token"
    secret.write_text(TOKEN + "\n")
    secret.chmod(0o600)
    return path


def klss_bot(config: Path, *flags: str, **environment: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-m", "klss", "bot", "--config", str(config), *flags]
    log = open(config.with_name(f"stderr{time.monotonic_ns()}"), "w")  # noqa: SIM115
    return subprocess.Popen(command, cwd=config.parent, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)


def said(folder: Path) -> str:
    return "".join(path.read_text() for path in sorted(folder.glob("stderr*")))
