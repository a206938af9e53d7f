"""A review as one HTML file: the board's page, its scripts and styles, and what a server would send it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from klss_app.web.server import static_files

__all__ = ["one_file"]


def one_file(game: Mapping[str, Any], turns: Sequence[Mapping[str, Any]], summary: Mapping[str, Any], pgn: str) -> str:
    """The file's text.

    Parameters
    ----------
    game
        The document of :func:`klss_app.web.reviews.review`.
    turns, summary
        Every turn and both sides' figures, as a page is sent them.
    pgn
        The game's, for the download.
    """
    static = {path: body.decode() for path, (body, kind) in static_files().items() if not kind.startswith("image/")}
    page = static["/"]
    # Styles stand in the page; what would be fetched is taken out.
    page = re.sub(
        r'<link rel="stylesheet" href="([^"]+)">', lambda found: f"<style>\n{static[found[1]]}\n</style>", page
    )
    page = re.sub(r'<link rel="(?:icon|modulepreload)"[^>]*>\n', "", page)
    # Scripts are modules by name: one that is a data: address has no folder that a path could be looked for in.
    scripts = {path: _named(text) for path, text in static.items() if path.endswith(".js")}
    imports = {f"klss{path}": f"data:text/javascript;base64,{_base64(text)}" for path, text in scripts.items()}
    sent = {
        "review": {"type": "review", "game": 1, "of": 1, "color": "white", **game},
        "analysis": {
            "type": "analysis", "game": 1, "of": len(turns), "done": True, "failed": None, "turns": turns,
            "summary": summary,
        },
        "pgn": {"type": "pgn", "game": 1, "pgn": pgn},
    }  # fmt: skip
    main = (
        f'<script type="importmap">{_inside({"imports": imports})}</script>\n'
        f'<script type="application/json" id="kept">{_inside(sent)}</script>\n'
        '<script type="module">import "klss/main.js";</script>'
    )
    return page.replace('<script type="module" src="/main.js"></script>', main)


def _named(script: str) -> str:
    return re.sub(r"from '/", "from 'klss/", script)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _inside(document: Any) -> str:
    """JSON that no text in it can end the script element of."""
    return json.dumps(document, ensure_ascii=False).replace("<", "\\u003c")
