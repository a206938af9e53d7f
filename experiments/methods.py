"""Every method of nested subgame solving under every gadget, on small games and from two kinds of blueprint.

``python -m experiments.methods measure`` adds the rows that ``--results`` lacks, one after the other, and
writes the file regularly: it can be stopped and started again at any time (``--minutes M`` stops by itself, ``--most
N`` leaves out games of more nodes). ``optima`` does the same for Table 1's ten rows by 1-KLSS, under the gadgets
without reach. ``python -m experiments.paper_tables render`` makes ``docs/tables.md`` from both.

Blueprints: "floor" is Table 1's (the least exploitable strategy with at least 0.25 / m for every action); "cfr+" is
from :data:`ITERATIONS` iterations of CFR+, the average or the last strategies, without a floor.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from klss.best_response import worst_case
from klss.equilibrium import solve
from klss.first_order import FirstOrder
from klss.game import Game
from klss.nested import Blueprint
from klss.refinement import MISTAKES
from klss.selection import TOLL
from klss.sequence_form import sequence_form
from klss.tables import TABLE_1, blueprint_of, floor_of, mirrored, named_game, refined_plan, table_1_row
from uci_bridge.match.documents import head, write_document

RESULTS = Path(__file__).parent / "results" / "methods.json"

ITERATIONS = 30
"""Iterations of CFR+: few enough that its strategies can still be improved."""
EPSILON = 0.25
"""Table 1's epsilon: a blueprint plays each of m actions with probability at least epsilon / m."""

GAMES = {
    "kuhn": "kuhn",
    "goofspiel3_increasing": "goofspiel(num_cards=3,imp_info=True,points_order=ascending,returns_type=win_loss)",
    "liars_dice2": "liars_dice(dice_sides=2)",
    "goofspiel3_random": "goofspiel(num_cards=3,imp_info=True,points_order=random,returns_type=win_loss)",
    "battleship_3x1": "battleship(board_width=3,board_height=1,ship_sizes=[1;2],ship_values=[1;2],num_shots=3,"
    "allow_repeated_shots=False)",
    "dark_hex_2x2": "dark_hex(board_size=2)",
    "abrupt_dark_hex_2x2": "abrupt_dark_hex_2x2",
    "matching_pennies100": "matching_pennies100",
    "goofspiel4_increasing": "goofspiel4_increasing",
    "goofspiel4_decreasing": "goofspiel(num_cards=4,imp_info=True,points_order=descending,returns_type=win_loss)",
    "liars_dice3": "liars_dice(dice_sides=3)",
    "battleship_2x2": "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2,"
    "allow_repeated_shots=False)",
    "leduc_suits_alike": "leduc_poker(suit_isomorphism=true)",
    "liars_dice4": "liars_dice(dice_sides=4)",
    "liars_dice2x2": "liars_dice(numdice=2,dice_sides=2)",
    "leduc": "leduc",
    "goofspiel4_random": "goofspiel4_random",
}
"""By size: two-player zero-sum games of hidden information, 58 to 26,773 nodes."""

METHODS = ("1-klss", "1-kluss", "2-kluss", "3-kluss", "inf-kluss", "safe-1-klss")
BLUEPRINTS = ("floor", "cfr+")
GADGETS = (
    "maxmargin", "maxmargin-refined", "resolve-refined", "maxmargin-reach", "resolve-reach", "resolve",
    "maxmargin-plain", "resolve-plain",
)  # fmt: skip

_NOTHING = 1e-6
"""Exploitability that counts as 0: the solver's rounding over many subgames."""

_WRITE_S = 10.0
"""Seconds between two writes of the file."""


_Task = tuple[Any, ...]


def _tasks() -> Iterator[_Task]:
    """The first five gadgets first, player 0 before player 1, small games before large ones."""
    for gadgets, player in product((GADGETS[:5], GADGETS[5:]), (0, 1)):
        for name, blueprint, gadget, method in product(GAMES, BLUEPRINTS, gadgets, METHODS):
            yield name, player, blueprint, method, gadget


@cache
def _start(name: str, player: int, kind: str) -> tuple[Game, float, Blueprint, float]:
    """The game from the player's seat, its value, the blueprint, and its exploitability."""
    named, game = named_game(GAMES[name])
    game = mirrored(game) if player else game
    form = sequence_form(game)
    value = solve(form).value
    if kind == "floor":
        start = blueprint_of(form, floor_of(game, named.variant, EPSILON))
    else:
        run = FirstOrder(form, "cfr+")
        run.run(ITERATIONS)
        x, _, _ = run.profile()
        start = Blueprint(x)
    return game, value, start, value - worst_case(form, 0, start.x)


def _row(name: str, player: int, kind: str, method: str, gadget: str) -> list[Any]:
    """Exploitability before and after, subgames, seconds."""
    game, value, start, before = _start(name, player, kind)
    begin = time.process_time()
    plan, subgames = refined_plan(game, start, method=method, gadget=gadget)
    seconds = time.process_time() - begin
    after = value - worst_case(sequence_form(game), 0, plan)
    # Exploitabilities below 0 are rounding.
    return [round(max(before, 0.0), 7), round(max(after, 0.0), 7), subgames, round(seconds, 2)]


def _optima_tasks() -> Iterator[_Task]:
    """Table 1's rows by every gadget without reach."""
    for gadget, game in product(GADGETS, TABLE_1):
        if "reach" not in gadget:
            yield game.name, gadget


def _optimum(name: str, gadget: str) -> list[Any]:
    """Exploitability after 1-KLSS, subgames, seconds."""
    row = table_1_row(name, gadget=gadget)
    return [round(row.after, 7), row.subgames, round(row.seconds, 2)]


@dataclass(frozen=True)
class _Part:
    """A part of the results: its key, columns, tasks, and the function for the rest of a task's row."""

    key: str
    columns: tuple[str, ...]
    tasks: Callable[[], Iterator[_Task]]
    row: Callable[..., list[Any]]


PARTS = {
    "measure": _Part(
        "samples",
        ("game", "player", "blueprint", "method", "gadget", "before", "after", "subgames", "seconds"),
        _tasks,
        _row,
    ),
    "optima": _Part("table_1", ("game", "gadget", "after", "subgames", "seconds"), _optima_tasks, _optimum),
}


def main(arguments: list[str] | None = None) -> int:
    """Measure the missing rows; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.methods", description="methods and gadgets of nested subgame solving on small games"
    )
    parser.add_argument("what", choices=list(PARTS))
    parser.add_argument("--minutes", type=float, default=float("inf"), metavar="M", help="stop after so many")
    parser.add_argument("--most", type=int, default=100_000, metavar="N", help="leave out games of more nodes")
    parser.add_argument("--results", type=Path, required=True, metavar="FILE", help="the results, gone on with")
    parsed = parser.parse_args(arguments)
    part, path, stop = PARTS[parsed.what], parsed.results, time.monotonic() + 60.0 * parsed.minutes
    document = json.loads(path.read_text()) if path.exists() else {}
    rows = document.get(part.key, {"rows": []})["rows"]
    key_columns = len(next(part.tasks()))
    done = {tuple(row[:key_columns]) for row in rows}
    sizes = {name: named_game(spiel)[1].node_count for name, spiel in GAMES.items()}

    def write() -> None:
        about = head("methods", "open_spiel", "highspy", "numpy", "scipy") | {
            "configuration": {"epsilon": EPSILON, "iterations": ITERATIONS, "toll": TOLL, "mistake": MISTAKES[0]},
            "games": {name: {"spiel": spiel, "nodes": sizes[name]} for name, spiel in GAMES.items()},
        }
        write_document(path, document | about | {part.key: {"columns": list(part.columns), "rows": rows}})

    written = time.monotonic()
    for task in part.tasks():
        if task in done or sizes.get(task[0], 0) > parsed.most:
            continue
        if time.monotonic() > stop:
            break
        rows.append([*task, *part.row(*task)])
        if time.monotonic() - written > _WRITE_S:
            write()
            written = time.monotonic()
            print(len(rows), *task, file=sys.stderr, flush=True)
    write()
    return 0


def wrapped(text: str) -> list[str]:
    """Lines of Markdown."""
    return textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)


_Cells = dict[_Task, tuple[float, float]]


def section(document: dict[str, Any]) -> list[str]:
    """Lines of ``docs/tables.md``."""
    cells: _Cells = {tuple(row[:5]): (row[5], row[6]) for row in document["samples"]["rows"]}
    chosen = document["configuration"]
    optima = (
        "After nested 1-KLSS, epsilon = 0.25, player 0. `maxmargin` and `resolve` take the optimum that the rule above "
        "chooses; `plain` is what its last tie-break alone chooses; `refined` is, among the optima, the best against "
        f"an opponent that plays every action with a probability of at least {chosen['mistake']:g}, the choice at the "
        "gadget's root included."
    )
    methods = (
        "Player 0, utilities normalised to [-1, 1], a subgame at every infoset. Two blueprints: `floor` is Table 1's "
        f"(epsilon = 0.25), which subgames keep to below their root; `cfr+` is what {chosen['iterations']} iterations "
        "of CFR+ give. What the methods are, what of them could not be verified, and in what `2-kluss` differs from "
        "the search of `kluss`, stands in [`klss/methods.py`](../klss/methods.py). From "
        "`experiments/results/methods.json`, to which `python -m experiments.methods measure` and `optima` add what is "
        "not measured yet."
    )
    lines = ["## Table 1 by other optima", "", *wrapped(optima), "", *_optima_table(document), ""]
    lines += ["## Every method on small games", "", *wrapped(methods)]
    for gadget in ("maxmargin", "resolve-refined"):
        for blueprint in BLUEPRINTS:
            table = _games_table(cells, document, blueprint, gadget)
            lines += ["", f"Exploitability with `{gadget}`, from `{blueprint}`:", "", *table]
    by_gadget = (
        f"The median of exploitability after over before; in brackets in how many of {len(_places(cells))} cases it "
        "rose. A case is a game, a player and a blueprint that can be exploited, measured with every method and gadget."
    )
    lines += ["", "### By gadget", "", *wrapped(by_gadget), "", *_gadgets_table(cells)]
    return lines


def _optima_table(document: dict[str, Any]) -> list[str]:
    found = {tuple(row[:2]): row[2] for row in document["table_1"]["rows"]}
    gadgets = [gadget for gadget in GADGETS if any(gadget == key[1] for key in found)]
    lines = [f"| game | paper | {' | '.join(gadgets)} |", "|---" * (2 + len(gadgets)) + "|"]
    for game in TABLE_1:
        shown = [_figure(found.get((game.name, gadget))) for gadget in gadgets]
        lines.append(f"| {game.name} | {game.paper_after} | {' | '.join(shown)} |")
    return lines


def _games_table(cells: _Cells, document: dict[str, Any], blueprint: str, gadget: str) -> list[str]:
    lines = [f"| game | nodes | before | {' | '.join(METHODS)} |", "|---" * (3 + len(METHODS)) + "|"]
    for game, about in document["games"].items():
        row = [cells.get((game, 0, blueprint, method, gadget)) for method in METHODS]
        if row[0] is not None:
            shown = [_figure(cell and cell[1]) for cell in row]
            lines.append(f"| {game} | {about['nodes']} | {row[0][0]:.4f} | {' | '.join(shown)} |")
    return lines


def _places(cells: _Cells) -> list[_Task]:
    """Game, player and blueprint for which all is measured, and a ratio exists."""
    places = dict.fromkeys(key[:3] for key, (before, _) in cells.items() if before > _NOTHING)
    ways = list(product(METHODS, GADGETS))
    return [place for place in places if all((*place, *way) in cells for way in ways)]


def _gadgets_table(cells: _Cells) -> list[str]:
    lines = [f"| gadget | {' | '.join(METHODS)} |", "|---" * (1 + len(METHODS)) + "|"]
    for gadget in GADGETS:
        shown = []
        for method in METHODS:
            pairs = [cells[*place, method, gadget] for place in _places(cells)]
            rose = sum(after > before + _NOTHING for before, after in pairs)
            shown.append(f"{median(after / before for before, after in pairs):.2f} ({rose})")
        lines.append(f"| {gadget} | {' | '.join(shown)} |")
    return lines


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


if __name__ == "__main__":
    sys.exit(main())
