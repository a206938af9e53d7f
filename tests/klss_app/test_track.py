"""``klss track``: sizes of both sets, and its JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.filter import Filter
from darkchess.fog.belief.policy import Policy
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.san import parse_move

LINE = "e4 e5 Nf3 d5 exd5 Qxd5 Nc3 Qe4 Nxe4 Nc6 Ng3 Nf6"


def test_sizes_after_the_first_plies_are_those_counted_by_hand(klss: Any) -> None:
    # White's first move is one of 20, and Black sees none of them. After 1... e5 both pawns are blocked: each side
    # knows that the other's square is occupied, which no other first move does.
    ran = klss("track", "--moves", "1. e4 e5", "--json")
    assert json.loads(ran.out) == {
        "moves": ["e4", "e5"],
        "white": [1, 1, 1],
        "black": [1, 20, 1],
        "capped": {"white": None, "black": None},
    }


def test_a_list_ends_at_the_last_size_that_fits_the_cap_and_the_other_goes_on(klss: Any) -> None:
    ran = klss("track", "--moves", "Nf3 a6 Nc3", "--json", "--cap", "19")
    document = json.loads(ran.out)
    assert document["capped"] == {"white": None, "black": 1}
    assert document["black"] == [1] and len(document["white"]) == 4


def test_tracking_ends_before_a_king_is_captured(klss: Any) -> None:
    ran = klss("track", "--moves", "e2e4 f7f6 d1h5 a7a6 h5e8", "--json")
    document = json.loads(ran.out)
    assert document["moves"] == ["e4", "f6", "Qh5", "a6"]
    assert len(document["white"]) == len(document["black"]) == 5


def test_a_pgn_gives_the_same_sizes_as_its_moves(klss: Any, tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text('[Variant "Fog of War"]\n\n1. e4 {a comment} d5 2. exd5 Qxd5 3. Nc3 *\n')
    from_pgn = klss("track", "--pgn", "game.pgn", "--json")
    from_moves = klss("track", "--moves", "e4 d5 exd5 Qxd5 Nc3", "--json", "--seed", "5")
    assert from_pgn.code == 0 and from_pgn.out == from_moves.out


def test_a_start_position_from_fen_is_known_to_both(klss: Any) -> None:
    ran = klss("track", "--moves", "Kd2 Kd7", "--fen", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "--json")
    document = json.loads(ran.out)
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
    assert json.loads(plain.out)["black"][:9] == [1, 20, 20, 246, 246, 2365, 2365, 18947, 18947]


def test_with_weights_the_truth_has_what_the_filter_gives_to_it(klss: Any) -> None:
    document = json.loads(klss("track", "--moves", LINE, "--weights", "--json").out)
    plain = json.loads(klss("track", "--moves", LINE, "--json").out)
    shown = document.pop("weights")
    assert document == plain and {name: len(each) for name, each in shown.items()} == {"white": 13, "black": 13}
    game = Referee()
    weighers = {color: Filter(Policy.packaged(), BuiltinEvaluator()) for color in chess.COLORS}
    known = {
        color: PositionSet(game.view(color), game.position, weigher=weigher) for color, weigher in weighers.items()
    }
    for ply, word in enumerate(LINE.split(), 1):
        game.push(parse_move(game.position, word))
        for color, positions in known.items():
            positions.observe(game.view(color))
            weights = positions.weights.tolist()
            (truth,) = (
                weight
                for position, weight in zip(positions, weights, strict=True)
                if position.fen().split()[:3] == game.fen().split()[:3]
            )
            entropy = -sum(weight * math.log(weight) for weight in weights)
            found = shown[chess.COLOR_NAMES[color]][ply]
            assert found["truth"] == pytest.approx(math.log(truth * len(weights)), abs=1e-9)
            assert found["effective"] == pytest.approx(math.exp(entropy))
            assert (found["level"], found["restarts"]) == (weighers[color].level, 0)
    assert shown["white"][12]["truth"] > 1.0 and shown["white"][12]["effective"] < 100 < document["white"][12]


def test_without_time_for_weights_they_begin_afresh_and_that_is_counted(klss: Any) -> None:
    ran = klss("track", "--moves", "Nf3 a6 Nc3 h6", "--weights", "--allowance", "1e-9", "--json")
    document = json.loads(ran.out)
    for color, sizes in (("white", document["white"]), ("black", document["black"])):
        shown = document["weights"][color]
        assert len(shown) == len(sizes)
        for ply, (each, size) in enumerate(zip(shown, sizes, strict=True)):
            assert each["restarts"] == (ply // 2 if color == "white" else (ply + 1) // 2)
            assert each["level"] is None and each["truth"] == pytest.approx(0.0, abs=1e-9)
            assert each["effective"] == pytest.approx(size)


def test_with_weights_every_ply_is_a_line_of_80_columns(klss: Any) -> None:
    lines = klss("track", "--moves", "e4 e5 Nf3", "--weights", "--cap", "19").out.splitlines()
    assert lines[0].split() == ["ply", "move", "White", "truth", "effective", "by", "Black", "truth", "effective", "by"]
    assert lines[1].split() == ["0", "1", "+0.00", "1.0", "-", "1", "+0.00", "1.0", "-"]
    assert lines[3].split() == ["2", "e5", "1", "+0.00", "1.0", "v", "past", "the", "cap"]
    assert max(map(len, lines)) <= 80


def test_an_allowance_for_no_weights_is_refused_in_one_line(klss: Any) -> None:
    for arguments in (["--allowance", "1"], ["--weights", "--allowance", "0"], ["--weights", "--allowance", "soon"]):
        ran = klss("track", "--moves", "e4 e5", *arguments)
        assert ran.code == 2 and ran.out == "" and ran.err.count("\n") == 1 and "--allowance" in ran.err
