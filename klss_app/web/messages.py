"""What a page is told of a game that is going on: one player's views and the clocks, as JSON.

Stands on the player's side of the wall: :func:`told` is a function of her views, and of nothing else. Every message
holds the whole of what she may know, so that a page that was reloaded is where it was.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import chess

from darkchess.game.san import san
from darkchess.game.view import View
from klss_app.happenings import Happening, happenings

__all__ = ["board_text", "told"]


def told(views: Sequence[View]) -> dict[str, Any]:
    """What a player knows after ``views``, from the start position's on.

    Returns
    -------
    dict
        ``color``; ``ply``; ``fullmove``; ``board``, FEN's first field with ``?`` on what is not seen; ``turn``;
        ``moves``, hers, in UCI; ``last``, the squares of what happened last as far as she saw it; ``history``, a text a
        ply: her move in SAN, ``?`` for the enemy's, ``?xd5`` where it took a man of hers; ``first``, who began;
        ``happened``, since her last move; ``lost`` and ``taken``, men by FEN's letters; ``over``.
    """
    view = views[-1]
    return {
        "color": chess.COLOR_NAMES[view.color],
        "ply": view.ply,
        "fullmove": view.fullmove,
        "first": chess.COLOR_NAMES[views[0].to_move],
        "firstNumber": views[0].fullmove,
        "board": board_text(view),
        "turn": chess.COLOR_NAMES[view.to_move],
        "moves": [move.uci() for move in view.legal_moves],
        "last": _last(view),
        "history": [_ply_text(before, after) for before, after in itertools.pairwise(views)],
        "happened": [_happened(each) for each in _since_own_move(views)],
        **_captured(views),
        "over": _over(view),
    }


def board_text(view: View) -> str:
    """The first field of a view's fog FEN."""
    return view.fog_fen().split()[0]


def _last(view: View) -> list[str]:
    if view.own_move is not None:
        return [chess.SQUARE_NAMES[view.own_move.from_square], chess.SQUARE_NAMES[view.own_move.to_square]]
    return [] if view.own_capture_square is None else [chess.SQUARE_NAMES[view.own_capture_square]]


def _ply_text(before: View, after: View) -> str:
    if after.own_move is not None:
        return san(before, after.own_move)
    if after.own_capture_square is None:
        return "?"
    return f"?x{chess.SQUARE_NAMES[after.own_capture_square]}"


def _since_own_move(views: Sequence[View]) -> list[Happening]:
    """What happened in her last move and after it."""
    start = next((i for i in range(len(views) - 1, 0, -1) if views[i].kind == "own_move"), 1)
    return [each for i in range(start, len(views)) for each in happenings(views[i - 1], views[i])]


def _happened(each: Happening) -> dict[str, Any]:
    return {
        "kind": each.kind,
        "square": None if each.square is None else chess.SQUARE_NAMES[each.square],
        "man": None if each.piece is None else chess.PIECE_NAMES[each.piece.piece_type],
        "enPassant": each.en_passant,
    }


def _captured(views: Sequence[View]) -> dict[str, str]:
    """The men that she lost and those that she took, the heaviest first."""
    lost: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for before, after in itertools.pairwise(views):
        for each in happenings(before, after):
            if each.piece is not None and each.kind in ("captured", "lost"):
                (taken if each.kind == "captured" else lost)[each.piece.symbol()] += 1
    return {
        name: "".join(sorted(men.elements(), key=lambda man: ("qrbnpk".index(man.lower()), man)))
        for name, men in (("lost", lost), ("taken", taken))
    }


def _over(view: View) -> dict[str, Any] | None:
    outcome = view.game_over
    if outcome is None:
        return None
    winner = None if outcome.winner is None else chess.COLOR_NAMES[outcome.winner]
    return {"winner": winner, "reason": outcome.reason, "result": outcome.result}
