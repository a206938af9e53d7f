"""The referee and the position set of Reconnaissance Blind Chess against reconchess and OpenSpiel, game by game.

Needs the extra ``rbc``, and OpenSpiel for its part.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import chess
from reconchess import LocalGame

from darkchess.board.position import Position
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.contest import Look, Player
from darkchess.rbc.game.observation import Moved
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.configuration import configuration, make_player
from klss.support.seeds import game_seed, player_seed
from klss.table.limits import Limit
from klss_app.cli.rbc.boards import BoardSet, board_key

__all__ = ["Compared", "SetsCompared", "against_openspiel", "against_reconchess", "sets"]

_WHIMS = 0.25
"""How often a player of :func:`sets` asks for something at random, so that games differ."""

_NODES = 100
_SHOWN = 5
_SENSIBLE = "rbc-expect,sense=reduction,unaware=0,threads=1"
"""Who plays there: sets stay as small as in games."""

Say = Callable[[str], None]


@dataclass
class Compared:
    """Games that two referees played.

    Attributes
    ----------
    games, turns
        How many.
    differences
        What differed, the first few in words.
    different
        How often something differed.
    """

    games: int = 0
    turns: int = 0
    different: int = 0
    differences: list[str] = field(default_factory=list)

    def hold(self, what: str, ours: object, theirs: object) -> bool:
        """Whether these are equal; counts it if not."""
        if ours == theirs:
            return True
        self.different += 1
        if len(self.differences) < _SHOWN:
            self.differences.append(f"game {self.games}, turn {self.turns}: {what}: ours {ours!r}, theirs {theirs!r}")
        return False


@dataclass
class SetsCompared:
    """Position sets that were followed through games.

    Attributes
    ----------
    games, checks
        How many; a check looks for the true position after a notice, a sense, or a move's result.
    lost
        Checks of exact sets without the true position.
    sampled
        Checks left out as the set was a sample.
    equal_games, equal_checks
        Games, and looks in them, in which every set was equal to reconchess's while that was followed.
    unequal
        Looks in which it was not.
    largest
        Positions in the largest set.
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
    """A request at random; captures, castlings and passes more often than chance has them."""
    taking = [move for move in requests if board.piece_at(move.to_square)]
    castling = [move for move in requests if board.is_castling(move)]
    if castling and rng.random() < 0.3:
        return rng.choice(castling)
    if taking and rng.random() < 0.2:
        return rng.choice(taking)
    return rng.choice([None, *requests])


def against_reconchess(games: int, seed: int, say: Say = lambda line: None) -> Compared:
    """Play games by both referees: boards, notices, requests, results, ends."""
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

    OpenSpiel has no requests without a promotion and no sense at the edge; it plays what both can.
    """
    import pyspiel

    found = Compared()
    rules = pyspiel.load_game("rbc")
    for game in range(games):
        rng = random.Random(game_seed(seed, game))
        theirs, ours = rules.new_initial_state(), Referee()
        while not theirs.is_terminal() and ours.outcome is None:
            theirs.apply_action(rng.choice(theirs.legal_actions()))  # where to look; nobody learns of it
            ours.sense(None)
            names = {theirs.action_to_string(action): action for action in theirs.legal_actions()}
            both = [move for move in ours.requests() if move.uci() in names]
            move = rng.choice([None, *both] if "pass" in names else both)
            theirs.apply_action(names["pass" if move is None else move.uci()])
            ours.move(move)
            found.turns += 1
            fields = 3 if ours.outcome is None else 2  # it leaves rights to a side that has lost its king
            if not found.hold("board", _key(ours.position).split()[:fields], str(theirs).split()[:fields]):
                break
        found.games += 1
        if found.games % 50 == 0:
            say(f"OpenSpiel: {found.games} games, {found.turns:,} turns, {found.different} differences")
    return found


def sets(games: int, seed: int, *, compared: int, most: int = 3000, say: Say = lambda line: None) -> SetsCompared:
    """Follow both players' position sets through games of our players.

    Parameters
    ----------
    games
        How many.
    seed
        Of them all.
    compared
        In how many of them the sets are held against reconchess's, board by board.
    most
        ... as long as these have at most so many boards.
    """
    found = SetsCompared()
    for game in range(games):
        one = game_seed(seed, game)
        players = {
            color: make_player(configuration(_SENSIBLE), seed=player_seed(one, chess.COLOR_NAMES[color]))
            for color in chess.COLORS
        }
        _follow(found, players, random.Random(one), game < compared, most)
        found.games += 1
        if found.games % 10 == 0:
            say(
                f"{found.games} games, {found.checks:,} checks, {found.lost} lost; equal in {found.equal_checks:,} "
                f"looks, unequal in {found.unequal}; the largest set had {found.largest:,}"
            )
    return found


def _follow(
    found: SetsCompared, players: dict[chess.Color, Player], rng: random.Random, compared: bool, most: int
) -> None:
    game = Referee()
    known = {color: PositionSet(color, game.position) for color in chess.COLORS}
    boards = {color: BoardSet(color) for color in chess.COLORS} if compared else {}
    for color, player in players.items():
        player.start(color, game.position)
    limit = Limit(nodes=_NODES)
    unequal = found.unequal

    def look(color: chess.Color, position: Position, *, own: bool) -> None:
        mine = known[color]
        found.largest = max(found.largest, mine.size)
        if mine.capped_by is not None:
            found.sampled += 1
            return
        found.checks += 1
        found.lost += not mine.contains(position.row)
        if color in boards:
            if len(boards[color].boards) > most:
                del boards[color]
            elif own:
                same = {_key(held) for held in mine} == set(boards[color].boards)
                found.equal_checks += same
                found.unequal += not same
            else:  # en passant is the opponent's now, and in none of our halves
                ours = {" ".join(_key(held).split()[::2]) for held in mine}
                same = ours == {" ".join(key.split()[:3:2]) for key in boards[color].boards}
                found.equal_checks += same
                found.unequal += not same

    while game.outcome is None:
        color = game.turn
        player, mine = players[color], known[color]
        notice = game.notice
        mine.noticed(notice)
        player.notice(notice)
        if color in boards:
            boards[color].noticed(notice.square)
        look(color, game.position, own=True)
        seen: Look = player.choose_sense(limit)
        sensed = game.sense(seen.square)
        mine.sensed(sensed)
        player.sensed(sensed)
        if color in boards:
            boards[color].sensed(list(sensed.contents))
        look(color, game.position, own=True)
        request = player.choose_move(limit).request
        if rng.random() < _WHIMS:
            request = rng.choice([None, *game.requests()])
        moved: Moved = game.move(request)
        if game.outcome is not None:
            break
        mine.moved(moved)
        player.moved(moved)
        if color in boards:
            boards[color].moved(moved.requested, moved.taken, moved.capture_square)
        look(color, game.position, own=False)
    found.equal_games += compared and found.unequal == unequal


def _key(position: Position) -> str:
    return " ".join(position.fen().split()[:4])
