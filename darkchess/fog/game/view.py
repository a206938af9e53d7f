"""What a player sees after a ply: docs/rules.md, rule 4, and nothing else.

The referee's side makes a :class:`View` from a true position, with :func:`view_of`. A player's side makes only the
first one so, from the start position, which both players know, and the others from the observations of the engine
protocol, with :func:`observed`. The protocol sends neither castling rights nor the en passant square: rights are
tracked from view to view, and the en passant square is inferred.

The law that connects the two sides: :meth:`View.key` equals ``observation_key`` of the true row.

Deviation from the protocol: other hosts' masks also show the pawn that can be captured en passant; it is removed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import chess
import numpy as np

from darkchess.board import fen as fen_text
from darkchess.board.kernels import board, moves
from darkchess.board.kernels.tables import TABLES
from darkchess.board.move import decode, encode
from darkchess.board.position import Position, row_of
from darkchess.errors import ViewError
from darkchess.fog.game._kernels import vision
from klss.play.outcome import Outcome
from klss.support.arrays import Words

Kind = Literal["initial", "own_move", "opp_move"]


@dataclass(frozen=True)
class View:
    """What one player knows from one view of the board."""

    color: chess.Color  # the player whose view it is
    visible: int  # squares that the player sees, as a 64-bit set (a1 is bit 0)
    pieces: Mapping[int, chess.Piece]  # the pieces on those squares, the player's own included
    ep_square: int | None  # the en passant target, if it is the player's turn and such a capture is legal
    castling: str  # the player's own rights, as FEN writes them: some of "KQ", or of "kq"
    to_move: chess.Color  # the side to move
    # the player's moves, sorted by from, to, promotion; () if it is not its turn or the game is over
    legal_moves: tuple[chess.Move, ...]
    ply: int = 0  # half-moves played since the start position
    kind: Kind = "initial"  # whose move came just before; "initial" at ply 0
    own_move: chess.Move | None = None  # the player's move, with kind "own_move" only
    own_capture_square: int | None = None  # where one of the player's pieces was just captured; None if none was
    # where the capturing piece stands; None if nothing was captured, and after en passant, where it can be deduced
    opp_capture_landing_square: int | None = None
    game_over: Outcome | None = None  # None while the game goes on
    fullmove: int = 1  # number of the next move, as in FEN
    ep_known: bool = True  # False only if a rebuilt view does not tell whether the player can capture en passant

    def row(self) -> Words:
        """Return the view as a position row (uint64[9]): the seen pieces, and the known part of META."""
        return row_of(self.pieces, self.to_move, self.castling, self.ep_square)

    def key(self) -> int:
        """Return the key (64 bits) of the view; the kernel ``observation_key`` computes the same from the true row."""
        return int(vision.view_key(self.row(), np.uint64(self.visible)))

    def piece_at(self, square: int) -> chess.Piece | None:
        """Return the piece that is seen on ``square``; None if it is empty or not seen."""
        return self.pieces.get(square)

    def sees(self, square: int) -> bool:
        """Whether ``square`` is seen."""
        return bool(self.visible >> square & 1)

    def fog_fen(self) -> str:
        """Return this view as a FEN with ``?`` on hidden squares; own castling rights only, halfmove counter 0."""
        return fen_text.written(
            self.pieces, self.to_move, self.castling, self.ep_square, 0, self.fullmove, unseen=~self.visible
        )


def view_of(position: Position, color: chess.Color, game_over: Outcome | None = None) -> View:
    """Return the view that ``color`` has of a position, as if it were the start; a player knows only that one."""
    side = 0 if color else 1
    seen = int(vision.visible(position.row, side, TABLES))
    own_turn = position.turn == color
    return View(
        color=color,
        visible=seen,
        pieces={square: piece for square, piece in position.pieces.items() if seen >> square & 1},
        ep_square=position.ep_square if own_turn else None,
        castling="".join(right for right in position.castling_rights if right.isupper() == color),
        to_move=position.turn,
        legal_moves=position.legal_moves() if own_turn and game_over is None else (),
        game_over=game_over,
        fullmove=position.fullmove,
    )


def observed(
    previous: View,
    *,
    kind: Kind,
    visible: int,
    pieces: Mapping[int, chess.Piece],
    own_move: chess.Move | None = None,
    own_capture_square: int | None = None,
    opp_capture_landing_square: int | None = None,
    game_over: Outcome | None = None,
    legal_moves: Iterable[chess.Move] | None = None,
) -> View:
    """Return the view after ``previous``, from an observation of the engine protocol.

    Parameters
    ----------
    previous
        The view one ply earlier.
    kind, visible, pieces, own_move, own_capture_square, opp_capture_landing_square, game_over
        As in :class:`View`; ``visible`` and ``pieces`` may also show the pawn that can be captured en passant.
    legal_moves
        The player's legal moves, if they were sent: only a turn request has them, not older plies of a transcript.

    Returns
    -------
    View
        Its castling rights follow from the rights before and from the piece that moved or was captured. The en passant
        square follows from ``legal_moves``; without them, from a pawn's empty diagonal that is seen although only an en
        passant target would show it. If another piece sees that square too, ``ep_known`` is False, ``ep_square`` None,
        and ``legal_moves`` may lack the en passant capture. A captured king ends the game, also without ``game_over``.

    Raises
    ------
    ViewError
        The observation contradicts itself, ``previous`` or the rules.
    """
    where = f"observation of ply {previous.ply + 1}"
    target = own_capture_square if own_move is None else own_move.to_square
    taken = previous.pieces.get(-1 if target is None else target)
    if game_over is None and taken is not None and taken.piece_type == chess.KING:
        game_over = Outcome(not taken.color, "king_captured")
    view = View(
        ply=previous.ply + 1,
        kind=kind,
        color=previous.color,
        own_move=own_move,
        visible=visible,
        pieces=dict(sorted(pieces.items())),
        own_capture_square=own_capture_square,
        opp_capture_landing_square=opp_capture_landing_square,
        ep_square=None,
        castling=_castling_after(previous, own_move, own_capture_square),
        to_move=not previous.to_move,
        legal_moves=(),
        game_over=game_over,
        fullmove=previous.fullmove + (not previous.to_move),
    )
    _check(previous, view, where)
    # Add what was not sent: the en passant square, and exactly the squares that rule 4 shows; from these, the moves.
    sent = None if legal_moves is None else tuple(legal_moves)
    view = _with_own_mask(_with_ep(view, sent), where)
    view = replace(view, legal_moves=known_moves(view))
    # Moves that were sent must be the same; then nothing is left open.
    same = sent is not None and view.ep_known and sorted(map(encode, sent)) == sorted(map(encode, view.legal_moves))
    if sent is not None and game_over is None and not same:
        odd = sorted({move.uci() for move in sent} ^ {move.uci() for move in view.legal_moves})
        raise ViewError(
            f"{where}: got legal moves that do not follow from what is seen, expected agreement; "
            f"they differ in {' '.join(odd[:6])}"
        )
    return view


def known_moves(view: View) -> tuple[chess.Move, ...]:
    """Return the player's moves, sorted, from the view alone; () if it is not its turn or the game is over.

    An unseen square before a pawn is blocked: no pawn steps onto or across a square that is not seen.
    """
    if view.to_move != view.color or view.game_over is not None:
        return ()
    out = np.empty(moves.MAX_MOVES, dtype=np.int32)
    count = moves.generate(view.row(), TABLES, out)
    return tuple(decode(code) for code in sorted(out[:count].tolist()) if _path_seen(view, code))


# ---------------------------------------------------------------------------------------- helpers


def _path_seen(view: View, code: int) -> bool:
    """Whether a move generated from the view's row is legal: a pawn steps only over squares that are seen."""
    move = decode(code)
    piece = view.pieces.get(move.from_square)
    if piece is None or piece.piece_type != chess.PAWN or (move.to_square - move.from_square) % 8:
        return True
    ahead = move.from_square + (8 if view.color else -8)
    return view.sees(ahead) and view.sees(move.to_square)


def _castling_after(previous: View, own_move: chess.Move | None, own_capture_square: int | None) -> str:
    # A right is lost when the king or its rook moves, or when the rook is captured.
    touched = own_capture_square if own_move is None else own_move.from_square
    homes = {"K": chess.H1, "Q": chess.A1, "k": chess.H8, "q": chess.A8}
    kept = "" if touched == (chess.E1 if previous.color else chess.E8) else previous.castling
    return "".join(right for right in kept if homes[right] != touched)


def _check(previous: View, view: View, where: str) -> None:
    """Raise ViewError unless ``view`` agrees with the rules and may come after ``previous``."""
    own_turn, move = previous.to_move == view.color, view.own_move
    lost, landing = view.own_capture_square, view.opp_capture_landing_square
    # The player's own pieces are known exactly: those before, after its move, less a captured one.
    own = {square: piece for square, piece in previous.pieces.items() if piece.color == view.color}
    at = -1 if lost is None else lost
    passed = own.get(at) == chess.Piece(chess.PAWN, view.color) and chess.square_rank(at) == (3 if view.color else 4)
    if not (
        previous.game_over is None
        # It is of the side that was to move, with its move if that is the player, and this is legal.
        and view.kind == ("own_move" if own_turn else "opp_move")
        and (move is not None) == own_turn
        and (move is None or move in previous.legal_moves or (not previous.ep_known and _is_ep(previous, move)))
        # The enemy's move captures an own piece, on whose square it lands unless a pawn is captured en passant.
        and (lost is None or (not own_turn and lost in own))
        and (landing == lost or (landing is None and passed))
        # Pieces stand on visible squares.
        and 0 <= view.visible < 1 << 64
        and all(0 <= square < 64 and view.sees(square) for square in view.pieces)
    ):
        raise ViewError(f"{where}: got one that does not follow from the view before, expected what the rules allow")
    if move is not None:
        # Let the kernel move the own pieces alone, so that castling and promotion are included.
        out = np.empty(board.WIDTH, dtype=np.uint64)
        moves.make(row_of(own, view.color, previous.castling), encode(move), TABLES, out)
        own = dict(Position(out).pieces)
    own.pop(at, None)
    given = {square: piece for square, piece in view.pieces.items() if piece.color == view.color}
    if given != own:
        odd = min(square for square in {*given, *own} if given.get(square) != own.get(square))
        raise ViewError(
            f"{where}: got {given.get(odd)} on {chess.SQUARE_NAMES[odd]}, expected {own.get(odd, 'no own piece')}"
        )


def _ep_targets(view: View) -> set[int]:
    """Return the empty squares on which the player's pawns may capture en passant, as far as is seen: on the square
    beside the pawn is an enemy pawn, or it is not seen.
    """
    targets = set()
    ahead = 8 if view.color else -8
    for square, piece in view.pieces.items():
        if piece != chess.Piece(chess.PAWN, view.color) or chess.square_rank(square) != (4 if view.color else 3):
            continue
        for beside in (square - 1, square + 1):
            target, stands = beside + ahead, view.pieces.get(beside) == chess.Piece(chess.PAWN, not view.color)
            clear = view.sees(target) and target not in view.pieces and target + ahead not in view.pieces
            if chess.square_distance(square, beside) == 1 and clear and (stands or not view.sees(beside)):
                targets.add(target)
    return targets


def _with_ep(view: View, sent: tuple[chess.Move, ...] | None) -> View:
    """Return ``view`` with its en passant square inferred: from the legal moves, else from the visible squares."""
    if view.kind != "opp_move" or view.own_capture_square is not None or view.game_over is not None:
        return view
    if sent is not None:
        found = {move.to_square for move in sent if _is_ep(view, move)}
        return replace(view, ep_square=found.pop()) if len(found) == 1 else view
    targets = _ep_targets(view)
    # The squares that are seen without any en passant square: if more is seen, that is the target (or, to other hosts,
    # its pawn). A target that another piece sees too stays open.
    otherwise = int(vision.visible(view.row(), 0 if view.color else 1, TABLES))
    behind = -8 if view.color else 8
    for target in targets:
        if view.visible & ~otherwise & (1 << target | 1 << target + behind):
            return replace(view, ep_square=target)
    return replace(view, ep_known=not targets)


def _is_ep(view: View, move: chess.Move) -> bool:
    """Whether ``move`` is an en passant capture, if it is legal."""
    piece = view.pieces.get(move.from_square)
    diagonal = piece == chess.Piece(chess.PAWN, view.color) and (move.to_square - move.from_square) % 8 != 0
    return diagonal and move.to_square in _ep_targets(view)


def _with_own_mask(view: View, where: str) -> View:
    """Return ``view`` with exactly the squares that rule 4 shows; raises ViewError if its pieces do not explain its
    mask.

    Computed from the view's row, the visible squares are those of the true position and, in addition, squares before a
    pawn that an unseen piece blocks.
    """
    # Nothing may be seen that the pieces do not see. Other hosts also show the pawn that can be captured en passant:
    # remove it.
    side = 0 if view.color else 1
    most = int(vision.visible(view.row(), side, TABLES))
    victim = None if view.ep_square is None else view.ep_square + (-8 if view.color else 8)
    extra = view.visible & ~most
    if victim is not None and extra == 1 << victim:
        pieces = {square: piece for square, piece in view.pieces.items() if square != victim}
        view = replace(view, visible=view.visible & ~extra, pieces=pieces)
        extra = 0
    # A square that is hidden although the view's row shows it must be before an own pawn, and seen by no other piece:
    # an unseen piece is there, or blocks the pawn. Pawns are obstacles to other pieces, so only their kind is removed.
    row = view.row()
    pawns = int(row[board.PAWN]) & int(row[board.WHITE + side])
    row[board.PAWN] ^= np.uint64(pawns)
    steps = pawns << 8 | pawns << 16 if view.color else pawns >> 8 | pawns >> 16
    odd = extra | (most & ~view.visible & ~(steps & ~int(vision.visible(row, side, TABLES))))
    if odd:
        raise ViewError(
            f"{where}: got {chess.SQUARE_NAMES[chess.lsb(odd)]} as {'visible' if extra else 'hidden'}, expected "
            f"exactly the squares that {chess.COLOR_NAMES[view.color]}'s pieces see"
        )
    return view
