"""PGN: what is written reads back, what others write reads too, and what is wrong is refused with the game and the
ply."""

from __future__ import annotations

import random

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darkchess import Referee
from darkchess.errors import RecordError
from darkchess.fog.game.record import GameRecord, read_pgn, write_pgn
from klss.play.outcome import Outcome
from klss.support.text import printable
from tests.oracles.starts import STARTS, next_move


def moves(*texts: str) -> tuple[chess.Move, ...]:
    return tuple(map(chess.Move.from_uci, texts))


def one(text: str) -> GameRecord:
    records = read_pgn(text)
    assert len(records) == 1
    return records[0]


def random_records() -> list[GameRecord]:
    rng = random.Random(61)
    records = []
    for number, fen in enumerate(STARTS):
        game = Referee(fen)
        while game.outcome is None and game.ply < 80:
            game.push(next_move(rng, game))
        if game.outcome is None and number % 2:
            game.resign(game.turn)
        headers = {"White": f"player {number}", "Black": 'a "quoted" \\ name', "TimeControl": "180+2"}
        records.append(GameRecord(game.moves, game.outcome, None if number == 0 else fen, headers))
    return records


def test_clocks_are_written_as_comments_where_they_are_known_and_change_nothing_that_is_read() -> None:
    record = GameRecord(moves("e2e4", "e7e5", "g1f3"), clocks_s=(180.0, None, 3661.9))
    text = write_pgn(record)
    assert "1. e4 {[%clk 0:03:00]} 1... e5 2. Nf3 {[%clk 1:01:01]} *" in text
    assert one(text).moves == record.moves


def test_random_games_read_back_as_they_were_written_one_by_one_and_in_one_file() -> None:
    records = random_records()
    for record, back in zip(records, read_pgn("\n".join(map(write_pgn, records))), strict=True):
        assert (back.moves, back.outcome, back.fen) == (record.moves, record.outcome, record.fen)
        assert {name: back.headers[name] for name in record.headers} == record.headers
        assert one(write_pgn(back)) == back == one(write_pgn(record).replace("\n", "\r\n"))
        assert max(len(line) for line in write_pgn(record).splitlines() if line[:1] != "[") < 80


def test_a_record_is_written_with_its_roster_its_variant_and_the_reason() -> None:
    headers = {"White": "a", "Black": "b", "Date": "2026.01.31"}
    hunt = moves("e2e4", "f7f6", "d1h5", "a7a6", "h5e8")
    assert write_pgn(GameRecord(hunt, Outcome(True, "king_captured"), headers=headers)) == (
        '[Event "?"]\n[Site "?"]\n[Date "2026.01.31"]\n[Round "?"]\n[White "a"]\n[Black "b"]\n[Result "1-0"]\n'
        '[Variant "Fog of War"]\n[Termination "king_captured"]\n\n1. e4 f6 2. Qh5 a6 3. Qxe8 1-0\n'
    )


def test_a_start_position_is_written_and_numbers_go_on_from_it() -> None:
    fen = "4k3/8/8/8/8/8/8/R3K3 b Q - 3 41"
    text = write_pgn(GameRecord(moves("e8d8", "e1c1"), None, fen))
    assert '[SetUp "1"]' in text and f'[FEN "{fen}"]' in text and text.endswith("\n\n41... Kd8 42. O-O-O *\n")
    assert one(text).moves == moves("e8d8", "e1c1")


def test_results_reasons_and_names_of_the_variant_read() -> None:
    assert one('[Result "0-1"]\n[Termination "flag"]\n\n1. e4 0-1').outcome == Outcome(False, "flag")
    # The tag has the result where the movetext has none.
    assert one('[Result "0-1"]\n\n1. e4').outcome == Outcome(False, "unknown")
    assert one("1. e4 ½-½").outcome == one("1. e4 1/2-1/2").outcome == Outcome(None, "unknown")
    assert one("1. e4 *").outcome is None
    assert one('[Termination "aborted"]\n\n*').outcome == Outcome(None, "aborted")
    assert one("1. e4 f6 2. Qh5 a6 3. Qxe8 *").outcome == Outcome(True, "king_captured")
    for name in ("Fog of War", "FOGOFWAR", "dark chess"):
        assert one(f'[Variant "{name}"]\n\n1. e4 *').moves == moves("e2e4")
    for unknown in ('[Result "2-0"]\n\n1. e4', '[Result "?"]\n\n1. e4\n'):
        assert one(unknown).outcome is None and one(unknown).moves == moves("e2e4")
    for start in ('[SetUp "0"]\n[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]', '[FEN ""]'):
        assert one(f"{start}\n\n1. e4 *").fen is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1. e4 *\n\n1. d4 d4 *", "game 2: ply 2: illegal move: got 'd4'"),
        ("1. e4\n) e5 *", "got ')'"),
        ("1. e4 e5 2. Sf3 *", "ply 3: misspelt move: got 'Sf3'"),
        ('[FEN "8/8 w"]\n\n*', "game 1: bad FEN"),
        ("1. e4 f6 2. Qh5 a6 3. Qxe8 0-1", "got the result 0-1 after black's king was captured, expected 1-0"),
        ("1. e4 f6 2. Qh5 a6 3. Qxe8 Kf7 *", "game 1: ply 6: illegal move: got 'Kf7'"),
        ("1. e4 --", "misspelt"),
    ],
)
def test_a_bad_record_is_refused_with_game_ply_and_reason(text: str, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        read_pgn(text)
    assert message in str(caught.value) and "expected" in str(caught.value)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='e4d5Nf3. *10-/2(){};$%[]"\\\nWhite', max_size=60))
def test_any_text_is_a_list_of_games_or_a_record_error(text: str) -> None:
    try:
        records = read_pgn(text)
    except RecordError:
        return
    for record in records:
        assert one(write_pgn(record)).moves == record.moves


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["C"]), max_size=30))
def test_any_name_survives_as_it_is_shown(name: str) -> None:
    back = one(write_pgn(GameRecord((), headers={"White": name, "Annotator": name})))
    assert back.headers["White"] == back.headers["Annotator"] == printable(name)
    assert one(write_pgn(back)).headers == back.headers
