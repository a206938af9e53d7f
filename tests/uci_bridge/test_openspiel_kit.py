"""OpenSpiel's games: matches with processes, the terminal, the protocol, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspiel")

from klss.openspiel.games import spiel_game
from klss.openspiel.observations import Seen
from klss.play.messages import Answer, Refusal
from klss.support.seeds import NATURE, player_seed
from klss_app.front import front_of
from klss_app.known.known import Unread
from tests.klss_app.conftest import klss  # noqa: F401
from uci_bridge.kits.named import kit_named
from uci_bridge.protocol.codec import read_reply, read_request, write_request
from uci_bridge.protocol.engine import Engine

FIRST = {"ply": 0, "text": "2", "actions": [0, 1], "names": ["Pass", "Bet"]}
GAME = spiel_game("kuhn_poker")[0]


def test_a_human_plays_it_by_names_and_numbers(klss: Any, tmp_path: Path) -> None:  # noqa: F811
    typed = "what\nBet\n2\n2\n"
    flags = ("--game", "openspiel:kuhn_poker", "--seed", "5", "--black", "random")
    ran = klss("play", *flags, "--record", "game.json", typed=typed)
    assert ran.code == 0, ran.err
    assert "1: Pass  2: Bet" in ran.out and "expected an answer of the list" in ran.out and "you " in ran.out
    assert json.loads((tmp_path / "game.json").read_text())["actions"][0] == "Bet"


def test_an_action_is_named_or_numbered() -> None:
    kit = kit_named("openspiel:leduc_poker")
    seen, known = kit.referee(None).observations(True)[-1], front_of(kit).known(True, None)
    known.observe(seen)
    assert seen.names == ("Call", "Raise") and [known.read(text) for text in ("Raise", "1", "2")] == [2, 1, 2]
    for text in ("0", "3", "²", "", "raise", "-1", "9" * 99):
        with pytest.raises(Unread, match="expected an answer of the list"):
            known.read(text)


@pytest.mark.parametrize(
    ("game", "says"),
    [
        ("openspiel:kuhn_pokr", "did you mean 'kuhn_poker'?"),
        ("openspiel:hearts", "has 4 players; expected a zero-sum game of two players"),
        ("openspiel:bargaining", "is not zero-sum"),
        ("openspiel:", "OpenSpiel has no game ''"),
        ("openspiel:no.such:kuhn_poker", "module 'no.such' can't be imported"),
        ("openspiel:pyspiel:kuhn_pokr", "did you mean 'kuhn_poker'?"),
        ("openspiel:json:dumps", "got a function, expected a pyspiel.Game or a class of one"),
        ("json:dumps", "got a function, expected a pyspiel.Game or a class of one"),
        ("open_spiel.python.games.kuhn_poker:KuhnPokr", "expected MODULE:NAME"),
    ],
)
def test_what_is_no_game_for_it_exits_2_with_one_line(klss: Any, game: str, says: str) -> None:  # noqa: F811
    ran = klss("match", "kluss", "random", "--game", game, "--games", "1")
    assert ran.code == 2 and ran.out == "" and ran.err.count("\n") == 1 and says in ran.err, ran.err


PYTHON_KUHN = "open_spiel.python.games.kuhn_poker"


@pytest.mark.parametrize(
    "flags",
    [
        (f"--game=openspiel:{PYTHON_KUHN}:python_kuhn_poker",),
        ("--game", f"{PYTHON_KUHN}:KuhnPokerGame"),
        ("--game", "tests.uci_bridge.test_openspiel_kit:GAME"),
    ],
)
def test_a_game_of_a_module_is_played_as_one_of_openspiels(
    flags: tuple[str, ...],
    klss: Any,  # noqa: F811
    tmp_path: Path,
) -> None:
    """By its name, its class, or as an object; workers and engines of a match find it again."""
    ran = klss("play", *flags, "--white", "kluss", "--black", "random", "--nodes", "30", "--seed", "1", "--record", "a")
    assert ran.code == 0, ran.err
    assert len(json.loads((tmp_path / "a").read_text())["history"]) in (4, 5)


@pytest.mark.slow
def test_a_match_and_a_solution_import_the_module_too(klss: Any, tmp_path: Path) -> None:  # noqa: F811
    flags = ("--game", f"openspiel:{PYTHON_KUHN}:python_kuhn_poker")
    ran = klss("match", "kluss", "random", *flags, "--games", "2", "--nodes", "20", "--out", "m", "--json")
    assert ran.code == 0 and json.loads(ran.out)["games"] == 2, ran.err
    kept = [json.loads(each.read_text()) for each in sorted((tmp_path / "m").glob("game-*.json"))]
    assert [(each["white"], sum(each["returns"])) for each in kept] == [("kluss", 0.0), ("random", 0.0)]
    solved = klss("solve", "python_kuhn_poker", "--import", PYTHON_KUHN, "--json")
    assert json.loads(solved.out)["value"] == pytest.approx(-1 / 18)


def _request(**changes: Any) -> bytes:
    request = {
        "protocolVersion": "1", "game": "openspiel:kuhn_poker", "gameId": "g", "engineId": "e", "sessionId": "s",
        "color": "white", "ply": 0, "engineSeed": 1, "clock": {"remaining_ms": None, "increment_ms": 0}, "nodes": 20,
        "legalActions": [0, 1],
        "observationTranscript": [FIRST],
    }  # fmt: skip
    return json.dumps(request | changes).encode()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, None),
        ({"legalActions": [0]}, "legalActions: got [0], expected those of the observations"),
        ({"observationTranscript": [{**FIRST, "text": "9"}]}, "no history"),
        ({"observationTranscript": [{**FIRST, "names": ["Pass"]}]}, "names"),
        ({"game": "openspiel:leduc_poker"}, "game"),
        ({"ply": 1}, "ply"),
    ],
)
def test_the_engine_answers_requests_and_refuses_what_can_not_be(changes: dict[str, Any], says: str | None) -> None:
    kit = kit_named("openspiel:kuhn_poker")
    engine = Engine(kit, kit.spec("kluss"))
    reply = read_reply(kit.wire, engine.answer(_request(**changes)))
    if says is None:
        assert isinstance(reply, Answer) and reply.value in (0, 1)
    else:
        assert isinstance(reply, Refusal) and says in reply.error


def test_an_observation_comes_back_as_it_was_written() -> None:
    kit = kit_named("openspiel:kuhn_poker")
    seen = Seen(0, "2", (0, 1), ("Pass", "Bet"), None)
    request = read_request(kit.wire, _request())
    assert kit.wire.told(request.observationTranscript[0]) == seen  # type: ignore[union-attr, index]
    assert json.loads(write_request(kit.wire, request)) == json.loads(_request())


def test_what_nature_draws_follows_from_no_players_seed() -> None:
    """The deal of a game is drawn by a seed of its own."""
    assert player_seed(7, NATURE) not in (player_seed(7, "white"), player_seed(7, "black"), 7)
    kit = kit_named("openspiel:leduc_poker")
    deals = {tuple(kit.referee(None, (), seed).history[:2]) for seed in range(40)}  # type: ignore[attr-defined]
    assert len(deals) > 10
