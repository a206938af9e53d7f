"""``klss bot``: one account of a lichess-style server, played by the engine, until a signal ends it.

SIGTERM, SIGINT and SIGHUP: no new games; those under way are finished, or left after ``--grace`` or at the next signal;
exit 0. The log is one JSON object per line on stderr. Exit 2: the configuration, the token or the server is wrong, and
another try would not help. If the server can't be reached, the bot tries again, and the log says when.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from klss.support.signals import at_signals
from klss_app.cli.errors import UsageError
from klss_app.cli.options import Parser, add_threads
from klss_app.flag_types import positive
from uci_bridge.bot.account import Bot, check_engine, engine, variant_served, who_am_i
from uci_bridge.bot.config import BotConfig, load_config, read_token
from uci_bridge.bot.dialect import DIALECTS
from uci_bridge.bot.lichess import Client, ServerError, Token
from uci_bridge.bot.record import Records
from uci_bridge.child_processes import close_to_others

log = logging.getLogger("uci_bridge.cli")


def _parser() -> Parser:
    parser = Parser("bot", "Play on a lichess-style server (pychess.org) with a bot account, as docs/bot.md describes.")
    add = parser.add_argument
    add("--config", required=True, metavar="FILE", help="the bot's configuration, bot.yml")
    add("--check", action="store_true", help="check configuration, engine, token and server, and end")
    add(
        "--grace",
        type=positive,
        metavar="S",
        help="after SIGTERM, seconds for the current games to end (default: no limit)",
    )
    add_threads(parser)
    add("--log", default="info", choices=("debug", "info", "warning"), help="how much is logged")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run the command; return the exit code."""
    options = _parser().parse(arguments)
    close_to_others()
    formatter = log_to_stderr(getattr(logging, options.log.upper()))
    path = Path(options.config)
    config, folder = load_config(path), path.absolute().parent
    formatter.token = token = read_token(config.token)
    engine(config.engine, folder)
    return asyncio.run((_check if options.check else _play)(config, token, folder, options.grace))


async def _check(config: BotConfig, token: Token, folder: Path, _: float | None) -> int:
    await check_engine(config.engine, folder)
    try:
        async with Client(config.url, token, DIALECTS[config.dialect]) as client:
            account = await who_am_i(client)
            await variant_served(client)
    except ServerError as error:
        raise UsageError(f"url: {error}; expected a server that answers") from None
    print(f"configuration, engine, server and token are right: {account.name} plays on {config.url}")
    return 0


async def _play(config: BotConfig, token: Token, folder: Path, grace_s: float | None) -> int:
    bots: list[Bot] = []  # the bot, once its account is known

    async def play() -> None:
        async with Client(config.url, token, DIALECTS[config.dialect]) as client:
            if not records.under_way:  # else clocks are running
                await check_engine(config.engine, folder)
            account = await client.insist(lambda: who_am_i(client), math.inf)
            bots.append(Bot(config, client, account, records, folder=folder))
            await bots[0].run(grace_s)

    def end() -> None:
        if not (bots and bots[0].stop()):
            for bot in bots:
                log.warning("left at once: the rest goes on at the next start", extra={"fields": {"games": bot.games}})
            playing.cancel()

    records = Records(Path(config.records))
    try:
        playing = asyncio.create_task(play())
        at_signals(end)
        with contextlib.suppress(asyncio.CancelledError):
            await playing
    finally:
        records.close()
    log.info("stopped", extra={"fields": {"games": sum(bot.finished for bot in bots)}})
    sys.stderr.flush()
    return 0


class JsonLines(logging.Formatter):
    """Formats a record of the log as one JSON object: ``time`` (UTC), ``level``, ``event``, then the record's
    ``fields``, and a ``traceback`` if there is one. The token should never reach the log; if it does, it is replaced
    here.
    """

    def __init__(self, token: Token | None = None) -> None:
        super().__init__()
        self.token = token

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its newline."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": when.replace("+00:00", "Z"), "level": record.levelname.lower(), "event": record.getMessage()}
        if not record.name.startswith("uci_bridge"):
            line["logger"] = record.name
        for name, value in getattr(record, "fields", {}).items():
            line.setdefault(name, value)
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        text = json.dumps(line, default=str)  # in ASCII, of which a terminal obeys nothing
        return text if self.token is None else self.token.hide(text)


def log_to_stderr(level: int) -> JsonLines:
    """Send all logging of this process to stderr; return the formatter, so that it can be given the token once that is
    read.
    """
    handler = logging.StreamHandler(sys.stderr)
    formatter = JsonLines()
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    return formatter
