"""The named configurations and the levels: what each one is."""

from __future__ import annotations

import json
import math

import chess
import pytest

from darkchess.fog.game.referee import Referee
from darkchess.fog.players.named_fog_players import (
    ABOUT,
    CONFIGURATIONS,
    MAIN_NAMES,
    BeliefSettings,
    ConfigurationError,
    configuration,
    make_player,
)
from klss.play.arbiter import Arbiter
from klss.play.kit import AnyKit
from klss.play.limits import Limit
from klss.search import Kluss
from uci_bridge.kits.fog import FOG
from uci_bridge.kits.rbc import RBC


@pytest.mark.parametrize("name", ["baseline", "best-guess"])
def test_the_opponents_of_the_paper_differ_from_klss2021_in_the_player_alone(name: str) -> None:
    ours, theirs = configuration("klss2021").fields(), configuration(name).fields()
    changed = {key: value for key, value in theirs.items() if value != ours[key]}
    assert changed == {"name": name, "player": name}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_what_results_hold_of_each_is_strict_json_and_says_the_same_again(name: str) -> None:
    chosen = configuration(name)
    held = json.loads(json.dumps(chosen.fields(), allow_nan=False))
    changes = {key: value for key, value in held.items() if key not in ("name", "player")}
    assert chosen.changed(name, changes) == chosen


def test_the_paper_s_agent_has_every_deviation_off_that_can_be_switched() -> None:
    """docs/search.md, "Deviations": the rows of the search that name a field."""
    ours, bare = configuration("klss2021").fields(), configuration("klss2021-paper").fields()
    changed = {key: value for key, value in bare.items() if value != ours[key] and key != "name"}
    assert changed.pop("max_carried") > 10**8
    assert changed == {"first": "maxmargin", "caution": 1.0, "purify": False}
    # What agrees with the paper already (§6, Appendix D and E) stays on.
    assert {"particles": 200, "nested": True}.items() <= bare.items()


def test_what_the_belief_is_made_of_stands_beside_the_search_s_fields_where_there_is_a_belief() -> None:
    found = configuration("kluss,belief=value,filtering=inf,particles=9")
    assert found.beliefs == BeliefSettings("value", math.inf) and found.search == Kluss(
        particles=9, sample_by_weight=True, maxmargin_share=0.2
    )
    assert found.fields().items() >= {"belief": "value", "filtering": "inf", "particles": 9}.items()
    for text, says in (
        ("kluss,filtering=-1", "filtering is -1, expected 0 or more"),
        ("klss2021,belief=filter", "field"),
        ("kluss,belief=tower", "belief is 'tower', expected one of value, filter"),
    ):
        with pytest.raises(ConfigurationError, match=says):
            configuration(text)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_each_plays(name: str) -> None:
    referee = Referee()
    player = make_player(configuration(name), seed=1)
    player.begin(chess.WHITE, referee.setup)
    assert player.answer("move", Limit(nodes=300)).answer in referee.legal_moves()
    player.close()


# --------------------------------------------------------------------------------- levels, and players made weaker
@pytest.mark.parametrize("kit", [FOG, RBC], ids=["fog", "rbc"])
def test_every_level_has_a_name_that_another_process_understands_and_a_few_words(kit: AnyKit) -> None:
    assert list(kit.levels) == [f"level-{number}" for number in range(1, 9)] and all(kit.levels.values())
    assert [kit.text(kit.spec(name)) for name in kit.levels] == list(kit.levels)
    assert all(ABOUT[name] for name in MAIN_NAMES)


def test_a_level_plays_the_same_game_again_and_reads_no_clock() -> None:
    def moves() -> tuple[chess.Move, ...]:
        referee = Referee()
        players = {color: make_player(configuration("level-3"), seed=color) for color in chess.COLORS}
        control = {color: Limit(time_s=3600.0) for color in chess.COLORS}
        arbiter = Arbiter(referee, players, control)
        arbiter.begin()
        for _ in range(6):
            arbiter.play_turn()
        return referee.moves

    assert moves() == moves()


@pytest.mark.parametrize(
    ("fen", "slips", "few", "many"),
    [(None, 0, 1, 1), (None, 1, 12, 20), ("4k3/4Q3/8/8/8/8/8/4K3 w - - 0 1", 1, 1, 1)],  # a king is always taken
)
def test_who_always_slips_plays_any_move_and_who_never_does_its_own(
    fen: str | None, slips: int, few: int, many: int
) -> None:
    found = set()
    for seed in range(40):
        player = make_player(configuration(f"greedy,slips={slips}"), seed=seed)
        player.begin(chess.WHITE, Referee(fen).setup)
        found.add(player.answer("move", Limit(nodes=1)).answer)
    assert few <= len(found) <= many
