"""Every method of nested subgame solving under every gadget, on small games and from two kinds of blueprint.

``python -m experiments.methods measure`` adds the rows that ``results/methods.json`` lacks, one after the other, and
writes the file as it goes: it can be stopped and started again at any time (``--minutes M`` stops by itself, ``--most
N`` leaves out games of more nodes). ``python -m experiments.paper_tables render`` makes ``docs/tables.md`` of it.

Blueprints: "floor" is Table 1's (every action with at least 0.25 / m, else the least exploitable strategy); "cfr+" is
what :data:`ITERATIONS` iterations of CFR+ give, the average or the last strategies, and has no floor.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from klss.best_response import worst_case
from klss.equilibrium import solve
from klss.first_order import FirstOrder
from klss.game import Game
from klss.nested import Blueprint
from klss.selection import TOLL
from klss.sequence_form import sequence_form
from klss.tables import blueprint_of, floor_of, mirrored, named_game, refined_plan
from uci_bridge.match.documents import head, write_document

__all__ = ["BLUEPRINTS", "GADGETS", "GAMES", "METHODS", "RESULTS", "main"]

RESULTS = Path(__file__).parent / "results" / "methods.json"

ITERATIONS = 30
"""Of CFR+: few enough that its strategies leave something to gain."""
EPSILON = 0.25
"""What Table 1's blueprints are held to."""

GAMES = {
    "kuhn": "kuhn",
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

METHODS = ("1-klss", "1-kluss", "2-kluss", "3-kluss", "inf-kluss", "safe-1-klss", "olss")
BLUEPRINTS = ("floor", "cfr+")
GADGETS = (
    "maxmargin", "maxmargin-refined", "resolve-refined", "resolve", "maxmargin-reach", "resolve-reach",
    "maxmargin-plain", "resolve-plain",
)  # fmt: skip

_COLUMNS = ("game", "player", "blueprint", "method", "gadget", "before", "after", "subgames", "seconds")
_WRITE_S = 10.0
"""Seconds between two writes of the file."""


def _tasks() -> Iterator[tuple[str, int, str, str, str]]:
    """Player 0 first; small games before large ones."""
    for player in (0, 1):
        for name in GAMES:
            for blueprint in BLUEPRINTS:
                for gadget in GADGETS:
                    for method in METHODS:
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
        x, y, _ = run.profile()
        start = Blueprint(x, None, y)
    return game, value, start, value - worst_case(form, 0, start.x)


def _row(task: tuple[str, int, str, str, str]) -> list[Any]:
    """A row of the results; the columns are :data:`_COLUMNS`."""
    name, player, kind, method, gadget = task
    game, value, start, before = _start(name, player, kind)
    begin = time.process_time()
    plan, subgames = refined_plan(game, start, method=method, gadget=gadget)
    seconds = time.process_time() - begin
    after = value - worst_case(sequence_form(game), 0, plan)
    # Exploitabilities below 0 are rounding.
    return [*task, round(max(before, 0.0), 7), round(max(after, 0.0), 7), subgames, round(seconds, 2)]


def main(arguments: list[str] | None = None) -> int:
    """Measure what is missing; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.methods", description="methods and gadgets of nested subgame solving on small games"
    )
    parser.add_argument("what", choices=["measure"])
    parser.add_argument("--minutes", type=float, default=float("inf"), metavar="M", help="stop after so many")
    parser.add_argument("--most", type=int, default=100_000, metavar="N", help="leave out games of more nodes")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE", help="the results, gone on with")
    parsed = parser.parse_args(arguments)
    path, stop = parsed.results, time.monotonic() + 60.0 * parsed.minutes
    rows = json.loads(path.read_text())["samples"]["rows"] if path.exists() else []
    done = {tuple(row[:5]) for row in rows}
    sizes = {name: named_game(GAMES[name])[1].node_count for name in GAMES}

    def write() -> None:
        document = head("methods", "open_spiel", "highspy", "numpy", "scipy") | {
            "configuration": {"epsilon": EPSILON, "iterations": ITERATIONS, "toll": TOLL},
            "games": {name: {"spiel": GAMES[name], "nodes": nodes} for name, nodes in sizes.items()},
            "samples": {"columns": list(_COLUMNS), "rows": rows},
        }
        write_document(path, document)

    written = time.monotonic()
    for task in _tasks():
        if task in done or sizes[task[0]] > parsed.most:
            continue
        if time.monotonic() > stop:
            break
        rows.append(_row(task))
        if time.monotonic() - written > _WRITE_S:
            write()
            written = time.monotonic()
            print(len(rows), *task, file=sys.stderr, flush=True)
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
