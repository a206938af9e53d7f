"""A match's games: what they are a function of, what a broken engine costs, what its players are shown."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from darkchess.fog.game.record import read_pgn
from darkchess.fog.players.named_fog_players import configuration
from klss.play.limits import Limit
from uci_bridge.evaluators import EvaluatorChoice
from uci_bridge.kits.fog import FOG
from uci_bridge.match.game import Engines, GameResult, GameTask, play_game
from uci_bridge.match.match import Match, Standing
from uci_bridge.match.openings import Opening
from uci_bridge.players import engine_argv, player_spec

FOREIGN = Path(__file__).parents[1] / "uci_bridge" / "foreign_engine.py"
FEN = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"


def match_of(a: str, b: str, nodes: int = 1, **rest: Any) -> Match:
    players = {"kit": FOG, "a": player_spec(FOG, a), "b": player_spec(FOG, b)}
    return Match(**(players | {"games": 4, "seed": 11, "budget": Limit(nodes=nodes)} | rest))


def played(match: Match, *games: int) -> list[GameResult]:
    engines = Engines(match)
    try:
        return [play_game(match, match.task(game), engines) for game in games]
    finally:
        engines.close(at_once=True)


def timeless(result: GameResult) -> tuple[Any, ...]:
    """What of a game may not depend on time, nor on where it was played."""
    line = {key: value for key, value in result.line.items() if key not in ("seconds", "truth")}
    moves = [{key: value for key, value in move.items() if key != "seconds_wall"} for move in result.moves]
    return line, json.loads(json.dumps(moves)), result.record


@pytest.mark.slow
def test_engines_in_processes_of_their_own_play_the_games_that_players_in_this_process_play() -> None:
    names = "klss2021,particles=50,purify=false", "greedy"
    opening = 3
    apart = played(match_of(*names, nodes=60, openings=opening), 0, 1)
    here = played(match_of(*names, nodes=60, openings=opening, check_truth=True), 0, 1)
    assert [result.line.get("fault") or result.line.get("trouble") for result in (*apart, *here)] == [None] * 4
    assert list(map(timeless, apart)) == list(map(timeless, here))
    assert all(result.line["truth"]["lost"] == 0 and result.line["truth"]["checks"] > 10 for result in here)


def test_a_game_does_not_depend_on_those_before_it() -> None:
    match = match_of("greedy", "random", check_truth=True, openings=2)
    assert [timeless(game) for game in played(match, 3, 0)] == [timeless(game) for game in played(match, 0, 3)][::-1]


@pytest.mark.parametrize(("openings", "fen"), [(None, None), (4, None), (2, FEN)])
def test_a_pair_has_one_opening_which_its_record_holds_and_each_game_a_seed_of_its_own(
    openings: int | None, fen: str | None
) -> None:
    # A cap, since queens that nobody sees have millions of possible places.
    players = "greedy,cap=1000", "random,cap=1000"
    results = played(match_of(*players, openings=openings, fen=fen, check_truth=True), 0, 1, 2, 3)
    first, second, other, _ = (result.line for result in results)
    assert (first["opening"], first["pair"]) == (second["opening"], second["pair"])
    assert (first["white"], first["black"]) == (second["black"], second["white"]) == players
    assert len({first["seed"], second["seed"], other["seed"]}) == 3
    assert openings is None or other["opening"] != first["opening"]
    for result in results:
        (record,), moves = read_pgn(result.record), (result.line["opening"] or "").split()
        assert [move.uci() for move in record.moves[: len(moves)]] == moves
        assert record.fen == fen and result.line["plies"] == len(record.moves)
        # Only what players chose is in the file of moves.
        assert [move["ply"] for move in result.moves] == list(range(len(moves) + 1, len(record.moves) + 1))


# ----------------------------------------------------------------------------------------------------------------------
# the wall


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What a foreign engine was sent in games of a match."""
    monkeypatch.setenv("KEEP", str(tmp_path / "kept"))
    return lambda: [json.loads(line) for line in (tmp_path / "kept").read_text().splitlines()]


def foreign(how: str, turns: int = 0) -> str:
    keep = f"env KEEP={os.environ['KEEP']} " if "KEEP" in os.environ else ""
    return f"cmd:{keep}{sys.executable} -S -E {FOREIGN} '{how}' {turns}"


def test_an_engine_is_shown_her_views_of_an_opening_and_nothing_else_of_it(shown: Any) -> None:
    match = match_of(foreign("good"), foreign("good"))
    engines = Engines(match)
    play_game(match, GameTask(0, 11, Opening(None, ("e2e4", "a7a6", "d1h5"))), engines)
    engines.close(at_once=True)
    first = shown()[0]
    assert first["color"] == "black" and first["ply"] == 3
    kinds = [seen["kind"] for seen in first["observationTranscript"]]
    assert kinds == ["initial", "opp_move", "own_move", "opp_move"]
    assert [seen["own_move"] for seen in first["observationTranscript"] if seen["kind"] == "opp_move"] == [None, None]
    # The queen stands where no move of Black's leads: nothing of White's is in its view.
    assert not any(piece["color"] == "white" for _, piece in first["observationTranscript"][-1]["visible_pieces"])
    assert "h5" not in json.dumps(first["observationTranscript"])


def test_the_ids_that_an_engine_gets_tell_neither_the_game_nor_the_match(shown: Any) -> None:
    match = match_of(foreign("good"), foreign("good"), fen=FEN)
    played(match, 0)
    ids = {request["gameId"] for request in shown()} | {request["sessionId"] for request in shown()}
    played(match, 0)
    again = {request["gameId"] for request in shown()} | {request["sessionId"] for request in shown()}
    assert len(ids) == 4 and len(again) == 8


# ----------------------------------------------------------------------------------------------------------------------
# engines that break


@pytest.mark.parametrize(
    ("how", "says", "plies"),
    [("dead", "out of memory, sorry", 4), ("illegal", "a1h8", 4), ("garbage", "JSON", 4), ("leaves", "had enough", 2)],
)
def test_what_an_engine_does_wrong_costs_it_that_game_is_told_in_its_line_and_the_match_goes_on(
    how: str, says: str, plies: int
) -> None:
    standing = Standing()
    lines = []
    match_of(foreign(how, 2), foreign("good"), fen=FEN, games=2).run(
        on_game=lambda line, standing: lines.append(line), standing=standing
    )
    assert [(line["winner"], line["reason"]) for line in lines] == [("b", "forfeit")] * 2
    assert all(says in line["fault"] and line["plies"] >= plies for line in lines)
    assert standing.losses == 2 and standing.reasons == {"forfeit": 2}


def test_processes_live_on_from_game_to_game_and_one_that_died_is_started_again() -> None:
    match = match_of(foreign("good"), foreign("dead", 8), fen=FEN)
    engines = Engines(match)
    try:
        starts = []
        for game in range(3):
            play_game(match, match.task(game), engines)
            starts.append([maker.process.starts for maker in engines._makers.values()])
    finally:
        engines.close(at_once=True)
    assert all(own == 1 for own, _ in starts)
    assert [their for _, their in starts] == sorted(their for _, their in starts) and 1 < starts[-1][1] <= 3


# ----------------------------------------------------------------------------------------------------------------------
# texts


def test_a_file_s_configuration_reaches_its_process_without_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "klss2021"\nname = "mine"\nparticles = 7\ncap = 8000\n')
    chosen = configuration(str(path))
    path.unlink()
    argv = engine_argv(FOG, chosen, EvaluatorChoice("stockfish", "/opt/fish"))
    found = configuration(argv[argv.index("--configuration") + 1])
    assert (found.fields()["particles"], found.fields()["cap"]) == (7, 8000)
    assert argv[argv.index("--evaluator") :] == ("--evaluator", "stockfish", "--stockfish", "/opt/fish")
