"""Which moves are right in an entry of the suite, by brute force over every position that the player can't rule out.

Plain Python over :mod:`tests.oracles.brute_force`; shares no code with the engine. A *turn* is the true position, the
possible ones (the true one among them) and the player's moves, which are the same in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from tests.oracles import brute_force, pawn_ending
from tests.oracles.brute_force import Position

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
WORTH = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9, "k": 0, ".": 0}
KING = 100

Move = tuple[int, int, str]


class Turn(NamedTuple):
    truth: Position
    possible: frozenset[Position]
    moves: tuple[Move, ...]


def parsed(text: str) -> Move:
    """A move of UCI text."""
    origin, target = ("abcdefgh".index(text[i]) + 8 * (int(text[i + 1]) - 1) for i in (0, 2))
    return origin, target, text[4:]


def uci(move: Move) -> str:
    return "".join("abcdefgh"[square % 8] + str(square // 8 + 1) for square in move[:2]) + move[2]


def turn(fen: str | None, moves: Iterable[str]) -> Turn:
    """The turn after ``moves``, for whoever is then to move."""
    line = [parsed(text) for text in moves]
    truth = brute_force.parse(fen or START)
    side = truth[1] if len(line) % 2 == 0 else "b" if truth[1] == "w" else "w"
    possible = {truth}
    for move in line:
        lost = landed = -1
        own = truth[1] == side
        if not own:
            lost = brute_force.taken(truth, move)
            landed = move[1] if lost == move[1] else -1
        truth = brute_force.play(truth, move)
        seen = brute_force.look(truth, side, lost, landed)
        possible = brute_force.step(possible, side, move if own else None, seen)
    assert truth in possible
    return Turn(truth, frozenset(possible), tuple(brute_force.moves(truth)))


def king_falls(position: Position) -> bool:
    """Whether the side to move can take the king."""
    enemy = "k" if position[1] == "w" else "K"
    return any(position[0][move[1]] == enemy for move in brute_force.moves(position))


def takes_king(turn: Turn) -> set[Move]:
    """Moves that take the king; one that can be taken is seen, so it stands there in every possible position."""
    enemy = "k" if turn.truth[1] == "w" else "K"
    return {move for move in turn.moves if turn.truth[0][move[1]] == enemy}


def king_kept(turn: Turn) -> set[Move]:
    """Moves after which the king can't be taken in the *true* position, which the player does not know."""
    return {move for move in turn.moves if not king_falls(brute_force.play(turn.truth, move))}


def _after(turn: Turn, which: Callable[[Iterable[bool]], bool], holds: Callable[[Position], bool]) -> set[Move]:
    """Moves after which something holds in ``all`` possible positions, or in ``any``."""
    return {move for move in turn.moves if which(holds(brute_force.play(position, move)) for position in turn.possible)}


def king_safe(turn: Turn) -> set[Move]:
    """Moves after which the king can't be taken in *any* possible position."""
    return _after(turn, all, lambda position: not king_falls(position))


def king_not_given(turn: Turn) -> set[Move]:
    """Moves after which there is a possible position in which the king can't be taken."""
    return _after(turn, any, lambda position: not king_falls(position))


def wins_for_certain(turn: Turn) -> set[Move]:
    """Moves after which, in every possible position, the king falls next whatever is answered, or nothing can be."""
    return _after(turn, all, _lost)


def _lost(position: Position) -> bool:
    return not king_falls(position) and all(
        king_falls(brute_force.play(position, reply)) for reply in brute_force.moves(position)
    )


def sure_gain(turn: Turn) -> set[Move]:
    """Captures and promotions with the largest gain that is sure: what is taken and what the pawn becomes, less the
    man that moved if it can be taken back, and less a king's worth if its own can be taken, in any possible position.
    """
    gains = {move: min(_gain(position, move) for position in turn.possible) for move in turn.moves}
    most = max(gains.values())
    assert most > 0, "nothing is sure to be won here"
    return {move for move, gain in gains.items() if gain == most}


def _gain(position: Position, move: Move) -> int:
    board = position[0]
    taken = brute_force.taken(position, move)
    piece = board[move[0]].lower()
    gain = WORTH[board[taken].lower()] if taken >= 0 else 0
    if move[2]:
        gain += WORTH[move[2]] - WORTH["p"]
        piece = move[2]
    after = brute_force.play(position, move)
    if king_falls(after):
        return gain - KING
    if any(reply[1] == move[1] for reply in brute_force.moves(after) if brute_force.taken(after, reply) == move[1]):
        gain -= WORTH[piece]
    return gain


def win_kept(turn: Turn) -> set[Move]:
    """Moves after which king and pawn win in every possible position, by the table of that ending; White to move."""
    return _after(turn, all, pawn_ending.wins)


def draw_kept(turn: Turn) -> set[Move]:
    """Moves after which king and pawn win in no possible position, by the table of that ending; Black to move."""
    return _after(turn, all, lambda position: not pawn_ending.wins(position))


_LAWS = (takes_king, king_kept, king_safe, king_not_given, wins_for_certain, sure_gain, win_kept, draw_kept)
LAWS: dict[str, Callable[[Turn], set[Move]]] = {law.__name__.replace("_", " "): law for law in _LAWS}
