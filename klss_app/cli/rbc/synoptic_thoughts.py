"""The thoughts of a player that plans on synopses, at one turn: its choices, and the network's input."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import chess

from darkchess.fog.game.render import beside
from darkchess.rbc.analysis import square_name, uci
from darkchess.rbc.game.referee import Turn
from darkchess.rbc.players.dsmcp import SynopticPlayer
from darkchess.rbc.synoptic.synopsis import NAMES, PLANES
from klss.support.text import counted
from klss.synoptic.playouts import Planned
from klss.table.limits import Limit
from klss_app.rbc_spoken import move_letters

__all__ = ["SHOWN_PLANES", "UnknownPlane", "planes_of", "text", "thoughts"]

SHOWN_PLANES = (25, 31, 35, 65, 68, 72, 75, 78)
"""Planes of interest to people: squares without enemy pieces, squares of the enemy king, captures, and the surroundings
of the own king.
"""

_SHOWN = 8
_GAP = 3
_NUMBERS = re.compile(r"[\d,\s-]+")


class UnknownPlane(ValueError):
    """A text names no plane; the message says what is expected."""


def planes_of(text: str) -> list[int]:
    """The planes that a text means: numbers and ranges of them, or part of a name. Raises UnknownPlane: there is none.

    >>> planes_of("35,70-72")
    [35, 70, 71, 72]
    >>> planes_of("enemy bishops there")
    [74, 75]
    """
    if _NUMBERS.fullmatch(text):
        found: list[int] = []
        for part in text.split(","):
            first, dash, last = part.strip().partition("-")
            numbers = (first, last if dash else first)
            if not all(number.isdigit() and len(number) < 4 for number in numbers):
                raise UnknownPlane(f"got {part!r}, expected a plane from 0 to {PLANES - 1} or a range as 25-31")
            begin, end = (int(number) for number in numbers)
            if not begin <= end < PLANES:
                raise UnknownPlane(f"got {part.strip()}, expected planes from 0 to {PLANES - 1}")
            found += range(begin, end + 1)
        return list(dict.fromkeys(found))
    words = " ".join(text.lower().split())
    named = [plane for plane, name in enumerate(NAMES) if words and words in name]
    if not named:
        near = difflib.get_close_matches(words, NAMES, n=1, cutoff=0.3)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UnknownPlane(f"got {text!r}, expected numbers from 0 to {PLANES - 1} or part of a plane's name{hint}")
    return named


def thoughts(player: SynopticPlayer, turn: Turn, limit: Limit, planes: Sequence[int]) -> dict[str, Any]:
    """The answers to a turn's two questions, and their reasons; the player has observed all before its sense."""
    look = player.choose_sense(limit)
    sense = {"chosen": square_name(look.square), "played": square_name(turn.sensed.square)}
    sense |= _considered(player, planes, sense=True)
    player.sensed(turn.sensed)
    positions = player.known.size
    asked = player.choose_move(limit)
    move = {"chosen": uci(asked.request), "played": uci(turn.moved.requested)}
    move |= _considered(player, planes, sense=False)
    return {"sense": sense, "positions_after_sense": positions, "move": move}


def _considered(player: SynopticPlayer, planes: Sequence[int], *, sense: bool) -> dict[str, Any]:
    """The basis of the last answer; if a win is sure, the network's choice that it replaced."""
    sure = player.planned is None
    planned = player.planned or player.plan(Limit(nodes=0), sense=sense)
    return {
        "sure": sure,
        "value": 1.0 if sure else planned.value,
        "network_value": planned.network,
        "nodes": planned.nodes,
        "playouts": planned.playouts,
        "choices": [_choice(player, planned, int(k), sense=sense) for k in planned.order],
        "planes": [
            {"plane": plane, "name": NAMES[plane], "squares": _squares(player, planned, plane)} for plane in planes
        ],
    }


def _choice(player: SynopticPlayer, planned: Planned, k: int, *, sense: bool) -> dict[str, Any]:
    looks, root = planned.looks, planned.root
    visits = float(root.numbers[k])
    choice: dict[str, Any]
    if sense:
        alike = looks.alike[looks.listing[k] : looks.listing[k + 1]].tolist()
        squares = [chess.SQUARE_NAMES[player.square_of(action)] for action in (int(looks.actions[k]), *alike)]
        choice = {"sense": squares[0], "alike": sorted({*squares} - {squares[0]})}
    else:
        choice = {"move": uci(player.request_of(int(looks.actions[k]))) or "pass"}
    mean = float(root.totals[k]) / visits if visits > 0 else None
    return choice | {"policy": float(root.policy[k]), "visits": round(visits), "value": mean}


def _squares(player: SynopticPlayer, planned: Planned, plane: int) -> list[str]:
    word = int(planned.looks.synopses[0, plane])
    turned = 0 if player.known.own.color else 56
    return [chess.SQUARE_NAMES[square] for square in range(64) if word >> (square ^ turned) & 1]


def text(document: dict[str, Any], pieces: Mapping[int, chess.Piece], columns: int, *, unicode: bool) -> list[str]:
    """The same as lines, with boards of planes side by side in ``columns``; ``pieces``: on the board at the turn."""
    sense, move = document["sense"], document["move"]
    side = document["color"] == "white"
    asked, played = (move_letters(move[name], pieces) for name in ("chosen", "played"))
    return [
        f"looks at {sense['chosen'] or 'nowhere'} (played: {sense['played'] or 'nowhere'}); {_worth(sense)}",
        *_table("look", [(" ".join([choice["sense"], *choice["alike"]]), choice) for choice in sense["choices"]]),
        *_boards(sense["planes"], side, columns, unicode),
        f"after the played look {counted(document['positions_after_sense'], 'position')}",
        f"asks for {asked} (played: {played}); {_worth(move)}",
        *_table("request", [(move_letters(choice["move"], pieces), choice) for choice in move["choices"]]),
        *_boards(move["planes"], side, columns, unicode),
    ]


def _worth(choice: dict[str, Any]) -> str:
    network = f"the network's value {choice['network_value']:+.3f}"
    if choice["sure"]:
        return f"a win that is sure; {network}"
    after = f", after {choice['nodes']:,} nodes in {choice['playouts']:,} playouts {choice['value']:+.3f}"
    return network + (after if choice["playouts"] else ", nothing played out")


def _table(title: str, rows: list[tuple[str, dict[str, Any]]]) -> list[str]:
    shown = [(textwrap.shorten(name, 30, placeholder=" …"), choice) for name, choice in rows[:_SHOWN]]
    wide = max(len(title), *(len(name) for name, _ in shown))
    lines = [f"  {title:<{wide}}  policy  visits   value"]
    for name, choice in shown:
        value = "" if choice["value"] is None else f"{choice['value']:+.3f}"
        lines.append(f"  {name:<{wide}}  {choice['policy']:>6.1%}  {choice['visits']:>6,}  {value:>6}".rstrip())
    return lines if len(rows) <= _SHOWN else [*lines, f"  and {len(rows) - _SHOWN} more"]


def _boards(planes: list[dict[str, Any]], bottom: chess.Color, columns: int, unicode: bool) -> list[str]:
    """Planes as boards from the player's side, some side by side, each below its number and name."""
    ranks = range(7, -1, -1) if bottom else range(8)
    files = range(8) if bottom else range(7, -1, -1)
    on, off = ("■", "·") if unicode else ("x", ".")
    wide = 17
    beside_count = max(1, (columns + _GAP - 2) // (wide + _GAP))
    lines: list[str] = []
    for start in range(0, len(planes), beside_count):
        row = planes[start : start + beside_count]
        titles = [textwrap.wrap(f"{choice['plane']} {choice['name']}", wide) for choice in row]
        high = max(map(len, titles))
        blocks = []
        for choice, title in zip(row, titles, strict=True):
            squares = {chess.SQUARE_NAMES.index(name) for name in choice["squares"]}
            board = [
                f"{rank + 1} " + " ".join(on if 8 * rank + file in squares else off for file in files) for rank in ranks
            ]
            names = "  " + " ".join("abcdefgh"[file] for file in files)
            blocks.append(("", [line.ljust(wide) for line in (*title, *[""] * (high - len(title)), *board, names)]))
        lines += ["  " + line if line else "" for line in beside(blocks, gap=_GAP)]
    return [*lines, ""] if lines else []
