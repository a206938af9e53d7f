"""``klss track``: sizes of both sets, and its JSON."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

LINE = "e4 e5 Nf3 d5 exd5 Qxd5 Nc3 Qe4 Nxe4 Nc6 Ng3 Nf6"


NEVER = {"white": None, "black": None}


@pytest.mark.parametrize(
    ("arguments", "moves", "black", "capped"),
    [
        # White's first move is one of 20, and Black sees none of them. After 1... e5 both pawns are blocked: each side
        # knows that the other's square is occupied, which no other first move does.
        ("--moves '1. e4 e5'", ["e4", "e5"], [1, 20, 1], NEVER),
        # a list ends at the last size that fits the cap, and the other goes on
        ("--moves 'Nf3 a6 Nc3' --cap 19", ["Nf3", "a6", "Nc3"], [1], {"white": None, "black": 1}),
        # on, where a draw by repetition could have been claimed
        (f"--moves '{'Nf3 Nf6 Ng1 Ng8 ' * 2}e4'", [*["Nf3", "Nf6", "Ng1", "Ng8"] * 2, "e4"], [1, 20], NEVER),
        # before a king is captured
        ("--moves 'e2e4 f7f6 d1h5 a7a6 h5e8'", ["e4", "f6", "Qh5", "a6"], [1, 20], NEVER),
        # both know the start; a king on e1 has five squares, and a king on e8 sees none of them
        ("--moves 'Kd2 Kd7' --fen '4k3/8/8/8/8/8/8/4K3 w - - 0 1'", ["Kd2", "Kd7"], [1, 5], NEVER),
    ],
)
def test_sizes_are_those_counted_by_hand(
    klss: Any, arguments: str, moves: list[str], black: list[int], capped: dict[str, int | None]
) -> None:
    document = klss("track", *shlex.split(arguments), "--json").document
    assert document.keys() == {"moves", "white", "black", "capped"}
    assert document["moves"] == moves and document["capped"] == capped and document["white"][:2] == [1, 1]
    assert document["black"][: len(black)] == black and len(document["white"]) == len(moves) + 1
    assert len(document["black"]) == (len(moves) + 1 if capped == NEVER else 1)


def test_a_pgn_gives_the_same_sizes_as_its_moves(klss: Any, tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text('[Variant "Fog of War"]\n\n1. e4 {a comment} d5 2. exd5 Qxd5 3. Nc3 *\n')
    from_pgn = klss("track", "--pgn", "game.pgn", "--json")
    from_moves = klss("track", "--moves", "e4 d5 exd5 Qxd5 Nc3", "--json", "--seed", "5")
    assert from_pgn.code == 0 and from_pgn.out == from_moves.out


def test_neither_threads_nor_streaming_change_a_size(klss: Any) -> None:
    line = "Nf3 a6 Nc3 h6 e3 b6 d3 g6"
    plain = klss("track", "--moves", line, "--json")
    for flags in (["--threads", "1"], ["--stream"], ["--stream", "--threads", "1"]):
        assert klss("track", "--moves", line, "--json", *flags).out == plain.out
    # Counted by the brute-force enumerator, see tests/darkchess/fog/test_position_set_samples.py.
    assert plain.document["black"][:9] == [1, 20, 20, 246, 246, 2365, 2365, 18947, 18947]
