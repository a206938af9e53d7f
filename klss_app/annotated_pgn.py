"""A finished game as PGN with its analysis: the cost of each move, and the engine's move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from darkchess.fog.game.record import GameRecord, write_pgn

_GLYPHS = {"?!": "$6", "?": "$2", "??": "$4"}
"""The marks of :mod:`klss_app.web.summaries` by PGN's numbers (PGN standard, section 10)."""


def annotated(record: GameRecord, turns: Sequence[dict[str, Any]]) -> str:
    """``record`` as PGN with a comment on each move of ``turns``: documents of
    :func:`klss_app.web.game_analysis.turn_document`, from the first turn on."""
    return write_pgn(
        record,
        comments=[_comment(turn) for turn in turns],
        glyphs=[_GLYPHS.get(turn["played"]["mark"] or "", "") for turn in turns],
    )


def _comment(turn: dict[str, Any]) -> str:
    """The comment on one move.

    >>> played, best = {"san": "a6", "loss": 0.254, "mark": "??"}, {"san": "Kxf7", "p": 0.9}
    >>> _comment({"played": played, "best": best, "positions": {"white": [3, False], "black": [41000, True]}})
    'cost 0.25, best Kxf7 (0.90); possible for White: 3, for Black: 41000 or more'
    """
    loss, best = turn["played"]["loss"], turn["best"]
    cost = "unknown" if loss is None else f"{max(0.0, loss):.2f}"
    sets = ((name, *turn["positions"][name]) for name in ("white", "black"))
    possible = (f"for {name.capitalize()}: {size}{' or more' if sampled else ''}" for name, size, sampled in sets)
    return f"cost {cost}, best {best['san']} ({best['p']:.2f}); possible {', '.join(possible)}"
