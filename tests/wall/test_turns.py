"""What everybody may see of a game besides the observations: the clocks, offers of a draw, how many messages come.

Where a refused move is tried again, unseen, none of these may tell of it. One turn is all that a player plays until the
other is asked, in one ply or in several.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from klss.table import arbiter
from klss.table.arbiter import SEATS, Arbiter
from klss.table.contest import Decision, Player
from klss.table.limits import TimeControl
from klss_app.cli import play
from klss_app.web.running_game import GameClock
from tests.klss_app.conftest import klss  # noqa: F401
from tests.table import hidden_tictactoe as toy
from uci_bridge.kits.named import kit_named

PHANTOM = ("openspiel:phantom_ttt", "openspiel:dark_hex(board_size=3)", toy.KIT.name)
RANDOM = {"rbc": "rbc-random"}
START_S, ADDED_S = 1000.0, 7.0


class Time:
    """A clock of which every answer takes a second, and everything else of the referee's none."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class Slow(Player):
    """A player whose answers take a second."""

    def __init__(self, player: Player, time: Time) -> None:
        self._player, self._time = player, time
        self.begin, self.observe = player.begin, player.observe  # type: ignore[method-assign]

    def answer(self, *question: Any) -> Decision:
        self._time.now += 1.0
        return self._player.answer(*question)


@pytest.mark.parametrize("name", ["fog", "rbc", *PHANTOM])
def test_a_clock_runs_for_a_whole_turn_and_then_gets_one_increment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    time, kit = Time(), kit_named(name)
    monkeypatch.setattr(arbiter, "time", time)
    spec = kit.spec(RANDOM.get(name, "random"))
    referee = kit.referee(kit.setup())
    players = {seat: Slow(kit.player(spec, None, seed), time) for seed, seat in enumerate(SEATS, 2)}
    clock = GameClock({}, time.monotonic)
    game = Arbiter(referee, players, dict.fromkeys(SEATS, TimeControl(clock=(START_S, ADDED_S))),
                   on_pass=lambda seat: clock.turn_begins(), remaining_s=clock.remaining_s)  # fmt: skip
    game.begin()
    turns, plies = dict.fromkeys(SEATS, 0), 0
    spent = dict.fromkeys(SEATS, 0.0)
    while referee.outcome is None and plies < 40:
        seat, began = referee.turn, time.now
        while referee.outcome is None and referee.turn == seat:
            left = {each: START_S + ADDED_S * turns[each] - spent[each] for each in SEATS}
            left[seat] -= time.now - began
            shown = clock.shown(seat)
            assert shown is not None and {each: shown["white" if each else "black"] / 1000 for each in SEATS} == left
            game.play_turn()
            plies += 1
        turns[seat] += 1
        spent[seat] += time.now - began
    assert game.remaining_s == {each: START_S + ADDED_S * turns[each] - spent[each] for each in SEATS}
    assert name not in PHANTOM or plies > sum(turns.values()), "some moves were refused"


def test_an_engine_in_the_terminal_thinks_alike_in_every_turn(
    klss: Any,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between two questions to the human the spinner begins equally often, however often the engine is refused."""
    happened: list[str] = []

    def spinner(_: Any, text: Any) -> Any:
        happened.extend("t" * ("thinks" in text(0.0)))
        return contextlib.nullcontext()

    monkeypatch.setattr(play.Terminal, "spinner", spinner)
    asked = play.Terminal.ask
    monkeypatch.setattr(play.Terminal, "ask", lambda *each: (happened.append("a"), asked(*each))[1])
    ran = klss("play", "--game", toy.KIT.name, "--black", "first", "--record", "game.json", typed="0\n4\n3\n8\n")
    assert "kept in game.json" in ran.err
    tries = json.loads(Path("game.json").read_text(encoding="utf-8"))["tries"]
    refused = [not one and not two for (one, _), (two, _) in itertools.pairwise(tries)]
    assert True in refused and len({len(each) for each in "".join(happened).split("a")[1:-1] if each}) == 1
