"""The opening book for a page: the moves played after a line, given what the player to move has seen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import chess
from aiohttp import web

if TYPE_CHECKING:
    from darkchess.fog.players.book import Book

_MOST_PLIES = 12
"""Plies. Longer lines are refused before they are replayed; the book has none so long."""


def add_openings(app: web.Application, check: Callable[[web.Request], None]) -> None:
    """Add the request ``/openings/d2d4-d7d5`` to ``app`` (``/openings/start``: before the first move). ``check``
    refuses a request that is not for this server.
    """

    async def told(request: web.Request) -> web.Response:
        check(request)
        found = await asyncio.to_thread(_played_after, request.match_info["line"])
        if found is None:
            raise web.HTTPNotFound(text="there is no such line here\n")
        return web.json_response(found)

    app.router.add_get(r"/openings/{line:start|[a-h1-8nbrq-]{4,70}}", told)


@lru_cache(maxsize=1)
def _book() -> Book:
    from darkchess.fog.players.book import Book

    return Book.packaged()


def _played_after(line: str) -> dict[str, Any] | None:
    """The book's page after a line, the view of the player to move, and the line in SAN; None: no such line."""
    from darkchess.fog.game.referee import Referee
    from darkchess.fog.game.san import san

    words = [] if line == "start" else line.split("-")
    if len(words) > _MOST_PLIES:
        return None
    game, names = Referee(), []
    for word in words:
        move = next((each for each in game.legal_moves() if each.uci() == word), None)
        if move is None or game.outcome is not None:
            return None
        names.append(san(game.position, move))
        game.push(move)
    page = None if game.outcome is not None else _book().page(game.views(game.turn))
    return {
        "names": names,
        "color": chess.COLOR_NAMES[game.turn],
        "board": game.view(game.turn).fog_fen().split()[0],
        "moves": [] if page is None else [
            {
                "move": each.move.uci(),
                "san": san(game.position, each.move),
                "probability": each.probability,
                "value": each.value,
                "people": each.people / page.people if page.people else None,
            }
            for each in page.moves
        ],
    }  # fmt: skip
