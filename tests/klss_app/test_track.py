"""``klss track``: sizes of both sets, and its JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

LINE = "e4 e5 Nf3 d5 exd5 Qxd5 Nc3 Qe4 Nxe4 Nc6 Ng3 Nf6"


def test_sizes_after_the_first_plies_are_those_counted_by_hand(klss: Any) -> None:
    # White's first move is one of 20, and Black sees none of them. After 1... e5 both pawns are blocked: each side
    # knows that the other's square is occupied, which no other first move does.
    ran = klss("track", "--moves", "1. e4 e5", "--json")
    assert ran.document == {
        "moves": ["e4", "e5"],
        "white": [1, 1, 1],
        "black": [1, 20, 1],
        "capped": {"white": None, "black": None},
    }


def test_a_list_ends_at_the_last_size_that_fits_the_cap_and_the_other_goes_on(klss: Any) -> None:
    ran = klss("track", "--moves", "Nf3 a6 Nc3", "--json", "--cap", "19")
    document = ran.document
    assert document["capped"] == {"white": None, "black": 1}
    assert document["black"] == [1] and len(document["white"]) == 4


def test_tracking_ends_before_a_king_is_captured(klss: Any) -> None:
    ran = klss("track", "--moves", "e2e4 f7f6 d1h5 a7a6 h5e8", "--json")
    document = ran.document
    assert document["moves"] == ["e4", "f6", "Qh5", "a6"]
    assert len(document["white"]) == len(document["black"]) == 5


def test_a_pgn_gives_the_same_sizes_as_its_moves(klss: Any, tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text('[Variant "Fog of War"]\n\n1. e4 {a comment} d5 2. exd5 Qxd5 3. Nc3 *\n')
    from_pgn = klss("track", "--pgn", "game.pgn", "--json")
    from_moves = klss("track", "--moves", "e4 d5 exd5 Qxd5 Nc3", "--json", "--seed", "5")
    assert from_pgn.code == 0 and from_pgn.out == from_moves.out


def test_a_start_position_from_fen_is_known_to_both(klss: Any) -> None:
    ran = klss("track", "--moves", "Kd2 Kd7", "--fen", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "--json")
    document = ran.document
    assert document["white"][0] == document["black"][0] == 1
    assert document["black"][1] == 5  # a king on e1 has five squares, and a king on e8 sees none of them


def test_without_json_every_ply_is_a_line(klss: Any) -> None:
    ran = klss("track", "--moves", "e4 e5")
    assert [line.split() for line in ran.out.splitlines()] == [
        ["ply", "move", "White", "Black"],
        ["0", "1", "1"],
        ["1", "e4", "1", "20"],
        ["2", "e5", "1", "1"],
    ]


def test_neither_threads_nor_streaming_change_a_size(klss: Any) -> None:
    line = "Nf3 a6 Nc3 h6 e3 b6 d3 g6"
    plain = klss("track", "--moves", line, "--json")
    for flags in (["--threads", "1"], ["--stream"], ["--stream", "--threads", "1"]):
        assert klss("track", "--moves", line, "--json", *flags).out == plain.out
    # Counted by the brute-force enumerator, see tests/darkchess/fog/test_position_set_samples.py.
    assert plain.document["black"][:9] == [1, 20, 20, 246, 246, 2365, 2365, 18947, 18947]
