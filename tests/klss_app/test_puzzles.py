"""``klss puzzles``: the packaged ones hold, what they are proved by is right, more are found, people can try them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from darkchess.board.position import Position
from darkchess.fog.analysis.puzzles import CLEAR, KING, THEMES, Puzzle, Study
from experiments.puzzles import made
from klss_app.puzzles import explained, read_puzzles
from tests.klss_app.suite_laws import WORTH, parsed, uci
from tests.oracles import brute_force

# 4... Qxg5 takes a knight on the line of a bishop: Bxg5 wins the queen, for a bishop at most. White does not, and may a
# move later.
GAME = "1. d4 e5 2. Nf3 e4 3. Ng5 Qe7 4. Nc3 Qxg5 5. a3 a6 6. Bxg5 b6 *"


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


def few(puzzles: list[Puzzle]) -> list[Puzzle]:
    """Two of each theme with the fewest possible positions."""
    by_size = sorted(puzzles, key=lambda each: each.proof.positions)
    return [each for theme in THEMES for each in [one for one in by_size if one.theme == theme][:2]]


def test_there_are_a_hundred_of_every_theme_all_rated() -> None:
    puzzles = read_puzzles()
    assert len(puzzles) >= 100 and {each.theme for each in puzzles} == set(THEMES)
    assert all(each.solved and 0.0 <= (each.rating or 0.0) <= 1.0 for each in puzzles)
    assert len({(each.moves, each.solution) for each in puzzles}) == len(puzzles)
    assert all(each.proof.sure - each.proof.next >= CLEAR for each in puzzles)


def test_proofs_hold_by_a_search_that_shares_no_code() -> None:
    for puzzle in few(read_puzzles()):
        assert puzzle.proved()
        rows = puzzle.known.rows(np.arange(min(puzzle.known.size, 3)))
        for row in rows:
            position = brute_force.parse(Position(row).fen())
            one = Study(row[None, :], puzzle.game.legal_moves())
            for at, move in enumerate(brute_force.moves(position)):
                at = one.moves.index(chess.Move.from_uci(uci(move)))
                assert (one._sure[at], one._bounded[at, 0, 1]) == bounds(position, move), (puzzle.source, uci(move))


@pytest.mark.slow
def test_every_packaged_puzzle_is_proved_anew() -> None:
    assert all(puzzle.proved() for puzzle in read_puzzles())


def test_a_wrong_move_is_answered_by_a_position_that_is_possible_and_refutes_it() -> None:
    for puzzle in few(read_puzzles()):
        wrong = next(move for move in puzzle.game.legal_moves() if move != puzzle.solution)
        against = puzzle.study.refutation(wrong)
        assert puzzle.known.contains(against.position.row) and against.balance <= puzzle.proof.sure - CLEAR
        position = brute_force.parse(against.position.fen())
        assert bounds(position, parsed(wrong.uci()))[1] == against.balance
        assert f"{puzzle.proof.positions:,} positions" in " ".join(explained(puzzle, wrong, against))


def test_the_reply_that_is_shown_is_the_one_that_refutes_a_move() -> None:
    # And no other, that takes more and is taken back.
    for puzzle in few(read_puzzles()):
        for wrong in set(puzzle.game.legal_moves()) - {puzzle.solution}:
            against = puzzle.study.refutation(wrong)
            assert against.reply is not None
            position, move, reply = (
                brute_force.parse(against.position.fen()), parsed(wrong.uci()), parsed(against.reply.uci())
            )  # fmt: skip
            after = brute_force.play(position, move)
            won, lost = gain(position, move), gain(after, reply)
            end = brute_force.play(after, reply)
            then = max((gain(end, last) for last in brute_force.moves(end)), default=0)
            assert against.balance == (-KING if lost >= KING else won - lost + then)


@pytest.fixture
def mine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A file of the puzzles in an archive that has a game twice, and one of another variant."""
    (tmp_path / "games.pgn").write_text(f'{GAME}\n\n[Variant "Atomic"]\n\n1. e4 *\n\n{GAME}\n')
    found = list(made(tmp_path / "games.pgn", None))
    assert [each.solution.uci() for each in found] == ["c1g5", "c1g5"] and all(each.proved() for each in found)
    assert "Atomic" in capsys.readouterr().err
    assert len(list(made(tmp_path / "games.pgn", 1))) == 1
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(each.document() | {"solved": {}}) + "\n" for each in found))
    return path


def test_a_right_move_and_a_wrong_one_in_the_terminal(klss: Any, mine: Path) -> None:
    ran = klss("puzzles", "mine.jsonl", "--ascii", typed="Bxg5\n\nh3\n")
    assert "Right: Bxg5." in ran.out and "You found 1 of 2." in ran.out, ran.out + ran.err
    assert "h3 is not sure" in ran.out and "Could have been" in ran.out
    assert klss("puzzles", "mine.jsonl", typed="quit\n").out.endswith("You found 0 of 0.\n")
    assert "Right is Bxg5." in klss("puzzles", "mine.jsonl", typed="resign\n").out


def test_what_is_shown_before_the_answer_is_the_movers_view(klss: Any, mine: Path) -> None:
    ran = klss("puzzles", "mine.jsonl", "--ascii", typed="quit\n")
    board = [line[3:].split() for line in ran.out.splitlines() if line[1:2].isdigit()][:8]
    puzzle = read_puzzles(str(mine))[0]
    view = puzzle.views[-1]
    for rank, row in enumerate(reversed(board)):
        for file, sign in enumerate(row):
            square = 8 * rank + file
            piece = view.piece_at(square)
            assert sign == (piece.symbol() if piece else "." if view.sees(square) else "?")


def test_a_proof_that_does_not_hold_is_found(mine: Path) -> None:
    mine.write_text(mine.read_text().replace('"sure": 8', '"sure": 7'))
    assert not read_puzzles(str(mine))[0].proved()


@pytest.mark.parametrize(
    "arguments", [["nothing.jsonl"], ["bad.jsonl"], ["--number", "9999"], ["--theme", "mate"]], ids=" ".join
)
def test_bad_input_is_one_line(klss: Any, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "bad.jsonl").write_text('{"theme": "win", "moves": "e2e5"}\n')
    ran = klss("puzzles", *arguments)
    assert ran.code == 2 and len(ran.err.splitlines()) == 1 and ran.out == ""
