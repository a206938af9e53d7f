"""How well possible boards are ranked in games that the pair did not learn from:
``python -m experiments.learn.rank MATCH … --run RUN``, where ``python -m experiments.learn siamese`` wrote into RUN.

Rankings of the same members of a set, at most :data:`~darkchess.rbc.players.siamese.WEIGHED`, drawn evenly beside the
true one where there are more: ``uniform``; ``filter``, the weights of :mod:`darkchess.rbc.belief.kinds`; ``cnn``, the
rival of :mod:`experiments.learn.siamese`; ``pair``, the packaged one, ``pair-named`` with the opponent's name; and
``tower``, of ``rbc-tower``. The temperatures of cnn and pair are fitted on the validating games. A truth that ties has
the middle rank of its equals, and their share of a first rank.

*Nats*: −ln of the truth's weight. A member of a drawn set stands for as many as the set has for each.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import chess
import numpy as np
from scipy.special import logsumexp

from darkchess.rbc.belief.anchors import ANCHOR, BOARD, NAMED, NAMES, Anchor, boards_of
from darkchess.rbc.belief.kinds import Kinds
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.siamese import Siamese
from darkchess.rbc.belief.tower import Observer, Tower, log_prior
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.expectation import Expectation
from darkchess.rbc.players.siamese import WEIGHED
from experiments.commands import RESULTS, RUNS, finished
from experiments.learn import siamese
from experiments.learn.blind import MOST, games_of, named_game, questions, true_member
from experiments.learn.shards import TEST, TRAIN, VALIDATE, TrainingError, part_of
from experiments.learn.trainer import best_of, jax_on_cpu
from klss.support.arrays import Floats, Words
from klss.support.inference import grids_of
from klss_app.progress import ProgressLine
from uci_bridge.match.documents import head, write_document

RANKINGS = ("uniform", "filter", "cnn", "pair", "pair-named", "tower")
TEMPERATURES = np.geomspace(0.05, 50, 31)
EVERY = 5
"""Of so many questions of a side one is ranked; odd, so that senses and requests alternate."""
_SIZES = (2, 10, 100)
"""Least sizes of the classes of sets."""
_CHUNK = 16
"""Boards that the rival reads together."""
_COLUMNS = ("opponent", "match", "game", "color", "ply", "size", "ranked")


def rank(paths: Sequence[Path], run: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """Rows of test decisions, with rank and −ln of the truth's weight by each ranking; the temperatures, and how many
    boards a second each ranks. Raises TrainingError: there is no decision to fit or to test.
    """
    rival, seconds, boards = _Rival(run), np.zeros(len(RANKINGS)), 0
    held: dict[int, list[tuple[list[Any], list[Floats]]]] = {VALIDATE: [], TEST: []}
    for path in paths:
        for number, file in games_of(path):
            if part_of(number) == TRAIN or (named := named_game(file)) is None:
                continue
            tell(f"{path.name}, game {number}")
            for about, scores, spent in _ranked_of(*named, number, rival):
                opponent = named[1][about[0] == "black"]
                held[part_of(number)].append(([opponent, path.name, number, *about], scores))
                seconds, boards = seconds + spent, boards + len(scores[0])
    if not all(held.values()):
        raise TrainingError("got no decision to fit, or none to test, expected more games")
    # The temperature with the fewest nats of each ranking that gives no probabilities.
    fitted = np.ones(len(RANKINGS))
    for at, name in enumerate(RANKINGS):
        if name in ("cnn", "pair", "pair-named"):
            nats = [np.mean([_nats(scores[at], heat) for _, scores in held[VALIDATE]]) for heat in TEMPERATURES]
            fitted[at] = TEMPERATURES[int(np.argmin(nats))]
    rows = []
    for about, scores in held[TEST]:
        row, more = list(about), np.log(about[5] / about[6])
        for some, heat in zip(scores, fitted, strict=True):
            row += [int((some > some[0]).sum()), int((some == some[0]).sum()), round(_nats(some, heat) + more, 4)]
        rows.append(row)
    return {
        "configuration": {"weighed": WEIGHED, "every": EVERY, "matches": [path.name for path in paths]},
        "temperatures": dict(zip(RANKINGS, fitted.round(3).tolist(), strict=True)),
        "boards_a_second": dict(zip(RANKINGS, (boards / np.maximum(seconds, 1e-9)).round().tolist(), strict=True)),
        "columns": [*_COLUMNS, *(f"{name} {what}" for name in RANKINGS for what in ("better", "equal", "nats"))],
        "rows": rows,
    }


def _ranked_of(
    game: Referee, names: tuple[str, str], number: int, rival: _Rival
) -> Iterator[tuple[list[Any], list[Floats], Floats]]:
    """A game's decisions: color, ply, size of the set and number of members that are ranked; the scores of these by
    each ranking, the true one first; and the seconds that took.
    """
    pair = Siamese.packaged()
    for color in chess.COLORS:
        known = PositionSet(color, game.positions[0], cap=MOST)
        kinds = Kinds(known, Expectation().strangers)
        observer, anchor = Observer(known, kinds), Anchor(known, names[not color])
        for at, (_, ply, _) in enumerate(questions(game, color, known, kinds, observer, anchor)):
            if known.size < 2 or at % EVERY:
                continue
            generator, truth = np.random.default_rng([number, color, ply]), true_member(known, game, ply)
            others = generator.permutation(np.delete(np.arange(known.size), truth))[: WEIGHED - 1]
            members = np.array([truth, *others], dtype=np.int64)
            boards, named = boards_of(known.rows(members), color), anchor.words
            plain = np.where(np.arange(ANCHOR) < ANCHOR - NAMED, named, np.uint64(0))
            ways: tuple[tuple[Callable[..., Floats], tuple[Any, ...]], ...] = (
                (np.zeros, (len(members),)), (log_prior, (kinds, known, members)), (rival.logits, (plain, boards)),
                (pair.distances, (plain, boards)), (pair.distances, (named, boards)),
                (Tower.packaged().log_weights, (known, observer, members)),
            )  # fmt: skip
            scores, seconds = [], []
            for way, given in ways:
                began = time.process_time()
                scores.append(way(*given))
                seconds.append(time.process_time() - began)
            scores[3:5] = [-distances for distances in scores[3:5]]
            yield [chess.COLOR_NAMES[color], ply, known.size, len(members)], scores, np.array(seconds)


def _nats(scores: Floats, temperature: float) -> float:
    return float(logsumexp(scores / temperature) - scores[0] / temperature)


class _Rival:
    """The trained rival, in JAX."""

    def __init__(self, run: Path) -> None:
        self._weights = best_of(run / "rival.checkpoint.npz", siamese.Siamese({}, rival=True).first(0))
        jit = jax_on_cpu().jit
        self._begun, self._answers = jit(siamese.begun_by), jit(siamese.answers)
        # Compiled before time is measured.
        self.logits(np.eye(1, ANCHOR, dtype=np.uint64)[0], np.zeros((1, BOARD), dtype=np.uint64))

    def logits(self, anchor: Words, boards: Words) -> Floats:
        """Its logits of boards: float64[n]."""
        begun = self._begun(self._weights, siamese.anchor_grids(anchor[None]))
        found = []
        for start in range(0, len(boards), _CHUNK):
            some = boards[start : start + _CHUNK]
            planes = siamese.by_cells(grids_of(np.pad(some, ((0, _CHUNK - len(some)), (0, 0)))))
            found.append(np.asarray(self._answers(self._weights, begun, planes))[: len(some)])
        return np.concatenate(found).astype(np.float64)


def table(path: Path) -> str:
    """What a file of results says, as a table of Markdown: of each ranking, by class of sets and by opponent."""
    said = json.loads(path.read_text(encoding="utf-8"))
    rows = [dict(zip(said["columns"], row, strict=True)) for row in said["rows"]]
    classes = {f"{least} or more": [row for row in rows if row["size"] >= least] for least in _SIZES}
    classes |= {name: [row for row in rows if row["opponent"] == name] for name in NAMES}
    lines = ["| of | decisions | ranking | top-1 | tenth | half | mean rank | nats |", "|---|" + "---|" * 7]
    for name, some in classes.items():
        for ranking in RANKINGS if some else ():
            better, equal = (np.array([row[f"{ranking} {what}"] for row in some]) for what in ("better", "equal"))
            counts, middle = np.array([row["ranked"] for row in some]), better + (equal + 1) / 2
            top = np.where(better == 0, 1 / equal, 0).mean()
            shares = [(middle <= np.maximum(1, np.ceil(part * counts))).mean() for part in (0.1, 0.5)]
            nats = np.mean([row[f"{ranking} nats"] for row in some])
            figures = (f"{number:.3f}" for number in (top, *shares))
            lines.append(
                f"| {name} | {len(some)} | {ranking} | {' | '.join(figures)} | {middle.mean():.1f} | {nats:.3f} |"
            )
    return "\n".join([*lines, f"temperatures {said['temperatures']}, boards a second {said['boards_a_second']}"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Rank, write and print the table; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments.learn.rank", description="rank possible boards")
    add = parser.add_argument
    add("matches", nargs="+", type=Path, metavar="MATCH", help="folders of matches that the pair was learned from")
    add("--run", type=Path, default=RUNS / "learn" / "siamese", metavar="RUN", help="(experiments/runs/learn/siamese)")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="of rbc_rank.json (experiments/runs/results)")
    parsed = parser.parse_args(arguments)

    def work() -> None:
        path = parsed.results / "rbc_rank.json"
        with closing(ProgressLine("rank")) as line:
            found = rank(parsed.matches, parsed.run, line.tell)
        write_document(path, head("learn.rank", "numpy", "jax", "onnxruntime") | found)
        print(table(path))

    return finished(work, OSError, TrainingError)


if __name__ == "__main__":
    sys.exit(main())
