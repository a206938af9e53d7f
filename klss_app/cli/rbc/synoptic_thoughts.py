"""The thoughts of a player that plans on synopses, at one turn: its choices, and the network's values."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import chess

from darkchess.rbc.analysis import square_name, uci
from darkchess.rbc.game.referee import Turn
from darkchess.rbc.players.dsmcp import SynopticPlayer
from klss.support.text import counted
from klss.synoptic.playouts import Planned
from klss.table.limits import Limit
from klss_app.rbc_spoken import move_letters

_SHOWN = 8


def thoughts(player: SynopticPlayer, turn: Turn, limit: Limit) -> dict[str, Any]:
    """The answers to a turn's two questions, and their reasons; the player has observed all before its sense."""
    look = player.choose_sense(limit)
    sense = {"chosen": square_name(look.square), "played": square_name(turn.sensed.square)}
    sense |= _considered(player, sense=True)
    player.sensed(turn.sensed)
    positions = player.known.size
    asked = player.choose_move(limit)
    move = {"chosen": uci(asked.request), "played": uci(turn.moved.requested)}
    move |= _considered(player, sense=False)
    return {"sense": sense, "positions_after_sense": positions, "move": move}


def _considered(player: SynopticPlayer, *, sense: bool) -> dict[str, Any]:
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


def text(document: dict[str, Any], pieces: Mapping[int, chess.Piece]) -> list[str]:
    """The same as lines; ``pieces``: on the board at the turn."""
    sense, move = document["sense"], document["move"]
    asked, played = (move_letters(move[name], pieces) for name in ("chosen", "played"))
    return [
        f"looks at {sense['chosen'] or 'nowhere'} (played: {sense['played'] or 'nowhere'}); {_worth(sense)}",
        *_table("look", [(" ".join([choice["sense"], *choice["alike"]]), choice) for choice in sense["choices"]]),
        f"after the played look {counted(document['positions_after_sense'], 'position')}",
        f"asks for {asked} (played: {played}); {_worth(move)}",
        *_table("request", [(move_letters(choice["move"], pieces), choice) for choice in move["choices"]]),
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
