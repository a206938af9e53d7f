"""A slow, obvious dark chess: the oracle of every kernel. Written from docs/rules.md alone; imports nothing of ours
and no chess library.

A board is a dict from (file, rank), both 0-7, to a letter as in FEN.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

Square = tuple[int, int]
Move = tuple[Square, Square, str]  # from, to, promotion letter in lower case or ""

ROOK_STEPS = [(1, 0), (-1, 0), (0, 1), (0, -1)]
BISHOP_STEPS = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
KNIGHT_JUMPS = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]


@dataclass(frozen=True)
class Board:
    pieces: dict[Square, str]
    white: bool
    rights: str
    ep: Square | None
    quiet: int = 0


def name(square: Square) -> str:
    return "abcdefgh"[square[0]] + str(square[1] + 1)


def number(square: Square) -> int:
    return 8 * square[1] + square[0]


def square_called(text: str) -> Square:
    return "abcdefgh".index(text[0]), int(text[1]) - 1


def from_fen(fen: str) -> Board:
    placement, turn, rights, ep, *counters = fen.split()
    pieces: dict[Square, str] = {}
    for rank, row in zip(range(7, -1, -1), placement.split("/"), strict=True):
        file = 0
        for sign in row:
            if sign.isdigit():
                file += int(sign)
            else:
                pieces[file, rank] = sign
                file += 1
    board = Board(pieces, turn == "w", rights.strip("-"), None, int(counters[0]) if counters else 0)
    if ep != "-" and any(own_pawn_beside(board, square_called(ep))):
        board = replace(board, ep=square_called(ep))
    return board


def own_pawn_beside(board: Board, target: Square) -> list[bool]:
    """Whether a pawn of the side to move could capture on the en passant square ``target``, from either side."""
    back = -1 if board.white else 1
    pawn = "P" if board.white else "p"
    return [board.pieces.get((target[0] + side, target[1] + back)) == pawn for side in (-1, 1)]


def is_own(piece: str | None, white: bool) -> bool:
    return piece is not None and piece.isupper() == white


def is_enemy(piece: str | None, white: bool) -> bool:
    return piece is not None and piece.isupper() != white


def on_board(square: Square) -> bool:
    return 0 <= square[0] < 8 and 0 <= square[1] < 8


def moves(board: Board) -> list[Move]:
    """Every pseudo-legal move of the side to move."""
    found: list[Move] = []
    pieces, white = board.pieces, board.white
    for (file, rank), piece in pieces.items():
        if not is_own(piece, white):
            continue
        kind = piece.lower()
        here = (file, rank)
        if kind == "p":
            ahead = 1 if white else -1
            targets = []
            if (file, rank + ahead) not in pieces:
                targets.append((file, rank + ahead))
                if rank == (1 if white else 6) and (file, rank + 2 * ahead) not in pieces:
                    targets.append((file, rank + 2 * ahead))
            for side in (-1, 1):
                target = (file + side, rank + ahead)
                if is_enemy(pieces.get(target), white) or (board.ep is not None and target == board.ep):
                    targets.append(target)
            for target in targets:
                found += [(here, target, letter) for letter in ("nbrq" if target[1] in (0, 7) else [""])]
            continue
        if kind in "nk":
            jumps = KNIGHT_JUMPS if kind == "n" else ROOK_STEPS + BISHOP_STEPS
            for step in jumps:
                target = (file + step[0], rank + step[1])
                if on_board(target) and not is_own(pieces.get(target), white):
                    found.append((here, target, ""))
        else:
            for step in (ROOK_STEPS if kind in "rq" else []) + (BISHOP_STEPS if kind in "bq" else []):
                target = (file + step[0], rank + step[1])
                while on_board(target) and not is_own(pieces.get(target), white):
                    found.append((here, target, ""))
                    if target in pieces:
                        break
                    target = (target[0] + step[0], target[1] + step[1])
    home = 0 if white else 7
    for right, between, target_file in (("k", (5, 6), 6), ("q", (1, 2, 3), 2)):
        if (right.upper() if white else right) in board.rights and all((file, home) not in pieces for file in between):
            found.append(((4, home), (target_file, home), ""))
    return found


def king_taken(board: Board) -> bool:
    return not {"K", "k"} <= set(board.pieces.values())


def play(board: Board, move: Move) -> Board:
    start, target, promotion = move
    pieces = dict(board.pieces)
    piece = pieces.pop(start)
    capture = target in pieces
    if piece.lower() == "p" and target == board.ep:
        pieces.pop((target[0], start[1]))
        capture = True
    pieces[target] = (promotion.upper() if board.white else promotion) if promotion else piece
    if piece.lower() == "k" and abs(target[0] - start[0]) == 2:
        kingside = target[0] > start[0]
        pieces[5 if kingside else 3, start[1]] = pieces.pop((7 if kingside else 0, start[1]))
    lost = ""
    for corner, right in (((7, 0), "K"), ((0, 0), "Q"), ((7, 7), "k"), ((0, 7), "q")):
        if corner in (start, target) or (4, corner[1]) in (start, target):
            lost += right
    rights = "".join(right for right in board.rights if right not in lost)
    after = Board(pieces, not board.white, rights, None, 0 if capture or piece.lower() == "p" else board.quiet + 1)
    if piece.lower() == "p" and abs(target[1] - start[1]) == 2:
        middle = (start[0], (start[1] + target[1]) // 2)
        if any(own_pawn_beside(after, middle)):
            after = replace(after, ep=middle)
    return after


def seen(board: Board, white: bool) -> set[Square]:
    """Squares that one side sees: its own and the destinations of its moves, as if it were its turn."""
    own_turn = board.white == white
    board = replace(board, white=white, ep=board.ep if own_turn else None)
    return {square for square, piece in board.pieces.items() if is_own(piece, white)} | {
        move[1] for move in moves(board)
    }


def uci(move: Move) -> str:
    return name(move[0]) + name(move[1]) + move[2]


def perft(board: Board, depth: int) -> int:
    """Number of move sequences of length ``depth``; a king capture ends a line and counts only as its last move."""
    if depth == 0:
        return 1
    if king_taken(board):
        return 0
    if depth == 1:
        return len(moves(board))
    return sum(perft(play(board, move), depth - 1) for move in moves(board))


def fen(board: Board) -> str:
    """The FEN of ``board`` without the last counter."""
    rows = []
    for rank in range(7, -1, -1):
        row = "".join(board.pieces.get((file, rank), ".") for file in range(8))
        for run in range(8, 0, -1):
            row = row.replace("." * run, str(run))
        rows.append(row)
    rights = "".join(right for right in "KQkq" if right in board.rights) or "-"
    return (
        f"{'/'.join(rows)} {'w' if board.white else 'b'} {rights} {name(board.ep) if board.ep else '-'} {board.quiet}"
    )
