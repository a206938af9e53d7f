"""Fog of War on the engine protocol: the fields of its messages, and the consistency of observations.

An observation is a player's view after a ply. :func:`darkchess.fog.game.view.observed` checks that it follows from the
one before, and that the legal moves follow from the view. A contradiction of all observations together (no position
agrees) is found only by the player's position set, at its next question.

Source: docs/engine-protocol.md. Deviation: a mask may have fewer than 16 digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import chess
from msgspec import Meta, Struct, structs

from darkchess.board.move import encode
from darkchess.board.position import START_FEN, Position
from darkchess.errors import ViewError
from darkchess.fog.game.contest import Setup
from darkchess.fog.game.rules import PAPER, PYCHESS
from darkchess.fog.game.view import Kind, View, initial_view, observed
from klss.play.contest import AnyPlayer
from klss.play.limits import Limit
from klss.play.outcome import Outcome
from uci_bridge.errors import ProtocolError
from uci_bridge.protocol import shapes, wire
from uci_bridge.protocol.shapes import bad, given

Moves = tuple[chess.Move, ...]
"""A question: the legal moves."""

_RULESETS = {"loss": PAPER, "draw": PYCHESS}
_MAX_MOVES = 448
"""Most moves of a position of dark chess (:mod:`darkchess.board.kernels.moves`)."""


# ----------------------------------------------------------------------------------------------------------------------
# what the messages look like

_Mask = Annotated[str, Meta(pattern=r"^0[xX][0-9a-fA-F]{1,16}\Z")]
_SquareAndPiece = tuple[shapes.Square, shapes.Piece]


class Observation(Struct, frozen=True, kw_only=True):
    """A player's view after a ply; the fields are those of :class:`darkchess.fog.game.view.View`."""

    ply: shapes.Ply
    kind: Kind
    own_move: shapes.Move | None = None
    visibility_mask: _Mask
    visible_pieces: Annotated[list[_SquareAndPiece], Meta(max_length=64)]
    own_capture_square: shapes.Square | None = None
    opp_capture_landing_square: shapes.Square | None = None
    game_over: shapes.GameOver | None = None

    def __post_init__(self) -> None:
        """Refuse combinations of fields that no ply has."""
        kind = self.kind
        if (kind == "initial") != (self.ply == 0):
            raise ValueError("kind: expected 'initial' at ply 0 and only there")
        if (self.own_move is not None) != (kind == "own_move"):
            raise ValueError("own_move: expected a move with kind 'own_move' and only there")
        if kind != "opp_move" and (self.own_capture_square, self.opp_capture_landing_square) != (None, None):
            raise ValueError("own_capture_square: expected captures with kind 'opp_move' only")
        if len({square for square, _ in self.visible_pieces}) < len(self.visible_pieces):
            raise ValueError("visible_pieces: expected each square once")


class _Rules(Struct, frozen=True):
    """The variants of the rules."""

    no_move: Literal["loss", "draw"] = "loss"


class _Request(shapes.Request, frozen=True, kw_only=True):
    """It is the player's turn."""

    legalMoves: Annotated[list[shapes.Move], Meta(min_length=1, max_length=_MAX_MOVES)]
    observationTranscript: Annotated[list[Observation], Meta(min_length=1, max_length=shapes.MAX_PLY + 1)] | None = None
    latestObservationDelta: Observation | None = None
    fen: shapes.Fen | None = None
    rules: _Rules | None = None

    def __post_init__(self) -> None:
        """Refuse observations of other plies."""
        super().__post_init__()
        for ply, seen in enumerate(self.observationTranscript or ()):
            if seen.ply != ply:
                raise ValueError(
                    f"observationTranscript[{ply}].ply: got {seen.ply}, expected {ply}: every ply once, in order"
                )


class _Push(shapes.Push, frozen=True, kw_only=True):
    """An observation outside the player's turn."""

    observation: Observation


class _Answer(shapes.Answer, frozen=True, kw_only=True):
    """The answer to a question."""

    move: shapes.Move


# ----------------------------------------------------------------------------------------------------------------------
# what follows from what


class _Transcript(wire.Transcript):
    """The index of an observation is its ply; the game's end is part of the last one."""

    def __init__(self, color: chess.Color, setup: Setup) -> None:
        self._color, self._setup = color, setup
        self.seen: list[Observation] = []
        self._views: list[View] = []

    def copy(self) -> _Transcript:
        other = _Transcript(self._color, self._setup)
        other.seen, other._views = self.seen.copy(), self._views.copy()
        return other

    @property
    def ply(self) -> int:
        return len(self.seen) - 1

    @property
    def given(self) -> list[View]:  # type: ignore[override]
        """See the base; the view of the start position comes with the setup."""
        return self._views[1:]

    @property
    def over(self) -> bool:  # type: ignore[override]
        return bool(self.seen) and self.seen[-1].game_over is not None

    def place(self, seen: Observation) -> int:
        return seen.ply

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
        outcome = shapes.outcome_of(seen.game_over)
        self._views[-1] = replace(self._views[-1], game_over=outcome, legal_moves=())

    def take(self, seen: Observation, question: Moves | None = None) -> None:
        self._views.append(self._view(self._views[-1] if self._views else None, seen, question))
        self.seen.append(seen)

    def check(self, question: Moves) -> None:
        """See the base. The legal moves add to the last view: they show whether en passant is possible."""
        before = self._views[-2] if len(self._views) > 1 else None
        self._views[-1] = self._view(before, self.seen[-1], question)

    def _view(self, before: View | None, seen: Observation, moves: Moves | None) -> View:
        shown = _shown(seen)
        if before is not None:
            return observed(before, legal_moves=moves, **shown)
        view = initial_view(self._setup.start, self._color, shown["game_over"])
        visible, pieces = shown["visible"], shown["pieces"]
        if view.ep_square is not None:  # the pawn that can be taken en passant may be shown, too
            pawn = view.ep_square + (-8 if view.color else 8)
            visible &= ~(1 << pawn) | view.visible
            pieces = {square: piece for square, piece in pieces.items() if square != pawn or square in view.pieces}
        if (visible, pieces) != (view.visible, dict(view.pieces)):
            raise ViewError("observation of ply 0: expected what that colour sees of the start position")
        if moves is not None and sorted(map(encode, moves)) != list(map(encode, view.legal_moves)):
            raise ViewError("observation of ply 0: expected the start position's legal moves")
        return view

    def add(self, observation: View) -> Observation | None:
        """See the base: the results of own moves and the end of the game are pushed."""
        self._first()
        self._views.append(observation)
        self.seen.append(observation_of(observation))
        pushed = observation.kind == "own_move" or observation.game_over is not None
        return self.seen[-1] if pushed else None

    def end(self, outcome: Outcome) -> Observation | None:
        """See the base: the last observation again, with the outcome."""
        self._first()
        if self.over:
            return None
        self._views[-1] = replace(self._views[-1], game_over=outcome, legal_moves=())
        self.seen[-1] = observation_of(self._views[-1])
        return self.seen[-1]

    def question(self, asked: Any) -> Moves:
        self._first()
        return self._views[-1].legal_moves

    def _first(self) -> None:
        """Begin a host's transcript with the view of the start position."""
        if not self._views:
            self._views.append(initial_view(self._setup.start, self._color))
            self.seen.append(observation_of(self._views[0]))


def observation_of(view: View) -> Observation:
    """A view as the protocol's observation; pieces sorted by square, so that equal views give equal observations."""
    return Observation(
        ply=view.ply,
        kind=view.kind,
        own_move=given(shapes.move_shape, view.own_move),
        visibility_mask=_mask(view.visible),
        visible_pieces=[(square, shapes.piece_shape(piece)) for square, piece in sorted(view.pieces.items())],
        own_capture_square=view.own_capture_square,
        opp_capture_landing_square=view.opp_capture_landing_square,
        game_over=given(shapes.over_shape, view.game_over),
    )


def _shown(seen: Observation) -> dict[str, Any]:
    """An observation as the arguments of :func:`darkchess.fog.game.view.observed`."""
    return {
        "kind": seen.kind,
        "visible": int(seen.visibility_mask, 16),
        "pieces": {square: shapes.piece_of(piece) for square, piece in seen.visible_pieces},
        "own_move": given(shapes.move_of, seen.own_move),
        "own_capture_square": seen.own_capture_square,
        "opp_capture_landing_square": seen.opp_capture_landing_square,
        "game_over": given(shapes.outcome_of, seen.game_over),
    }


def _mask(visible: int) -> str:
    return f"0x{visible:016x}"


# ----------------------------------------------------------------------------------------------------------------------
# the vocabulary


class _Fog(wire.Wire):
    """See the module."""

    game = None  # the protocol's first game, and Misty's only one
    mark = "legalMoves"
    request = _Request
    push = _Push
    answers = {"move": _Answer}  # noqa: RUF012

    def check_game(self, message: Mapping[str, Any]) -> None:
        """See the base; unknown fields are ignored, but not the name of another game that klss plays."""
        if message.get("game") == "rbc":
            raise bad("game", "rbc", "Fog of War here, without one (klss engine --game rbc plays rbc)")

    def transcript(self, seat: chess.Color, setup: Setup) -> _Transcript:
        return _Transcript(seat, setup)

    def read_setup(self, raw: _Request) -> Setup:
        """See the base; raises ProtocolError if no game can start from it."""
        no_move = "loss" if raw.rules is None else raw.rules.no_move
        return Setup(shapes.start_of(raw.fen), _RULESETS[no_move])

    def setup_json(self, setup: Setup) -> dict[str, Any]:
        fen = setup.start.fen()
        return ({} if fen == START_FEN else {"fen": fen}) | {"rules": {"no_move": setup.ruleset.no_move}}

    def read_question(self, raw: _Request) -> Moves:
        return tuple(map(shapes.move_of, raw.legalMoves))

    def question_json(self, question: Moves) -> dict[str, Any]:
        """See the base; sorted by from, to, promotion, so that the order reveals nothing."""
        return {"legalMoves": [shapes.move_shape(move) for move in sorted(question, key=encode)]}

    def read_seen(self, raw: Observation) -> Observation:
        # The same form as from observation_of, since an engine's mask may have fewer digits, and pieces any order.
        pieces = sorted(raw.visible_pieces, key=lambda each: each[0])
        return structs.replace(raw, visibility_mask=_mask(int(raw.visibility_mask, 16)), visible_pieces=pieces)

    def seen_json(self, seen: Observation) -> Observation:
        return seen

    def read_answer(self, key: str, raw: _Answer) -> chess.Move:
        return shapes.move_of(raw.move)

    def answer_json(self, key: str, value: chess.Move) -> shapes.Move:
        return shapes.move_shape(value)

    def complaint(self, question: Moves, value: chess.Move) -> str | None:
        return None if value in question else f"{value.uci()}, expected one of its {len(question)} legal moves"

    def rehearse(self, player: AnyPlayer, limit: Limit) -> None:
        """See the base: a first move."""
        player.begin(chess.WHITE, Setup(Position.start()))
        player.answer("move", limit)


FOG = _Fog()
"""The vocabulary of Fog of War."""
