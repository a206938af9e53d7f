"""Games of anybody's, a file each: matches (over dask too), the protocol, the terminal, ``klss track`` and ``klss
analyse`` take what they have never heard of; so do the board and its review (``tests/klss_app/web``).
"""

from __future__ import annotations

import importlib.metadata
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from darkchess.evaluation.registry import EvaluatorChoice
from klss.errors import GameError, TooLargeError
from klss.play.arbiter import Arbiter
from klss.play.kit import ENTRY_POINTS, AnyKit
from klss.play.limits import Limit
from klss.play.listed import listed
from klss.play.possible import PossibleGames
from klss.play.small_game import Nature
from tests.klss_app.conftest import EngineHere
from tests.table import ghost_hunt, hidden_tictactoe
from uci_bridge.child_processes import own_program
from uci_bridge.kits import named
from uci_bridge.kits.named import KITS, kit_named
from uci_bridge.protocol.host import HostedPlayer

toy = hidden_tictactoe.KIT
GAME = ("--game", toy.name)
BLACK_BEGINS = "rbc 4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 b - - 0 30"
BOTH = pytest.mark.parametrize("kit", [toy, ghost_hunt.KIT], ids=lambda kit: kit.title)


@BOTH
def test_a_game_is_one_short_file_found_and_pickled_by_reference(kit: AnyKit, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(kit.name.partition(":")[0])
    assert len(Path(str(module.__file__)).read_text().splitlines()) <= 250
    assert kit_named(kit.name) is kit and pickle.loads(pickle.dumps(kit)) is kit

    def installed(*, group: str, name: str) -> list[importlib.metadata.EntryPoint]:
        return [importlib.metadata.EntryPoint("theirs", kit.name, group)] * ((group, name) == (ENTRY_POINTS, "theirs"))

    monkeypatch.setattr(named, "entry_points", installed)
    assert kit_named("theirs") is kit
    for ours in map(kit_named, KITS):
        assert kit_named(ours.name) is ours and pickle.loads(pickle.dumps(ours)) is ours


@pytest.mark.parametrize(
    "start",
    ["fog", "rbc", BLACK_BEGINS, toy.name, ghost_hunt.KIT.name, "openspiel:phantom_ttt", "openspiel:leduc_poker"],
)
def test_a_record_is_read_back_as_the_game_that_was_played(start: str) -> None:
    name, _, fen = start.partition(" ")
    if name.startswith("openspiel:"):
        pytest.importorskip("pyspiel")
    kit = kit_named(name)
    referee, player = kit.referee(kit.setup(fen or None), (), 7), kit.configurations[-1]
    maker = kit.maker(kit.spec(player), EvaluatorChoice(), kit.setup())
    players = {seat: maker.player(seat) for seat in (True, False)}
    game = Arbiter(referee, players, dict.fromkeys(players, Limit(nodes=1)))
    game.begin()
    while referee.outcome is None and referee.ply < 12:
        game.play_turn()
    if referee.outcome is None:
        referee.resign(referee.turn)
    replay = kit.replayed(kit.record(referee, {"White": "a", "Black": "b"}))
    assert (replay.headers["White"], replay.outcome) == ("a", referee.outcome)
    again = replay.game()
    assert again.ply == referee.ply == len(replay.answers) // (2 if name == "rbc" else 1)
    if again.outcome is None:
        again.end(referee.outcome)
    assert all([*again.observations(seat)] == [*referee.observations(seat)] for seat in players)
    wrong = ["[]"]
    if name not in ("fog", "rbc"):
        kept = json.loads(kit.record(referee, {}))
        wrong += [json.dumps(kept | change) for change in ({"game": "another"}, {"nature": float("inf")})]
    for text in wrong:
        with pytest.raises(ValueError, match="got"):
            kit.replayed(text)


def test_answers_after_the_end_of_a_game_are_refused() -> None:
    referee = toy.referee(None)
    for square in (0, 3, 1, 4, 2):
        referee.answer(square)
    kept = json.loads(toy.record(referee, {}))
    with pytest.raises(GameError, match="over after 5"):
        toy.replayed(json.dumps(kept | {"answers": [*kept["answers"], [False, 9]]}))


@BOTH
def test_an_engine_is_told_all_that_it_is_shown_and_the_end(kit: AnyKit, monkeypatch: pytest.MonkeyPatch) -> None:
    heard, send = list[Any](), EngineHere.send

    def told(self: EngineHere, line: bytes, deadline: float) -> None:
        send(self, line, deadline)
        heard.append(json.loads(self._answers[-1]))

    monkeypatch.setattr(EngineHere, "send", told)
    flags = ("--game", kit.name, "--configuration", kit.configurations[0], "--evaluator", "builtin")
    engine = EngineHere(own_program("klss", "engine", *flags))
    players = {seat: HostedPlayer(engine, kit.wire, seed=seat) for seat in (True, False)}
    Arbiter(kit.referee(None, (), 7), players, dict.fromkeys(players, Limit(nodes=1))).play()
    assert not [each for each in heard if "error" in each] and [each["received"] for each in heard[-2:]] == [True] * 2


@pytest.mark.slow
@BOTH
def test_a_match_plays_it_in_processes_and_on_a_cluster(kit: AnyKit, klss: Any, cluster: str, tmp_path: Path) -> None:
    first, second = kit.configurations
    flags = ("match", first, second, "--game", kit.name, "--games", "4", "--nodes", "1", "--seed", "3", "--json")
    ran = klss(*flags, "--workers", "2", "--out", "here")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["games"] == 4
    lines = [json.loads(line) for line in (tmp_path / "here" / "games.jsonl").read_text().splitlines()]
    lines.sort(key=lambda line: line["game"])
    assert [(line["white"], line["black"]) for line in lines] == [(first, second), (second, first)] * 2
    assert not any("fault" in line or "trouble" in line for line in lines)
    answers = [json.loads(each.read_text())["answers"] for each in sorted((tmp_path / "here").glob("game-*.json"))]
    assert [len(each) for each in answers] == [line["plies"] for line in lines]
    assert json.loads((tmp_path / "here" / "match.json").read_text())["game"] == kit.name
    assert klss(*flags, "--scheduler", cluster, "--out", "there").code == 0
    assert answers == [
        json.loads(each.read_text())["answers"] for each in sorted((tmp_path / "there").glob("game-*.json"))
    ]
    assert klss(*flags, "--out", "here").code == 0, "it is resumed, and there is nothing left to play"
    (tmp_path / "all.jsonl").write_text("".join(each.read_text() for each in (tmp_path / "here").glob("game-*.json")))
    analysis = ("analyse", "all.jsonl", "--game", kit.name, "--all", "--nodes", "1", "--out")
    for out, how in (("one", ()), ("two", ("--workers", "2")), ("dask", ("--scheduler", cluster))):
        ran = klss(*analysis, out, *how)
        assert ran.code == 0 and ran.out.startswith("4 games"), ran.err
        assert (tmp_path / out).read_bytes() == (tmp_path / "one").read_bytes()


def test_draws_of_nature_are_bounded_like_all_else() -> None:
    class Dealt(hidden_tictactoe.Referee):
        def __init__(self, nature: Nature) -> None:
            super().__init__(nature)
            for _ in range(12):
                self.draw(range(10))

    class Kit(hidden_tictactoe.TicTacToe):
        true_game = Dealt

    with pytest.raises(TooLargeError):
        listed(Kit(), max_nodes=5)
    games = PossibleGames(Kit(), True, cap=5)
    games.observe([hidden_tictactoe.Seen()])
    assert games.capped and games.size == 0


@BOTH
def test_the_engine_answers_by_the_protocol(kit: AnyKit) -> None:
    from uci_bridge.protocol.engine import Engine

    engine, referee = Engine(kit, kit.spec(kit.default_player)), kit.referee(None, (), 4)
    seen: list[Any] = []
    while referee.outcome is None:
        if not referee.turn:
            referee.answer(kit.choices(referee.observations(False))[0])
            continue
        given = referee.observations(True)
        whole = [{"ply": ply, **vars(each)} for ply, each in enumerate(given)]
        request = {
            "protocolVersion": "1", "game": kit.name, "gameId": "g", "engineId": "e", "sessionId": "s",
            "color": "white", "ply": len(whole) - 1, "engineSeed": 1, "clock": {"increment_ms": 0}, "nodes": 1,
            "answers": kit.choices(given), "observationTranscript": whole,
        }  # fmt: skip
        if seen and len(whole) == len(seen) + 1:
            request["latestObservationDelta"] = request.pop("observationTranscript")[-1]
        answer = json.loads(engine.answer(json.dumps(request).encode()))
        assert answer.get("answer") in request["answers"], answer
        seen = whole
        referee.answer(answer["answer"])
    engine.close()


@pytest.mark.parametrize(
    ("kit", "typed", "says"),
    [
        (toy, "4\n0\n9\n8\n6\n2\n5\n3\n1\n7\n", "0 is taken."),
        (ghost_hunt.KIT, "up\nright\nmoves\n" + "right\ndown\nstay\n" * 40, "W . ? ?"),
    ],
)
def test_a_game_of_a_human_is_tracked_and_analysed(
    kit: AnyKit, typed: str, says: str, klss: Any, tmp_path: Path
) -> None:
    flags = ("--black", kit.configurations[-1], "--seed", "1", "--record", "game.json")
    ran = klss("play", "--game", kit.name, *flags, typed=typed)
    assert ran.code == 0, ran.err
    assert says in ran.out and "expected a" in ran.out and "kept in" in ran.err
    document = json.loads((tmp_path / "game.json").read_text())
    assert document["result"] != "*" and document["White"] == "human" and len(document["answers"]) > 3
    tracked = klss("track", "--game", kit.name, "game.json", "--json").document
    assert len(tracked["moves"]) == len(document["answers"]) == len(tracked["white"]) - 1 == len(tracked["black"]) - 1
    assert klss("track", "--game", kit.name, "game.json", "--cap", "20").out.count("past the cap") > 2
    analysed = klss("analyse", "--game", kit.name, "game.json", "--nodes", "1")
    assert analysed.out.count("(played: ") == len(document["answers"]), analysed.err
