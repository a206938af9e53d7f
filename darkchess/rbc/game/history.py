"""Games in the JSON of ``reconchess``, which ``rc-replay`` and ``rc-playback`` open; the package itself is not needed.

The format is that of ``GameHistory.save`` (reconchess 1.6.9): senses and their results, requests, the moves played, the
squares of captures, positions before and after each turn, by colour. There are three additions, which the reader of
``reconchess`` skips: ``reason``, if it has no word for the end of the game; and for an unfinished game ``tags`` and
``look`` (the sense of a turn without its request), which are needed to continue it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import chess

from darkchess.board.position import START_FEN, Position
from darkchess.errors import DarkchessError, RecordError
from darkchess.rbc.game.referee import Referee, Turn
from darkchess.rbc.game.rules import WIN_REASONS, Limits
from klss.play.outcome import Outcome

NOTHING = "-"
"""The answer, in :attr:`Written.answers`, that senses nowhere or requests no move."""

UNLIMITED = Limits(None, None)
"""No rule draws a game that is read: its history says how it ended."""

_REASONS: dict[Any, str] = {theirs: ours for ours, theirs in reversed(WIN_REASONS.items())}

_BY_COLOR = (
    "senses", "sense_results", "requested_moves", "taken_moves", "capture_squares", "fens_before_move",
    "fens_after_move",
)  # fmt: skip


@dataclass(frozen=True)
class Written:
    """Contents of a history: the tags White, Black and others; the start; every sense (``e5``) and request (``e2e4``)
    in order, or :data:`NOTHING`; the winner, and our word for the end."""

    tags: Mapping[str, str]
    fen: str
    answers: tuple[str, ...]
    winner: chess.Color | None
    reason: str | None

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended; None: it was broken off, or the history does not say."""
        return None if self.reason in (None, "aborted") else Outcome(self.winner, str(self.reason))


def history_text(game: Referee, white: str, black: str, tags: Mapping[str, str] | None = None) -> str:
    """Return the history of a game that is over, or was broken off, as JSON on one line; ``white``, ``black``: the
    players' names.
    """
    assert game.outcome is not None
    positions = game.positions
    document: dict[str, Any] = {"type": "GameHistory", "white_name": white, "black_name": black}
    document |= {key: {"true": [], "false": []} for key in _BY_COLOR}
    # The end of the game, in its words and, where it has none, in ours; and the data to continue an unfinished game.
    document |= {
        "winner_color": game.outcome.winner,
        "win_reason": _typed("WinReason", WIN_REASONS.get(game.outcome.reason)),
    }
    if game.outcome.reason not in WIN_REASONS:
        document["reason"] = game.outcome.reason
    if game.outcome.reason == "aborted":
        document["tags"] = dict(tags or {})
        if game.sensed is not None:
            document["look"] = game.sensed.square
    # The turns: each value goes to the list of its key and colour.
    for ply, turn in enumerate(game.turns):
        name = "true" if turn.color else "false"
        asked, taken = turn.moved.requested, turn.moved.taken
        history = {
            "senses": turn.sensed.square,
            "sense_results": [
                [square, _typed("Piece", None if piece is None else piece.symbol())]
                for square, piece in turn.sensed.contents
            ],
            "requested_moves": _typed("Move", None if asked is None else asked.uci()),
            "taken_moves": _typed("Move", None if taken is None else taken.uci()),
            "capture_squares": turn.moved.capture_square,
            "fens_before_move": _fen(turn.before, None if ply == 0 else game.turns[ply - 1]),
            "fens_after_move": _fen(positions[ply + 1], turn),
        }
        for key, value in history.items():
            document[key][name].append(value)
    return json.dumps(document) + "\n"


def read_history(text: str) -> Written:
    """Return the contents of a history. Only its form is checked: raises RecordError if it is not a history."""
    try:
        document = json.loads(text)
        sides = {
            color: list(zip(*(document[key][name] for key in ("senses", "requested_moves")), strict=False))
            for color, name in ((chess.WHITE, "true"), (chess.BLACK, "false"))
        }
        # The start is the position before the first turn: of the two colours' first turns the one of the lower number.
        starts = [str(fens[0]) for name in ("true", "false") if (fens := document["fens_before_move"][name])]
        fen = min(starts, key=lambda each: int(each.split()[5]), default=START_FEN)
        color = fen.split()[1] == "w"
        # The two colours' turns in alternation, each with a sense and a request.
        answers: list[str] = []
        while sides[chess.WHITE] or sides[chess.BLACK]:
            square, request = sides[color].pop(0)
            answers += [_square_text(square), NOTHING if request is None else str(request["value"])]
            color = not color
        if "look" in document:
            answers.append(_square_text(document["look"]))
        names = {side: str(document.get(f"{side.lower()}_name", "?")) for side in ("White", "Black")}
        tags = {str(key): str(value) for key, value in dict(document.get("tags", {})).items()}
        reason = document.get("reason") or _REASONS.get((document.get("win_reason") or {}).get("value"))
        winner = None if document.get("winner_color") is None else bool(document["winner_color"])
        return Written(names | tags, fen, tuple(answers), winner, reason)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise RecordError(
            f"history: got something else ({type(error).__name__}), expected the JSON of a game as reconchess "
            "and klss keep it"
        ) from None


def answered(game: Referee, answers: Sequence[str]) -> Referee:
    """Play ``answers`` (:attr:`Written.answers`) in ``game`` and return it; raises RecordError if they are not those of
    a game.
    """
    try:
        for text in answers:
            if game.outcome is not None:
                raise RecordError(f"history: got a turn after the end of the game, turn {game.ply}; expected none")
            if text == NOTHING:
                game.answer(None)
            elif game.question == "sense":
                game.answer(chess.parse_square(text))
            else:
                game.answer(chess.Move.from_uci(text))
    except DarkchessError as error:
        raise error if isinstance(error, RecordError) else RecordError(f"history: {error}") from None
    except ValueError:
        raise RecordError(f"history: got {text[:40]!r} in turn {game.ply}, expected a square or a move") from None
    return game


def replayed(text: str) -> Referee:
    """Return the game of a history. Left out are an end that is no move (a flag, a resignation; not an agreed draw) and
    the sense of a turn without its request.

    Raises
    ------
    RecordError
        ``text`` is no history, or its moves are not those of a game; the message says where.
    """
    written = read_history(text)
    try:
        game = Referee(written.fen, UNLIMITED)
    except DarkchessError as error:
        raise RecordError(f"history: {error}") from None
    answered(game, written.answers[: len(written.answers) // 2 * 2])
    if game.outcome is None and written.reason == "agreement":
        game.end(Outcome(None, "agreement"))
    return game


def _square_text(square: int | None) -> str:
    return NOTHING if square is None else chess.SQUARE_NAMES[square]


def _typed(kind: str, value: str | None) -> dict[str, str] | None:
    """Return an object as ``reconchess`` writes it; None for None."""
    return None if value is None else {"type": kind, "value": value}


def _fen(position: Position, turn: Turn | None) -> str:
    """Return the FEN after a turn as ``reconchess`` writes it: with an en passant square after every double step."""
    text, taken = position.fen(), None if turn is None else turn.moved.taken
    if turn is None or taken is None or position.ep_square is not None:
        return text
    piece = turn.before.piece_at(taken.from_square)
    if piece is None or piece.piece_type != chess.PAWN or abs(taken.to_square - taken.from_square) != 16:
        return text
    fields = text.split()
    fields[3] = chess.SQUARE_NAMES[(taken.from_square + taken.to_square) // 2]
    return " ".join(fields)
