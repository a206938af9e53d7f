"""Games that are not listed: the same as their trees, as OpenSpiel's games, and as figures that others printed."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import klss
from klss import openspiel
from klss.errors import GameError, TooLargeError
from klss.games import packaged
from klss.games.leduc_poker import leduc_poker
from klss.games.liars_dice import liars_dice
from klss.games.phantom import dark_hex, phantom_ttt
from klss.support.kernel import kernel
from klss.theory import first_order, implicit
from klss.theory.best_response import best_response, exploitability, worst_case
from klss.theory.first_order import FirstOrder
from klss.theory.game import GameBuilder
from klss.theory.implicit import ImplicitForm, ImplicitGame, ImplicitRun, Rules
from klss.theory.movers import CHANCE, TERMINAL
from klss.theory.sequence_form import sequence_form
from klss.theory.treeplex import realization, uniform_behaviour
from klss_app.cli.main import main


@kernel
def kuhn_mover(p, world):  # the world: the actions after a first 1, as bits; pass 0, bet 1
    return TERMINAL if world in (0b100, 0b110, 0b111, 0b1010, 0b1011) else int(world > 1 and world < 4)


@kernel
def kuhn_child(p, world, event):
    return 2 * max(world, 1) + event


KUHN = ImplicitGame(
    "kuhn_poker",
    Rules(
        kuhn_mover,
        kernel(lambda p, world, private: 2),
        kernel(lambda p, world, private, action: (action, private)),
        kuhn_child,
        kernel(lambda p, world, private: 16 * world + private),
        kernel(
            lambda p, world, first, second: (
                0.0 if first == second else 1 / 6 if world == 0b110 else -1 / 6 if world == 0b1010
                else (1.0 if first > second else -1.0) * (1 if world == 0b100 else 2) / 6
            )
        ),
    ),
    np.zeros(1, np.int64), 2, math.inf, (3, 3), dense=True,
)  # fmt: skip
"""Kuhn poker by its rules."""

OF_OPENSPIEL = [
    (KUHN, "kuhn_poker"),
    (leduc_poker(3), "leduc_poker(suit_isomorphism=True)"),
    (dark_hex(2, 2, "adh"), "dark_hex(board_size=2,gameversion=adh)"),
    *((liars_dice(1, sides), f"liars_dice(dice_sides={sides})") for sides in (2, 3, 4)),
    (liars_dice(2, 2), "liars_dice(numdice=2,dice_sides=2)"),
]

ALL = [game for game, _ in OF_OPENSPIEL] + [dark_hex(2, 2), dark_hex(2, 3, "adh"), dark_hex(3, 2), leduc_poker(4)]


def listed(game):
    """The tree of an implicit game, history by history, with each player's names of all that it saw and did."""
    rules = Rules(*(getattr(each, "py_func", each) for each in game.rules))
    p, builder = game.parameters, GameBuilder()
    factor = game.hands[0] * game.hands[1]

    def add(parent, edge, probability, world, privates, pasts, weight):
        who = rules.mover(p, world)
        if who == TERMINAL:
            paid = rules.payoff(p, world, *privates) * weight
            builder.add_terminal(parent, edge, utility=paid, probability=probability)
        elif who == CHANCE:
            count = rules.actions(p, world, 0)
            node = builder.add_chance(parent, edge, probability=probability)
            for event in range(count):
                add(node, str(event), 1 / count, rules.child(p, world, event), privates, pasts, weight * count)
        else:
            own = (*pasts[who], rules.observe(p, world, privates[who]))
            names = tuple(own if i == who else None for i in (0, 1))
            node = builder.add_decision(parent, edge, player=who, observations=names, probability=probability)
            for action in range(rules.actions(p, world, privates[who])):
                event, after = rules.act(p, world, privates[who], action)
                below = world if event < 0 else rules.child(p, world, event)
                both = [(after, (*own, action)) if i == who else (privates[i], pasts[i]) for i in (0, 1)]
                add(node, str(action), 1.0, below, [each[0] for each in both], [each[1] for each in both], weight)

    root = builder.add_chance(None, None) if factor > 1 else None
    for hands in itertools.product(*map(range, game.hands)):
        add(root, f"{hands}" if factor > 1 else None, 1 / factor, 0, hands, ((), ()), factor)
    return builder.build()


def uniform(form):
    return [realization(treeplex, uniform_behaviour(treeplex)) for treeplex in form.treeplexes]


def assert_same(form, other):
    """Infosets with a choice, the value of uniform play, and what best responses to it are worth at each of them."""
    mine, yours = uniform(form), uniform(other)
    choices = [int((t.action_count > 1).sum()) for t in other.treeplexes]
    assert [t.infoset_count for t in form.treeplexes] == choices
    assert form.value(*mine) == pytest.approx(other.value(*yours), abs=1e-12)
    for player in (0, 1):
        found = []
        for each, plan in ((form, mine[1 - player]), (other, yours[1 - player])):
            utility = (each.payoff, each.payoff_transposed)[player] @ plan
            best = best_response(each.treeplexes[player], utility, maximize=player == 0)
            found.append([best.value, *np.sort(best.infoset_value[each.treeplexes[player].action_count > 1])])
        assert found[0] == pytest.approx(found[1], abs=1e-12)


@pytest.mark.parametrize("game", ALL, ids=lambda game: game.name)
def test_a_game_is_its_tree(game):
    tree = listed(game)
    form = ImplicitForm(game)
    assert_same(form, sequence_form(tree))
    assert form.node_count == tree.node_count - (game.hands != (1, 1))  # without the node that deals


@pytest.mark.parametrize(("game", "name"), OF_OPENSPIEL)
@pytest.mark.parametrize("method", first_order.METHODS)
def test_methods_iterate_as_on_openspiels_game(game, name, method):
    form, other = ImplicitForm(game), sequence_form(openspiel.load(name))
    assert_same(form, other)
    mine, yours = ImplicitRun(form, method), FirstOrder(other, method)
    for _ in range(3):
        mine.run(10)
        yours.run(10)
        assert mine.profile()[2] == pytest.approx(yours.profile()[2], abs=1e-12)


def test_players_may_have_any_number_of_hands():
    assert ImplicitForm(replace(KUHN, hands=(5000, 2))).treeplexes[0].infoset_count == 2 * 5000


def test_pieces_and_threads_change_no_bit(monkeypatch):
    form = ImplicitForm(dark_hex(2, 3))
    plans = [
        realization(t, np.random.default_rng(1).dirichlet(np.ones(6), t.sequence_count)[:, 0]) for t in form.treeplexes
    ]
    alone = [form.utilities(i, plans[1 - i]).tobytes() for i in (0, 1)]
    monkeypatch.setattr(implicit, "_SMALL", 0)
    for count in ("1", "2"):
        monkeypatch.setenv("KLSS_THREADS", count)
        assert [form.utilities(i, plans[1 - i]).tobytes() for i in (0, 1)] == alone


def test_a_run_goes_on_where_it_was_also_between_the_steps_of_both_players(tmp_path, monkeypatch):
    form, left = ImplicitForm(leduc_poker(4)), iter(range(51))
    whole, cut = ImplicitRun(form, "dcfr"), ImplicitRun(form, "dcfr")
    whole.run(40)
    with monkeypatch.context() as patched, pytest.raises(StopIteration):  # in the pass of iteration 26 for player 1
        patched.setattr(form, "utilities", lambda *given, each=form.utilities: (next(left), each(*given))[1])
        cut.run(40)
    cut.save(tmp_path / "run.npz")
    halves = ImplicitRun.resumed(form, tmp_path / "run.npz", "dcfr")
    halves.run(40 - halves.iterations)
    assert halves.profile()[2] == whole.profile()[2]
    with pytest.raises(first_order.SavedRunError, match="another game"):
        first_order.solve(ImplicitForm(leduc_poker(5)), method="dcfr", resume=tmp_path / "run.npz", kind=ImplicitRun)


def test_the_doors_take_what_is_too_large_to_list(capsys):
    small = klss.solve("liars_dice(dice_sides=3)", method="cfr+", gap=1e-4)
    large = klss.solve("liars_dice(dice_sides=3)", gap=1e-4, max_nodes=100)
    assert large.stats.method == "pcfr+" and large.source.implicit.node_count == 1143
    assert large.value == pytest.approx(small.value, abs=2e-4)
    assert [each.gain for each in klss.exploit("liars_dice(dice_sides=3)", "uniform", max_nodes=100)] == pytest.approx(
        [each.gain for each in klss.exploit("liars_dice(dice_sides=3)", "uniform")]
    )
    assert klss.solve(KUHN, gap=1e-6).value == pytest.approx(-1 / 18, abs=1e-6)
    with pytest.raises(GameError, match="not listed"):
        klss.solve("leduc_poker(ranks=4)", lock="uniform")
    with pytest.raises(TooLargeError):
        klss.solve("liars_dice(dice_sides=6,numdice=2)", memory_mb=1000)
    assert main(["solve", "leduc_poker(ranks=4)", "--import", "math", "--out", "four.json"]) == 2
    assert "too large to list" in capsys.readouterr().err
    assert main(["solve", "leduc_poker(ranks=4)", "--method", "dcfr", "--gap", "0.1"]) == 0
    assert "not listed" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    [
        "dark_hex(board_size=0)", "dark_hex(board_size=6)", "dark_hex(gameversion=classical)", "leduc_poker(ranks=1)",
        "leduc_poker(ranks=257)", "liars_dice(dice_sides=0)", "liars_dice(numdice=100)", "phantom_ttt(gameversion=adh)",
        pytest.param(f"liars_dice(dice_sides={5000 * '9'})", id="digits"),
    ],
)  # fmt: skip
def test_what_openspiel_refuses_or_no_memory_holds_has_no_implicit_form(name):
    """Such games are left to OpenSpiel, whose errors name the parameter, and to the limits of listing, at once."""
    assert packaged(name) is None


def test_names_are_openspiels():
    assert packaged("dark_hex(gameversion=adh, board_size=2)").name == dark_hex(2, 2, "adh").name
    assert packaged("phantom_ttt()").name == phantom_ttt().name
    for other in ("dark_hex(obstype=reveal-numturns)", "liars_dice(players=3)", "leduc_poker", "kuhn_poker", "x.efg"):
        assert packaged(other) is None


@pytest.mark.slow
def test_dark_hex_has_the_figures_that_exp_a_spiel_prints():
    """github.com/gabrfarina/exp-a-spiel, README: infosets; uniform play loses 1.166488 − .333684 and 1 at most (its
    value of uniform play, .333684, is 1/3 by the recursion below; the README's figures are of single precision).
    """
    form = ImplicitForm(dark_hex(3, 3))
    assert form.treeplexes[1].infoset_count == 2_352_067  # player 0 has 3,720,850 with those of one action
    plans = uniform(form)
    assert form.value(*plans) == pytest.approx(1 / 3, abs=1e-9)
    assert worst_case(form, 0, plans[0]) == pytest.approx(0.333684 - 1.166488, abs=5e-6)
    assert worst_case(form, 1, plans[1]) == pytest.approx(1.0, abs=1e-9)
    run = ImplicitRun(form)
    run.run(5)
    assert run.profile()[2] < 1e-9
    assert exploitability(form, *plans) == pytest.approx(1.8328, abs=1e-4)
