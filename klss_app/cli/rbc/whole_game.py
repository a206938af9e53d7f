"""Every turn of a kept game: the look and the request that a player who maximises expectation holds best, beside what
was done; the costliest turns first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import chess

from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.expectation import ExpectationPlayer
from klss.table.limits import Limit
from klss_app.cli.rbc.expectation_thoughts import thoughts

__all__ = ["text", "whole_game"]

_SHOWN = 10


def whole_game(
    played: Referee, players: dict[chess.Color, ExpectationPlayer], limit: Limit, say: Callable[[int], None]
) -> list[dict[str, Any]]:
    """A document a turn.

    Parameters
    ----------
    played
        The game.
    players
        One for each side, not started; each is given what its side observed, and no more.
    limit
        Of each of a turn's two questions.
    say
        Called with each turn's number.
    """
    for color, player in players.items():
        player.start(color, played.positions[0])
    found = []
    for number, turn in enumerate(played.turns):
        say(number)
        player = players[turn.color]
        player.notice(turn.notice)
        held = player.known.size
        thought = thoughts(player, turn, limit)
        player.moved(turn.moved)
        sense, move = thought["sense"], thought["move"]
        # A look at the edge, or none, is no window of those compared, so that its cost is not known; nor is that of a
        # request that was not valued.
        gains = {square: each["gain"] for square, each in sense["windows"].items()}
        best = max(gains, key=lambda square: gains[square])
        looked = gains.get(sense["played"])
        values = {each["move"]: each["value"] for each in move["moves"]}
        asked = values.get(move["played"] or "pass")
        found.append(
            {
                "turn": number,
                "color": chess.COLOR_NAMES[turn.color],
                "positions": held,
                "positions_after_sense": thought["positions_after_sense"],
                "sense": {
                    "played": sense["played"],
                    "best": best,
                    "cost": None if looked is None else gains[best] - looked,
                },
                "move": {
                    "played": move["played"],
                    "best": move["moves"][0]["move"],
                    "value": move["value"],
                    "cost": None if asked is None else move["value"] - asked,
                },
            }
        )
    return found


def text(turns: Sequence[dict[str, Any]]) -> list[str]:
    """For people: both sides' mean costs, and the costliest looks and requests."""
    lines = []
    for part, what in (("sense", "looks"), ("move", "requests")):
        known = [turn for turn in turns if turn[part]["cost"] is not None]
        means = []
        for color in ("white", "black"):
            costs = [turn[part]["cost"] for turn in known if turn["color"] == color]
            means.append(f"{color} {sum(costs) / len(costs):.3f}" if costs else f"{color} ?")
        lines += ["", f"{what}, mean cost: {', '.join(means)}; the costliest:"]
        for turn in sorted(known, key=lambda turn: -turn[part]["cost"])[:_SHOWN]:
            did, best = turn[part]["played"] or "nothing", turn[part]["best"] or "nothing"
            held = turn["positions"] if part == "sense" else turn["positions_after_sense"]
            lines.append(
                f"  turn {turn['turn']:>3} {turn['color']:<5} {did:<8} cost {turn[part]['cost']:.3f}, best {best:<8} "
                f"of {held:,} positions"
            )
    return lines[1:]
