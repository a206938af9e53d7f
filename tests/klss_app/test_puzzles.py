"""``klss puzzles``: the packaged ones hold, what they are proved by is right, people can try them."""

from __future__ import annotations

from typing import Any

import chess
import pytest

from darkchess.board.position import Position
from darkchess.fog.analysis._kernels.sure import LEAST, MOST
from darkchess.fog.analysis.puzzles import CLEAR, KING, THEMES, Puzzle, material, proved
from darkchess.fog.players.named_fog_players import LEVELS
from klss_app.puzzles import explained, puzzles
from tests.klss_app.suite_laws import WORTH, parsed, uci
from tests.oracles import brute_force


def gain(position: brute_force.Position, move: tuple[int, int, str]) -> int:
    """What a move takes and becomes, by the oracle."""
    taken = brute_force.taken(position, move)
    worth = 0 if taken < 0 else KING if position[0][taken] in "kK" else WORTH[position[0][taken].lower()]
    return worth + (WORTH[move[2]] - 1 if move[2] else 0)


def bounds(position: brute_force.Position, move: tuple[int, int, str]) -> tuple[int, int]:
    """What a move comes to after the best reply, without and with one more capture; each king that falls ends it."""
    won = gain(position, move)
    if won >= KING:
        return KING, KING
    after = brute_force.play(position, move)
    replies = [(gain(after, reply), brute_force.play(after, reply)) for reply in brute_force.moves(after)]
    if any(lost >= KING for lost, _ in replies):
        return -KING, -KING
    then = [max((gain(end, last) for last in brute_force.moves(end)), default=0) for _, end in replies]
    if replies and all(last >= KING for last in then):
        return KING, KING
    lowest = min((won - lost for lost, _ in replies), default=won)
    highest = min((won - lost + last for (lost, _), last in zip(replies, then, strict=True)), default=won)
    return lowest, highest


def holds(puzzle: Puzzle) -> bool:
    """Whether theme, solution and proof follow from the moves, with everything computed again."""
    return proved(puzzle.rows, puzzle.game.legal_moves()) == (puzzle.theme, puzzle.solution, puzzle.proof)


def few() -> list[Puzzle]:
    """Two of each theme with the fewest possible positions."""
    return [each for theme in THEMES for each in sorted(puzzles(theme), key=lambda one: one.proof.positions)[:2]]


def test_there_are_a_hundred_of_every_theme_all_rated() -> None:
    every = puzzles()
    assert len(every) >= 100 and {each.theme for each in every} == set(THEMES)
    assert all(list(each.solved) == list(LEVELS)[: each.level] for each in every)  # tried until one level finds it
    levels = [each.level for each in every]
    assert set(levels) == {*range(1, 9), None} and sum(each in (1, 2) for each in levels) <= len(every) / 3
    assert len({(each.moves, each.solution) for each in every}) == len(every)
    assert all(each.proof.sure - each.proof.next >= CLEAR and each.proof.short >= 0.05 for each in every)


def test_proofs_hold_by_a_search_that_shares_no_code() -> None:
    for puzzle in few():
        assert holds(puzzle)
        for row in puzzle.rows[:3]:
            position = brute_force.parse(Position(row).fen())
            for move in brute_force.moves(position):
                one = (chess.Move.from_uci(uci(move)),)
                least, most = (material(row[None, :], one, bounded_above=each)[0, 0] for each in (False, True))
                assert (least[LEAST], most[MOST]) == bounds(position, move), (puzzle.source, uci(move))


@pytest.mark.slow
def test_every_packaged_puzzle_is_proved_anew() -> None:
    assert [each.source for each in puzzles() if not holds(each)] == []


def test_a_wrong_move_is_answered_by_a_possible_position_and_the_reply_that_refute_it() -> None:
    """And by no other reply, that takes more and is taken back."""
    for puzzle in few():
        for wrong in set(puzzle.game.legal_moves()) - {puzzle.solution}:
            against = puzzle.against(wrong)
            assert against is not None and against.reply is not None and puzzle.known.contains(against.position.row)
            assert against.balance <= puzzle.proof.sure - CLEAR
            position, move = brute_force.parse(against.position.fen()), parsed(wrong.uci())
            assert bounds(position, move)[1] == against.balance
            after, reply = brute_force.play(position, move), parsed(against.reply.uci())
            won, lost, end = gain(position, move), gain(after, reply), brute_force.play(after, reply)
            then = max((gain(end, last) for last in brute_force.moves(end)), default=0)
            assert against.balance == (-KING if lost >= KING else won - lost + then)
        assert f"{puzzle.proof.positions:,} positions" in " ".join(explained(puzzle, wrong, against))


def test_a_right_move_and_a_wrong_one_in_the_terminal(klss: Any) -> None:
    first, second = puzzles("win")[:2]
    wrong = next(move for move in second.game.legal_moves() if move != second.solution)
    ran = klss("puzzles", "--theme", "win", "--ascii", typed=f"{first.solution.uci()}\n\n{wrong.uci()}\nquit\n")
    assert "Right: " in ran.out and "You found 1 of 2." in ran.out, ran.out + ran.err
    assert "is not sure" in ran.out and "Could have been" in ran.out
    assert klss("puzzles", typed="quit\n").out.endswith("You found 0 of 0.\n")
    assert "Right is " in klss("puzzles", typed="resign\nquit\n").out


def test_what_is_shown_before_the_answer_is_the_movers_view(klss: Any) -> None:
    puzzle = puzzles()[0]
    ran = klss("puzzles", "--ascii", typed="quit\n")
    board = [line[3:].split() for line in ran.out.splitlines() if line[1:2].isdigit()][:8]
    view = puzzle.views[-1]
    signs = [sign for row in board for sign in row]
    for place, sign in enumerate(signs if puzzle.color else signs[::-1]):
        square = place ^ 56
        piece = view.piece_at(square)
        assert sign == (piece.symbol() if piece else "." if view.sees(square) else "?")
