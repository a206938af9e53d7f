"""Bots of ``reconchess`` that do what bots do: most of them something wrong."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from typing import Any

import chess
from reconchess import Player


class Plain(Player):  # type: ignore[misc]
    """Plays at random; the others differ in their third move."""

    def handle_game_start(self, color: bool, board: chess.Board, opponent_name: str) -> None:
        self.turns = 0

    def handle_opponent_move_result(self, captured_my_piece: bool, capture_square: int | None) -> None:
        self.turns += 1

    def choose_sense(self, sense_actions: Any, move_actions: Any, seconds_left: float) -> Any:
        return random.choice(sense_actions)

    def handle_sense_result(self, sense_result: Any) -> None:
        pass

    def choose_move(self, move_actions: Any, seconds_left: float) -> Any:
        return self.third(move_actions) if self.turns == 3 else random.choice([None, *move_actions])

    def third(self, move_actions: Any) -> Any:
        return None

    def handle_move_result(self, requested: Any, taken: Any, captured: bool, capture_square: int | None) -> None:
        pass

    def handle_game_end(self, winner_color: bool | None, win_reason: Any, game_history: Any) -> None:
        pass


class Killed(Plain):
    def third(self, move_actions: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class Hangs(Plain):
    def third(self, move_actions: Any) -> Any:
        time.sleep(600)


class Leaves(Plain):
    def third(self, move_actions: Any) -> Any:
        sys.exit(3)


class Nonsense(Plain):
    def third(self, move_actions: Any) -> Any:
        return "e2e4, I think\x1b[31m"


class NoSuchMove(Plain):
    def third(self, move_actions: Any) -> Any:
        return chess.Move(chess.A1, chess.H7)


class NoSuchSquare(Plain):
    def choose_sense(self, sense_actions: Any, move_actions: Any, seconds_left: float) -> Any:
        return 64 if self.turns == 3 else None


class HangsWhenTold(Plain):
    def handle_move_result(self, requested: Any, taken: Any, captured: bool, capture_square: int | None) -> None:
        time.sleep(600)


class Talks(Plain):
    """Prints, by every way there is, reads stdin, changes directories, patches chess: no harm to anybody."""

    def choose_move(self, move_actions: Any, seconds_left: float) -> Any:
        print('{"number": 3, "move": "e2e4"}')
        sys.stdout.flush()
        os.write(1, b"\0\xff not JSON\n")
        os.system("echo from a shell")
        assert sys.stdin.read() == "" and os.read(0, 1) == b""
        os.chdir("/")
        chess.Board.push = None  # type: ignore[assignment, method-assign]
        return move_actions[0]


class Curious(Plain):
    """Tells by the square where it looks what it found: a8 for nothing that it should not have."""

    def choose_sense(self, sense_actions: Any, move_actions: Any, seconds_left: float) -> Any:
        found = [value for value in os.environ.values() if "a-secret" in value]
        found += [name for name in os.environ if "TOKEN" in name]
        return chess.H1 if found else chess.A8


def get_player() -> type[Player]:
    return Plain
