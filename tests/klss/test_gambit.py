"""Gambit's files: games by the rules of its documentation, what is refused and where, and the way out and in again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from klss import gambit
from klss.equilibrium import solve
from klss.errors import GameError, TooLargeError
from klss.sequence_form import sequence_form
from tests.klss import games

# Myerson's card game (Game Theory, 1991, section 2.1): player 1 sees red or black and raises or folds,
# player 2 meets or passes. Zero-sum; its value is 1/3 (section 4.3: raise with black one time in three, meet two
# times in three).
CARDS = """EFG 2 R "Myerson's card game" { "Fred" "Alice" }
"A comment"
c "ROOT" 1 "(0,1)" { "RED" 1/2 "BLACK" 0.5 } 0
p "" 1 1 "(1,1)" { "RAISE" "FOLD" } 0
p "" 2 1 "(2,1)" { "MEET" "PASS" } 0
t "" 1 "Win big" { 2, -2 }
t "" 2 "Win" { 1 -1 }
t "" 2
p "" 1 2 "(1,2)" { "RAISE" "FOLD" } 0
p "" 2 1 0
t "" 3 "Lose big" { -2, 2 }
t "" 2
t "" 4 "Lose" { -1, 1 }
"""


def read(tmp_path: Path, text: str, name: str = "game.efg", **limits: int) -> gambit.GambitFile:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return gambit.read(path, **limits)


def value(game: gambit.GambitFile) -> float:
    return solve(sequence_form(game.game)).value


def test_an_extensive_game_with_what_later_lines_leave_out(tmp_path: Path) -> None:
    file = read(tmp_path, CARDS)
    assert file.title == "Myerson's card game" and file.constant == 0.0
    assert file.game.observations[0].keys == ("(1,1)", "(1,2)")
    assert value(file) == pytest.approx(1 / 3)


def test_payoffs_on_the_way_count_and_the_constant_is_told(tmp_path: Path) -> None:
    # Three more for player 1 and seven for player 2 at the root.
    paid = CARDS.replace('{ "RED" 1/2 "BLACK" 0.5 } 0', '{ "RED" 1/2 "BLACK" 0.5 } 9 "" { 3, 7 }')
    file = read(tmp_path, paid)
    assert file.constant == 10.0 and value(file) == pytest.approx(3 + 1 / 3)


@pytest.mark.parametrize(
    "text",
    [
        'NFG 1 R "RPS" { "A" "B" } { 3 3 }\n0 0 1 -1 -1 1  -1 1 0 0 1 -1  1 -1 -1 1 0 0\n',
        'NFG 1 D "RPS" { "A" "B" } { { "R" "P" "S" } { "R" "P" "S" } } "no comment"\n'
        '{ { "" 1, -1 } { "" -1, 1 } }\n0 1 2 2 0 1 1 2 0',
    ],
)
def test_a_strategic_game_in_both_forms(text: str, tmp_path: Path) -> None:
    file = read(tmp_path, text, "rps.nfg")
    solution = solve(sequence_form(file.game))
    assert solution.value == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(solution.x, [1, 1 / 3, 1 / 3, 1 / 3], atol=1e-7)


def test_player_1_s_strategies_run_first_in_a_table(tmp_path: Path) -> None:
    # Player 1 has two strategies, player 2 three; the saddle is player 1's second against player 2's third.
    file = read(tmp_path, 'NFG 1 R "" { "A" "B" } { 2 3 } 0 0 5 -5  1 -1 6 -6  2 -2 4 -4', "saddle.nfg")
    assert value(file) == pytest.approx(4.0)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_written_reads_as_the_same_game(seed: int, tmp_path: Path) -> None:
    game = games.random_game(seed)
    gambit.write_efg(tmp_path / "out.efg", game, f'a "title" {seed}', constant=1.5)
    again = gambit.read(tmp_path / "out.efg")
    assert again.title == f'a "title" {seed}'
    assert again.constant == pytest.approx(1.5)
    assert again.game.node_count == game.node_count
    first, second = sequence_form(game), sequence_form(again.game)
    np.testing.assert_allclose(first.payoff.toarray(), second.payoff.toarray(), rtol=1e-14)


def test_an_equilibrium_is_printed_as_gambit_prints_it(tmp_path: Path) -> None:
    file = read(tmp_path, CARDS)
    solution = solve(sequence_form(file.game))
    line = gambit.equilibrium_line((solution.strategy(0), solution.strategy(1))).split(",")
    assert line[0] == "NE"
    # By infoset: red raise and fold, black raise and fold; player 2 meet and pass.
    np.testing.assert_allclose([float(p) for p in line[1:]], [1, 0, 1 / 3, 2 / 3, 2 / 3, 1 / 3], atol=1e-9)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (CARDS.replace("{ 2, -2 }", "{ 2, -1 }"), "constant-sum: got ends whose payoffs sum to 0 and to 1"),
        (CARDS.replace('"Alice" }', '"Alice" "Bob" }'), "line 1, column .*: got 3 players, expected 2"),
        (CARDS.replace("EFG 2", "EFG 1"), "line 1, column 5: got version '1', expected 2"),
        (CARDS.replace("0.5 }", "0.25 }"), "line 3, .*: chance sums to one: got probabilities that sum to 0.75"),
        (CARDS.replace("1/2", "1/0"), "line 3, .*: got '1/0', expected a number"),
        (CARDS.replace('"Lose"', '"Lose'), "line 13, .*expected a name in quotes"),
        (CARDS.replace("p ", "q "), "got 'q', expected c, p or t"),
        (CARDS.replace('t "" 2\np', 't "" 7\np'), "got no payoffs of outcome 7"),
        (CARDS.replace('2 1 "(2,1)" {', '3 1 "(2,1)" {'), "got player '3', expected 1 or 2"),
        (CARDS + "t", "got 't', expected the end of the file"),
        (CARDS[:-30], "expected"),
        ("", "got 'the end of the file', expected a number or a letter"),
        # Player 1's two nodes of one infoset, after different actions of player 1's own.
        (
            'EFG 2 R "" { "1" "2" }\np "" 1 1 { "a" "b" } 0\np "" 1 2 { "c" "d" } 0\nt "" 0\nt "" 0\n'
            'p "" 1 2 0\nt "" 0\nt "" 0\n',
            "perfect recall",
        ),
        ('NFG 1 R "" { "1" "2" } { 2 2 } 1 -1', "got 'the end of the file'"),
        ('NFG 1 R "" { "1" "2" } { 2 2 } 1e99999999 -1', "got '1e99999999', expected a number"),
        ('NFG 1 R "" { "1" "2" } { 2 2 } 1/2/3 -1', "got '1/2/3', expected a number"),
        ('NFG 1 R "" { "1" "2" } { 2 0 } 1 -1', "one strategy each at the least"),
        ('NFG 1 R "" { "1" "2" } { 2 two } 1 -1', "got 'two', expected a number of strategies"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_place(broken: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(GameError, match=says) as raised:
        read(tmp_path, broken)
    assert "\n" not in str(raised.value) and str(raised.value).startswith(str(tmp_path / "game.efg"))


@pytest.mark.slow
def test_what_is_too_large_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    with pytest.raises(TooLargeError, match="more than 5 nodes"):
        read(tmp_path, CARDS, max_nodes=5)
    with pytest.raises(TooLargeError, match="more than 5,000,000 nodes"):
        read(tmp_path, 'NFG 1 R "" { "1" "2" } { 9999999 9999999 }')
    with (tmp_path / "huge.efg").open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(GameError, match="got more than 64 MB"):
        gambit.read(tmp_path / "huge.efg")
    with pytest.raises(GameError, match="got no file"):
        gambit.read(tmp_path)
    with pytest.raises(GameError, match="No such file"):
        gambit.read(tmp_path / "none.efg")
