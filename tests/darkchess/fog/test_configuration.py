"""The named configurations: what each one is."""

from __future__ import annotations

import json
import math

import chess
import pytest

from darkchess.fog.belief.weights import BeliefSettings
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.configuration import CONFIGURATIONS, ConfigurationError, configuration, make_player
from klss.search import Kluss
from klss.table.limits import Limit


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
    papers = {"particles": 200, "information": 1e7, "reach": True, "gadget": "hybrid", "nested": True}
    assert papers.items() <= bare.items()


def test_no_other_names_are_known() -> None:
    searches = {"klss2021", "klss2021-paper", "kluss", "kluss-value", "baseline"}
    assert CONFIGURATIONS.keys() == searches | {"best-guess", "greedy", "random"}


@pytest.mark.parametrize(("text", "nearest"), [("klss2021-papr", "klss2021-paper"), ("klus", "kluss")])
def test_a_near_miss_gets_the_right_name(text: str, nearest: str) -> None:
    with pytest.raises(ConfigurationError, match=f"did you mean {nearest}"):
        configuration(text)


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [("cap=1e6", "cap", 1_000_000), ("caution=3", "caution", 3.0), ("information=inf", "information", "inf"),
     ("reach=FALSE", "reach", False), ("gadget=resolve", "gadget", "resolve")],
)  # fmt: skip
def test_a_text_gives_a_field_a_value_of_its_type(change: str, field: str, value: object) -> None:
    found = configuration(f"klss2021,{change}").fields()[field]
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [("cap=5.5", "a whole number"), ("cap=nan", "a whole number"), (f"cap={'9' * 400}", "a whole number below"),
     ("cap=true", "a whole number"), ("caution=nan", "a number"), (f"caution={'9' * 400}", "a number"),
     ("caution=", "a number"), ("reach=maybe", "true or false"), ("reach=2", "true or false"),
     ("gadget=x", "one of hybrid, maxmargin, resolve"), ("gadget=\udcff", "one of hybrid, maxmargin, resolve")],
)  # fmt: skip
def test_a_value_of_another_type_is_refused_by_its_field_with_what_is_expected(change: str, expected: str) -> None:
    field = change.partition("=")[0]
    with pytest.raises(ConfigurationError, match=f"{field} is '.*', expected {expected}"):
        configuration(f"klss2021,{change}")


def test_what_the_belief_is_made_of_stands_beside_the_search_s_fields_where_there_is_a_belief() -> None:
    found = configuration("kluss,belief=value,filtering=inf,particles=9")
    assert found.beliefs == BeliefSettings("value", math.inf) and found.search == Kluss(
        particles=9, sample_by_weight=True, maxmargin_share=0.2
    )
    assert found.fields().items() >= {"belief": "value", "filtering": "inf", "particles": 9}.items()
    for text, says in (
        ("kluss,filtering=-1", "filtering is -1, expected 0 or more"),
        ("klss2021,belief=filter", "field"),
        ("kluss,belief=siamese", "belief is 'siamese', expected one of value, filter"),
    ):
        with pytest.raises(ConfigurationError, match=says):
            configuration(text)


def test_threads_are_one_or_two() -> None:
    assert configuration("klss2021").threads == 2
    assert configuration("klss2021,threads=1").threads == 1
    with pytest.raises(ConfigurationError, match="threads is 3, expected 1 or 2"):
        configuration("klss2021,threads=3")


@pytest.mark.parametrize("information", ["0", "-1"])
def test_what_divides_the_information_penalty_is_above_nothing(information: str) -> None:
    with pytest.raises(
        ConfigurationError, match=f"information is {float(information)}, expected a number above 0, inf"
    ):
        configuration(f"kluss,information={information}")


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_each_plays(name: str) -> None:
    referee = Referee()
    player = make_player(configuration(name), seed=1)
    player.start(referee.view(chess.WHITE), referee.position)
    assert player.choose(Limit(nodes=300)).answer in referee.legal_moves()
    player.close()
