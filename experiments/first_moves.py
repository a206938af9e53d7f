"""First moves: what a player opens with, and what it answers, from many seeds.

``python -m experiments.first_moves`` lets ``klss2021`` make White's first move and Black's reply with 200 seeds at
0.5 s a move, and writes ``results/first_moves.json``; with ``--player kluss`` ``first_moves_kluss.json``. Matches with
random openings have no first moves of their own.
The samples go on from those that the file has where all else is the same.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chess

from darkchess.fog.game.referee import Referee
from darkchess.fog.players.configuration import configuration
from experiments.series.runner import RESULTS, amount, fingerprint, named
from klss.support.seeds import player_seed
from klss.table.arbiter import Arbiter, Played
from klss.table.limits import TimeControl
from uci_bridge.kits.fog import FOG
from uci_bridge.match.documents import commit, today, write_document
from uci_bridge.match.engines import Setup
from uci_bridge.match.report import versions
from uci_bridge.players import PlayerMaker

__all__ = ["main", "sample"]

_USUAL = "klss2021"

_EVERY = 10
"""Samples between two writings of the file."""


def sample(maker: PlayerMaker, budget: TimeControl, seed: int) -> list[Any]:
    """White's first move and Black's reply with one seed: [seed, move in SAN, reply in SAN]."""
    moves: list[chess.Move] = []

    def on_ply(played: Played) -> None:
        moves.append(played.decision.answer)

    players = {color: maker.make(player_seed(seed, chess.COLOR_NAMES[color])) for color in chess.COLORS}
    arbiter = Arbiter(Referee(), players, dict.fromkeys(chess.COLORS, budget), on_ply)
    arbiter.begin()
    board, said = chess.Board(), []
    for _ in range(2):
        arbiter.play_turn()
        said.append(board.san(moves[-1]))  # nobody can be in check so early, so chess and its dark kind agree
        board.push(moves[-1])
    return [seed, *said]


def main(arguments: Sequence[str] | None = None) -> int:
    """Sample and write; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments.first_moves", description="first moves and replies")
    parser.add_argument("--player", default=_USUAL, metavar="NAME", help="a configuration (default klss2021)")
    parser.add_argument("--samples", type=int, default=200, metavar="N", help="games begun (default 200)")
    parser.add_argument("--time", type=amount, default=0.5, metavar="S", help="seconds a move (default 0.5)")
    parser.add_argument("--nodes", type=int, metavar="N", help="nodes a move instead")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="where the results go")
    parsed = parser.parse_args(arguments)
    budget = TimeControl(nodes=parsed.nodes) if parsed.nodes else TimeControl(time_s=parsed.time)
    chosen = configuration(parsed.player)
    setup = Setup(FOG, chosen, chosen, budget)
    name = "first_moves" if parsed.player == _USUAL else f"first_moves_{named(parsed.player)}"
    path = parsed.results / f"{name}.json"
    head = {
        "experiment": name,
        "commit": commit(),
        "code": fingerprint(),
        "versions": versions(setup),
        "configuration": chosen.fields(),
        "budget": dataclasses.asdict(budget),
    }
    rows = _kept(path, head)
    maker = PlayerMaker(FOG, chosen, setup.evaluator)
    try:
        for color in chess.COLORS:
            maker.warm_up(color)
        for seed in range(len(rows), parsed.samples):
            rows.append(sample(maker, budget, seed))
            if len(rows) % _EVERY == 0:
                _write(path, head, rows)
                print(f"{len(rows)}/{parsed.samples}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print(f"interrupted after {len(rows)}; the same command goes on from there", file=sys.stderr)
    finally:
        maker.close()
    _write(path, head, rows)
    print(f"{path}: {len(rows)} samples")
    return 0 if len(rows) >= parsed.samples else 130


def _kept(path: Path, head: dict[str, Any]) -> list[list[Any]]:
    """The samples of ``path``, if they were made with the same code, configuration and budget."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        same = ("code", "configuration", "budget")
        return list(kept["samples"]["rows"]) if all(kept[key] == head[key] for key in same) else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _write(path: Path, head: dict[str, Any], rows: list[list[Any]]) -> None:
    write_document(
        path,
        head
        | {
            "created": today(),
            "games": len(rows),
            "white": dict(Counter(row[1] for row in rows).most_common()),
            "black": dict(Counter(row[2] for row in rows).most_common()),
            "samples": {"columns": ["seed", "white", "black"], "rows": rows},
        },
    )


if __name__ == "__main__":
    sys.exit(main())
