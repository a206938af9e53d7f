"""``klss analyse GAME.pgn`` without ``--ply``: every turn of a finished game, and which moves cost the most.

What a move cost is held against the positions that its player held possible; how it turned out on the true board stands
apart (:mod:`darkchess.analysis.whole_game`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import chess

from klss_app.progress import ProgressLine

if TYPE_CHECKING:
    from darkchess.evaluation.evaluator import Evaluator
    from darkchess.game.record import GameRecord
    from darkchess.game.rules import Ruleset
    from darkchess.players.configuration import Configuration

__all__ = ["document", "text", "turns_told"]

_COSTLIEST = 5
_LEAST_COST = 0.005


def turns_told(
    record: GameRecord,
    ruleset: Ruleset,
    evaluator: Callable[[], Evaluator],
    chosen: Configuration,
    nodes: int,
    seed: int,
    line: ProgressLine,
) -> list[dict[str, Any]]:
    """Every turn as :func:`klss_app.web.game_analysis.told` tells it."""
    from darkchess.analysis.whole_game import turns
    from klss_app.web.game_analysis import told
    from klss_app.web.reviews import replayed

    assert chosen.search is not None
    found = []
    game = replayed(record, ruleset)
    for turn in turns(
        game,
        evaluator,
        configuration=chosen.search,
        nodes=nodes,
        seed=seed,
        cap=chosen.cap,
        threads=chosen.threads,
    ):
        found.append(told(turn))
        line.tell(f"turn {turn.ply + 1} of {game.ply}")
    return found


def document(
    turns: Sequence[dict[str, Any]],
    colors: Sequence[chess.Color],
    configuration: str,
    evaluator: str,
    nodes: int,
    seed: int,
) -> dict[str, Any]:
    """The document of docs/analyse.md for a whole game; ``colors`` are those whose moves are summed up."""
    return {
        "plies": len(turns),
        "configuration": configuration,
        "evaluator": evaluator,
        "nodes": nodes,
        "seed": seed,
        "summary": {chess.COLOR_NAMES[color]: _summary(turns, chess.COLOR_NAMES[color]) for color in colors},
        "turns": list(turns),
    }


def _summary(turns: Sequence[dict[str, Any]], color: str) -> dict[str, Any]:
    own = [turn for turn in turns if turn["color"] == color]
    known = [turn for turn in own if turn["played"]["loss"] is not None]
    costs = [max(0.0, turn["played"]["loss"]) for turn in known]
    worst = sorted(
        (turn for turn in known if turn["played"]["loss"] >= _LEAST_COST), key=lambda turn: -turn["played"]["loss"]
    )
    return {
        "moves": len(own),
        "mean_cost": round(sum(costs) / len(costs), 4) if costs else None,
        "mean_luck": round(sum(turn["played"]["turned"] for turn in own) / len(own), 4) if own else None,
        "costliest": [
            {
                "ply": turn["ply"],
                "san": turn["played"]["san"],
                "cost": turn["played"]["loss"],
                "positions": turn["positions"][color][0],
                "best": turn["best"],
                "probability": turn["played"]["p"],
                "turned": turn["played"]["turned"],
            }
            for turn in worst[:_COSTLIEST]
        ],
    }


def text(answer: dict[str, Any], evaluator: str, first: chess.Color, fullmove: int) -> list[str]:
    """``answer`` for people; ``first`` moved first, at move ``fullmove``."""
    lines = [f"{answer['configuration']} ({evaluator}), {answer['nodes']:,} nodes a turn, {answer['plies']} turns"]
    for color, summary in answer["summary"].items():
        mean = "?" if summary["mean_cost"] is None else f"{summary['mean_cost']:.3f}"
        luck = "?" if summary["mean_luck"] is None else f"{summary['mean_luck']:+.3f}"
        lines += [
            "",
            f"{color.capitalize()}: {summary['moves']} moves, mean cost {mean} a move, luck {luck} a move",
        ]
        if not summary["costliest"]:
            lines.append(" no move that gave anything away")
            continue
        lines.append(f" {'costliest':<15}{'cost':>6}{'held possible':>16}   {'the engine plays':<20}{'true board':>10}")
        for each in summary["costliest"]:
            number = fullmove + (each["ply"] + (not first)) // 2
            dots = "." if color == "white" else "..."
            best = f"{each['best']['san']} ({100 * each['best']['p']:.0f}%)"
            lines.append(
                f" {f'{number}{dots} ' + each['san']:<15}{each['cost']:>6.2f}{each['positions']:>16,}   "
                f"{best:<20}{each['turned']:>+10.2f}"
            )
    return [
        *lines,
        "",
        "Cost: value of the engine's mix less the move's, over the positions that the",
        "mover held possible. True board: how much better than the mix the move turned",
        "out there, which nobody at the board could know.",
    ]
