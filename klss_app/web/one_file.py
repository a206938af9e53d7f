"""Reviews as one HTML file: the board's page, its scripts and styles, and the messages that a server would send it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import replace

from klss.support.text import Document
from klss_app.analysis.summaries import Turns
from klss_app.front import Front, Reviewed
from klss_app.web.analyses import told
from klss_app.web.server import static_files


def one_file(kind: Front, games: Mapping[int, tuple[Reviewed, Turns]], report: str) -> str:
    """The file's text: reviewed ``games`` by their numbers, with every turn as a page gets it, of which the first is
    shown; above the board stands the HTML of ``report``, where ``#game=2&ply=7`` in a link leads to a turn.
    """
    static = {path: body.decode() for path, (body, type_) in static_files().items() if not type_.startswith("image/")}
    page = static["/"].replace("<body ", f'<body data-kind="{kind.kit.name}" ', 1)
    # Styles go into the page; links to other files are removed.
    page = re.sub(
        r'<link rel="stylesheet" href="([^"]+)">', lambda found: f"<style>\n{static[found[1]]}\n</style>", page
    )
    page = re.sub(r'<link rel="(?:icon|modulepreload)"[^>]*>\n', "", page)
    # Modules are imported by name, through the import map: a data: address has no folder to resolve a path against.
    imports = {
        f"klss{path}": f"data:text/javascript;base64,{base64.b64encode(script.encode()).decode()}"
        for path, text in static.items()
        if path.endswith(".js")
        for script in [re.sub(r"from '/", "from 'klss/", text)]
    }
    answers = [_answers(kind, number, *each) for number, each in games.items()]
    main = (
        f'<script type="importmap">{_inside({"imports": imports})}</script>\n'
        f'<script type="application/json" id="kept">{_inside(answers)}</script>\n'
        '<script type="module">import "klss/main.js";</script>'
    )
    page = page.replace('<script type="module" src="/main.js"></script>', main)
    return page.replace("<main>", f"{report}<main>", 1)


def _answers(kind: Front, number: int, reviewed: Reviewed, turns: Turns) -> Document:
    """A server's answers to a page's requests about a game, by the requests' types."""
    return {
        "review": {"type": "review", "game": number, "color": "white", **kind.review(reviewed)},
        "analyse": told(replace(reviewed, number=number), turns, turns),
        "pgn": {"type": "pgn", "game": number, "pgn": reviewed.text, "names": reviewed.names},
    }


def _inside(document: object) -> str:
    """JSON for a script element: no text in it can end the element, since ``<`` is escaped."""
    return json.dumps(document, ensure_ascii=False).replace("<", "\\u003c")
