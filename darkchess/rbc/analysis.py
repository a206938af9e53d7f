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
from klss_app.cli.rbc.expectation_thoughts import requests, windows
from klss_app.cli.rbc.spoken import square_name, uci

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
        # A look at the edge, or none, is no window of those compared, so that its cost is not known; nor is that of a
        # request that was not valued.
        held = player.known.size
        gains = {square: each["gain"] for square, each in windows(player, limit).items()}
        best = max(gains, key=lambda square: gains[square])
        looked = gains.get(square_name(turn.sensed.square) or "")
        player.sensed(turn.sensed)
        after = player.known.size
        moves = requests(player, *player.weighed(limit, sense=False))
        played_move = uci(turn.moved.requested)
        asked = next((each["value"] for each in moves if each["move"] == (played_move or "pass")), None)
        player.moved(turn.moved)
        found.append(
            {
                "turn": number,
                "color": chess.COLOR_NAMES[turn.color],
                "positions": held,
                "positions_after_sense": after,
                "sense": {
                    "played": square_name(turn.sensed.square),
                    "best": best,
                    "cost": None if looked is None else gains[best] - looked,
                },
                "move": {
                    "played": played_move,
                    "best": moves[0]["move"],
                    "value": moves[0]["value"],
                    "cost": None if asked is None else moves[0]["value"] - asked,
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
