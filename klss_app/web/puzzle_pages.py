"""Puzzles and openings for a page.

A puzzle (:mod:`klss_app.puzzles`) is posed as its mover saw it. The result of an answer is another request, so that a
page gets what the fog hides only once it has answered. An opening is a page of the book
(:mod:`darkchess.fog.players.book`), with what the side to move has seen.
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
    """The requests: ``/puzzles/7``, ``/puzzles/7/e2e4`` (``-`` in place of a move gives up), ``/openings/e2e4c7c5``."""
    # One position set is built at a time, in a thread: other requests for puzzles wait, and games go on.
    one = asyncio.Semaphore(1)

    async def told(request: web.Request) -> web.Response:
        asked = request.match_info
        async with one:
            if "line" in asked:
                found = await asyncio.to_thread(_opening, asked["line"])
            else:
                found = await asyncio.to_thread(_told, int(asked["number"]), asked.get("move"))
        if found is None:
            raise web.HTTPNotFound(text="there is no such page here\n")
        return web.json_response(found)

    puzzle = r"/puzzles/{number:\d{1,6}}"
    paths = puzzle, puzzle + "/{move:-|[a-h][1-8][a-h][1-8][nbrq]?}", "/openings/{line:(?:[a-h][1-8]){0,12}}"
    return [web.get(path, told) for path in paths]


def _opening(line: str) -> Document | None:
    """What the side to move has seen after some moves, and what the book says there; None: they are not legal."""
    from darkchess.fog.game.referee import Referee
    from darkchess.fog.game.san import san
    from darkchess.fog.players.book import Book

    try:
        game = Referee.replay(chess.Move.from_uci(line[i : i + 4]) for i in range(0, len(line), 4))
    except ValueError:
        return None
    views = game.views(game.turn)
    page = Book.packaged().page(views) if game.outcome is None else None
    moves = () if page is None else page.moves
    return {
        "line": [san(position, move) for position, move in zip(game.positions, game.moves)],
        "color": chess.COLOR_NAMES[game.turn],
        "board": views[-1].fog_fen().split()[0],
        "moves": [
            (each.move.uci(), san(views[-1], each.move), each.probability, each.value, each.people) for each in moves
        ],
    }


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
        "level": puzzle.level,
        "themes": [each.theme for each in _all()],
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
