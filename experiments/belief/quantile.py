"""How true the belief is that every possible position is as likely as any other, which the paper samples by (§6).

``python -m experiments.belief quantile RUN_DIR…`` replays the games of finished matches and looks, before some of the
moves, at what the true position is worth to the player to move among the positions that it holds possible: its
*quantile*, 0 where all others are worth more to it, .5 on average if the belief were true. Values are the built-in
evaluator's, tanh(pawns/6). Written to ``results/belief.json``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import chess
import numpy as np

from darkchess.errors import DarkchessError
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.game.record import GameRecord, read_pgn
from darkchess.fog.game.referee import Referee
from experiments.games import match_folders
from experiments.series.runner import RESULTS, positive
from klss_app.progress import ProgressLine
from uci_bridge.match.documents import head, write_document

__all__ = ["main", "samples", "summary"]

LEAST, MOST = 50, 1_000_000
"""Positions in the sets that are looked at; smaller ones have no quantiles worth the name, larger ones take time. The
second one is ``--most``, unless said otherwise.
"""

COLUMNS = ["match", "game", "ply", "positions", "value", "mean", "deviation", "quantile"]
"""Of the samples: the true position's value, mean and standard deviation of the possible ones', and its quantile."""


def samples(record: GameRecord, every: int, draws: int, most: int = MOST) -> Iterator[list[Any]]:
    """The samples of one game, without its match and number.

    Parameters
    ----------
    record
        The game.
    every
        Plies between two looks; an odd number looks at both sides.
    draws
        Possible positions whose values are taken.
    most
        The look ends where more positions are possible.
    """
    evaluator = BuiltinEvaluator()
    referee = Referee(record.fen)
    known = {color: PositionSet(referee.view(color), referee.position, cap=most) for color in chess.COLORS}
    for ply, move in enumerate(record.moves, 1):
        referee.push(move)
        if referee.outcome is not None:
            return
        for color, positions in known.items():
            positions.observe(referee.view(color))
        mine = known[referee.turn]
        if any(positions.capped_by for positions in known.values()):
            return
        if ply % every or mine.size < LEAST:
            continue
        values = evaluator.values(mine.sample(draws, ply))
        true = float(evaluator.values(referee.position.row[None, :])[0])
        below = float(np.mean(values < true) + np.mean(values == true) / 2)
        yield [ply, mine.size, *(round(x, 4) for x in (true, float(values.mean()), float(values.std()), below))]


def summary(rows: Sequence[Sequence[Any]]) -> dict[str, float]:
    """Quartiles of the quantiles, how many lie below a tenth, and what the player expects too much on average."""
    found = np.array([row[-4:] for row in rows], dtype=np.float64)
    low, median, high = np.percentile(found[:, 3], [25, 50, 75])
    return {
        "quantile_25": round(float(low), 4),
        "quantile_median": round(float(median), 4),
        "quantile_75": round(float(high), 4),
        "share_below_tenth": round(float(np.mean(found[:, 3] < 0.1)), 4),
        "expected_too_much": round(float(np.mean(found[:, 1] - found[:, 0])), 4),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay, look and write; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.belief quantile", description="the truth among the possible"
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="RUN_DIR", help="of a match, or one that holds such")
    parser.add_argument("--every", type=positive, default=7, metavar="PLIES", help="between two looks (default 7)")
    parser.add_argument("--draws", type=positive, default=1000, metavar="N", help="positions valued (default 1000)")
    parser.add_argument("--most", type=positive, default=MOST, metavar="N", help="possible positions (default 10⁶)")
    parser.add_argument("--games", type=positive, default=100, metavar="N", help="of each match (default 100)")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="where belief.json goes")
    parsed = parser.parse_args(arguments)
    rows: list[list[Any]] = []
    for folder in match_folders(parsed.folders):
        with closing(ProgressLine(folder.name)) as line:
            for path in sorted(folder.glob("game-*.pgn"))[: parsed.games]:
                try:
                    game = int(path.stem.removeprefix("game-"))
                    record = read_pgn(path.read_text(encoding="utf-8"))[0]
                except (OSError, ValueError, IndexError, DarkchessError) as error:
                    line.close()
                    print(f"{path}: left out, expected a game's PGN: {error}", file=sys.stderr)
                    continue
                looked = samples(record, parsed.every, parsed.draws, parsed.most)
                rows += ([folder.name, game, *sample] for sample in looked)
                line.tell(f"game {game}, {len(rows)} positions")
    if not rows:
        print(f"no games in {', '.join(map(str, parsed.folders))}; expected directories of matches", file=sys.stderr)
        return 1
    document = {
        **head("belief", "numpy", "numba"),
        "configuration": {"every": parsed.every, "draws": parsed.draws, "least": LEAST, "most": parsed.most},
        "games": len({(row[0], row[1]) for row in rows}),
        "summary": summary(rows),
        "samples": {"columns": COLUMNS, "rows": rows},
    }
    path = parsed.results / "belief.json"
    write_document(path, document)
    print(f"{path}: {len(rows)} positions of {document['games']} games: {document['summary']}")
    return 0
