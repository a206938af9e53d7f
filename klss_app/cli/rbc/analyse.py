"""``klss rbc analyse``: what the engine thinks at one turn of a kept game, from what its player was told alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from klss_app.cli.errors import UsageError
from klss_app.cli.rbc.options import CONFIGURATION, BlindParser, add_blind_options, blind_configured, blind_options
from klss_app.cli.rbc.track import kept_game

if TYPE_CHECKING:
    from blindchess.game.referee import Referee
    from blindchess.players.expectation import ExpectationPlayer

__all__ = ["run"]

_SHOWN = 8


def _parser() -> BlindParser:
    parser = BlindParser("analyse", "What the engine thinks at one turn of a game, for the player whose turn it was.")
    parser.add_argument("game", metavar="FILE", help="a game's history (JSON of klss rbc or reconchess)")
    parser.add_argument(
        "--turn", type=_turn, required=True, metavar="N", help="after N turns of either side, whoever's turn it is then"
    )
    parser.add_argument(
        "--configuration", default="rbc-expect", metavar="NAME", help=f"(default rbc-expect) {CONFIGURATION}"
    )
    add_blind_options(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def _turn(text: str) -> int:
    import argparse

    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected a number of turns, 0 or more")
    return int(text)


def run(arguments: Sequence[str]) -> int:
    """Run ``klss rbc analyse``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    options = blind_options(parsed)
    chosen = blind_configured(parsed.configuration, options.stockfish)
    if chosen.thinking is None:
        raise UsageError(f"--configuration: got {parsed.configuration!r}, who weighs nothing; expected rbc-expect, say")
    game = kept_game(Path(parsed.game))
    if parsed.turn >= game.ply:
        raise UsageError(f"--turn: got {parsed.turn} in a game of {game.ply} turns, expected 0 to {game.ply - 1}")

    from blindchess.players.configuration import make_player
    from blindchess.players.expectation import ExpectationPlayer
    from darkchess.game.contest import Limit
    from uci_bridge.evaluators import make_evaluator

    evaluator = make_evaluator(chosen, options.evaluator_choice(), options.ruleset)
    try:
        player = make_player(chosen, evaluator, seed=options.seed)
        assert isinstance(player, ExpectationPlayer)
        limit = Limit(options.time_s, options.nodes, options.clock)
        document = _thoughts(player, game, parsed.turn, limit)
    finally:
        evaluator.close()
    document["configuration"] = chosen.name
    print(json.dumps(document, allow_nan=False) if parsed.json else _text(document))
    return 0


def _thoughts(player: ExpectationPlayer, game: Referee, at: int, limit: Any) -> dict[str, Any]:
    from blindchess.belief.senses import partitions
    from blindchess.game.observation import INNER
    from blindchess.players.expectation import expected_values

    turn = game.turns[at]
    player.start(turn.color, game.positions[0])
    for earlier in game.turns[:at]:
        if earlier.color == turn.color:
            player.notice(earlier.notice)
            player.sensed(earlier.sensed)
            player.moved(earlier.moved)
    player.notice(turn.notice)
    known = player.known
    document: dict[str, Any] = {
        "turn": at, "color": chess.COLOR_NAMES[turn.color], "positions": known.size, "capped_by": known.capped_by,
    }  # fmt: skip
    look = player.choose_sense(limit)
    found, weights = player.weighed(limit, sense=True)
    divided = partitions(known, found.indices)
    after = expected_values(divided, found.values, weights)
    now = float((weights @ found.values).max())
    left = divided.left_over(weights)
    document["sense"] = {
        "chosen": None if look.square is None else chess.SQUARE_NAMES[look.square],
        "played": None if turn.sensed.square is None else chess.SQUARE_NAMES[turn.sensed.square],
        "windows": {
            chess.SQUARE_NAMES[square]: {"gain": float(value) - now, "left_over": float(share)}
            for square, value, share in zip(INNER, after, left, strict=True)
        },
    }
    player.sensed(turn.sensed)
    document["positions_after_sense"] = known.size
    asked = player.choose_move(limit)
    found, weights = player.weighed(limit, sense=False)
    values = weights @ found.values
    order = (-values).argsort(kind="stable")
    document["move"] = {
        "chosen": None if asked.request is None else asked.request.uci(),
        "played": None if turn.moved.requested is None else turn.moved.requested.uci(),
        "value": float(values.max()),
        "boards": int(found.indices.shape[0]),
        "nodes": found.children,
        "moves": [
            {"move": _uci(known.request(int(found.codes[i]))), "value": float(values[i])} for i in order.tolist()
        ],
    }
    document["marginals"] = _marginals(player, found.indices, weights)
    return document


def _marginals(player: ExpectationPlayer, indices: Any, weights: Any) -> dict[str, dict[str, float]]:
    """How likely each enemy piece stands on each square."""
    from darkchess.board.position import Position

    found: dict[str, dict[str, float]] = {}
    for row, weight in zip(player.known.rows(indices), weights.tolist(), strict=True):
        for square, piece in Position(row).pieces.items():
            if piece.color != player.known.own.color:
                at = found.setdefault(chess.SQUARE_NAMES[square], {})
                at[piece.symbol()] = at.get(piece.symbol(), 0.0) + weight
    return {name: found[name] for name in sorted(found)}


def _uci(move: chess.Move | None) -> str:
    return "pass" if move is None else move.uci()


def _text(document: dict[str, Any]) -> str:
    sense, move = document["sense"], document["move"]
    told = sorted(sense["windows"].items(), key=lambda window: -window[1]["gain"])
    lines = [
        f"turn {document['turn']}, {document['color']}: {document['positions']:,} positions possible"
        + ("" if document["capped_by"] is None else " (a sample)"),
        f"looks at {sense['chosen']} (played: {sense['played'] or 'nowhere'}); what a look is worth, and leaves over:",
        "  " + "  ".join(f"{name} {told['gain']:+.2f} {told['left_over']:.0%}" for name, told in told[:_SHOWN]),
        f"after the look that was played {document['positions_after_sense']:,} positions, {move['boards']:,} valued",
        f"asks for {move['chosen'] or 'nothing'} (played: {move['played'] or 'nothing'}):",
    ]
    lines += [f"  {entry['move']:<6} {entry['value']:+.3f}" for entry in move["moves"][:_SHOWN]]
    return "\n".join(lines)
