"""Rows of the paper's tables to its digits; those that take seconds are marked slow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("pyspiel")

from klss.errors import GameError
from klss.paper.tables import TABLE_1, Row, knowledge_row, table_1_row
from tests.klss.one_method import solve_by

QUICK = ("abrupt_dark_hex_2x2", "goofspiel4_increasing", "kuhn", "kuhn_bet", "matching_pennies100")
PAPER = {game.name: game for game in TABLE_1}

# Zhang & Sandholm (2021), Table 2: nodes, infosets, diameter, mean sizes for k = 1, 2, 3, 4, inf.
KNOWLEDGE = {
    "abrupt_dark_hex_2x2": (471, 94, 13, 5.23, 12.00, 18.17, 22.04, 29.58),
    "goofspiel4_random": (26773, 3608, 4, 5.84, 8.90, 9.19, 9.20, 9.20),
    "goofspiel4_increasing": (1077, 162, 4, 5.83, 9.05, 9.31, 9.32, 9.32),
    "kuhn": (58, 12, 3, 2.50, 3.50, 4.00, 4.00, 4.00),
    "leduc": (9457, 936, 3, 6.14, 14.71, 15.40, 15.40, 15.40),
    "liars_dice5": (51181, 5120, 2, 7.00, 15.00, 15.00, 15.00, 15.00),
    "matching_pennies100": (701, 101, 99, 3.63, 4.29, 4.93, 5.57, 35.97),
}
EVERY = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in PAPER if name not in QUICK)]


def rounding(figure: float) -> float:
    """Half a unit of the last digit the paper prints (.0 is taken as .0000)."""
    return 0.5 * 10.0 ** -(len(f"{figure}".split(".")[1]) if figure else 4)


ROOT = Path(__file__).parents[2]
# What docs/tables.md prints.
PRINTED = {row["game"]: row for row in json.loads((ROOT / "experiments/results/tables.json").read_text())["table_1"]}


def check_printed(row: Row) -> None:
    """The row is the printed one, and not only in the digits that are printed."""
    printed = PRINTED[row.game]
    assert (row.blueprint, row.after) == pytest.approx((printed["blueprint"], printed["after"]), abs=1e-6)
    assert row.subgames == printed["subgames"]


def test_the_page_prints_these_rows() -> None:
    page = (ROOT / "docs/tables.md").read_text(encoding="utf-8")
    for name, row in PRINTED.items():
        paper = PAPER[name]
        cells = (name, f"{row['blueprint']:.4f}", paper.paper_blueprint, f"{row['after']:.4f}", paper.paper_after)
        assert f"\n| {' | '.join(map(str, cells))} |" in page


@pytest.mark.parametrize("name", EVERY)
def test_table_1_is_as_printed_and_after_is_never_above_the_paper_s(name: str) -> None:
    row, paper = table_1_row(name), PAPER[name]
    check_printed(row)
    assert paper.paper_after is not None
    assert row.after <= paper.paper_after + rounding(paper.paper_after)


@pytest.mark.parametrize("name", ["abrupt_dark_hex_2x2", "kuhn", "kuhn_bet", "matching_pennies100"])
def test_table_1_does_not_depend_on_how_its_programs_are_solved(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    solve_by(monkeypatch, "ipm")
    check_printed(table_1_row(name))


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", EVERY)
def test_epsilon_0_leaves_exploitability_at_0(name: str, player: int) -> None:
    assert table_1_row(name, epsilon=0.0, player=player).after < 1e-7


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in ("liars_dice5", "goofspiel4_random")))
        for name in KNOWLEDGE
    ],
)
def test_table_2_to_the_last_digit(name: str) -> None:
    sizes = knowledge_row(name)
    means = tuple(round(sizes.mean[k], 2) for k in (1, 2, 3, 4, -1))
    assert (sizes.nodes, sizes.infosets, sizes.diameter, *means) == pytest.approx(KNOWLEDGE[name])


def test_any_other_game_makes_a_row() -> None:
    row = table_1_row("liars_dice(dice_sides=2)", epsilon=0.1, player=1)
    assert (row.game, row.epsilon, row.player, row.variant) == ("liars_dice(dice_sides=2)", 0.1, 1, "uniform")


def test_allocated_deviations_need_order_1_and_epsilon_is_a_share() -> None:
    with pytest.raises(GameError, match="1-klss"):
        table_1_row("kuhn", nesting="allocated", method="3-klss")
    with pytest.raises(GameError, match="expected 0 to 1"):
        table_1_row("kuhn", epsilon=1.5)
