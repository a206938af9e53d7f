"""Gambit's files: games by the rules of its documentation, what is refused and where, and the way out and in again."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
import time
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from klss import gambit
from klss.errors import GameError, TooLargeError
from klss.support.memory import resident_bytes
from klss.theory.equilibrium import solve
from klss.theory.folding import fold
from klss.theory.sequence_form import sequence_form
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


GOOFSPIEL = "goofspiel(num_cards=4,imp_info=True,points_order=random,returns_type=win_loss)"


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


def strictly_read(text: str) -> Fraction:
    """Read an extensive game of two players by the letter of the format's text; return its largest denominator.

    The format: https://gambitproject.readthedocs.io/en/latest/formats.efg.html
    """
    token = re.compile(r'\s*("(?:\\"|[^"\\])*"|[{}]|[-+]?\d+(?:/\d+)?|[A-Za-z]+)')
    parts, at, end = [], 0, len(text.rstrip())
    while at < end:
        found = token.match(text, at)
        assert found is not None, text[at : at + 60]
        parts.append(found[1])
        at = found.end()
    parts.reverse()
    take = parts.pop

    def label() -> str:
        name = take()
        assert name[0] == name[-1] == '"' and name[1:-1] == " ".join(name[1:-1].split()) and name.isprintable()
        return name

    def listed(*kinds: Callable[[], object]) -> list[list[object]]:
        """Return rows of items between two braces."""
        assert take() == "{"
        rows = []
        while parts[-1] != "}":
            rows.append([kind() for kind in kinds])
        take()
        return rows

    assert [take() for _ in range(3)] == ["EFG", "2", "R"]
    label()
    assert len(listed(label)) == 2
    label()
    declared: dict[tuple[str, ...], object] = {}
    names: dict[str, set[str]] = {"1": set(), "2": set()}
    waiting, most = 1, Fraction(1)
    while waiting:
        waiting -= 1
        kind, _ = take(), label()
        owner = take() if kind == "p" else kind
        number, name = (take(), label()) if kind != "t" else ("", "")
        rows = [] if kind == "t" else listed(label, *([lambda: Fraction(take())] if kind == "c" else []))
        if kind == "c":
            assert sum(row[1] for row in rows) == 1  # type: ignore[misc]
        if kind != "t":
            assert declared.setdefault((owner, number), (name, rows)) == (name, rows)
            assert rows and len({row[0] for row in rows}) == len(rows)
        if kind == "p" and (owner, name) not in declared:
            assert name != '""' and name not in names[owner]
            names[owner].add(name)
            declared[owner, name] = number
        outcome = take()
        if outcome != "0":
            label()
            paid = [row[0] for row in listed(lambda: Fraction(take()))]
            assert len(paid) == 2 and declared.setdefault(("o", outcome), paid) == paid
            most = max(most, *(Fraction(each.denominator) for each in paid))  # type: ignore[attr-defined]
        waiting += len(rows)
    assert not parts
    return most


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)", "dark_hex(board_size=2,gameversion=adh)", GOOFSPIEL],
)
def test_games_of_openspiel_are_written_by_the_letter_of_the_format(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pyspiel")
    from klss import openspiel

    game = openspiel.load(name)
    gambit.write_efg(tmp_path / "out.efg", game, name)
    assert strictly_read((tmp_path / "out.efg").read_text()) == 1  # whole payoffs
    assert gambit.read(tmp_path / "out.efg").game.node_count == game.node_count
    if importlib.util.find_spec("pygambit"):
        by_gambit = importlib.import_module("pygambit").read_efg(str(tmp_path / "out.efg"))
        assert by_gambit.is_const_sum and by_gambit.is_perfect_recall


@pytest.mark.slow
def test_a_chain_is_read_and_solved_in_linear_time(tmp_path: Path) -> None:
    def seconds(length: int) -> float:
        nodes = "".join(f'p "" 1 {k} "" {{ "on" "off" }} 0\nt "" 1 "" {{ 1 -1 }}\n' for k in range(1, length))
        begin = time.process_time()
        file = read(tmp_path, f'EFG 2 R "" {{ "1" "2" }}\n{nodes}t "" 1\n')
        assert solve(fold(sequence_form(file.game)).form).value == 1.0
        return time.process_time() - begin

    seconds(100)
    assert seconds(20_000) < 20 * seconds(2_000)  # 100 times if it were quadratic


def test_a_byte_order_mark_is_no_part_of_the_game(tmp_path: Path) -> None:
    assert value(read(tmp_path, "\ufeff" + CARDS)) == pytest.approx(1 / 3)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_written_reads_as_the_same_game(seed: int, tmp_path: Path) -> None:
    game = games.random_game(seed)
    # Names that the format has no room for: of several lines, empty, or the same but for spaces.
    mine = game.observations[0]
    odd = ("", " a  b\n", "a b", "c\\", 'say "d"', *map(str, mine.keys[5:]))[: len(mine.keys)]
    observations = dataclasses.replace(mine, keys=odd), game.observations[1]
    game = dataclasses.replace(game, observations=observations)
    gambit.write_efg(tmp_path / "out.efg", game, f'a "title" {seed}', constant=1.5)
    again = gambit.read(tmp_path / "out.efg")
    assert again.title == f'a "title" {seed}'
    assert again.constant == pytest.approx(1.5)
    assert again.game.node_count == game.node_count
    strictly_read((tmp_path / "out.efg").read_text())
    first, second = sequence_form(game), sequence_form(again.game)
    np.testing.assert_allclose(first.payoff.toarray(), second.payoff.toarray(), rtol=1e-14)


def test_a_long_name_takes_little_memory_and_white_space_at_the_end_little_time() -> None:
    gambit.parse(CARDS, "cards")  # compiles what builds a game
    tracemalloc.start()
    gambit.parse(CARDS.replace("ROOT", 100_000 * "a") + 300_000 * " ", "cards")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < gambit._BYTES_A_BYTE * 100_000


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (CARDS.replace("{ 2, -2 }", "{ 2, -1 }"), "constant-sum: got ends whose payoffs sum to 0 and to 1"),
        # One large payoff does not make other sums equal.
        (CARDS.replace("{ 2, -2 }", "{ 1e9, -1e9 }").replace("{ -1, 1 }", "{ -1, 3 }"), "payoffs sum to 0 and to 2"),
        (CARDS.replace('"Alice" }', '"Alice" "Bob" }'), "line 1, column .*: got 3 players, expected 2"),
        (CARDS.replace("0.5 }", "0.25 }"), "line 3, .*: chance sums to one: got probabilities that sum to 0.75"),
        (CARDS.replace("1/2", "1/0"), "line 3, .*: got '1/0', expected a number"),
        (CARDS.replace('"Lose"', '"Lose'), "line 13, .*expected a name in quotes"),
        (CARDS.replace('t "" 2\np', 't "" 7\np'), "got no declaration of outcome 7"),
        # Repeated declarations that differ are errors by the format's text, and so is half of one.
        (CARDS.replace('t "" 2\np', 't "" 2 "Win" { 1, -1.5 }\np'), "line 8, .*outcome 2: .* differs from the first"),
        (CARDS.replace('2 1 "(2,1)" {', '3 1 "(2,1)" {'), "got player '3', expected 1 or 2"),
        (CARDS + "t", "got 't', expected the end of the file"),
        ("", "got 'the end of the file', expected a number or a letter"),
        # Player 1's two nodes of one infoset, after different actions of player 1's own.
        (
            'EFG 2 R "" { "1" "2" }\np "" 1 1 "" { "a" "b" } 0\np "" 1 2 "" { "c" "d" } 0\nt "" 0\nt "" 0\n'
            'p "" 1 2 0\nt "" 0\nt "" 0\n',
            "perfect recall",
        ),
        ('NFG 1 R "" { "1" "2" } { 2 2 } 1e99999999 -1', "got '1e99999999', expected a number"),
        ('NFG 1 R "" { "1" "2" } { 2 0 } 1 -1', "one strategy each at the least"),
        ('NFG 1 R "" { "1" "2" } { 1 1 } 1e308 1e308', "got sums that are not finite"),
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
    with pytest.raises(TooLargeError, match="more than 3 nodes"):  # as soon as their edges are read
        read(tmp_path, 'EFG 2 R "" { "1" "2" } p "" 1 1 "" { "a" "b" "c" } 0', max_nodes=3)
    before = resident_bytes()
    with pytest.raises(TooLargeError, match="more than 5,000,000 nodes"):
        read(tmp_path, 'NFG 1 R "" { "1" "2" } { 999999 999999 }')
    with pytest.raises(GameError, match="got strategies of 100 players"):
        read(tmp_path, 'NFG 1 R "" { "1" "2" } {' + 100 * " 999999" + " }")
    assert resident_bytes() < before + 50_000_000
    with pytest.raises(TooLargeError, match="raise the limit of memory"):
        read(tmp_path, CARDS + " " * 10_000_000, max_bytes=before + 100_000_000)
    with (tmp_path / "huge.efg").open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(GameError, match="File too large"):
        gambit.read(tmp_path / "huge.efg")
    with pytest.raises(GameError, match="No such file"):
        gambit.read(tmp_path / "none.efg")
