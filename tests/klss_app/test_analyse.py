"""``klss analyse``: its JSON, its board; and the wall: nothing that the side could not see. ``klss rbc analyse``."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest

from darkchess.fog.game.record import GameRecord, read_pgn, write_pgn
from darkchess.fog.game.referee import Referee
from klss.play.kit import AnyKit, Replay
from klss.play.outcome import Outcome
from klss.support.file_lock import lock
from klss_app.analysis.process import Request
from klss_app.analysis.summaries import Turn
from klss_app.cli import analyse
from tests.table import ghost_hunt, hidden_tictactoe
from tests.wall.twins import Twins, load, replayed
from uci_bridge.kits.named import kit_named

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
    document = ran.document
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


def test_a_time_limit_is_one(klss: Any, pychess: str) -> None:
    flags = ("--ply", "4", "--color", "white", "--json", "--time", "0.05", "--evaluator", "builtin")
    ran = klss("analyse", pychess, *flags)
    assert ran.code == 0 and ran.document["seconds"] > 0.0 and ran.document["nodes"] > 0


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
        text = klss("analyse", *where, *QUICK)
        assert ran.code == text.code == 0, ran.err + text.err
        answers.append((ran.out, ran.err, text.out, text.err))
    assert answers[0] == answers[1]


def test_a_game_that_looks_different_gets_another_answer(klss: Any, tmp_path: Path) -> None:
    """The comparison can fail: by a move that is seen, and by the truth once the game is over."""
    answers = {}
    for reply in ("b7b6", "h7h6", "d7d5"):
        (tmp_path / "game.pgn").write_text(f"1. e2e4 {reply} 2. a3 a6 1-0\n")
        asked = ("analyse", "game.pgn", "--ply", "2", "--color", "white", "--json", *QUICK)
        answers[reply] = klss(*asked).out, klss(*asked, "--once-over").out
    assert answers["b7b6"][0] == answers["h7h6"][0] != answers["d7d5"][0]
    assert answers["b7b6"][1] != answers["h7h6"][1]


# ---------------------------------------------------------------- once over
def test_once_over_tells_the_truth_and_changes_nothing_else(klss: Any, pychess: str) -> None:
    asked = ("analyse", pychess, "--ply", "4", "--color", "white", "--once-over", *QUICK)
    document = klss(*asked, "--json").document
    without = klss("analyse", pychess, "--ply", "4", "--color", "white", *QUICK, "--json").document
    truth = document.pop("truth")
    assert without.pop("truth") is None and document == without
    assert truth["fen"] == "r1bqkbnr/pppp1ppp/2n5/4p2Q/4P3/8/PPPP1PPP/RNB1KBNR w KQkq - 2 3"
    assert truth["possible"] and 1 <= truth["weight_rank"] <= truth["positions"] == document["positions"]
    assert truth["hidden"]["c6"]["piece"] == "n" and 0.0 < truth["hidden"]["c6"]["probability"] < 1.0
    text = klss(*asked).out
    assert "Once over" in text and truth["fen"] in text


# ---------------------------------------------------------------- people
@pytest.mark.parametrize(("ply", "color", "flags"), [(4, "white", ("--ascii",)), (5, "black", ())])
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
    assert own[1] == ("R" if color == "white" else "♜")
    assert not flags or ran.out.isascii()


@pytest.mark.parametrize(
    ("moves", "ply"),
    [
        (f"1. Nf3 Nf6 2. Ng1 Ng8 {'Nf3 Nf6 Ng1 Ng8 ' * 2} e4 e5 1/2-1/2\n", 14),
        ('[Termination "resign"]\n\n1. e4 e5 0-1\n', 2),
    ],
    ids=["after a repetition", "where she resigned"],
)
def test_a_servers_game_is_followed_to_its_end(klss: Any, tmp_path: Path, moves: str, ply: int) -> None:
    (tmp_path / "game.pgn").write_text(moves)
    ran = klss("analyse", "game.pgn", "--ply", str(ply), "--color", "white", "--json", *QUICK)
    assert ran.code == 0 and ran.document["ply"] == ply, ran.err


# ---------------------------------------------------------------- whole games
def test_a_whole_game_tells_what_each_side_gave_away_and_luck_apart(klss: Any, pychess: str) -> None:
    ran = klss("analyse", pychess, "--nodes", "200", "--json")
    assert ran.code == 0 and ran.err == "", ran.err
    document = ran.document
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
    for turn in document["turns"]:
        assert (turn["because"] is None) == (turn["played"]["loss"] < 0.1)
        for line, steps in zip(turn["lines"], turn["steps"], strict=True):
            assert [step["san"] for step in steps] == line
    because = document["turns"][4]["because"]  # the queen on f7 is taken
    assert because["text"] == f"In {because['count']} of {because['of']} possible positions …Kxf7 takes the queen."
    assert [step["move"] for step in because["line"]] == ["h5f7", "e8f7"] and because["takes"] == "q"
    assert white["costliest"][0]["because"] == because["text"]
    shown = klss("analyse", pychess, "--nodes", "200", "--color", "white", "--ascii", "--html", "game.html")
    assert shown.code == 0 and "3. Qxf7" in shown.out and "black" not in shown.out
    assert f"    {because['text']}".replace("…", "...") in shown.out.replace("…", "...").splitlines()
    assert because["text"] in Path("game.html").read_text()


def test_the_annotated_game_has_the_same_moves_and_a_comment_on_each(klss: Any, pychess: str, tmp_path: Path) -> None:
    ran = klss("analyse", pychess, "--nodes", "200", "--json", "--pgn", "analysed.pgn")
    assert ran.code == 0, ran.err
    turns = ran.document["turns"]
    text = (tmp_path / "analysed.pgn").read_text()
    [was], [found] = read_pgn((tmp_path / pychess).read_text()), read_pgn(text)
    assert (found.moves, found.outcome, dict(found.headers)) == (was.moves, was.outcome, was.headers)
    flat = " ".join(text.split())
    assert flat.count("{cost ") == len(turns)
    worst = max(turns, key=lambda turn: turn["played"]["loss"] or 0.0)
    played, best, sets = worst["played"], worst["best"], worst["positions"]
    assert f"{played['san']} $4 {{cost {played['loss']:.2f}, best {best['san']} ({best['p']:.2f}); " in flat
    said = f"possible for White: {sets['white'][0]}, for Black: {sets['black'][0]}. {worst['because']['text']}}}"
    assert said in flat
    foreign = chess.pgn.read_game(io.StringIO(text))
    assert foreign is not None and foreign.headers["White"] == found.headers["White"]


# ---------------------------------------------------------------- archives
GAMES = """[White "Ann"]
[Black "bob"]
[Variant "Fogofwar"]

1. e4 f6 2. Qh5 a6 3. Qxe8 1-0

[Variant "Atomic"]

1. e4 *

[White "carl"]
[Black "ann"]
[Variant "Fogofwar"]

1. d4 e5 2. dxe5 0-1

[White "ann"]
[Black "carl"]
[Variant "Fogofwar"]

1. d4 *
"""
FEW = ("--nodes", "100")


@pytest.fixture
def games(tmp_path: Path) -> str:
    (tmp_path / "games.pgn").write_text(GAMES)
    return "games.pgn"


def test_the_report_sums_up_what_is_said_of_each_game(klss: Any, games: str) -> None:
    ran = klss("analyse", games, "--all", "--json", *FEW)
    assert ran.code == 0 and ran.err.startswith("game 2: got the variant 'Atomic'"), ran.err
    found = ran.document
    single = {number: klss("analyse", games, "--game", number, "--json", *FEW).document for number in "13"}
    turns = [(int(number), turn) for number, each in single.items() for turn in each["turns"]]
    costs = {(number, turn["ply"]): turn["played"]["loss"] for number, turn in turns}
    assert (found["games"], found["refused"], found["unfinished"], found["interrupted"]) == (2, 1, 1, False)
    assert found["summary"]["moves"] == len(turns) == 8
    assert found["summary"]["mean_cost"] == pytest.approx(sum(max(0.0, cost) for cost in costs.values()) / 8, abs=1e-4)
    for kind in ("phases", "known"):
        assert sum(each["moves"] for each in found[kind].values()) == 8
    few = sum(turn["positions"][turn["color"]][0] <= 10 for _, turn in turns)
    assert found["phases"]["opening"]["moves"] == 8 and found["known"]["1 to 10"]["moves"] == few > 0
    worst = [(each["game"], each["ply"]) for each in found["costliest"]]
    dear = [where for where in costs if costs[where] >= 0.005]
    assert worst == sorted(dear, key=lambda where: (-costs[where], where))
    assert found["costliest"][0]["san"] == "a6" and found["costliest"][0]["best"]["san"] == "g6"


def test_a_player_has_the_moves_of_the_seats_it_had(klss: Any, games: str) -> None:
    found = klss("analyse", games, "--all", "--player", "ANN", "--json", *FEW).document
    assert found["games"] == 2 and found["summary"]["moves"] == 4
    assert {each["player"].lower() for each in found["costliest"]} == {"ann"}
    black = klss("analyse", games, "--all", "--player", "ann", "--color", "black", "--json", *FEW).document
    assert black["games"] == 1 and black["summary"]["moves"] == 1
    assert klss("analyse", games, "--all", "--player", "dan", *FEW).code == 2


def test_an_interrupted_analysis_tells_what_it_has_and_continues(
    klss: Any, games: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("analyse", games, "--all", *FEW)
    whole = klss(*command, "--out", "whole.jsonl")
    assert whole.code == 0
    analysed, calls = analyse.analysed, []

    def interrupted(request: Request) -> Iterator[Turn]:
        calls.append(0)
        for turn in analysed(request):
            yield turn
            if len(calls) == 2:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(analyse, "analysed", interrupted)
        ran = klss(*command, "--out", "part.jsonl")
    assert ran.code == 1 and ran.err.count("\n") == 2 and ran.out.startswith("1 game, both sides; kluss")
    # A line that was being written when the power failed is written anew.
    with (tmp_path / "part.jsonl").open("a") as file:
        file.write('{"game": 3, "mo')
    assert klss(*command, "--out", "part.jsonl").out == whole.out
    assert (tmp_path / "part.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    # A file with all games serves for one player as well.
    player = (*command, "--player", "carl")
    assert klss(*player, "--out", "whole.jsonl").out == klss(*player).out


@pytest.mark.slow
def test_two_workers_write_the_same_file(klss: Any, games: str, tmp_path: Path) -> None:
    one, two = (klss("analyse", games, "--all", *FEW, "--workers", n, "--out", f"{n}.jsonl").out for n in "12")
    assert one == two and (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


def test_a_file_of_another_analysis_is_neither_continued_nor_changed(klss: Any, games: str, tmp_path: Path) -> None:
    assert klss("analyse", games, "--all", *FEW, "--out", "a.jsonl").code == 0
    kept = (tmp_path / "a.jsonl").read_bytes()
    (tmp_path / "other.pgn").write_text("1. e4 e5 2. a3 a6 1-0\n")
    for arguments in (
        (games, "--all", "--out", "a.jsonl", "--nodes", "50"),
        ("other.pgn", "--out", "a.jsonl", *FEW),
        (games, "--all", "--out", games),
        (games, "--all", "--html", games),
        (games, "--all", "--out", "other.pgn"),
    ):
        ran = klss("analyse", *arguments)
        assert ran.code == 2 and ran.err.count("\n") <= 2, (arguments, ran.err)
    assert (tmp_path / "a.jsonl").read_bytes() == kept
    assert (tmp_path / "other.pgn").read_text() == "1. e4 e5 2. a3 a6 1-0\n"
    assert (tmp_path / games).read_text() == GAMES


def test_a_file_that_another_command_writes_is_left_alone(klss: Any, games: str, tmp_path: Path) -> None:
    with open(tmp_path / "a.jsonl", "wb") as other:
        assert lock(other)
        ran = klss("analyse", games, "--all", *FEW, "--out", "a.jsonl")
    assert ran.code == 2 and ran.err.count("\n") <= 2 and (tmp_path / "a.jsonl").read_bytes() == b""


# ---------------------------------------------------------------- any game


@pytest.mark.parametrize(
    ("kit", "answers"),
    [(hidden_tictactoe.KIT, ([0, 4, 1, 5, 2], [0, 5, 1, 3, 2])), (ghost_hunt.KIT, ([1, 14, 0], [1, 11, 0]))],
    ids=["tic-tac-toe", "ghost hunt"],
)
def test_any_game_is_analysed_from_what_each_side_was_told_alone(
    klss: Any, kit: AnyKit, answers: tuple[list[int], list[int]], tmp_path: Path
) -> None:
    found = []
    for given in answers:
        game = Replay(lambda: kit.referee(None, (), 4), given, {}, None).game()
        (tmp_path / "game.json").write_text(kit.record(game, {"White": "a", "Black": "b"}))
        asked = ("analyse", "game.json", "--game", kit.name, "--nodes", "1", "--json")
        found.append(klss(*asked, "--html", "a.html").document["turns"])
        assert [turn["ply"] for turn in found[-1]] == list(range(len(given)))
        assert klss(*asked, "--ply", "1").document["color"] == "black"
        assert '"truth": ""' in (tmp_path / "a.html").read_text()
    for turn in found[0]:
        assert turn["best"]["san"] in turn["tries"] and turn["played"]["san"] in turn["tries"]
        assert turn["played"]["loss"] is None and turn["positions"] == {"white": None, "black": None}
    # Black's answers differ, unseen: White's engine thinks the same.
    mine = [[turn for turn in each if turn["color"] == "white"] for each in found]
    assert mine[0] == mine[1]


def test_a_player_of_openspiel_tells_its_mixture_and_so_what_answers_cost(klss: Any, tmp_path: Path) -> None:
    pytest.importorskip("pyspiel")
    kit = kit_named("openspiel:leduc_poker")
    replay = Replay(lambda: kit.referee(None, (), 5), [1, 2, 1, 2, 1], {}, None)
    (tmp_path / "leduc.json").write_text(kit.record(replay.game(), {"White": "a", "Black": "b"}))
    turns = klss("analyse", "leduc.json", "--game", kit.name, "--nodes", "300", "--json").document["turns"]
    assert len(turns) == 5
    for turn in turns:
        assert turn["positions"][turn["color"]][0] >= 1 and turn["played"]["loss"] is not None
        assert sum(each["p"] for each in turn["moves"]) == pytest.approx(1.0, abs=1e-3)
        mean = sum(each["p"] * turn["tries"][each["san"]][1] for each in turn["moves"])
        assert mean == pytest.approx(0.0, abs=1e-3), "costs are counted from the mixture's value"


# ---------------------------------------------------------------- Reconnaissance Blind Chess
FEW_MEN = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"


@pytest.fixture
def game(klss: Any) -> str:
    """A short game's file."""
    ran = klss("rbc", "match", "rbc-attacker", "rbc-random", "--fen", FEW_MEN, "--nodes", "5", "--seed", "3",
               "--check-truth", "--games", "1", "--out", "m")  # fmt: skip
    assert ran.code == 0, ran.err
    return "m/game-00000.json"


def test_a_whole_game_has_a_cost_for_every_turn_and_the_best_costs_nothing(klss: Any, game: str) -> None:
    asked = ("rbc", "analyse", game, "--nodes", "100", "--configuration", "rbc-expect,cap=100")
    document = klss(*asked, "--json", "--out", "kept.jsonl").document
    found = document["turns"]
    assert [turn["ply"] for turn in found] == list(range(len(found))) and document["plies"] == len(found)
    for turn in found:
        played, looked, best = turn["played"], turn["look"], turn["best"]
        assert played["loss"] is None or (played["loss"] >= 0.0) >= (played["san"] == best["san"])
        assert played["look_loss"] is None or (played["look_loss"] == 0.0) >= (looked["played"] == looked["best"])
        assert turn["looks"][looked["best"]] == max(turn["looks"].values())
    costs = [turn["played"]["loss"] for turn in found if turn["color"] == "white"]
    assert any(costs) and document["summary"]["white"]["moves"] == len(costs)
    one = klss(*asked, "--turn", "2", "--json").document
    assert found[2].items() <= one.items()
    assert klss(*asked, "--out", "kept.jsonl").out == klss(*asked).out, "each look and request, the costliest first"
