"""Games of Reconnaissance Blind Chess, and their decisions: those that weights of positions are learned from, one for
each question at which a side's set had two or more positions (by the tower, or by the pair of
:mod:`experiments.learn.siamese`); and those that the network of ``dsmcp`` imitates.

Of the latter each has the synopsis of the player's set, reduced at random to :data:`SAMPLED` members as in a search;
the legal actions; and the choice: for a sense, every window that partitions these members like its own. Promotions to
pieces other than queens are left out. A look beyond the edge is taken as one a square further in, which shows no less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import chess
import numpy as np

from darkchess.errors import RecordError
from darkchess.rbc.belief.anchors import ANCHOR, BOARD, Anchor, boards_of
from darkchess.rbc.belief.kinds import Kinds
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.senses import partitions
from darkchess.rbc.belief.tower import BLOCKS, Observer, log_prior
from darkchess.rbc.game.history import read_history, replayed
from darkchess.rbc.game.observation import INNER
from darkchess.rbc.game.referee import Referee, Turn
from darkchess.rbc.players.expectation import Expectation
from darkchess.rbc.synoptic.synopsis import MOVE, PLANES, SENSE, Memory, synopsis
from darkchess.rbc.synoptic.worlds import request_action, sense_action
from experiments.learn.shards import Columns, Row, Source, padded
from experiments.learn.weighing import columns, decision
from klss.support.arrays import Floats, Ints, Words

MOST = 300_000
"""Largest set of a decision; a side is not followed further."""
SAMPLED = 128
"""Members of a set from which its synopsis is made."""
WIDTH = 128
"""Most legal actions; a decision among more is left out."""
SOON = 5
"""Most actions of a player before the end of a game for it to count as ending soon."""
STRONG = ("expect", "tower")
"""Players of ours that are strong."""
PIECES = 12
"""Own, then enemy, pawns, knights, bishops, rooks, queens, kings."""

PLANNED = {
    # the synopsis; the legal actions, each once, and −1
    "synopses": (np.uint64, (PLANES,)), "legal": (np.int16, (WIDTH,)),
    # for each legal action its choice, from 0 on, and its part of the choice's target; the sum of all is 1
    "choices": (np.uint8, (WIDTH,)), "targets": (np.float16, (WIDTH,)),
    "strong": (np.int8, ()),  # whether the player is
    # +1 if it won, −1 if it lost, else 0; the same only if the game ends within five of its actions
    "result": (np.int8, ()), "soon": (np.int8, ()),
    "pieces": (np.int8, (PIECES,)),  # their numbers on the true board
}  # fmt: skip
"""The columns of decisions for planning."""

OTHERS = 31
"""Most members, beside the true one, of a decision to learn nearness from."""
EVERY, RANKED = 5, 1000
"""Of a game's decisions one in so many is ranked, odd, so that senses and requests alternate; most boards of one."""

NEARNESS = {
    # planes of the anchor; those of the true board and then of others, drawn evenly; and the number of boards
    "anchor": (np.uint64, (ANCHOR,)), "boards": (np.uint64, (1 + OTHERS, BOARD)), "count": (np.int8, ()),
}  # fmt: skip
"""The columns of decisions to learn nearness from."""


def questions(game: Referee, color: chess.Color, known: PositionSet, *others: Any) -> Iterator[tuple[int, int, Turn]]:
    """Follow one side of a finished game by what it was told: yields the stage of each of its questions, the ply and
    the turn, while the set is exact and until the last question. ``others`` follow ``known``.
    """
    for ply, turn in enumerate(game.turns):
        if turn.color == color:
            for stage, name, told in ((SENSE, "noticed", turn.notice), (MOVE, "sensed", turn.sensed)):
                _follow(name, told, known, others)
                if known.capped_by is not None:
                    return
                yield stage, ply, turn
            if ply + 1 < len(game.turns):
                _follow("moved", turn.moved, known, others)


def _follow(name: str, told: Any, known: PositionSet, others: tuple[Any, ...]) -> None:
    getattr(known, name)(told)
    for each in others:
        getattr(each, name)(told, known)


def uncertain(game: Referee, names: tuple[str, str]) -> Iterator[tuple[PositionSet, Kinds, Observer, Anchor, int, int]]:
    """What a side knows at each of its questions with several possible positions, one side after the other, the index
    of the true position, and the ply.
    """
    for color in chess.COLORS:
        known = PositionSet(color, game.positions[0], cap=MOST)
        kinds = Kinds(known, Expectation().strangers)
        observer, anchor = Observer(known, kinds), Anchor(known, names[not color])
        for _, ply, _ in questions(game, color, known, kinds, observer, anchor):
            if known.size > 1:
                half = PositionSet(color, game.positions[ply]).halves[0]
                yield known, kinds, observer, anchor, int(np.flatnonzero((known.halves == half).all(axis=1))[0]), ply


def weighed(game: Referee, names: tuple[str, str], generator: np.random.Generator) -> Iterator[Row]:
    """A game's decisions to learn weights from, one side's after the other's."""
    for known, kinds, observer, _, truth, _ in uncertain(game, names):
        prior = log_prior(kinds, known, np.arange(known.size))
        yield decision(known.halves, prior, truth, observer.numbers, generator)


def drawn(known: PositionSet, truth: int, most: int, generator: np.random.Generator) -> tuple[Ints, Words]:
    """The true position and at most so many others, drawn evenly: indices, int64[n], and boards, uint64[n, BOARD]."""
    others = generator.choice(known.size - 1, min(known.size - 1, most), replace=False)
    chosen = np.array([truth, *(others + (others >= truth))])
    return chosen, boards_of(known.rows(chosen), known.own.color)


def paired(game: Referee, names: tuple[str, str], generator: np.random.Generator) -> Iterator[Row]:
    """A game's decisions to learn nearness from, one side's after the other's; ``names``: Black's and White's."""
    for known, _, _, anchor, truth, _ in uncertain(game, names):
        _, boards = drawn(known, truth, OTHERS, generator)
        yield {"anchor": anchor.words, "boards": padded(boards, 1 + OTHERS), "count": len(boards)}


def asked(game: Referee, names: tuple[str, str], generator: np.random.Generator) -> Iterator[tuple[Any, ...]]:
    """A game's decisions to rank boards in: opponent, ply, what is known, members and boards (:func:`drawn`)."""
    for known, *rest, truth, ply in islice(uncertain(game, names), 0, None, EVERY):
        yield names[not known.own.color], ply, known, *rest, *drawn(known, truth, RANKED - 1, generator)


def imitated(game: Referee, names: tuple[str, str], generator: np.random.Generator) -> Iterator[Row]:
    """A game's decisions to imitate, one side's after the other's; ``names``: Black's and White's."""
    for color in chess.COLORS:
        known, memory, rows = PositionSet(color, game.positions[0], cap=MOST), Memory(flipped=not color), []
        kind = names[color].removeprefix("rbc-")
        for number, (stage, _, turn) in enumerate(questions(game, color, known)):
            if stage == SENSE:
                memory.noticed(turn.notice)
            members = known.sample(SAMPLED, int(generator.integers(1 << 62)))
            planes = synopsis(known.own_row, known.halves[members], stage, memory.words)
            legal, chosen = _looked(known, members, turn) if stage == SENSE else _moved(known, turn)
            if stage == MOVE:
                memory.moved(turn.moved, planes)
            if chosen.any() and len(legal) <= WIDTH:
                rows.append(planned(planes, legal, ~chosen, chosen / chosen.sum(), kind in STRONG, number))
        yield from ended(rows, game, color)


def _looked(known: PositionSet, members: Ints, turn: Turn) -> tuple[Ints, Any]:
    """The senses, in rising order, and which of them partition the members as the one that was chosen."""
    turned = 56 if known.flipped else 0
    actions = np.array([sense_action(square ^ turned) for square in INNER], dtype=np.int64)
    if turn.sensed.square is None:
        return actions, np.zeros(len(actions), dtype=bool)
    rank, file = divmod(turn.sensed.square, 8)
    classes = partitions(known, members).classes
    alike = (classes == classes[INNER.index(8 * min(max(rank, 1), 6) + min(max(file, 1), 6))]).all(axis=1)
    order = np.argsort(actions)
    return actions[order], alike[order]


def _moved(known: PositionSet, turn: Turn) -> tuple[Ints, Any]:
    """The requests, with promotions to queens only, in rising order, and which of them was chosen, if one was."""
    codes = known.requests().tolist()
    legal = np.array(sorted({action for code in codes if (action := request_action(code)) is not None}), dtype=np.int64)
    action = request_action(known.code(turn.moved.requested))
    return legal, legal == (-1 if action is None else action)


def planned(planes: Words, legal: Ints, choices: Any, targets: Floats, strong: bool, number: int) -> Row:
    """A decision of a player, the ``number``-th of its game, without what is known at the end (:func:`ended`)."""
    return {
        "synopses": planes, "strong": strong, "number": number, "legal": padded(legal, WIDTH, -1),
        "choices": padded(choices, WIDTH), "targets": padded(targets, WIDTH),
    }  # fmt: skip


def ended(rows: list[Row], game: Referee, color: chess.Color) -> list[Row]:
    """One side's decisions with the result of the game, and the pieces on the true board; in place of ``number``."""
    before = [turn.before for turn in game.turns if turn.color == color]
    outcome, sides = game.outcome, (6, 7) if color else (7, 6)
    result = 0 if outcome is None or outcome.winner is None else 1 if outcome.winner == color else -1
    for row in rows:
        number = row.pop("number")
        soon = 2 * len(before) - number <= SOON and outcome is not None and outcome.reason == "king_captured"
        sets = before[number // 2].row
        pieces = [int(sets[piece] & sets[side]).bit_count() for side in sides for piece in range(6)]
        row |= {"result": result, "soon": result if soon else 0, "pieces": pieces}
    return rows


def games_of(folder: Path) -> list[tuple[int, Path]]:
    """The games of a match, by ``klss rbc match … --out``, numbered."""
    return list(enumerate(sorted(folder.glob("game-*.json"))))


def _source(columns: Columns, decisions: Callable[..., Iterator[Any]]) -> Source:
    def of_file(path: Path, generator: np.random.Generator) -> Iterator[Row]:
        text = path.read_text()
        with suppress(RecordError):  # it ended before its first move
            tags, game = read_history(text).tags, replayed(text)
            black, white = (tags[side].partition(",")[0] for side in ("Black", "White"))  # without settings
            yield from decisions(game, (black, white), generator)

    return Source(columns, games_of, of_file)


BLIND = _source(columns(BLOCKS), weighed)
"""Decisions that weights of positions are learned from."""
SIAMESE = _source(NEARNESS, paired)
"""Decisions that nearness is learned from."""
DSMCP = _source(PLANNED, imitated)
"""Decisions that the network of ``dsmcp`` imitates."""
ASKED = _source({}, asked)
"""Decisions in which boards are ranked."""
