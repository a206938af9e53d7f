"""Reviews as one HTML file: the board's page, its scripts and styles, and the messages that a server would send it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import chess

from klss_app.web.board_game import BoardGame, Reviewed
from klss_app.web.server import static_files
from klss_app.web.summaries import summary


class Kept(NamedTuple):
    """A reviewed game: the document of its review, every turn and both sides' figures as a page gets them; and for the
    download the text of its file and both players' names."""

    game: Mapping[str, Any]
    turns: Sequence[Mapping[str, Any]]
    summary: Mapping[str, Any]
    pgn: str
    names: tuple[str, str]


def kept(kind: BoardGame, reviewed: Reviewed, turns: Sequence[Mapping[str, Any]]) -> Kept:
    """The reviewed game, from every turn of its analysis as a page gets them."""
    summed = {color: summary(turns, color) for color in chess.COLOR_NAMES}
    return Kept(kind.review(reviewed), turns, summed, reviewed.text, reviewed.names)


def one_file(games: Mapping[int, Kept], report: str = "", kind: str = "fog") -> str:
    """The file's text; ``kind`` is the name of the games' kit.

    Parameters
    ----------
    games
        By their numbers; the first one is shown.
    report
        HTML that stands above the board. ``#game=2&ply=7`` in its links leads to a turn.
    """
    static = {path: body.decode() for path, (body, kind) in static_files().items() if not kind.startswith("image/")}
    page = static["/"].replace("<body ", f'<body data-kind="{kind}" ', 1)
    page = re.sub(r'\s*<a id="puzzles"[^\n]*', "", page)  # they need a server
    static.pop("/puzzles.js")
    # Styles go into the page; links to other files are removed.
    page = re.sub(
        r'<link rel="stylesheet" href="([^"]+)">', lambda found: f"<style>\n{static[found[1]]}\n</style>", page
    )
    page = re.sub(r'<link rel="(?:icon|modulepreload)"[^>]*>\n', "", page)
    # Modules are imported by name, through the import map: a data: address has no folder to resolve a path against.
    scripts = {path: _named(text) for path, text in static.items() if path.endswith(".js")}
    imports = {f"klss{path}": f"data:text/javascript;base64,{_base64(text)}" for path, text in scripts.items()}
    main = (
        f'<script type="importmap">{_inside({"imports": imports})}</script>\n'
        f'<script type="application/json" id="kept">{_inside([_sent(*each) for each in games.items()])}</script>\n'
        '<script type="module">import "klss/main.js";</script>'
    )
    page = page.replace('<script type="module" src="/main.js"></script>', main)
    return page.replace("<main>", f"{report}<main>", 1)


def _sent(number: int, kept: Kept) -> dict[str, Any]:
    """The server's answers to the page's requests about a game."""
    analysis = {"type": "analysis", "game": number, "of": len(kept.turns), "done": True, "failed": None}
    return {
        "review": {"type": "review", "game": number, "color": "white", **kept.game},
        "analyse": {**analysis, "turns": kept.turns, "summary": kept.summary},
        "pgn": {"type": "pgn", "game": number, "pgn": kept.pgn, "names": kept.names},
    }


def _named(script: str) -> str:
    return re.sub(r"from '/", "from 'klss/", script)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _inside(document: Any) -> str:
    """JSON for a script element: no text in it can end the element, since ``<`` is escaped."""
    return json.dumps(document, ensure_ascii=False).replace("<", "\\u003c")
