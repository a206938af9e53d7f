"""The far side of the wall: the true game as a server reports it, move by move, and the views that may cross.

A lichess-style server sends *all* true moves of both sides, in a game whose point is that neither side sees the
other's. Only this file and :mod:`uci_bridge.bot.game` on the bridge see them. An engine gets
:class:`darkchess.fog.game.view.View` objects, which the project's own referee makes here.

The server decides draws: after a repetition, fifty moves or the ply limit this game continues while the server sends
moves, since a bridge that stops at a draw that its server does not see would lose on time. Once the server reports the
end, :meth:`TrueGame.ending` finds the reason, as far as the rules determine it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import chess

from darkchess.errors import DarkchessError
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import PYCHESS
from darkchess.fog.game.san import parse_move
from klss.play.outcome import Outcome
from uci_bridge.errors import UciBridgeError


class Unfollowable(UciBridgeError, ValueError):
    """The server's moves or start position break our rules."""


class ServerReferee(Referee):
    """A referee that does not end a game by repetition, fifty moves or length: the server decides these draws."""

    def _judge(self) -> Outcome | None:
        outcome = super()._judge()
        return outcome if outcome is not None and outcome.reason in ("king_captured", "no_move") else None


class TrueGame:
    """One game from ``fen`` (None: the usual start), which follows the server's moves. Raises Unfollowable: no game can
    start there.
    """

    def __init__(self, fen: str | None = None) -> None:
        self.fen = fen
        self._said: list[str] = []
        self.referee = self._from_start()  # of all that it knows, only its views may cross the wall

    def _from_start(self) -> ServerReferee:
        try:
            return ServerReferee(self.fen, PYCHESS)
        except DarkchessError as error:
            raise Unfollowable(f"start position: {error}") from None

    @property
    def decided(self) -> bool:
        """Whether a king is gone or the side to move has no move: nothing is left to play, whatever the server says."""
        return self.referee.outcome is not None

    def follow(self, moves: Sequence[str]) -> bool:
        """Bring the game to the server's state; return whether moves were taken back.

        ``moves`` are all moves from the start, in UCI; if they do not begin with the known ones, moves were taken back.
        Raises Unfollowable: they are not the moves of a game; the game then stays where it was.
        """
        if list(moves[: len(self._said)]) == self._said:
            self._push(self.referee, moves[len(self._said) :])
            self._said = list(moves)
            return False
        fresh, before = self._from_start(), self.referee.moves
        self._push(fresh, moves)
        self.referee, self._said = fresh, list(moves)
        return fresh.moves[: len(before)] != before  # if equal, only the notation changed (castling)

    @staticmethod
    def _push(referee: Referee, moves: Sequence[str]) -> None:
        """Play all of ``moves``, or none."""
        position, legal = referee.position, list[chess.Move]()
        for text in moves:
            try:
                move = parse_move(position, text)
                if referee.outcome is not None or position.king(position.turn) is None:
                    raise Unfollowable(f"got {text} after the game's end")
                position = position.after(move)
            except (DarkchessError, ValueError) as error:
                raise Unfollowable(f"ply {referee.ply + len(legal) + 1}: {error}") from None
            legal.append(move)
        for move in legal:
            referee.push(move)

    def ending(self, last: chess.Move | None = None) -> tuple[tuple[chess.Move, ...], Outcome | None]:
        """The moves of the finished game and its outcome; None if the rules do not determine it.

        ``last`` is a move that was sent and never shown: servers may not show the move that ends a game.
        """
        played = self.referee.moves
        choices = (played, (*played, last)) if last is not None else (played,)
        # First by captures alone, since the server may have let a draw pass.
        for kind, moves in itertools.product((ServerReferee, Referee), choices):
            game = kind(self.fen, PYCHESS)
            for move in moves:
                if game.outcome is None and game.position.is_legal(move):
                    game.push(move)
            if game.outcome is not None and game.ply == len(moves):
                return moves, game.outcome
            if game.outcome is not None and game.outcome.winner is None:
                return moves, game.outcome  # a draw that the server noticed some plies later
        return played, None

    def end(self, outcome: Outcome) -> None:
        """Put the outcome into both sides' last views, once."""
        if self.referee.outcome is None:
            self.referee.end(outcome)
