"""One turn of Fog of War in full: the analysis from the views of the player to move, as JSON and as text of 80 columns;
and, once the game is over, beside the true position.
"""

from __future__ import annotations

import math
import textwrap

import chess
import numpy as np

from darkchess.board.position import Position
from darkchess.fog.analysis.analyst import Analysis, Analyst
from darkchess.fog.analysis.principal_lines import Line
from darkchess.fog.belief.marginals import belief_lines, percent
from darkchess.fog.belief.position_set import PositionSet
from klss.support.arrays import Floats, Ints
from klss.support.greatest import greatest
from klss_app.analysis.summaries import Report

_LISTED = 10
"""Number of likeliest positions that are listed."""

_UNPLAYED_SHOWN = 5
_HARD_SPACE = "\u00a0"


def effective(weights: Floats) -> float:
    """Return e to the entropy of ``weights`` (float64[n], summing to 1)."""
    above = weights[weights > 0.0]
    return float(np.exp(-(above * np.log(above)).sum()))


def likeliest(positions: PositionSet, weights: Floats, count: int) -> Ints:
    """Return the indices of the ``count`` likeliest positions, the likeliest first; equally likely ones in the order of
    their halves, which does not depend on how they are stored.
    """
    count = min(count, positions.size)
    if not count:
        return np.empty(0, dtype=np.int64)
    chosen = np.flatnonzero(weights >= weights[greatest(weights, count)].min())
    order = np.lexsort((*positions.halves[chosen].T, -weights[chosen]))
    return np.asarray(chosen[order[:count]])


def document(analysis: Analysis, analyst: Analyst, configuration: str, evaluator: str, seed: int) -> Report:
    """The document of docs/analyse.md.

    ``marginals`` has every square on which a piece may stand, including own pieces (1.0), by FEN's letters; the rest to
    1 is the probability that the square is empty. A ``value`` is null if the search was too short for one.
    """
    found, positions = analysis.diagnostics, analyst.position_set
    weights = positions.weights
    return {
        "ply": analysis.view.ply,
        "color": chess.COLOR_NAMES[analysis.view.color],
        "positions": analysis.positions,
        "value": analysis.value,
        **{name: found[name] for name in ("gadget", "nodes", "depth", "iterations", "seconds")},
        "moves": [
            {"move": each.move.uci(), "probability": each.probability, "value": each.value, "san": each.san}
            for each in analysis.moves
        ],
        "marginals": analysis.marginals.by_square(),
        "truth": None,
        "configuration": configuration,
        "capped_by": analysis.capped_by,
        "evaluator": evaluator,
        "lines": [
            [
                {"move": each.move.uci(), "san": each.san, "mine": each.mine, "probability": each.probability}
                for each in line
            ]
            for line in analysis.lines
        ],
        "seed": seed,
        "belief": "filter",
        "effective": effective(weights),
        "likeliest": [
            {"fen": Position(positions.rows([at])[0], positions.fullmove).fen(), "weight": float(weights[at])}
            for at in likeliest(positions, weights, _LISTED).tolist()
        ],
    }


def text(analysis: Analysis, answer: Report, evaluator: str, unicode: bool) -> list[str]:
    """``answer``, as :func:`document` made it of ``analysis``, for people; ``evaluator`` by the name that they know."""
    view = analysis.view
    side = "White" if view.color else "Black"
    dots = "." if view.color else "..."
    count = f"{analysis.positions:,} position{'s' if analysis.positions != 1 else ''} possible"
    if analysis.capped_by is not None:
        count += " (a sample: the set was cut off)"
    seen, nothing = ("·", "░") if unicode else (".", "?")
    lines = [
        f"Ply {view.ply}, {side} to move ({view.fullmove}{dots}): {count}",
        "",
        *belief_lines(view, analysis.marginals, unicode=unicode),
        "",
        f"N%: the likeliest piece on a square that {side} does not see, and its",
        "    probability by the belief",
        f" {nothing}: not seen, no piece can be there   {seen}: seen, empty",
        "",
    ]
    if analysis.positions > 1:
        alike = f"{answer['effective']:.1f}" if answer["effective"] < 1000.0 else f"{answer['effective']:,.0f}"
        lines += [f"by the filter as uncertain as {alike} equally likely positions", ""]
    return lines + _strategy(analysis, answer, evaluator)


def _strategy(analysis: Analysis, answer: Report, evaluator: str) -> list[str]:
    """The result of the search: its size and value, the probability of each move, and the expected lines."""
    value = "?" if analysis.value is None else f"{analysis.value:+.3f}"
    if analysis.value is not None and abs(analysis.value) <= 0.9999:
        value += f" (about {6.0 * math.atanh(analysis.value):+.1f} pawns)"
    # No time with a node budget, so that the same command prints the same.
    seconds = f", {answer['seconds']:.1f} s" if answer["seconds"] else ""
    iterations = f"{answer['iterations']} iteration{'s' if answer['iterations'] != 1 else ''}"
    summary = (
        f"{answer['configuration']} ({evaluator}): value {value}; {answer['gadget']}, "
        f"{answer['nodes']:,} nodes, depth {answer['depth']}, {iterations}{seconds}"
    )
    lines = [*textwrap.wrap(summary, width=78, subsequent_indent="    "), "", " move        plays    value"]
    played = [move for move in analysis.moves if move.probability > 0.0]
    others = [move for move in analysis.moves if move.probability <= 0.0]
    for move in played + others[:_UNPLAYED_SHOWN]:
        worth = "    ?" if move.value is None else f"{move.value:+.3f}"
        share = f"{100 * move.probability:.1f}%" if move.probability > 0.0 else "-"
        lines.append(f" {move.san:<9}{share:>8}   {worth}")
    if len(others) > _UNPLAYED_SHOWN:
        lines.append(f" and {len(others) - _UNPLAYED_SHOWN} more that are never played")
    if analysis.mix_value is None:
        lines.append(" (?: the search was too short; use more nodes or time)")
    if analysis.lines:
        lines += ["", " expected lines (in brackets: the probability of the move or the reply)"]
        for line in analysis.lines:
            lines += _line_text(line, analysis.view.fullmove, analysis.view.color)
    return lines


def _line_text(line: Line, fullmove: int, color: chess.Color) -> list[str]:
    words = []
    for i, each in enumerate(line):
        white = each.mine == color
        number = fullmove + (i + (not color)) // 2
        head = f"{number}." if white else f"{number}..." if i == 0 else ""
        share = "" if each.probability is None else f" ({percent(each.probability)})"
        words.append(f"{head} {each.san}{share}".strip().replace(" ", _HARD_SPACE))
    lines = textwrap.wrap(" ".join(words), width=78, initial_indent=" ", subsequent_indent="     ")
    return [each.replace(_HARD_SPACE, " ") for each in lines]


def truth_text(truth: Report, color: chess.Color) -> list[str]:
    """The text that ``--once-over`` adds; ``truth`` is the document's, ``color`` the analysed side."""
    side = "White" if color else "Black"
    lines = ["Once over", f" the true position: {truth['fen']}"]
    if truth["possible"]:
        lines.append(f" it was one of the {truth['positions']:,} positions possible for {side}")
        lines.append(f" by its weight, {percent(truth['weight'])}, it was number {truth['weight_rank']}")
    else:
        lines.append(f" it was not among the {truth['positions']:,} positions of the sample")
    if truth["particle"] is not None:
        lines.append(
            f" one of the search's {truth['particles']} particles: number {truth['particle_rank']}, with "
            f"{percent(truth['particle'])} of their probability"
        )
    else:
        lines.append(f" it was none of the search's {truth['particles']} particles")
    surprises = sorted(truth["hidden"].items(), key=lambda hidden: hidden[1]["probability"])[:3]
    if surprises:
        listed = (f"{each['piece'].upper()}{square} ({percent(each['probability'])})" for square, each in surprises)
        lines.append(f" least expected pieces that {side} did not see: {', '.join(listed)}")
    return lines
