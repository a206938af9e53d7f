"""Compare the referee and the position set of Reconnaissance Blind Chess with reconchess and OpenSpiel, game by game.

It needs the extra ``rbc``, and OpenSpiel for the comparison with it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import chess
from reconchess import LocalGame
from reconchess.utilities import add_pawn_queen_promotion, capture_square_of_move, move_actions, revise_move

from darkchess.board.position import Position
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.observation import Moved, Notice, Sensed
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.configuration import configuration, make_player
from klss.support.seeds import game_seed, player_seed
from klss.table.limits import Limit

__all__ = ["BoardSet", "Compared", "SetsCompared", "against_openspiel", "against_reconchess", "board_key", "sets"]

_WHIMS = 0.25
"""Share of the turns in which a player of :func:`sets` makes a random request, so that games differ."""

_NODES = 100
_SHOWN = 5
_SENSIBLE = "rbc-expect,sense=reduction,unaware=0,threads=1"
"""The player there, by which sets stay as small as in real games."""

Say = Callable[[str], None]


class BoardSet:
    """The position set of the player of ``color`` from the usual start, by reconchess's functions; boards by
    :func:`board_key`."""

    def __init__(self, color: chess.Color) -> None:
        self.boards = {board_key(chess.Board()): chess.Board()}
        self._color = color
        self._first = color == chess.WHITE

    def noticed(self, square: int | None) -> None:
        """Begin the player's turn; the opponent captured on ``square``, or nowhere (None)."""
        if self._first:
            self._first = False
            return
        found = {}
        for board in self.boards.values():
            played = {None if asked is None else revise_move(board, asked) for asked in [None, *move_actions(board)]}
            for taken in played:
                if capture_square_of_move(board, taken) != square:
                    continue
                after = board.copy(stack=False)
                after.push(taken if taken is not None else chess.Move.null())
                if after.king(self._color) is not None:
                    found[board_key(after)] = after
        self.boards = found

    def sensed(self, contents: list[tuple[int, chess.Piece | None]]) -> None:
        """Keep the boards with these contents."""
        self.boards = {
            key: board
            for key, board in self.boards.items()
            if all(board.piece_at(square) == piece for square, piece in contents)
        }

    def moved(self, requested: chess.Move | None, taken: chess.Move | None, square: int | None) -> None:
        """Play a request, and keep the boards with the same result and the same square of a capture."""
        found = {}
        for board in self.boards.values():
            made = None if requested is None else revise_move(board, add_pawn_queen_promotion(board, requested))
            if made != taken or capture_square_of_move(board, made) != square:
                continue
            after = board.copy(stack=False)
            after.push(made if made is not None else chess.Move.null())
            if after.king(not self._color) is not None:
                found[board_key(after)] = after
        self.boards = found


def board_key(board: chess.Board) -> str:
    """A FEN's first four fields; with an en passant square only if a pawn of the side to move is beside it."""
    fields = board.fen(en_passant="fen").split()
    if board.ep_square is not None:
        beside = chess.SquareSet(chess.BB_PAWN_ATTACKS[not board.turn][board.ep_square])
        if not board.pieces(chess.PAWN, board.turn) & beside:
            fields[3] = "-"
    return " ".join(fields[:4])


@dataclass
class Compared:
    """Games played by two referees: the number of differences, and the first few in words."""

    games: int = 0
    turns: int = 0
    different: int = 0
    differences: list[str] = field(default_factory=list)

    def hold(self, what: str, ours: object, theirs: object) -> bool:
        """Return whether these are equal, and count a difference if not."""
        if ours == theirs:
            return True
        self.different += 1
        if len(self.differences) < _SHOWN:
            self.differences.append(f"game {self.games}, turn {self.turns}: {what}: ours {ours!r}, theirs {theirs!r}")
        return False


@dataclass
class SetsCompared:
    """Position sets that were followed through games.

    A check looks for the true position after a notice, a sense, or a move's result. ``lost``: checks of exact sets
    without it; ``sampled``: checks left out since the set was a sample. ``equal_games`` and ``equal_checks``: those in
    which every set was equal to reconchess's while that was followed; ``unequal``: checks in which it was not.
    """

    games: int = 0
    checks: int = 0
    lost: int = 0
    sampled: int = 0
    equal_games: int = 0
    equal_checks: int = 0
    unequal: int = 0
    largest: int = 0


def _asked(rng: random.Random, board: chess.Board, requests: list[chess.Move]) -> chess.Move | None:
    """A random request, with captures, castlings and passes more often than uniform."""
    taking = [move for move in requests if board.piece_at(move.to_square)]
    castling = [move for move in requests if board.is_castling(move)]
    if castling and rng.random() < 0.3:
        return rng.choice(castling)
    if taking and rng.random() < 0.2:
        return rng.choice(taking)
    return rng.choice([None, *requests])


def against_reconchess(games: int, seed: int, say: Say = lambda line: None) -> Compared:
    """Play games with both referees, and compare boards, notices, requests, results and ends."""
    found = Compared()
    for game in range(games):
        rng = random.Random(game_seed(seed, game))
        theirs, ours = LocalGame(seconds_per_player=None), Referee()
        theirs.start()
        while not theirs.is_over() and ours.outcome is None:
            requests = theirs.move_actions()
            square = rng.choice([None, *chess.SQUARES])
            same = found.hold("notice", ours.notice.square, theirs.opponent_move_results())
            same &= found.hold("requests", {str(move) for move in ours.requests()}, {str(move) for move in requests})
            same &= found.hold("sense", ours.sense(square).contents, tuple(map(tuple, theirs.sense(square))))
            asked = _asked(rng, theirs.board, requests)
            fields = ours.move(asked)
            same &= found.hold("result", (fields.requested, fields.taken, fields.capture_square), theirs.move(asked))
            same &= found.hold("board", _key(ours.position), board_key(theirs.board))
            theirs.end_turn()
            found.turns += 1
            if not same:
                break
        winner = None if ours.outcome is None else ours.outcome.winner
        found.hold("end", (ours.outcome is not None, winner), (theirs.is_over(), theirs.get_winner_color()))
        found.games += 1
        if found.games % 100 == 0:
            say(f"{found.games} games, {found.turns:,} turns, {found.different} differences")
    return found


def against_openspiel(games: int, seed: int, say: Say = lambda line: None) -> Compared:
    """The same against OpenSpiel's ``rbc``: boards and rights after every move, up to its draws by repetition.

    OpenSpiel has no pawn requests without a promotion and no senses at the edge; only what both have is played.
    """
    import pyspiel

    found = Compared()
    rules = pyspiel.load_game("rbc")
    for game in range(games):
        rng = random.Random(game_seed(seed, game))
        theirs, ours = rules.new_initial_state(), Referee()
        while not theirs.is_terminal() and ours.outcome is None:
            theirs.apply_action(rng.choice(theirs.legal_actions()))  # a random look; its result is not used
            ours.sense(None)
            names = {theirs.action_to_string(action): action for action in theirs.legal_actions()}
            both = [move for move in ours.requests() if move.uci() in names]
            move = rng.choice([None, *both] if "pass" in names else both)
            theirs.apply_action(names["pass" if move is None else move.uci()])
            ours.move(move)
            found.turns += 1
            fields = 3 if ours.outcome is None else 2  # OpenSpiel keeps the castling rights of a lost king
            if not found.hold("board", _key(ours.position).split()[:fields], str(theirs).split()[:fields]):
                break
        found.games += 1
        if found.games % 50 == 0:
            say(f"OpenSpiel: {found.games} games, {found.turns:,} turns, {found.different} differences")
    return found


def sets(games: int, seed: int, *, compared: int, most: int = 3000, say: Say = lambda line: None) -> SetsCompared:
    """Follow both players' position sets through games of our players. In ``compared`` of the games they are compared
    with reconchess's, board by board, while these have at most ``most`` boards.
    """
    found = SetsCompared()
    for game in range(games):
        one = game_seed(seed, game)
        unequal = found.unequal
        _follow(found, one, most if game < compared else 0)
        found.games += 1
        found.equal_games += game < compared and found.unequal == unequal
        if found.games % 10 == 0:
            say(
                f"{found.games} games, {found.checks:,} checks, {found.lost} lost; equal in {found.equal_checks:,} "
                f"looks, unequal in {found.unequal}; the largest set had {found.largest:,}"
            )
    return found


class _Followed:
    """One seat of a game: its player, its position set, and, up to ``most`` boards, the set by reconchess's
    functions."""

    def __init__(self, found: SetsCompared, color: chess.Color, game: Referee, seed: int, most: int) -> None:
        self.player = make_player(configuration(_SENSIBLE), seed=player_seed(seed, chess.COLOR_NAMES[color]))
        self.player.start(color, game.position)
        self._ours = PositionSet(color, game.position)
        self._theirs = BoardSet(color) if most else None
        self._found, self._most = found, most

    def observe(self, observed: Notice | Sensed | Moved, truth: Position) -> None:
        """Add an observation, and check the sets after it."""
        if isinstance(observed, Notice):
            self._ours.noticed(observed)
            if self._theirs is not None:
                self._theirs.noticed(observed.square)
        elif isinstance(observed, Sensed):
            self._ours.sensed(observed)
            if self._theirs is not None:
                self._theirs.sensed(list(observed.contents))
        else:
            self._ours.moved(observed)
            if self._theirs is not None:
                self._theirs.moved(observed.requested, observed.taken, observed.capture_square)
        self.player.observe(observed)
        self._look(truth, own=not isinstance(observed, Moved))

    def _look(self, truth: Position, *, own: bool) -> None:
        found = self._found
        found.largest = max(found.largest, self._ours.size)
        if self._ours.capped_by is not None:
            found.sampled += 1
            return
        found.checks += 1
        found.lost += not self._ours.contains(truth.row)
        if self._theirs is not None and len(self._theirs.boards) > self._most:
            self._theirs = None
        if self._theirs is None:
            return
        ours, theirs = {_key(held) for held in self._ours}, set(self._theirs.boards)
        if not own:  # an en passant right is then the opponent's, which our half positions don't hold
            ours, theirs = ({" ".join(key.split()[:3:2]) for key in keys} for keys in (ours, theirs))
        found.equal_checks += ours == theirs
        found.unequal += ours != theirs


def _follow(found: SetsCompared, seed: int, most: int) -> None:
    """Play a game, and check both sets after each observation; ``most`` 0: our set alone."""
    game, rng = Referee(), random.Random(seed)
    seats = {color: _Followed(found, color, game, seed, most) for color in chess.COLORS}
    limit = Limit(nodes=_NODES)
    while game.outcome is None:
        seat = seats[game.turn]
        seat.observe(game.notice, game.position)
        seat.observe(game.sense(seat.player.choose_sense(limit).square), game.position)
        request = seat.player.choose_move(limit).request
        if rng.random() < _WHIMS:
            request = rng.choice([None, *game.requests()])
        moved = game.move(request)
        if game.outcome is None:
            seat.observe(moved, game.position)


def _key(position: Position) -> str:
    return " ".join(position.fen().split()[:4])
