"""Files of games: every server's form reads, what can't be read costs one game and no other, memory stays bounded."""

from __future__ import annotations

import gzip
import io
import itertools
import zipfile
from pathlib import Path

import pytest

from darkchess.errors import RecordError
from darkchess.fog.game import archive
from darkchess.fog.game.archive import games_of
from darkchess.fog.game.record import GameRecord, WrittenGame, written_games
from klss.play.outcome import Outcome

HUNT = "1. e4 f6 2. Qh5+ a6 3. Qxe8# 1-0"
PYCHESS = f'[White "a"]\n[Black "b"]\n[Result "1-0"]\n[Variant "Fogofwar"]\n\n{HUNT}\n\n'
LICHESS = (
    '[White "c"]\n[Black "d"]\n[Result "0-1"]\n[Variant "Fog of War"]\n[Termination "Time forfeit"]\n\n'
    "1. e4 { [%clk 0:03:00] } 1... e5 { [%clk 0:02:59] } 2. Nf3 { [%eval 0.2] } 0-1\n\n"
)
TAGS = '[White "e"]\n[Black "f"]\n[RuleVariants "EnPassant FogOfWar Play4Mate"]\n'
# Chess.com writes moves in long notation, with what they capture; on a board of 14 files ours begins at d4.
CHESS_COM = f'{TAGS}[Variant "Fog of War"]\n\n1. e2-e4 Nb8-c6 2. d2-d4 Nc6xd4 3. Qd1xNd4 e7-e5 4. R\n\n'
ON_14_FILES = f'{TAGS}[Variant "FFA"]\n\n1. h5-h7 .. Ne11-f9\n2. g5-g7 .. Nf9xg7\n3. Qg4xNg7 .. h10-h8\n4. T\n\n'
TABLE = """a|b|1500|1600|3+2|1-0|king|e4 f6 Qh5+ a6 Qxe8#
c|d|?|?|10 min|1/2-1/2|draw|d4
broken|line
e|f|1|2|1+3|0-1|time|a3
"""


A, B = '[White "Ann"]\n[Black "Bob"]\n', '[White "Cy"]\n[Black "Dee"]\n'


def read(path: Path) -> list[WrittenGame]:
    games = list(games_of(path))
    assert [game.number for game in games] == list(range(1, len(games) + 1))
    return games


def of(text: str, path: Path) -> list[WrittenGame]:
    path.write_text(text, encoding="utf-8")
    return read(path)


def outcomes(games: list[WrittenGame]) -> list[Outcome | str | None]:
    """How each game ended, or the complaint."""

    def one(game: WrittenGame) -> Outcome | str | None:
        try:
            return game.record().outcome
        except RecordError as error:
            return str(error)

    return [one(game) for game in games]


def test_every_servers_form_reads(tmp_path: Path) -> None:
    games = of(PYCHESS + LICHESS + CHESS_COM + ON_14_FILES, tmp_path / "all.pgn")
    ends = [(True, "king_captured"), (False, "Time forfeit"), (False, "resign"), (False, "flag")]
    assert outcomes(games) == [Outcome(*each) for each in ends]
    same: list[GameRecord] = [game.record() for game in games[2:]]
    assert same[0].moves == same[1].moves and len(same[0].moves) == 6


def test_a_last_letter_says_how_the_game_was_left_and_the_result_who_won(tmp_path: Path) -> None:
    form = f"{TAGS}{{}}\n\n1. e2-e4 e7-e5 2. {{}}\n\n"
    texts = [form.format('[Result "1-0"]', "R"), form.format("", "P"), form.format('[Result "0-1"]', "P")]
    found = outcomes(of("".join(texts), tmp_path / "x.pgn"))
    assert found == [Outcome(True, "resign"), None, Outcome(False, "unknown")]
    text = f'{A}\n1. e4 e5 * 1-0\n\n{A}\n1. d4 0-1 1-0\n\n{A}\n1. e4 1–0\n\n{A}[Result "½–½"]\n\n1. d4\n'
    assert outcomes(of(text, tmp_path / "y.pgn")) == [Outcome(each, "unknown") for each in (True, False, True, None)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (PYCHESS.replace("Fogofwar", "Standard"), "got the variant 'Standard', expected 'Fog of War'"),
        (CHESS_COM.replace(" FogOfWar", ""), "got the rules 'EnPassant Play4Mate', expected FogOfWar"),
        (CHESS_COM.replace("Play4Mate", "Crazyhouse"), "expected FogOfWar with EnPassant and Play4Mate alone"),
        ("1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n\n", "got 'Qxf7#' at the end, a mate of chess"),
        ('[ECO "C20"]\n\n1. e4 e5 1-0\n\n', "got an opening of chess (ECO 'C20')"),
        ("[Event \"half\"]\n\n1. e4 e5 2. Nf3 {[%clk 0:0\n", "expected a comment that ends"),
        ("[Event \"half\"]\n\n1. e4 e5 (2. Nf3\n", "1 variations left open"),
        ("[Event \"x\"]\n\n1. e4 e5 2. Qxe5 1-0\n", "ply 3: illegal move"),
        ("[Event \"x\"]\n\n" + "Nf3 Nf6 Ng1 Ng8 " * 3001 + "\n", "got 12,004 moves, expected at most 12,000"),
        ("[Event \"x\"]\n\n" + "x" * (5 << 20) + "\n", "got more than 4,194,304 characters"),
    ],
)  # fmt: skip
def test_a_game_that_is_refused_costs_no_other(text: str, says: str, tmp_path: Path) -> None:
    found = outcomes(of(PYCHESS + text + LICHESS, tmp_path / "x.pgn"))
    assert isinstance(found[1], str) and found[1].startswith("game 2") and says in found[1]
    assert [found[0], *found[2:]] == [Outcome(True, "king_captured"), Outcome(False, "Time forfeit")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # a game without moves keeps its tags to itself, also its start and with one blank line only
        (f'{A}[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n\n\n{B}\n1. e4 e5 2. Nf3 Nc6 *\n', [("Ann", 0), ("Cy", 4)]),
        (f"{A}\n{B}\n1. e4 e5 *\n", [("Ann", 0), ("Cy", 2)]),
        (f'{A}\n\n\n[Event "x"]\n\n1. e4 e5 *\n', [("Ann", 0), ("?", 2)]),
        (f"{A}\n*\n\n{B}\n*\n", [("Ann", 0), ("Cy", 0)]),
        (f'[Event "cut"]\n{A}[Event "x"]\n{B}\n1. e4 *\n', [("Ann", 0), ("Cy", 1)]),
        (f'{A}±\n[Event "x"]\n\n1. e4 *\n', [("Ann", 1)]),
        (f'{A}\n[Event "x"]\n\n1. e4 *\n', [("Ann", 1)]),  # one blank line may divide the tags of a game
        (f'{A}[White "again"]\n\n1. e4 *\n', [("again", 1)]),
        # what is no tag of PGN is skipped, and a quote may stand in a value
        (f'{A}[X-Id "1"]\n[odd]\n[Round 3]\n\n1. e4 *\n\n{B}\n1. d4 *\n', [("Ann", 1), ("Cy", 1)]),
        ('[X-Id "1"]\n\n1. e4 *\n\n[X-Id "2"]\n\n1. d4 d5 *\n', [("?", 1), ("?", 2)]),
        ('[White "Ann "the fox" B."]\n\n1. e4 *\n', [('Ann "the fox" B.', 1)]),
        ('[White "Ann \\"the fox\\" B."] [Black "b"]\n1. e4 *\n', [('Ann "the fox" B.', 1)]),
        # signs, figurines, dashes
        (f"{A}\n1. e4! e5 2. Nf3 ± Nc6 += 3. Bb5 N $14 a6 ⩲ *\n", [("Ann", 6)]),
        (f"{A}\n1. e2–e4 e7—e5 2. ♘f3 ♞c6 3. ♗b5 a6 4. O–O ♝e7 1–0\n", [("Ann", 8)]),
        # results: the first that says who won counts, what follows it in its line is skipped
        (f"{A}\n1. e4 e5 1-0 Black resigned.\n\n{B}\n1. d4 *\n", [("Ann", 2), ("Cy", 1)]),
        (f"{A}\n1. e4 e5 1/2\n1/2-1/2\n\n{B}\n1. d4 *\n", [("Ann", 2), ("Cy", 1)]),
        ("1. e4 *\n*\n1. d4 d5 *\n", [("?", 1), ("?", 2)]),
        # escaped lines, marks of byte order, variations at once
        (f"% a line\n{A}% another\n\n1. e4\n% and one more 1. d4\ne5 *\n", [("Ann", 2)]),
        (f'{TAGS}[White "Ann"]\n\n1. h5-h7 .. R\n\n{TAGS}[White "Cy"]\n\n1. Ne4-f6 .. T\n', [("Ann", 1), ("Cy", 1)]),
        (f"\ufeff{A}\n1. e4 *\n\n\ufeff{B}\n1. d4 (1. c4 (1. b4)) d5 *\n", [("Ann", 1), ("Cy", 2)]),
    ],
)
def test_a_reader_skips_what_it_may_and_no_game_shifts_the_numbers_of_the_others(
    text: str, found: list[tuple[str, int]], tmp_path: Path
) -> None:
    games = of(text + LICHESS, tmp_path / "x.pgn")
    records = [game.record() for game in games]
    assert [(record.headers.get("White", "?"), len(record.moves)) for record in records] == [*found, ("c", 3)]


def test_a_table_has_a_game_a_line(tmp_path: Path) -> None:
    games = of(TABLE, tmp_path / "x.txt")
    assert outcomes(games) == [
        Outcome(True, "king_captured"),
        Outcome(None, "unknown"),
        "game 3: got 2 fields in a table of games, expected 8",
        Outcome(False, "flag"),
    ]
    assert games[0].record().headers["BlackElo"] == "1600"


def zipped(members: dict[str, bytes]) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return into.getvalue()


def corrupt(data: bytes) -> bytes:
    return data[:40] + bytes(byte ^ 0xFF for byte in data[40:60]) + data[60:]


def test_packed_files_read_as_what_is_in_them(tmp_path: Path) -> None:
    plain = tmp_path / "plain.pgn"
    plain.write_text(PYCHESS + LICHESS)
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read(packed) == read(plain)
    packed.write_bytes(zipped({"a.pgn": PYCHESS.encode(), "b/c.pgn.gz": gzip.compress(LICHESS.encode()), ".no": b"x"}))
    assert read(packed) == read(plain)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x89PNG\0\0", ["game 1: got bytes that are no text"]),
        (gzip.compress(PYCHESS.encode(), mtime=0)[:-9], ["king_captured", "game 2: Compressed file ended"]),
        (gzip.compress(PYCHESS.encode(), mtime=0)[:5], ["game 1: Compressed file ended"]),
        (b"PK\x03\x04no zip", ["game 1: File is not a zip file"]),
        (zipped({"a.png": b"\0", "b.pgn": PYCHESS.encode()}), ["game 1: a.png: got bytes", "king_captured"]),
        (corrupt(zipped({"a.pgn": PYCHESS.encode()})), ["game 1: a.pgn: Error -3 while decompressing"]),
        (zipped({"a.pgn": b""}).replace(b"\x14\0", b"\x5a\0"), ["game 1: zip file version 9.0"]),
        (zipped({"é": b""}).replace("é".encode(), b"\xff\xff"), ["game 1: 'utf-8' codec can't decode"]),
        (zipped({"é": b""}).replace("é".encode(), b"\xff\xff", 1), ["game 1: é: 'utf-8' codec can't decode"]),
    ],
)
def test_what_is_no_text_or_was_cut_is_one_line_and_what_reads_is_kept(
    data: bytes, says: list[str], tmp_path: Path
) -> None:
    (tmp_path / "x").write_bytes(data)
    found = [str(each) for each in outcomes(read(tmp_path / "x"))]
    assert len(found) == len(says) and all(said in line for line, said in zip(found, says, strict=True)), found


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_that_unpacks_more_than_is_asked_for_is_refused_and_the_others_are_read(
    method: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "x", "w") as made:
        made.writestr("bomb.pgn", " " * (1 << 20), method)
        made.writestr("a.pgn", PYCHESS)
    found = outcomes(read(tmp_path / "x"))
    assert str(found[0]).startswith(f"game 1: bomb.pgn: got it packed by method {method}")
    assert found[1:] == [Outcome(True, "king_captured")]
    monkeypatch.setattr(archive, "_MOST_ZIP_BYTES", 100)
    assert "got a zip of more than 100 bytes" in str(outcomes(read(tmp_path / "x"))[0])


def test_names_in_another_encoding_cost_no_game(tmp_path: Path) -> None:
    (tmp_path / "x.pgn").write_bytes(PYCHESS.replace('"a"', '"Jürgen"').encode("latin-1") + LICHESS.encode())
    assert len([game.record() for game in read(tmp_path / "x.pgn")]) == 2


@pytest.mark.parametrize("split", [140, 200, 1 << 16])
def test_where_blocks_end_changes_nothing(split: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (PYCHESS + CHESS_COM + LICHESS + "1. e4 {\n") * 2 + LICHESS
    whole = of(text, tmp_path / "x.pgn")
    monkeypatch.setattr(archive, "_BLOCK_BYTES", split)
    assert [game.words for game in read(tmp_path / "x.pgn")] == [game.words for game in whole]
    assert len(whole) == 9


def test_a_file_that_unpacks_without_end_is_left_where_enough_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MOST_BYTES", 8 << 20)
    (tmp_path / "x.zip").write_bytes(zipped({"a.pgn": PYCHESS.encode() + b" " * (9 << 20)}))
    found = outcomes(read(tmp_path / "x.zip"))
    assert "got more than 4,194,304 characters" in str(found[0])
    assert "a.pgn: got more than 8,388,608 bytes" in str(found[1])


def test_games_are_read_one_by_one_whatever_follows() -> None:
    lines = io.StringIO(PYCHESS + LICHESS).readlines()
    games = written_games(itertools.cycle(lines))
    assert [game.words for game in itertools.islice(games, 2, 4)] == [game.words for game in itertools.islice(games, 2)]
