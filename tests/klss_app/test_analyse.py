"""``klss analyse``: its JSON, its board; and the wall: nothing that the side could not see."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest

from darkchess.fog.analysis.analyst import Analyst
from darkchess.fog.game.record import GameRecord, read_pgn, write_pgn
from darkchess.fog.game.referee import Referee
from klss import __version__
from klss.table.outcome import Outcome
from klss_app.progress import ProgressLine
from tests.wall.twins import Twins, load, replayed

QUICK = ("--nodes", "1000", "--configuration", "klss2021,particles=15")
PYCHESS = (
    '[Event "PyChess rated game"]\n[Site "https://www.pychess.org/abc"]\n[Date "2024.01.31"]\n[Round "-"]\n'
    '[White "x"]\n[Black "y"]\n[Result "1-0"]\n[TimeControl "180+2"]\n[Variant "Fogofwar"]\n\n'
    "1. e4 e5 2. Qh5 Nc6 3. Qxf7+ a6 4. Qxe8# 1-0\n"
)
"""The form that pychess's server writes: capitalised variant, SAN with check signs, no Termination."""


@pytest.fixture
def pychess(tmp_path: Path) -> str:
    (tmp_path / "pychess.pgn").write_text(PYCHESS)
    return "pychess.pgn"


def test_the_json_has_the_shape_that_other_programs_rely_on(klss: Any, pychess: str) -> None:
    ran = klss("analyse", pychess, "--ply", "4", "--color", "white", "--json", *QUICK)
    assert ran.code == 0 and ran.err == "", ran.err
    document = json.loads(ran.out)
    assert list(document)[:13] == [
        "ply", "color", "positions", "value", "gadget", "nodes", "depth", "iterations", "seconds", "moves", "marginals",
        "truth", "configuration",
    ]  # fmt: skip
    assert (document["ply"], document["color"], document["truth"]) == (4, "white", None)
    assert document["gadget"] in ("maxmargin", "resolve") and document["seconds"] == 0.0
    assert document["nodes"] >= 1000 and document["depth"] >= 1 and document["iterations"] >= 1
    assert document["configuration"] == "klss2021,particles=15" and document["evaluator"] == "builtin"
    game = Referee.replay(map(chess.Move.from_uci, ("e2e4", "e7e5", "d1h5", "b8c6")))
    moves = {each["move"]: each for each in document["moves"]}
    assert set(moves) == {move.uci() for move in game.legal_moves()} and moves["h5f7"]["san"] == "Qxf7"
    assert sum(each["probability"] for each in document["moves"]) == pytest.approx(1.0)
    assert all(-1.0 <= each["value"] <= 1.0 for each in document["moves"])
    marginals = document["marginals"]
    assert marginals["e4"] == {"P": 1.0} and marginals["e5"] == {"p": 1.0}
    assert sum(pieces.get("k", 0.0) for pieces in marginals.values()) == pytest.approx(1.0)
    assert "f3" not in marginals  # seen, empty
    assert document["lines"][0][0]["move"] == document["moves"][0]["move"]
    assert document["belief"] == "filter" and 1.0 < document["effective"] < document["positions"]
    weights = [each["weight"] for each in document["likeliest"]]
    assert len(weights) == 10 and weights == sorted(weights, reverse=True) and 0.0 < sum(weights) <= 1.0 + 1e-12
    assert document["likeliest"][0]["fen"].endswith(" w KQkq - 0 3")
    assert max(moves.values(), key=lambda each: each["bits"])["bits"] > 0.5
    assert {each["ply"]: each["san"] for each in document["told"]} == {1: "e4", 2: None, 3: "Qh5", 4: None}


def test_the_belief_is_the_one_that_was_asked_for(klss: Any, pychess: str) -> None:
    asked = ("analyse", pychess, "--ply", "4", "--color", "white", "--json", *QUICK)
    beliefs = ("filter", "uniform")
    found = {name: json.loads(klss(*asked, "--belief", name, "--likeliest", "0").out) for name in beliefs}
    assert klss(*asked, "--likeliest", "0").out == klss(*asked, "--likeliest", "0", "--belief", "filter").out
    assert all(each["belief"] == name and each["likeliest"] == [] for name, each in found.items())
    assert len({each["marginals"]["c6"]["n"] for each in found.values()}) == 2
    uniform = found["uniform"]
    size = uniform["positions"]
    assert uniform["effective"] == size > 10 and uniform["told"] is None
    assert uniform["marginals"]["c6"] == {"p": 1 / size, "n": 1 / size}  # by one move each
    # The search has what its configuration says, whatever is shown.
    for each in found.values():
        assert (each["value"], each["lines"], each["nodes"]) == (uniform["value"], uniform["lines"], uniform["nodes"])


def test_with_nodes_the_same_question_has_the_same_answer_byte_for_byte(klss: Any, pychess: str) -> None:
    asked = ("analyse", pychess, "--ply", "5", "--color", "black", "--json", *QUICK)
    assert klss(*asked).out == klss(*asked).out == klss(*asked, "--seed", "0").out


def test_a_time_limit_is_one(klss: Any, pychess: str) -> None:
    ran = klss(
        "analyse", pychess, "--ply", "4", "--color", "white", "--json", "--time", "0.05", "--evaluator", "builtin"
    )
    document = json.loads(ran.out)
    assert ran.code == 0 and document["seconds"] > 0.0 and document["nodes"] > 0


# ---------------------------------------------------------------- the wall
def _written(moves: tuple[str, ...], pair: Twins, rng: random.Random, result: bool) -> str:
    """A PGN of the game, which goes on by two random moves; with names and a result, or without."""
    game = replayed(moves, pair.fen)
    while game.ply < len(moves) + 2 and game.outcome is None:
        game.push(rng.choice(game.legal_moves()))
    headers = {"White": "anna", "Black": "bob"} if result else {}
    outcome = game.outcome or (Outcome(chess.WHITE, "resign") if result else None)
    return write_pgn(GameRecord(game.moves, outcome, pair.fen, headers))


@pytest.mark.parametrize("number", range(6))
def test_two_games_that_look_the_same_get_the_same_bytes(klss: Any, tmp_path: Path, number: int) -> None:
    """JSON and text; what comes after the ply, the names and the result differ as well."""
    twins = load()
    pair = twins[number * len(twins) // 6]
    rng = random.Random(number)
    answers = []
    for moves, result in ((pair.a, True), (pair.b, False)):
        (tmp_path / "game.pgn").write_text(_written(moves, pair, rng, result))
        where = ("game.pgn", "--ply", str(len(moves)), "--color", chess.COLOR_NAMES[pair.color])
        ran = klss("analyse", *where, *QUICK, "--json")
        text = klss("analyse", *where, *QUICK, "--likeliest", "3")
        assert ran.code == text.code == 0, ran.err + text.err
        answers.append((ran.out, ran.err, text.out, text.err))
    assert answers[0] == answers[1]


def test_a_game_that_looks_different_gets_another_answer(klss: Any, tmp_path: Path) -> None:
    """The comparison can fail: by a move that is seen, and by the truth once the game is over."""
    answers = {}
    for reply in ("b7b6", "h7h6", "d7d5"):
        (tmp_path / "game.pgn").write_text(f"1. e2e4 {reply} 2. a3 a6 1-0\n")
        asked = ("analyse", "game.pgn", "--ply", "2", "--color", "white", "--json", *QUICK)
        answers[reply] = klss(*asked).out, klss(*asked, "--once-over", "--once-over-nodes", "200").out
    assert answers["b7b6"][0] == answers["h7h6"][0] != answers["d7d5"][0]
    assert answers["b7b6"][1] != answers["h7h6"][1]


# ---------------------------------------------------------------- once over
def test_once_over_tells_the_truth_and_where_each_side_lost_most(klss: Any, pychess: str) -> None:
    asked = ("analyse", pychess, "--ply", "4", "--color", "white", "--once-over", "--once-over-nodes", "1000", *QUICK)
    document = json.loads(klss(*asked, "--json").out)
    without = json.loads(klss("analyse", pychess, "--ply", "4", "--color", "white", *QUICK, "--json").out)
    truth = document.pop("truth")
    assert without.pop("truth") is None and document == without
    assert truth["fen"] == "r1bqkbnr/pppp1ppp/2n5/4p2Q/4P3/8/PPPP1PPP/RNB1KBNR w KQkq - 2 3"
    assert truth["possible"] and 1 <= truth["rank"] <= truth["positions"] == document["positions"]
    assert truth["hidden"]["c6"]["piece"] == "n" and 0.0 < truth["hidden"]["c6"]["probability"] < 1.0
    worst = {color: losses[0] for color, losses in truth["losses"].items()}
    assert worst["white"]["san"] == "Qxf7" and worst["white"]["ply"] == 4
    assert worst["black"]["san"] == "a6" and worst["black"]["best"]["san"] == "Kxf7"
    assert all(len(losses) <= 3 and all(each["loss"] > 0.0 for each in losses) for losses in truth["losses"].values())
    text = klss(*asked).out
    assert "Once over" in text and truth["fen"] in text and "Qxf7" in text


def test_once_over_is_refused_while_a_game_is_not_over(klss: Any, tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text("1. e4 e5 *\n")
    ran = klss("analyse", "game.pgn", "--ply", "2", "--color", "white", "--once-over", *QUICK)
    assert ran.code == 2 and ran.out == "" and ran.err.count("\n") == 1 and "not over" in ran.err


# ---------------------------------------------------------------- people
@pytest.mark.parametrize(("ply", "color"), [(4, "white"), (5, "black")])
@pytest.mark.parametrize("flags", [(), ("--ascii", "--likeliest", "10")])
def test_the_board_fits_80_columns_and_has_the_players_own_men(
    klss: Any, pychess: str, ply: int, color: str, flags: tuple[str, ...]
) -> None:
    ran = klss("analyse", pychess, "--ply", str(ply), "--color", color, *QUICK, *flags)
    assert ran.code == 0 and "\x1b" not in ran.out
    lines = ran.out.splitlines()
    assert max(map(len, lines)) <= 80
    ranks = [line.split() for line in lines if line[:2] in {f"{rank} " for rank in range(1, 9)}][:8]
    own = ranks[-1]  # the player's side is at the bottom
    assert own[0] == ("1" if color == "white" else "8")
    if flags:
        assert ran.out.isascii()
        assert own[1] == ("R" if color == "white" else "r")
        if color == "white":  # Black holds but one position possible there
            assert "\n9: " in ran.out and "  10: " in ran.out and "the likeliest 10" in ran.out
    else:
        assert own[1] == ("♖" if color == "white" else "♜")


def test_a_servers_game_that_went_on_after_a_repetition_is_followed(klss: Any, tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text(f"1. Nf3 Nf6 2. Ng1 Ng8 {'Nf3 Nf6 Ng1 Ng8 ' * 2} e4 e5 1/2-1/2\n")
    ran = klss("analyse", "game.pgn", "--ply", "14", "--color", "white", "--json", *QUICK)
    assert ran.code == 0 and json.loads(ran.out)["ply"] == 14, ran.err


def test_a_player_who_resigned_can_be_asked_about_the_turn_at_which_she_did(klss: Any, tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text('[Termination "resign"]\n\n1. e4 e5 0-1\n')
    assert klss("analyse", "game.pgn", "--ply", "2", "--color", "white", *QUICK).code == 0


# ---------------------------------------------------------------- bad input
BAD = [
    # (arguments, what the line names, what it says was got or expected)
    (["missing.pgn", "--ply", "1", "--color", "black"], "'missing.pgn'", "a file of games"),
    ([".", "--ply", "1", "--color", "black"], "'.'", "a file of games"),
    (["bytes.pgn", "--ply", "1", "--color", "black"], "bytes.pgn", "no text"),
    (["prose.pgn", "--ply", "1", "--color", "black"], "prose.pgn", "ply 1"),
    (["empty.pgn", "--ply", "0", "--color", "white"], "empty.pgn", "no game"),
    (["atomic.pgn", "--ply", "1", "--color", "black"], "'Atomic'", "'Fogofwar'"),
    (["illegal.pgn", "--ply", "1", "--color", "black"], "ply 3", "'Ke3'"),
    (["pychess.pgn", "--ply", "8", "--color", "white"], "--ply", "0 to 7"),
    (["pychess.pgn", "--ply", "7", "--color", "black"], "--ply", "over"),
    (["drawn.pgn", "--ply", "8", "--color", "white"], "--ply", "over"),
    (["pychess.pgn", "--ply", "4", "--color", "black"], "--color", "white is to move"),
    (["pychess.pgn", "--ply", "four", "--color", "black"], "--ply", "'four'"),
    (["pychess.pgn", "--ply", "-1", "--color", "black"], "--ply", "expected"),
    (["pychess.pgn", "--ply", "4", "--color", "red"], "--color", "'red'"),
    (["pychess.pgn", "--clock", "1+1"], "--clock", "--nodes"),
    (["pychess.pgn", "--out", "pychess.pgn"], "--out", "the game itself"),
    (["pychess.pgn", "--pgn", "pychess.pgn"], "--pgn", "the game itself"),
    (["pychess.pgn", "--pgn", "no/a.pgn"], "--pgn", "directory"),
    (["pychess.pgn", "--all", "--pgn", "a.pgn"], "--pgn", "--all"),
    (["pychess.pgn", "--ply", "4", "--pgn", "a.pgn"], "--pgn", "--ply"),
    (["pychess.pgn", "--out", "no/a.json"], "--out", "directory"),
    (["pychess.pgn", "--ply", "4", "--out", "a.json"], "--out", "--ply"),
    (["pychess.pgn", "--color", "red"], "--color", "'red'"),
    (["empty.pgn"], "empty.pgn", "no game"),
    (["pychess.pgn", "--ply", "4", "--color", "white", "--configuration", "greedy"], "'greedy'", "klss2021"),
    (["pychess.pgn", "--ply", "4", "--color", "white", "--configuration", "klss2012"], "'klss2012'", "klss2021?"),
    (
        ["pychess.pgn", "--ply", "4", "--color", "white", "--configuration", "kluss-oracle"],
        "'kluss-oracle'",
        "known name",
    ),
    (["pychess.pgn", "--ply", "4", "--color", "white", "--belief", "siamese"], "'siamese'", "one of filter, uniform"),
    (["pychess.pgn", "--ply", "4", "--color", "white", "--likeliest", "-1"], "--likeliest", "expected"),
    (
        ["pychess.pgn", "--ply", "4", "--color", "white", "--likeliest", "3", "--belief", "uniform"],
        "--likeliest",
        "another belief",
    ),
    (["pychess.pgn", "--ply", "4", "--color", "white", "--once-over-nodes", "0"], "--once-over-nodes", "'0'"),
]


def test_a_whole_game_tells_what_each_side_gave_away_and_luck_apart(klss: Any, pychess: str) -> None:
    ran = klss("analyse", pychess, "--nodes", "200", "--json")
    assert ran.code == 0 and ran.err == "", ran.err
    document = json.loads(ran.out)
    assert list(document) == [
        "plies", "configuration", "evaluator", "nodes", "time", "seed", "rules", "klss", "fen", "game", "summary",
        "turns",
    ]  # fmt: skip
    assert [turn["played"]["san"] for turn in document["turns"]] == ["e4", "e5", "Qh5", "Nc6", "Qxf7", "a6", "Qxe8"]
    white, black = document["summary"]["white"], document["summary"]["black"]
    assert (white["moves"], black["moves"]) == (4, 3)
    assert white["costliest"][0]["san"] == "Qxf7" and white["costliest"][0]["best"]["san"] != "Qxf7"
    for summary in (white, black):
        costs = [each["cost"] for each in summary["costliest"]]
        assert costs == sorted(costs, reverse=True) and len(costs) <= 5
    assert klss("analyse", pychess, "--nodes", "200", "--json").out == ran.out
    shown = klss("analyse", pychess, "--nodes", "200", "--color", "white", "--ascii")
    assert shown.code == 0 and "White: 4 moves" in shown.out and "Black:" not in shown.out
    assert " 3. Qxf7" in shown.out and max(map(len, shown.out.splitlines())) <= 80


def test_an_analysis_that_was_interrupted_goes_on_to_the_same_bytes(
    klss: Any, pychess: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = klss("analyse", pychess, "--nodes", "60", "--json").out
    tell = ProgressLine.tell

    def struck(line: ProgressLine, what: str) -> None:
        if what.startswith("turn 4"):
            raise KeyboardInterrupt
        tell(line, what)

    with monkeypatch.context() as patch:
        patch.setattr(ProgressLine, "tell", struck)
        ran = klss("analyse", pychess, "--nodes", "60", "--out", "kept.json", "--json")
        alone = klss("analyse", pychess, "--nodes", "60")
    assert (ran.code, ran.out) == (1, "") and "after 4 of 7 turns; the same command" in ran.err, ran.err
    assert alone.code == 1 and "--out FILE" in alone.err
    kept = json.loads((tmp_path / "kept.json").read_text())
    assert (len(kept["turns"]), kept["plies"]) == (4, 7) and kept["summary"]["white"]["moves"] == 2
    asked: list[int] = []
    think = Analyst.think
    monkeypatch.setattr(
        Analyst, "think", lambda self, *rest, **named: asked.append(self.view.ply) or think(self, *rest, **named)
    )
    assert klss("analyse", pychess, "--nodes", "60", "--out", "kept.json", "--json").out == whole
    assert asked == [4, 5, 6] and (tmp_path / "kept.json").read_text() == whole
    shown = klss("analyse", pychess, "--nodes", "60", "--out", "kept.json", "--color", "black", "--ascii")
    assert shown.code == 0 and "Black: 3 moves" in shown.out and "White" not in shown.out and len(asked) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.json", "pychess.pgn"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda kept: kept | {"nodes": 61}, "with nodes 61; expected 60"),
        (lambda kept: kept | {"game": ["e2e4"]}, 'with game ["e2e4"]; expected ["e2e4", "e7e5"'),
        (lambda kept: kept | {"klss": "0"}, 'with klss "0"'),
        (lambda kept: kept | {"seed": "\x1b[2J"}, "with seed"),
        (lambda kept: kept | {"turns": [kept["turns"][0] | {"ply": 1}]}, "no analysis of a whole game"),
        (lambda kept: kept | {"turns": kept["turns"] * 9}, "no analysis of a whole game"),
        (lambda kept: kept | {"turns": [{"ply": 0}]}, "no analysis of a whole game"),
        (lambda kept: [kept], "no analysis of a whole game"),
        (lambda kept: kept["turns"], "no analysis of a whole game"),
    ],
)
def test_an_analysis_of_something_else_is_not_gone_on_with(
    klss: Any, pychess: str, tmp_path: Path, change: Callable[[Any], Any], says: str
) -> None:
    question = {"plies": 7, "configuration": "kluss", "evaluator": "builtin", "nodes": 60, "time": None, "seed": 0}
    game = ["e2e4", "e7e5", "d1h5", "b8c6", "h5f7", "a7a6", "f7e8"]
    question |= {"rules": "paper", "klss": __version__, "fen": None, "game": game}
    turn = {"color": "white", "positions": {"white": [1, False]}, "played": {"loss": None}, "best": {}}
    text = json.dumps(change(question | {"turns": [turn | {"ply": 0}]}))
    (tmp_path / "kept.json").write_text(text)
    ran = klss("analyse", pychess, "--nodes", "60", "--out", "kept.json")
    assert ran.code == 2 and says in ran.err and ran.err.count("\n") == 1 and "\x1b" not in ran.err, ran.err
    assert (tmp_path / "kept.json").read_text() == text


def test_the_annotated_game_has_the_same_moves_and_a_comment_on_each(klss: Any, pychess: str, tmp_path: Path) -> None:
    ran = klss("analyse", pychess, "--nodes", "200", "--json", "--pgn", "analysed.pgn")
    assert ran.code == 0, ran.err
    turns = json.loads(ran.out)["turns"]
    text = (tmp_path / "analysed.pgn").read_text()
    [was], [found] = read_pgn((tmp_path / pychess).read_text()), read_pgn(text)
    assert (found.moves, found.outcome, dict(found.headers)) == (was.moves, was.outcome, was.headers)
    flat = " ".join(text.split())
    assert flat.count("{cost ") == len(turns)
    worst = max(turns, key=lambda turn: turn["played"]["loss"] or 0.0)
    played, best, sets = worst["played"], worst["best"], worst["positions"]
    assert f"{played['san']} $4 {{cost {played['loss']:.2f}, best {best['san']} ({best['p']:.2f}); " in flat
    assert f"possible for White: {sets['white'][0]}, for Black: {sets['black'][0]}}}" in flat
    foreign = chess.pgn.read_game(io.StringIO(text))
    assert foreign is not None and foreign.headers["White"] == found.headers["White"]


def test_a_whole_game_by_time(klss: Any, pychess: str) -> None:
    document = json.loads(klss("analyse", pychess, "--time", "0.01", "--json").out)
    assert (document["time"], document["nodes"], len(document["turns"])) == (0.01, None, 7)


def test_a_game_that_is_not_over_is_not_analysed_as_a_whole(klss: Any, tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text("1. e4 e5 *\n")
    ran = klss("analyse", "game.pgn", "--nodes", "10")
    assert ran.code == 2 and "not over" in ran.err


@pytest.mark.parametrize(("arguments", "names", "says"), BAD, ids=[" ".join(case[0]) for case in BAD])
def test_bad_input_exits_2_with_one_line(
    klss: Any, pychess: str, tmp_path: Path, arguments: list[str], names: str, says: str
) -> None:
    (tmp_path / "bytes.pgn").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "prose.pgn").write_text("dear sir,\n")
    (tmp_path / "empty.pgn").write_text("")
    (tmp_path / "atomic.pgn").write_text('[Variant "Atomic"]\n\n1. e4 *\n')
    (tmp_path / "illegal.pgn").write_text("1. e4 e5 2. Ke3 *\n")
    (tmp_path / "drawn.pgn").write_text("1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 1/2-1/2\n")
    ran = klss("analyse", *arguments, "--nodes", "10")
    assert ran.code == 2 and ran.out == "", ran.out
    assert ran.err.startswith("klss analyse: ") and ran.err.count("\n") == 1, ran.err
    assert names in ran.err and says in ran.err, ran.err
