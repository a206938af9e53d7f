"""What everybody may see of a game besides the observations: the clocks, offers of a draw, how many messages come.

Where a refused move is tried again, unseen, none of these may tell of it. One turn is all that a player plays until the
other is asked, in one ply or in several.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from darkchess.evaluation.registry import EvaluatorChoice
from klss.play import arbiter
from klss.play.arbiter import SEATS, Arbiter
from klss.play.contest import Decision, Player, Resignation
from klss.play.limits import Limit
from klss.play.small_game import Nature
from klss_app.cli import play
from klss_app.known.known import PlainKnown
from klss_app.web.running_game import GameClock
from klss_app.web.seats import Answered, Draw, Ended, HumanAtBoard, Inbox
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
    maker = kit.maker(kit.spec(RANDOM.get(name, "random")), EvaluatorChoice(), kit.setup())
    referee = kit.referee(kit.setup())
    players = {seat: Slow(maker.player(seed), time) for seed, seat in enumerate(SEATS, 2)}
    clock = GameClock({}, time.monotonic)
    game = Arbiter(referee, players, dict.fromkeys(SEATS, Limit(clock=(START_S, ADDED_S))),
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


class Told(Player):
    """A player that plays given actions; ``told`` is everything that it gets."""

    def __init__(self, actions: list[Any], time: Time) -> None:
        self._actions, self._time = iter(actions), time
        self.told: list[Any] = []

    def begin(self, *game: Any) -> None:
        self.told.append(game)

    def observe(self, observation: Any) -> None:
        self.told.append(observation)

    def answer(self, *question: Any) -> Decision:
        self._time.now += 1.0
        self.told.append(question)
        action = next(self._actions, None)
        if action is None:
            raise Resignation
        return Decision(action)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["openspiel:phantom_ttt", toy.KIT.name])  # the text of dark hex counts all moves
def test_a_player_is_told_the_same_however_often_the_other_was_refused(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A game at random, and the same without the moves that one side tried in vain."""
    kit = kit_named(name)
    monkeypatch.setattr(arbiter, "time", time := Time())
    limits = dict.fromkeys(SEATS, Limit(clock=(START_S, ADDED_S)))
    referee, turns = kit.referee(None), []
    maker = kit.maker(kit.spec("random"), None, None)
    players: dict[bool, Player] = {seat: maker.player(seed + seat) for seat in SEATS}
    Arbiter(referee, players, limits, lambda played: turns.append((played.seat, played.decision.answer))).play()
    for waits in SEATS:
        said = []
        for kept in (turns, [one for one, after in itertools.pairwise([*turns, (None, None)])
                             if one[0] == waits or after[0] != one[0]]):  # fmt: skip
            told = {seat: Told([action for mover, action in kept if mover == seat], time) for seat in SEATS}
            Arbiter(kit.referee(None), told, limits).play()
            said.append((len(kept), told[waits].told))
        (_, one), (_, other) = said
        assert one == other
    assert any(one[0] == other[0] for one, other in itertools.pairwise(turns)), "a move was refused"


class Waits(PlainKnown[Any, int]):
    """A player at the inbox, whose page is told nothing."""

    def message(self) -> None: ...


def test_an_offer_ends_with_the_turn_of_the_one_that_it_was_made_to() -> None:
    referee, offers = toy.Referee(Nature()), list[Any]()
    inbox = Inbox(lambda offer: offers.append((offer, referee.ply)))
    for letter in (Answered(True, 1, Decision(0)), Draw(True, False), Answered(False, 2, Decision(0)),
                   Answered(False, 3, Decision(1)), Ended(None)):  # fmt: skip
        inbox.put(letter)
    players = {seat: HumanAtBoard(partial(Waits, toy.KIT), inbox, lambda _: None) for seat in SEATS}  # type: ignore[arg-type]
    with pytest.raises(Ended):
        Arbiter(referee, players, dict.fromkeys(SEATS, Limit()), on_pass=inbox.turn_over).play()
    assert referee.answers == [(True, 0), (False, 0), (False, 1)]
    assert offers == [(True, 1), (None, 3)]


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
    tries = json.loads(Path("game.json").read_text(encoding="utf-8"))["answers"]
    refused = [not one and not two for (one, _), (two, _) in itertools.pairwise(tries)]
    assert True in refused and len({len(each) for each in "".join(happened).split("a")[1:-1] if each}) == 1
