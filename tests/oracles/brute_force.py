"""Every position consistent with one player's views, the slow and obvious way: all successors are made, and each is
looked at.

Plain Python with fog rules of its own, written from docs/rules.md alone; imports no kernel and nothing of the project.
A position is ``(board, turn, castling, ep)``: 64 letters from a1 to h8 (``.`` empty), ``"w"`` or ``"b"``, the rights as
a string, the en passant square or −1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

Position = tuple[str, str, str, int]


class Look(NamedTuple):
    """What a player sees after a ply: seen squares, the pieces on them, its rights, the en passant square it observes,
    and what it lost where."""

    seen: frozenset[int]
    pieces: tuple[tuple[int, str], ...]
    castling: str
    ep: int
    lost: int
    landed: int


def _steps(deltas: list[tuple[int, int]], length: int) -> list[list[list[int]]]:
    table = []
    for square in range(64):
        rays = []
        for file_step, rank_step in deltas:
            ray = []
            for k in range(1, length + 1):
                file, rank = square % 8 + k * file_step, square // 8 + k * rank_step
                if 0 <= file < 8 and 0 <= rank < 8:
                    ray.append(8 * rank + file)
            if ray:
                rays.append(ray)
        table.append(rays)
    return table


_STRAIGHT = [(0, 1), (0, -1), (1, 0), (-1, 0)]
_SLANTED = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
RAYS = {
    "n": _steps([(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)], 1),
    "k": _steps(_STRAIGHT + _SLANTED, 1),
    "b": _steps(_SLANTED, 7),
    "r": _steps(_STRAIGHT, 7),
    "q": _steps(_STRAIGHT + _SLANTED, 7),
}
_DIAGONALS = {"w": _steps([(-1, 1), (1, 1)], 1), "b": _steps([(-1, -1), (1, -1)], 1)}


def parse(fen: str) -> Position:
    """The position of a FEN; an en passant square that nobody can use is dropped."""
    placement, turn, castling, ep = fen.split()[:4]
    rows = []
    for row in placement.split("/"):
        rows.append("".join("." * int(letter) if letter.isdigit() else letter for letter in row))
    board = "".join(reversed(rows))
    position = (board, turn, "" if castling == "-" else castling, -1)
    if ep != "-":
        square = "abcdefgh".index(ep[0]) + 8 * (int(ep[1]) - 1)
        if _can_take_ep(board, turn, square):
            position = (board, turn, position[2], square)
    return position


def _mine(letter: str, side: str) -> bool:
    return letter != "." and letter.isupper() == (side == "w")


def _can_take_ep(board: str, side: str, target: int) -> bool:
    back = _DIAGONALS["b" if side == "w" else "w"][target]
    return any(board[square] == ("P" if side == "w" else "p") for ray in back for square in ray)


def _targets(board: str, square: int, side: str, ep: int) -> Iterator[int]:
    """Where the piece on ``square`` can go, castling apart."""
    kind = board[square].lower()
    if kind == "p":
        ahead = 8 if side == "w" else -8
        if board[square + ahead] == ".":
            yield square + ahead
            if square // 8 == (1 if side == "w" else 6) and board[square + 2 * ahead] == ".":
                yield square + 2 * ahead
        for ray in _DIAGONALS[side][square]:
            if ray[0] == ep or (board[ray[0]] != "." and not _mine(board[ray[0]], side)):
                yield ray[0]
        return
    for ray in RAYS[kind][square]:
        for target in ray:
            if board[target] == ".":
                yield target
                continue
            if not _mine(board[target], side):
                yield target
            break


def _castlings(position: Position) -> Iterator[tuple[int, int]]:
    board, turn, castling, _ = position
    home = 4 if turn == "w" else 60
    if ("K" if turn == "w" else "k") in castling and board[home + 1 : home + 3] == "..":
        yield home, home + 2
    if ("Q" if turn == "w" else "q") in castling and board[home - 3 : home] == "...":
        yield home, home - 2


def moves(position: Position) -> Iterator[tuple[int, int, str]]:
    """Every move of the side to move: from, to, and the letter promoted to (lower case, empty for none)."""
    board, turn, _, ep = position
    for square in range(64):
        if _mine(board[square], turn):
            for target in _targets(board, square, turn, ep):
                if board[square] in "Pp" and target // 8 in (0, 7):
                    for promotion in "nbrq":
                        yield square, target, promotion
                else:
                    yield square, target, ""
    for origin, target in _castlings(position):
        yield origin, target, ""


def has_move(position: Position) -> bool:
    """Whether the side to move has a move."""
    return next(moves(position), None) is not None


def taken(position: Position, move: tuple[int, int, str]) -> int:
    """The square from which ``move`` takes a piece, −1 when it takes none."""
    board, turn, _, ep = position
    if board[move[1]] != ".":
        return move[1]
    if board[move[0]] in "Pp" and move[1] == ep:
        return ep - 8 if turn == "w" else ep + 8
    return -1


def play(position: Position, move: tuple[int, int, str]) -> Position:
    """The position after ``move``."""
    board, turn, castling, _ = position
    origin, target, promotion = move
    cells = list(board)
    lost = taken(position, move)
    if lost >= 0:
        cells[lost] = "."
    piece = cells[origin]
    cells[origin] = "."
    cells[target] = (promotion.upper() if turn == "w" else promotion) if promotion else piece
    if piece in "Kk" and abs(target - origin) == 2:
        corner, inner = (target + 1, target - 1) if target > origin else (target - 2, target + 1)
        cells[inner], cells[corner] = cells[corner], "."
    for right, squares in (("K", (4, 7)), ("Q", (4, 0)), ("k", (60, 63)), ("q", (60, 56))):
        if origin in squares or target in squares:
            castling = castling.replace(right, "")
    after = "".join(cells)
    other = "b" if turn == "w" else "w"
    ep = -1
    if piece in "Pp" and abs(target - origin) == 16 and _can_take_ep(after, other, (origin + target) // 2):
        ep = (origin + target) // 2
    return after, other, castling, ep


def look(position: Position, side: str, lost: int = -1, landed: int = -1) -> Look:
    """What ``side`` sees (docs/rules.md, rule 4)."""
    board, turn, castling, ep = position
    said = ep if turn == side else -1
    seen = {square for square in range(64) if _mine(board[square], side)}
    for square in list(seen):
        seen.update(_targets(board, square, side, said))
    pieces = tuple((square, board[square]) for square in sorted(seen) if board[square] != ".")
    rights = "".join(right for right in castling if right.isupper() == (side == "w"))
    return Look(frozenset(seen), pieces, rights, said, lost, landed)


def over(position: Position) -> bool:
    """Whether a king is gone or the side to move has no move."""
    return "K" not in position[0] or "k" not in position[0] or not has_move(position)


def step(positions: set[Position], side: str, move: tuple[int, int, str] | None, seen: Look) -> set[Position]:
    """The positions one ply after ``positions`` that agree with what ``side`` then sees.

    ``move`` is its own, None after an enemy move.
    """
    after = set()
    looked_at = set()
    shown = {**dict.fromkeys(seen.seen, "."), **dict(seen.pieces)}
    for position in positions:
        for candidate in moves(position) if move is None else [move]:
            lost = landed = -1
            if move is None:
                lost = taken(position, candidate)
                landed = candidate[1] if lost == candidate[1] else -1
                if lost != seen.lost or landed != seen.landed:
                    continue
            elif candidate not in moves(position):
                continue
            child = play(position, candidate)
            if child in looked_at:
                continue
            looked_at.add(child)
            # A position that shows other pieces on the same squares looks different: no need to look closer.
            if any(child[0][square] != letter for square, letter in shown.items()):
                continue
            if not over(child) and look(child, side, lost, landed) == seen:
                after.add(child)
    return after
