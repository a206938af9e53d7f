"""The referee of OpenSpiel's games: a game is played again by its history."""

from __future__ import annotations

import json
import random

import pytest

pytest.importorskip("pyspiel")

from klss.errors import GameError
from klss.openspiel.games import spiel_game
from klss.openspiel.referee import Referee, kept_game
from klss.play.small_game import Nature
from klss_app.front import front_of
from klss_app.known.known import Unread
from uci_bridge.kits.named import kit_named


@pytest.mark.parametrize("name", ["dark_hex(board_size=2)", "phantom_ttt", "leduc_poker", "liars_dice(dice_sides=2)"])
@pytest.mark.parametrize("seed", range(3))
def test_a_game_replayed_is_the_game_that_was_played(name: str, seed: int) -> None:
    kit = kit_named(f"openspiel:{name}")
    game, _ = spiel_game(name)
    chance, played = random.Random(seed), Referee(game, Nature(seed))
    seen = [(str(played), len(played.observations(True)), len(played.observations(False)))]
    while played.outcome is None:
        played.answer(chance.choice(played.observations(played.turn)[-1].actions))
        seen.append((str(played), len(played.observations(True)), len(played.observations(False))))
    replay = kit.replayed(kit.record(played, {"White": "a", "Black": "b"}))
    referee = replay.begin()
    again = [(str(referee), len(referee.observations(True)), len(referee.observations(False)))]
    for action in replay.answers:
        referee.answer(action)
        again.append((str(referee), len(referee.observations(True)), len(referee.observations(False))))
    assert again == seen and replay.outcome == played.outcome and replay.headers["White"] == "a"
    assert (referee.outcome, referee.actions, referee.history) == (played.outcome, played.actions, played.history)
    assert all([*referee.observations(seat)] == [*played.observations(seat)] for seat in (True, False))


def test_an_action_is_named_or_numbered() -> None:
    referee = Referee(spiel_game("leduc_poker")[0], Nature(1))
    seen = referee.observations(True)[-1]
    known = front_of(kit_named("openspiel:leduc_poker")).known(True, None)
    known.observe(seen)
    assert seen.names == ("Call", "Raise") and [known.read(text) for text in ("Raise", "1", "2")] == [2, 1, 2]
    for text in ("0", "3", "²", "", "raise", "-1", "9" * 99):
        with pytest.raises(Unread, match="expected a number or a name"):
            known.read(text)


def test_what_is_no_history_of_the_game_is_refused() -> None:
    game, _ = spiel_game("kuhn_poker")
    for history in ([9], [0, 1, 5], [0, 1, 0, 0, 1]):
        with pytest.raises(GameError, match=f"got {history[-1]} after . actions"):
            kept_game(game, json.dumps({"history": history}))
    with pytest.raises(GameError, match="no game of OpenSpiel"):
        kept_game(game, "[]")
