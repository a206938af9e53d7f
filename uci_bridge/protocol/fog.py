"""Fog of War on the engine protocol: the fields of its messages, and the consistency of observations.

An observation is a player's view after a ply. :func:`darkchess.fog.game.view.observed` checks that it follows from the
one before, and that the legal moves follow from the view. A contradiction of all observations together (no position
agrees) is found only by the player's position set, at its next question.

Source: docs/engine-protocol.md. Deviation: a mask may have fewer than 16 digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

import chess
from msgspec import Meta, Struct, structs

from darkchess.board.move import encode
from darkchess.board.position import START_FEN, Position
from darkchess.errors import ViewError
from darkchess.fog.game.contest import Setup
from darkchess.fog.game.rules import PAPER, PYCHESS
from darkchess.fog.game.view import Kind, View, observed, view_of
from klss.play.contest import Player
from klss.play.limits import Limit
from klss.play.messages import Answer, GameOver, ProtocolError, Push, Request, Seen, bad, outcome_of, over_shape
from klss.play.outcome import Outcome
from klss.play.wire import Transcript, Wire
from klss.support.text import Document
from uci_bridge.protocol import shapes
from uci_bridge.protocol.shapes import given

_RULESETS = {"loss": PAPER, "draw": PYCHESS}
_MAX_MOVES = 448
"""Most moves of a position of dark chess (:mod:`darkchess.board.kernels.moves`)."""


# ---------------------------------------------------------------------------------------- what the messages look like

_Mask = Annotated[str, Meta(pattern=r"^0[xX][0-9a-fA-F]{1,16}\Z")]
_SquareAndPiece = tuple[shapes.Square, shapes.Piece]


class Observation(Seen, frozen=True, kw_only=True):
    """A player's view after a ply; the fields are those of :class:`darkchess.fog.game.view.View`."""

    kind: Kind
    own_move: shapes.Move | None = None
    visibility_mask: _Mask
    visible_pieces: Annotated[list[_SquareAndPiece], Meta(max_length=64)]
    own_capture_square: shapes.Square | None = None
    opp_capture_landing_square: shapes.Square | None = None
    game_over: GameOver | None = None

    def __post_init__(self) -> None:
        """Refuse two pieces on a square; give the mask all digits, and sort the pieces."""
        if len({square for square, _ in self.visible_pieces}) < len(self.visible_pieces):
            raise ValueError("visible_pieces: expected each square once")
        structs.force_setattr(self, "visibility_mask", f"0x{int(self.visibility_mask, 16):016x}")
        self.visible_pieces.sort(key=lambda each: each[0])


class _Rules(Struct, frozen=True):
    """The variants of the rules."""

    no_move: Literal["loss", "draw"] = "loss"


class _Request(Request[Observation], frozen=True, kw_only=True):
    """It is the player's turn."""

    legalMoves: Annotated[list[shapes.Move], Meta(min_length=1, max_length=_MAX_MOVES)]
    fen: shapes.Fen | None = None
    rules: _Rules | None = None


# ---------------------------------------------------------------------------------------- what follows from what


class _Transcript(Transcript[Observation, View, chess.Move]):
    """The index of an observation is its ply; the game's end is part of the last one."""

    first = 1  # the view of the start position

    def __init__(self, color: chess.Color, setup: Setup) -> None:
        super().__init__()
        self._color, self._setup = color, setup

    def same(self, index: int, seen: Observation) -> bool:
        """See the base; an observation may also differ by the end of the game, which may come later."""
        known = self.seen[index]
        if (known.game_over is None) != (seen.game_over is None):
            return structs.replace(known, game_over=None) == structs.replace(seen, game_over=None)
        return known == seen

    def end_late(self, seen: Observation) -> None:
        """See the base: add the end of the game to the last observation."""
        if seen.game_over is None or self.seen[seen.ply].game_over is not None:
            return
        if seen.ply != self.ply:
            raise ProtocolError(f"got the end of the game at ply {seen.ply} after ply {self.ply}, expected it there")
        self.seen[-1] = seen
        self._over(outcome_of(seen.game_over))

    def take(self, seen: Observation, request: Request[Observation] | None = None) -> None:
        self.given.append(self._view(self.given[-1] if self.given else None, seen, request))
        self.seen.append(seen)
        self.outcome = self.given[-1].game_over

    def check(self, request: Request[Observation]) -> None:
        """See the base. The legal moves add to the last view: they show whether en passant is possible."""
        before = self.given[-2] if len(self.given) > 1 else None
        self.given[-1] = self._view(before, self.seen[-1], request)

    def _view(self, before: View | None, seen: Observation, request: Request[Observation] | None) -> View:
        moves = None
        if request is not None:
            assert isinstance(request, _Request)
            moves = tuple(map(shapes.move_of, request.legalMoves))
        visible = int(seen.visibility_mask, 16)
        pieces = {square: shapes.piece_of(piece) for square, piece in seen.visible_pieces}
        over = given(outcome_of, seen.game_over)
        if before is not None:
            return observed(
                before,
                kind=seen.kind,
                visible=visible,
                pieces=pieces,
                own_move=given(shapes.move_of, seen.own_move),
                own_capture_square=seen.own_capture_square,
                opp_capture_landing_square=seen.opp_capture_landing_square,
                game_over=over,
                legal_moves=moves,
            )
        view = view_of(self._setup.start, self._color, over)
        if view.ep_square is not None:  # the pawn that can be taken en passant may be shown, too
            pawn = view.ep_square + (-8 if view.color else 8)
            visible &= ~(1 << pawn) | view.visible
            pieces = {square: piece for square, piece in pieces.items() if square != pawn or square in view.pieces}
        told = seen.kind, seen.own_move, seen.own_capture_square, visible, pieces
        if told != ("initial", None, None, view.visible, dict(view.pieces)):
            raise ViewError("observation of ply 0: expected what that colour sees of the start position")
        if moves is not None and sorted(map(encode, moves)) != list(map(encode, view.legal_moves)):
            raise ViewError("observation of ply 0: expected the start position's legal moves")
        return view

    def begin(self) -> None:
        self.add(view_of(self._setup.start, self._color))

    def add(self, observation: View) -> Observation | None:
        """See the base: the results of own moves and the end of the game are pushed."""
        self.given.append(observation)
        self.seen.append(observation_of(observation))
        self.outcome = observation.game_over
        return self.seen[-1] if observation.kind == "own_move" or self.outcome is not None else None

    def end(self, outcome: Outcome) -> Observation | None:
        """See the base: the last observation again, with the outcome."""
        if self.outcome is not None:
            return None
        self._over(outcome)
        self.seen[-1] = observation_of(self.given[-1])
        return self.seen[-1]

    def _over(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.given[-1] = replace(self.given[-1], game_over=outcome, legal_moves=())

    def asks(self, question: str) -> Document:
        """See the base; sorted by from, to, promotion, so that the order reveals nothing."""
        return {"legalMoves": [shapes.move_shape(move) for move in sorted(self.given[-1].legal_moves, key=encode)]}

    def complaint(self, question: str, answer: chess.Move) -> str | None:
        moves = self.given[-1].legal_moves
        return None if answer in moves else f"{answer.uci()}, expected one of its {len(moves)} legal moves"


def observation_of(view: View) -> Observation:
    """A view as the protocol's observation."""
    return Observation(
        ply=view.ply,
        kind=view.kind,
        own_move=given(shapes.move_shape, view.own_move),
        visibility_mask=f"0x{view.visible:016x}",
        visible_pieces=[(square, shapes.piece_shape(piece)) for square, piece in view.pieces.items()],
        own_capture_square=view.own_capture_square,
        opp_capture_landing_square=view.opp_capture_landing_square,
        game_over=given(over_shape, view.game_over),
    )


# ---------------------------------------------------------------------------------------- the vocabulary


class _Fog(Wire[Setup, Observation, View, chess.Move]):
    """See the module."""

    game = None  # the protocol's first game, and Misty's only one
    asked = "legalMoves"
    request = _Request
    push = Push[Observation]
    answers = {"move": Answer[shapes.Move]}  # noqa: RUF012

    def check_game(self, message: Mapping[str, object]) -> None:
        """See the base; unknown fields are ignored, but not the name of another game that klss plays."""
        if message.get("game") == "rbc":
            raise bad("game", "rbc", "Fog of War here, without one (klss engine --game rbc plays rbc)")

    def transcript(self, seat: chess.Color, setup: Setup) -> _Transcript:
        return _Transcript(seat, setup)

    def setup(self, request: Request[Observation]) -> Setup:
        assert isinstance(request, _Request)
        no_move = "loss" if request.rules is None else request.rules.no_move
        return Setup(shapes.start_of(request.fen), _RULESETS[no_move])

    def setup_fields(self, setup: Setup) -> Document:
        fen = setup.start.fen()
        return {"fen": None if fen == START_FEN else fen, "rules": _Rules(setup.ruleset.no_move)}

    def answer(self, key: str, value: shapes.Move) -> chess.Move:
        return shapes.move_of(value)

    def answer_value(self, key: str, answer: chess.Move) -> shapes.Move:
        return shapes.move_shape(answer)

    def rehearse(self, player: Player[Setup, View, chess.Move], limit: Limit) -> None:
        """See the base: a first move."""
        player.begin(chess.WHITE, Setup(Position.start()))
        player.answer("move", limit)


FOG = _Fog()
"""The vocabulary of Fog of War."""
