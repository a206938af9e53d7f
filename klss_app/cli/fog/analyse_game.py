"""``klss analyse GAME.pgn`` without ``--ply``: every turn of a finished game, and which moves cost the most.

What a move cost is held against the positions that its player held possible; how it turned out on the true board stands
apart (:mod:`darkchess.fog.analysis.whole_game`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import chess

from klss import __version__
from klss_app.cli.errors import FailedError
from klss_app.progress import ProgressLine
from klss_app.web.summaries import CAP, summary

if TYPE_CHECKING:
    from darkchess.evaluation.evaluator import Evaluator
    from darkchess.fog.game.referee import Referee
    from darkchess.fog.players.configuration import Configuration
    from klss.table.limits import Limit
    from klss_app.cli.fog.analysis_file import AnalysisFile

__all__ = ["document", "question", "text", "turns_told"]


def question(
    game: Referee, fen: str | None, configuration: str, evaluator: str, limit: Limit, seed: int
) -> dict[str, Any]:
    """What an analysis is of: the game, and all that decides what is said of it."""
    return {
        "plies": game.ply,
        "configuration": configuration,
        "evaluator": evaluator,
        "nodes": limit.nodes,
        "time": limit.time_s,
        "seed": seed,
        "rules": game.ruleset.name,
        "klss": __version__,
        "fen": fen,
        "game": [move.uci() for move in game.moves],
    }


def turns_told(
    game: Referee,
    evaluator: Callable[[], Evaluator],
    chosen: Configuration,
    limit: Limit,
    seed: int,
    line: ProgressLine,
    file: AnalysisFile | None,
) -> list[dict[str, Any]]:
    """Every turn as :func:`klss_app.web.game_analysis.turn_document` has it; ``file`` keeps them as they come, and
    those that it holds already are not asked for again. Raises :class:`FailedError` where somebody interrupts it."""
    found = [] if file is None else file.turns()
    if len(found) == game.ply:
        return found
    from darkchess.fog.analysis.whole_game import turns
    from klss_app.web.game_analysis import turn_document

    chosen = replace(chosen, cap=min(chosen.cap, CAP))
    try:
        for turn in turns(game, evaluator, configuration=chosen, limit=limit, seed=seed, first=len(found)):
            found.append(turn_document(turn))
            line.tell(f"turn {turn.ply + 1} of {game.ply}")
            if file is not None:
                file.keep(found, at_once=len(found) == game.ply)
    except KeyboardInterrupt:
        line.close()
        how = "with --out FILE it could go on from there"
        if file is not None:
            how = "the same command goes on from there"
            file.keep(found, at_once=True)
        raise FailedError(f"interrupted after {len(found)} of {game.ply} turns; {how}") from None
    return found


def document(
    turns: Sequence[dict[str, Any]], asked: Mapping[str, Any], colors: Sequence[chess.Color] = chess.COLORS
) -> dict[str, Any]:
    """The document of docs/analyse.md for a whole game, or for what is known of it; ``asked`` as :func:`question` has
    it, ``colors`` are those whose moves are summed up."""
    return {
        **asked,
        "summary": {chess.COLOR_NAMES[color]: summary(turns, chess.COLOR_NAMES[color]) for color in colors},
        "turns": list(turns),
    }


def text(answer: dict[str, Any], evaluator: str, first: chess.Color, fullmove: int) -> list[str]:
    """``answer`` for people; ``first`` moved first, at move ``fullmove``."""
    limit = f"{answer['time']:g} s" if answer["nodes"] is None else f"{answer['nodes']:,} nodes"
    lines = [f"{answer['configuration']} ({evaluator}), {limit} a turn, {answer['plies']} turns"]
    for color, found in answer["summary"].items():
        mean = "?" if found["mean_cost"] is None else f"{found['mean_cost']:.3f}"
        luck = "?" if found["mean_luck"] is None else f"{found['mean_luck']:+.3f}"
        lines += [
            "",
            f"{color.capitalize()}: {found['moves']} moves, mean cost {mean} a move, luck {luck} a move",
        ]
        if not found["costliest"]:
            lines.append(" no move that gave anything away")
            continue
        lines.append(f" {'costliest':<15}{'cost':>6}{'held possible':>16}   {'the engine plays':<20}{'true board':>10}")
        for each in found["costliest"]:
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
