"""OpenSpiel's games as ours: values of known games, the same tree, and what is refused."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

import klss  # noqa: E402
from klss.errors import GameError, TooLargeError  # noqa: E402
from klss.openspiel import enumeration as openspiel  # noqa: E402
from klss.paper.knowledge import knowledge_sizes  # noqa: E402
from klss.paper.subgame import make_subgame  # noqa: E402
from klss.support.memory import resident_bytes  # noqa: E402
from klss.theory.equilibrium import solve  # noqa: E402
from klss.theory.sequence_form import sequence_form  # noqa: E402


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("leduc_poker", -0.0856064),  # Southey et al. (2005); OpenSpiel's sequence_form_lp gives -0.08560642
        ("matrix_rps", 0.0),  # by symmetry
        ("goofspiel(num_cards=3,imp_info=True,points_order=descending)", 0.0),  # by symmetry
    ],
)
def test_known_values(name: str, value: float) -> None:
    solution = solve(sequence_form(openspiel.load(name)))
    assert solution.value == pytest.approx(value, abs=1e-6)
    assert solution.exploitability < 1e-7


RESTRICTED = "restricted_nash_response(game=kuhn_poker(),fixed_player=0,p=0.5)"


@pytest.mark.parametrize("recall", ["names", "history"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        (RESTRICTED, -0.138889),  # player 1 meets a node to wait at in one branch, and none in the other
        ("kuhn_poker", -1 / 18),  # Kuhn (1950)
        ("dark_hex(board_size=2)", 1.0),  # the first player wins, as in the game without hidden moves
    ],
)
def test_a_wait_is_no_information(name: str, value: float, recall: Any) -> None:
    solution = klss.solve(openspiel.load(name, recall=recall))
    assert solution.value == pytest.approx(value, abs=1e-6) and solution.exploitability < 1e-9


def test_what_names_forget_a_history_remembers() -> None:
    forgets = "liars_dice_ir(dice_sides=3)"  # OpenSpiel's liar's dice with players that forget the first bids
    with pytest.raises(GameError, match=r"^perfect recall: .*recall='history'"):
        openspiel.load(forgets)
    remembered, whole = openspiel.load(forgets, recall="history"), openspiel.load("liars_dice(dice_sides=3)")
    for i in (0, 1):
        assert remembered.treeplex(i).infoset_count == whole.treeplex(i).infoset_count
    assert klss.solve(remembered).value == pytest.approx(klss.solve(whole).value, abs=1e-9)


@pytest.mark.parametrize("recall", ["names", "history"])
@pytest.mark.parametrize("name", ["kuhn_poker", RESTRICTED, "dark_hex(board_size=2)"])
def test_infosets_known_by_hashes_are_those_known_by_texts_and_all_names_differ(
    name: str, recall: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_texts = openspiel.load(name, recall=recall)
    monkeypatch.setattr(openspiel, "_LONG", 0)
    by_hashes = openspiel.load(name, recall=recall)
    np.testing.assert_array_equal(by_hashes.infoset, by_texts.infoset)
    for observations, same in zip(by_hashes.observations, by_texts.observations, strict=True):
        assert tuple(observations.keys) == tuple(same.keys) and len(set(same.keys)) == same.infoset_count
        counts = [max(1, len(names)) for names in same.action_names]
        assert counts == same.action_count.tolist()


def test_subgames_and_knowledge_refuse_a_game_without_observations_of_waits() -> None:
    game = openspiel.load(RESTRICTED)
    x = solve(sequence_form(game)).x
    with pytest.raises(GameError, match="waiting player 1 observes nothing"):
        make_subgame(game, x, int(game.observations[0].turn_infosets[0]))
    with pytest.raises(GameError, match="a waiting player observes nothing"):
        knowledge_sizes(game)


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "dark_hex(board_size=2,gameversion=adh)", "matrix_rps"])
def test_the_flattened_tree_is_openspiel_s(name: str) -> None:
    """Follow every history of OpenSpiel beside ours."""
    game, start = openspiel.load(name), pyspiel.load_game_as_turn_based(name)
    children: dict[int, list[int]] = {}
    for node in range(1, game.node_count):
        children.setdefault(int(game.parent[node]), []).append(node)
    stack = [(start.new_initial_state(), 0)]
    seen = 0
    while stack:
        state, node = stack.pop()
        seen += 1
        if state.is_terminal():
            assert game.player[node] == -2
            assert game.utility[node] == state.returns()[0]
            continue
        below = children[node]
        if state.is_chance_node():
            assert game.player[node] == -1
            outcomes = state.chance_outcomes()
            np.testing.assert_allclose(game.probability[below], [p for _, p in outcomes])
            stack.extend((state.child(a), k) for (a, _), k in zip(outcomes, below, strict=True))
            continue
        who = state.current_player()
        assert game.player[node] == who
        key = game.observations[who].keys[game.infoset[who, node]]
        assert key == state.information_state_string(who)
        stack.extend((state.child(a), k) for a, k in zip(state.legal_actions(), below, strict=True))
    assert seen == game.node_count


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("leduc_pokr", "did you mean 'leduc_poker'"),
        ("tiny_hanabi", "not zero-sum"),
        ("kuhn_poker(players=3)", "3 players"),
        ("liars_dice(dice_side=4)", "dice_side"),
        ("nfg_game", "OpenSpiel refuses it"),  # an IndexError of its own, where others give an error of OpenSpiel's
        ("einstein_wurfelt_nicht", "one infoset, one action set"),
        ("go(board_size=-1)", "unsupported board size"),
    ],
)
def test_what_is_no_zero_sum_game_of_two_is_refused(name: str, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(GameError, match=message) as raised:
        openspiel.load(name)
    assert len(str(raised.value)) < 500, "a line, however long the infoset's name is"
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", ["amazons", pytest.param("capture_the_flag", marks=pytest.mark.slow)])
def test_a_tree_over_the_memory_is_refused_while_little_more_is_held(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openspiel._Flattening, "_hopeless", lambda _: False)
    most = resident_bytes() + 60_000_000
    with pytest.raises(TooLargeError, match="raise the limit of memory"):
        openspiel.load(name, max_nodes=10**10, max_bytes=most)
    gc.collect()
    assert resident_bytes() < most + 200_000_000


@pytest.mark.parametrize("name", ["chess", "goofspiel(num_cards=13)", "dark_chess"])
def test_a_tree_that_is_sure_to_be_too_large_is_refused_before_it_is_built(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, ask = 0, openspiel._Infosets.at

    def counted(*given: Any) -> int:
        nonlocal asked
        asked += 1
        return ask(*given)

    monkeypatch.setattr(openspiel._Infosets, "at", counted)
    with pytest.raises(TooLargeError, match="raise max_nodes"):
        openspiel.load(name, max_nodes=50_000)
    assert 0 < asked <= 2 * openspiel._WALKS_AT  # of both players
