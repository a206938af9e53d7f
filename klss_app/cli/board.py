"""``klss board``: a board in the browser for both games, and the review of a game.

The first line on stdout is the link of the human's seat; with two humans each has one. Ctrl-C ends the server and
keeps the running game.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import chess

from klss.support.signals import at_signals
from klss_app.cli.errors import UsageError
from klss_app.cli.game_option import FOG, Game
from klss_app.cli.options import Parser, add_game_number, add_game_options, add_players, kept_game
from klss_app.cli.saved_game import add_resume, asked_game
from klss_app.flag_types import whole

if TYPE_CHECKING:
    from klss_app.front import Front, Reviewed
    from klss_app.kept_games import Settings

EVERYONE = ("0.0.0.0", "::")
"""Values of ``--host`` for a server that every device in the network may use: by IPv4 only, and by both versions."""

_ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Addresses that no machine has (RFC 5737, RFC 3849): the system tells from which own address it would send there."""
_WAITING = 64
_REDIRECT = """<!doctype html><meta charset="utf-8"><title>klss board</title>
<meta http-equiv="refresh" content="0; url={url}"><a href="{url}">klss board</a>
"""


def _parser(game: Game = FOG) -> Parser:
    parser = Parser(
        "board",
        f"{game.title} in the browser, and the review of a game. Without a flag for the game the page asks for the "
        f"opponent and clock; else you are White against {game.default_player} by default.",
        game,
    )
    if game is FOG:
        parser.add_argument(
            "file", nargs="?", metavar="GAME.pgn", help="review a game of this file, as klss games lists them"
        )
        add_game_number(parser)
    else:
        theirs = ", or of reconchess" if game.chess else ""
        parser.add_argument("file", nargs="?", metavar="GAME.json", help=f"review this game (JSON of klss{theirs})")
    if game.chess:
        add_resume(parser)
    server = parser.add_argument_group("the server")
    listens = "where it listens; 0: any free one"
    server.add_argument("--port", type=whole(0, 65535), default=8765, metavar="N", help=listens)
    server.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="whom it listens to; 127.0.0.1: this machine alone"
    )
    server.add_argument("--no-open", action="store_true", help="print the link, open no browser")
    add_players(parser, "human (one or both)")
    add_game_options(parser)
    return parser


def run(arguments: Sequence[str], game: Game) -> int:
    """Run ``klss board``; see :mod:`klss_app.cli.main`."""
    parser = _parser(game)
    parsed = parser.parse(arguments)
    asks = not parsed.given - {"host", "port", "no_open"} and game.chess
    settings = replace(asked_game(parser, arguments, parsed), asks=asks)
    if not settings.humans:
        raise UsageError("--white and --black: got two engines, expected human for one at least; klss play shows them")
    if game.chess and parsed.resume is not None and parsed.file is not None:
        raise UsageError("--resume: got it beside GAME.pgn, expected one of them: a game goes on, or is reviewed")
    if parsed.file is None and "game" in parsed.given:
        raise UsageError("--game: got it without GAME.pgn, expected both: it chooses among a file's games")
    number = parsed.game if game is FOG else 1
    opened = None if parsed.file is None else kept_game(game, Path(parsed.file), number, settings.ruleset)

    from uci_bridge.child_processes import close_to_others

    close_to_others()
    kind = game.front
    listening = _listen(parsed.host, parsed.port)
    # Faults that lose a game are reported with it. Not earlier, so that a caller whose arguments are refused keeps its
    # log level.
    logging.getLogger("uci_bridge").setLevel(logging.ERROR)
    bound = listening.getsockname()[0]  # what "" and "0" mean too
    host = bound if bound in EVERYONE else parsed.host
    asyncio.run(_serve(settings, kind, opened, listening, host, not parsed.no_open))
    return 0


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens there."""
    family, both = socket.AF_INET6 if ":" in host else socket.AF_INET, host == "::" and socket.has_dualstack_ipv6()
    try:
        return socket.create_server((host, port), family=family, backlog=_WAITING, dualstack_ipv6=both)
    except OSError as error:
        raise UsageError(f"--host {host} --port {port}: {error.strerror}; --port 0 takes any that is free") from None


async def _serve(
    settings: Settings,
    kind: Front,
    opened: Reviewed | None,
    listening: socket.socket,
    host: str,
    open_browser: bool,
) -> None:
    """Serve until a signal."""
    from aiohttp import web

    from klss_app.web.room import Room, keep_in_folder
    from klss_app.web.server import make_app, our_fault

    logging.getLogger("aiohttp.server").addFilter(our_fault)
    stop = asyncio.Event()
    at_signals(stop.set)
    room = Room(settings, kind, keep=functools.partial(keep_in_folder, suffix=kind.kit.suffix))
    if opened is not None:
        room.opened = room.add(opened)
    runner = web.AppRunner(make_app(room, host), access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    await web.SockSite(runner, listening, backlog=_WAITING).start()
    port = listening.getsockname()[1]
    room.origins = [_origin(each, port) for each in addresses(host) or [host]]
    for line in _links(host, port, [(chess.COLOR_NAMES[seat.color], seat.token) for seat in room.seats]):
        print(f"klss board: {line}", flush=True)
    with tempfile.TemporaryDirectory(prefix="klss-board-") as folder:
        if open_browser:
            _open(f"{_origin(host, port)}/#seat={room.seats[0].token}", Path(folder))
        loading = asyncio.create_task(asyncio.to_thread(room.warm_up))  # while the browser starts
        await stop.wait()
    await room.close()
    await runner.cleanup()
    await loading


def addresses(host: str) -> list[str]:
    """This machine's addresses that other devices can reach if it listens at ``host``; empty unless ``host`` is one of
    :data:`EVERYONE`. Nothing is sent."""
    found = []
    for family in () if host not in EVERYONE else list(_ELSEWHERE)[: 1 if host == EVERYONE[0] else 2]:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asking:
            asking.connect((_ELSEWHERE[family], 9))
            found.append(asking.getsockname()[0])
    return found


def _origin(host: str, port: int) -> str:
    """The server's address, with which links begin."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _links(host: str, port: int, seats: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The lines on stdout: the link of each seat, a colour and its token, and if other devices can connect, those for
    them and what is exposed."""
    for at, (color, token) in enumerate(seats):
        whose = f"{color}'s seat, for the other player: " if at else ""
        yield f"{whose}{_origin(host, port)}/#seat={token}"
    if host not in EVERYONE:
        return
    found = addresses(host)
    for color, token in seats:
        for address in found:
            yield f"{color}'s seat, from another device: {_origin(address, port)}/#seat={token}"
    if not found:
        yield "found no address of this machine that another device could open"
    yield (
        "every device in this network can reach the port; nothing is encrypted, and whoever has a link plays at that "
        "seat"
    )


def _open(link: str, folder: Path) -> None:
    """Open a browser at ``link`` through a file that only this user can read: every user of the machine can read
    command lines, so these must not hold the seat's token."""
    page = folder / "board.html"
    with open(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(_REDIRECT.format(url=link))

    def show() -> None:
        with contextlib.suppress(webbrowser.Error, OSError):
            if webbrowser.open(page.as_uri()):
                return
        print("klss board: found no browser to open; the link is the line above", file=sys.stderr, flush=True)

    threading.Thread(target=show, daemon=True).start()
