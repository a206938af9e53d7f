"""The doors take games and strategies in every form, and refuse all else in one line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import klss
import klss.doors
from klss.errors import KlssError, TooLargeError
from klss.gambit import write_efg
from klss.play.outcome import Outcome
from klss.play.small_game import Nature, SmallKit, SmallReferee

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import policy as spiel_policy  # noqa: E402
from open_spiel.python.algorithms.exploitability import nash_conv  # noqa: E402

KUHN = pyspiel.load_game("kuhn_poker")
GAME = klss.solve("kuhn_poker").game
PENNIES = 'NFG 1 R "" { "a" "b" } { 2 2 }\n\n3 -3 0 0 0 0 1 -1\n'


def refused() -> str:
    raise OSError("a game in strategic form")  # as pygambit does


def test_a_game_in_every_form_has_one_value(tmp_path: Path) -> None:
    file = tmp_path / "kuhn.efg"
    write_efg(file, GAME, "Kuhn")
    forms = ["kuhn_poker", KUHN, GAME, str(file), file, SimpleNamespace(to_efg=file.read_text), klss.solve(GAME)]
    assert [18 * klss.solve(each).value for each in forms] == pytest.approx([-1.0] * len(forms))
    assert klss.solve(SimpleNamespace(to_efg=refused, to_nfg=lambda: PENNIES)).value == pytest.approx(0.75)
    with pytest.raises(TooLargeError, match="more than 9 nodes"):
        klss.exploit(str(file), None, max_nodes=9)


class Boxes(SmallReferee[str, str]):
    """One hides a coin in one of three boxes, the other looks into one; nature may tell it where the coin is."""

    def __init__(self, nature: Nature) -> None:
        super().__init__(nature)
        self.hidden = ""
        self.show(True, "hide")

    def play(self, box: str) -> None:
        if self.turn:
            self.hidden, self.turn = box, False
            self.show(False, box if self.draw(["told", "untold"], np.array([1, 3])) == "told" else "?")
        else:
            self.end(Outcome(box != self.hidden, "looked"))


class BoxesKit(SmallKit[Boxes, str, str]):
    name = title = "boxes"
    true_game, observation, answer = Boxes, str, str

    def choices(self, seen: Sequence[str]) -> list[str]:
        return ["left", "middle", "right"]


def test_a_small_game_is_solved_from_its_kit() -> None:
    solution = klss.solve(BoxesKit())
    assert solution.value == pytest.approx(1 / 4 * -1 + 3 / 4 * 1 / 3, abs=1e-9)
    assert list(solution.strategy(0)) == ["> hide\n"] and solution.strategy(1)["> left\n"]["left"] == pytest.approx(1.0)
    found = klss.subgame(BoxesKit(), "> left\n", "uniform", player=1)
    assert found.changed["> left\n"]["left"] == pytest.approx((1 / 3, 1.0)) and found.margin == pytest.approx(2 * 2 / 3)


@pytest.mark.parametrize("named", [True, False])
def test_a_profile_of_gambit_is_a_strategy(named: bool, tmp_path: Path) -> None:
    """A stand-in: pairs of an infoset and its mixed action, which has pairs of an action and its probability. Infosets
    without names are numbers, as in the file.
    """

    def behaviour(player: int) -> SimpleNamespace:
        rows = klss.solve(GAME).strategy(player).items()
        mixed = [(SimpleNamespace(label=key if named else ""), list(row.items())) for key, row in rows]
        return SimpleNamespace(mixed_actions=lambda: mixed)

    file = tmp_path / "kuhn.efg"
    write_efg(file, GAME, "Kuhn")
    file.write_text(file.read_text() if named else re.sub(r'(p "" \d \d+) "[^"]*"', r'\1 ""', file.read_text()))
    profile = SimpleNamespace(mixed_behaviors=lambda: [("Alice", behaviour(0)), ("Bob", behaviour(1))])
    assert sum(each.gain for each in klss.exploit(file, profile)) < 1e-9


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_a_strategy_in_every_form_loses_what_openspiel_says(name: str, tmp_path: Path) -> None:
    game = pyspiel.load_game(name)
    table = spiel_policy.tabular_policy_from_callable(game, lambda state: {state.legal_actions()[0]: 0.75,
                                                                          state.legal_actions()[-1]: 0.25})  # fmt: skip
    solved = klss.solve(name)

    def said(key: str, actions: tuple[str, ...]) -> dict[str, Any]:
        return {actions[0]: "3/4", actions[-1]: 0.25}

    first, second = (
        {key: said(key, tuple(actions)) for key, actions in solved.strategy(player).items()} for player in (0, 1)
    )
    (tmp_path / "policy.json").write_text(json.dumps({"players": [{"infosets": first}, {"infosets": second}]}))
    python_to_c, lost = spiel_policy.python_policy_to_pyspiel_policy, nash_conv(game, table)
    for form in (first | second, [first, said], table, python_to_c(table), str(tmp_path / "policy.json")):
        found = klss.exploit(game, form)
        assert sum(each.gain for each in found) == pytest.approx(lost)
        for each in found:
            assert sum(gain for _, gain in each.where) == pytest.approx(each.gain) and each.named == each.infosets
    uniform = spiel_policy.UniformRandomPolicy(game)
    assert sum(each.gain for each in klss.exploit(name, None)) == pytest.approx(nash_conv(game, uniform))


def test_uniform_play_can_be_locked_for_both_players_or_for_one() -> None:
    first, second = klss.exploit("kuhn_poker", "uniform")
    values = [klss.solve("kuhn_poker", lock=each).value for each in ("uniform", ("uniform", None), (None, "uniform"))]
    assert values == pytest.approx([first.value, first.worst_case, -second.worst_case])


@pytest.mark.parametrize(
    ("call", "got", "expected"),
    [
        (lambda: klss.solve(3), "game: got a int", "pygambit.Game"),
        (lambda: klss.solve("none.efg"), "none.efg", "expected"),
        (lambda: klss.solve("runs:none.efg"), "runs:none.efg: No such file", "a file of Gambit"),
        (lambda: klss.solve("kuhn_poker", gap=1), "gap", "pcfr"),
        (lambda: klss.exploit("kuhn_poker", 3), "policy: got a int", "a dict"),
        (lambda: klss.exploit("kuhn_poker", (1, 2, 3)), "got 3 of them", "expected two"),
        (lambda: klss.exploit("kuhn_poker", "none.json"), "none.json", "klss solve"),
        (lambda: klss.exploit("kuhn_poker", {"nobody": "Bet"}), "got infoset 'nobody'", "nearest"),
        (lambda: klss.exploit("kuhn_poker", {"0": {0: 1}}), "got action '0'", "Pass, Bet"),
        (lambda: klss.exploit("kuhn_poker", {"0": [0.5, 0.2, 0.3]}), "got [0.5", "Pass, Bet"),
        (lambda: klss.exploit("kuhn_poker", {"0": {"Bet": 0.9}}), "sum to 0.9", "expected 1"),
        (lambda: klss.solve("kuhn_poker", max_nodes=57), "more than 57 nodes", "raise max_nodes"),
        (lambda: klss.exploit("kuhn_poker", None, max_nodes=9, games=0), "games: got 0", "one at least"),
        (lambda: klss.exploit("tests.table.ghost_hunt:KIT", None, max_nodes=9), "Ghost hunt: more", "raise max_nodes"),
        (lambda: klss.solve(GAME, memory_mb=1), "would take", "raise the limit of memory"),
        (lambda: klss.solve("tests.table.ghost_hunt:KIT", memory_mb=1), "would take", "raise the limit of memory"),
        (lambda: klss.subgame(GAME, "0", memory_mb=1), "would take", "raise the limit of memory"),
        (lambda: klss.exploit("kuhn_poker", lambda *_: None), "got None", "Pass, Bet"),
        (lambda: klss.exploit("leduc_poker", spiel_policy.TabularPolicy(KUHN)), "not know the infosets", "this game"),
        (lambda: klss.exploit(GAME, spiel_policy.UniformRandomPolicy(KUHN)), "policy: got", "OpenSpiel"),
        (lambda: klss.subgame("kuhn_poker", "nowhere"), "got 'nowhere'", "an infoset"),
        (lambda: klss.subgame("kuhn_poker", "0", blueprint=klss.solve("matrix_mp")), "another game", "this game"),
        (lambda: klss.solve(GAME).policy(), "not OpenSpiel's", "strategy"),
        (lambda: klss.solve(klss.solve("liars_dice(dice_sides=2)", max_nodes=9, gap=1)), "not listed", "game itself"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(call: Any, got: str, expected: str) -> None:
    with pytest.raises(KlssError) as raised:
        call()
    said = str(raised.value)
    assert got in said and expected in said and "\n" not in said


@pytest.mark.parametrize("exact", [False, True])
def test_a_solution_goes_to_a_file_and_comes_back(exact: bool, tmp_path: Path) -> None:
    solution = klss.solve("kuhn_poker", exact=exact)
    solution.save(tmp_path / "kuhn.json")
    again = klss.load(tmp_path / "kuhn.json")
    assert again.value == (Fraction(-1, 18) if exact else pytest.approx(-1 / 18)) and again.status == "optimal"
    assert again.exact == solution.exact and again.exploitability < 1e-9
    assert nash_conv(KUHN, again.policy()) < 1e-9
    klss.solve("kuhn_poker", recall="history").save(tmp_path / "kuhn.json")
    assert klss.load(tmp_path / "kuhn.json").exploitability < 1e-9


def test_fractions_that_are_no_equilibrium_prove_nothing(tmp_path: Path) -> None:
    path, rows = tmp_path / "kuhn.json", klss.solve("kuhn_poker").strategy
    uniform = [{"infosets": {key: dict.fromkeys(row, "1/2") for key, row in rows(player).items()}} for player in (0, 1)]
    path.write_text(json.dumps({"game": "kuhn_poker", "players": uniform}))
    loaded = klss.load(path)
    assert loaded.exact is None and loaded.status != "optimal" and loaded.value == pytest.approx(1 / 8)


def test_progress_tells_how_long_a_gap_that_falls_evenly_still_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[klss.doors.Progress]()
    tell = klss.doors._Iterations(told.append, 0.01, None)
    for spent in (1, 2, 4, 8):  # a gap of 1 / seconds reaches .01 after 100
        monkeypatch.setattr(time, "monotonic", lambda spent=spent: tell._began + spent)
        tell(1000 * spent, 1 / spent)
    assert told[0].left_s is None and told[-1].left_s == pytest.approx(92)
    assert str(told[-1]) == "8,000 iterations, gap 0.12, about 92 s left"


def test_a_notebook_shows_value_table_and_tree() -> None:
    page = klss.solve("kuhn_poker", exact=True)._repr_html_()
    assert "-1/18" in page and "<code>2b</code>" in page and page.count("<circle") == 58 - 30
    assert "<svg" not in klss.solve("leduc_poker")._repr_html_()


def test_the_package_loads_nothing_until_it_is_used() -> None:
    code = "import sys, klss; dir(klss); print(*{each.split('.')[0] for each in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "numba", "scipy", "chess", "pyspiel", "darkchess"} & set(done.stdout.split())
