"""The output of ``klss rbc analyse``, as documents and as text: the costs of a game's turns
(:mod:`darkchess.rbc.analysis`), one turn with all that was valued, and the thoughts at one turn of a player that plans
on synopses.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import chess

from darkchess.rbc.analysis import AnalysedTurn, square_name, uci
from klss.support.text import counted
from klss.table.limits import Limit
from klss_app.rbc_spoken import move_letters

if TYPE_CHECKING:
    from darkchess.rbc.game.referee import Turn
    from darkchess.rbc.players.dsmcp import SynopticPlayer
    from klss.synoptic.playouts import Planned

_SHOWN, _SHOWN_OF_TURN = 10, 8


def document(found: AnalysedTurn) -> dict[str, Any]:
    """The document of a turn."""
    return {
        "turn": found.number,
        "color": chess.COLOR_NAMES[found.turn.color],
        "positions": found.held[0],
        "positions_after_sense": found.held_after,
        "sense": {
            "played": square_name(found.turn.sensed.square),
            "best": found.best_look,
            "cost": found.look_cost,
        },
        "move": {
            "played": uci(found.turn.moved.requested),
            "best": found.moves[0]["move"],
            "value": found.moves[0]["value"],
            "cost": found.request_cost,
        },
    }


def full_document(found: AnalysedTurn) -> dict[str, Any]:
    """The document of a turn, with the gain of each sense, the value of each request, and what stands where."""
    shown = document(found)
    shown["sense"]["gains"] = found.gains
    shown["move"]["moves"] = found.moves
    return shown | {"marginals": found.pieces}


def full_text(document: dict[str, Any], pieces: Mapping[int, chess.Piece]) -> list[str]:
    """The text of a :func:`full_document`; ``pieces``: on the board at the turn."""
    sense, move = document["sense"], document["move"]
    gains = sorted(sense["gains"].items(), key=lambda window: -window[1])
    asked, played = (move_letters(move[name], pieces) for name in ("best", "played"))
    return [
        f"best look {sense['best']} (played: {sense['played'] or 'nowhere'}); gain of a look:",
        "  " + "  ".join(f"{name} {gain:+.2f}" for name, gain in gains[:_SHOWN_OF_TURN]),
        f"after the played look {counted(document['positions_after_sense'], 'position')}",
        f"best request {asked} (played: {played}):",
        *(f"  {move_letters(each['move'], pieces):<6} {each['value']:+.3f}" for each in move["moves"][:_SHOWN_OF_TURN]),
    ]


def text(turns: Sequence[dict[str, Any]], pieces: Sequence[Mapping[int, chess.Piece]]) -> list[str]:
    """The text: both sides' mean costs, and the costliest looks and requests; ``pieces``: on the board at each turn."""
    lines = []
    for part, what in (("sense", "looks"), ("move", "requests")):
        known = [turn for turn in turns if turn[part]["cost"] is not None]
        means = []
        for color in ("white", "black"):
            costs = [turn[part]["cost"] for turn in known if turn["color"] == color]
            means.append(f"{color} {sum(costs) / len(costs):.3f}" if costs else f"{color} ?")
        lines += ["", f"{what}, mean cost: {', '.join(means)}; the costliest:"]
        for turn in sorted(known, key=lambda turn: -turn[part]["cost"])[:_SHOWN]:
            did, best = turn[part]["played"], turn[part]["best"]
            if part == "move":
                did, best = (move_letters(move, pieces[turn["turn"]]) for move in (did, best))
            held = turn["positions"] if part == "sense" else turn["positions_after_sense"]
            lines.append(
                f"  turn {turn['turn']:>3} {turn['color']:<5} {did or 'nothing':<8} cost {turn[part]['cost']:.3f}, "
                f"best {best or 'nothing':<8} of {counted(held, 'position')}"
            )
    return lines[1:]


# --------------------------------------------------------------------------- players that plan on synopses
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


def thoughts_text(document: dict[str, Any], pieces: Mapping[int, chess.Piece]) -> list[str]:
    """The text of :func:`thoughts`; ``pieces``: on the board at the turn."""
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
    shown = [(textwrap.shorten(name, 30, placeholder=" …"), choice) for name, choice in rows[:_SHOWN_OF_TURN]]
    wide = max(len(title), *(len(name) for name, _ in shown))
    lines = [f"  {title:<{wide}}  policy  visits   value"]
    for name, choice in shown:
        value = "" if choice["value"] is None else f"{choice['value']:+.3f}"
        lines.append(f"  {name:<{wide}}  {choice['policy']:>6.1%}  {choice['visits']:>6,}  {value:>6}".rstrip())
    return lines if len(rows) <= _SHOWN_OF_TURN else [*lines, f"  and {len(rows) - _SHOWN_OF_TURN} more"]
