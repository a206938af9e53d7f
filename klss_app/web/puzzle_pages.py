"""The puzzles of :mod:`klss_app.puzzles` for a page: each as its mover saw it, and the result of an answer.

These are two requests, so that a page gets what the fog hides only once it has answered.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import chess
from aiohttp import web

from klss.support.text import Document
from klss_app.known.fog import events
from klss_app.puzzles import explained, posed, puzzles

if TYPE_CHECKING:
    from darkchess.fog.analysis.puzzles import Puzzle

_KEPT = 8
"""Puzzles whose position sets are kept at a time; a set of two thousand takes some megabytes."""


def puzzle_routes() -> list[web.RouteDef]:
    """The two requests: ``/puzzles/7`` and ``/puzzles/7/e2e4`` (``-`` in place of a move gives up)."""
    # One position set is built at a time, in a thread: other requests for puzzles wait, and games go on.
    one = asyncio.Semaphore(1)

    async def told(request: web.Request) -> web.Response:
        number, move = int(request.match_info["number"]), request.match_info.get("move")
        async with one:
            found = await asyncio.to_thread(_told, number, move)
        if found is None:
            raise web.HTTPNotFound(text="there is no such puzzle here\n")
        return web.json_response(found)

    paths = r"/puzzles/{number:\d{1,6}}", r"/puzzles/{number:\d{1,6}}/{move:-|[a-h][1-8][a-h][1-8][nbrq]?}"
    return [web.get(path, told) for path in paths]


@lru_cache(maxsize=1)
def _all() -> list[Puzzle]:
    return puzzles()


@lru_cache(maxsize=_KEPT)
def _puzzle(number: int) -> Puzzle | None:
    """The puzzle of that number, from 1 on; a copy, so that what it caches goes when the copy does."""
    return replace(_all()[number - 1]) if 1 <= number <= len(_all()) else None


def _told(number: int, move: str | None) -> Document | None:
    """What a page gets of a puzzle, or of a move in it; None: there is no such puzzle or move."""
    puzzle = _puzzle(number)
    if puzzle is None:
        return None
    return _question(puzzle, number) if move is None else _answer(puzzle, move)


def _question(puzzle: Puzzle, number: int) -> Document:
    """The mover's view, and the question."""
    from darkchess.fog.game.san import san

    before, view = puzzle.views[-2], puzzle.views[-1]
    return {
        "number": number,
        "of": len(_all()),
        "asked": posed(puzzle),
        "rating": puzzle.rating,
        "color": chess.COLOR_NAMES[puzzle.color],
        "board": view.fog_fen().split()[0],
        "happened": [] if view.own_capture_square is None else events(before, view)[:1],
        "moves": {move.uci(): san(view, move) for move in view.legal_moves},
    }


def _answer(puzzle: Puzzle, text: str) -> Document | None:
    """The result of a move, and what the fog hid."""
    move = next((each for each in puzzle.game.legal_moves() if each.uci() == text), None)
    if move is None and text != "-":
        return None
    against = puzzle.against(move)
    return {
        "right": move == puzzle.solution,
        "solution": puzzle.solution.uci(),
        "says": list(explained(puzzle, move, against)),
        "truth": puzzle.game.position.fen().split()[0],
        "against": None if against is None else against.position.fen().split()[0],
        "reply": None if against is None or against.reply is None else against.reply.uci(),
    }
