"""What finished games of blind chess say, as the papers show it: ``python -m experiments.blind_games DIR``, where each
folder in ``DIR`` is a match by ``klss rbc match --out``.

Of G. Clark 2021: Elo of all players (Table 2), how often a side wins by the size of its largest position set (Figure
1), and values by the size of the set (Figure 7). Of S. Savelyev 2020 (Figure 5): how often a set with a cap still has
the true position (an exact one always has it), and which share of its members is that one, by turn and opponent. The
thesis holds 10,000 hypotheses, some of them equal, steps each by a random move and refills them from earlier turns;
here members differ, each steps by all of its moves, and the cap's number is drawn uniformly.

Elo: the likeliest strengths (Bradley, Terry), with one drawn game added to each pairing, so that nobody's is infinite,
and 95 % intervals of the distance to the first player by the information at them, as if games were independent.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import chess
import numpy as np

from darkchess.errors import RecordError
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.game.history import read_history, replayed
from experiments.commands import RESULTS, finished, shown
from klss.support.arrays import Floats
from klss_app.flag_types import count
from uci_bridge.match.documents import head, write_document
from uci_bridge.match.files import MatchError, read_match
from uci_bridge.match.game import sides as sides_of

TURNS = 10
"""Own turns that are shown together."""
ANCHOR = "trout"
"""The player whose Elo is 1000, the first one's if it did not play; the paper's Trout has 997 to 1005."""


COLUMNS = ("match", "game", "white", "black", "score", "largest_white", "largest_black", "plies", "reason")
"""Of a game: the score is White's, the largest ones are the sides' position sets."""


def elos(points: Floats) -> tuple[Floats, Floats]:
    """Elo of each player, the first one's 1000, and half the width of its interval, from what each scored against each:
    float64[n, n].
    """
    points = points + 0.5 * (points + points.T > 0)
    games, strength = points + points.T, np.ones(len(points))
    for _ in range(5000):
        strength = points.sum(axis=1) / (games / (strength[:, None] + strength)).sum(axis=1)
        strength /= strength[0]
    expected = strength[:, None] / (strength[:, None] + strength)
    weights = games * expected * (1 - expected)
    information = np.diag(weights.sum(axis=1)) - weights
    variance = np.diag(np.linalg.pinv(information[1:, 1:]))
    return 1000 + 400 * np.log10(strength), 1.96 * 400 / math.log(10) * np.sqrt(np.concatenate([[0], variance]))


def elo_rows(games: list[list[Any]]) -> list[list[Any]]:
    """For each player its name, Elo, half the interval, games and score, and its mean score in its worse seat."""
    names = sorted({name for game in games for name in game[2:4]}, key=lambda name: (name != ANCHOR, name))
    points = np.zeros((len(names), len(names)))
    seats: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in names}
    for _, _, white, black, score, *_ in games:
        points[names.index(white), names.index(black)] += score
        points[names.index(black), names.index(white)] += 1 - score
        seats[white][0].append(score)
        seats[black][1].append(1 - score)
    found = []
    for name, elo, half in zip(names, *(np.round(each).astype(int).tolist() for each in elos(points))):
        scores = [*seats[name][0], *seats[name][1]]
        worse = min(float(np.mean(seat)) for seat in seats[name] if seat)
        found.append([name, elo, half, len(scores), sum(scores), round(worse, 3)])
    return sorted(found, key=lambda row: -row[1])


def read(folder: Path) -> tuple[dict[str, Any], list[list[Any]], list[list[Any]]]:
    """Each match's identity by its name. A row for each game of all matches: :data:`COLUMNS`. And one for each question
    at which its player told the size of its set: player, size, value or None, and the game's score for the player.
    """
    identities, games, questions = dict[str, Any](), list[list[Any]](), list[list[Any]]()
    for path in sorted(folder.iterdir()):
        held: Any = read_match(path) or ({}, [], [])
        identities[path.name], lines, moves = held
        told = [((move["game"], move["player"]), said) for move in moves for said in _said(move)]
        largest: dict[tuple[int, str], int] = {}
        for seat, said in told:
            largest[seat] = max(largest.get(seat, 0), said["positions"])
        sides: dict[tuple[int, str], tuple[str, float]] = {}
        for line in lines:
            number, names = line["game"], [line["white"], line["black"]]
            white = sides_of(number)[True]
            score = {white: 1.0, None: 0.5}.get(line["winner"], 0.0)
            seats = [(number, white), (number, "b" if white == "a" else "a")]
            sides |= zip(seats, zip(names, (score, 1 - score)))
            games.append([path.name, number, *names, score, *map(largest.get, seats), line["plies"], line["reason"]])
        for seat, said in told:
            name, score = sides[seat]
            questions.append([name, said["positions"], said.get("value"), score])
    return identities, games, questions


def _said(move: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The diagnostics of a turn's two questions that tell the size of the set."""
    return (said for said in (move.get("look") or {}, move) if isinstance(said.get("positions"), int))


def by_size(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """By player and order of magnitude of rows (player, size, value or None, score): their number, the mean value of
    those that have one, the mean score.
    """
    held = defaultdict(list)
    for name, size, value, score in rows:
        for each in (name, "all"):
            held[each, 10 ** (len(str(size)) - 1)].append((np.nan if value is None else value, score))
    found = []
    for key, some in sorted(held.items()):
        values, scores = np.array(some).T
        value = None if np.isnan(values).all() else round(float(np.nanmean(values)), 3)
        found.append([*key, len(some), value, round(float(scores.mean()), 3)])
    return found


def tracked(folder: Path, caps: Sequence[int], most: int) -> Iterator[list[Any]]:
    """Rows: cap, opponent, first of the turns, questions, those at which the set has the truth, and the sum of its
    shares of the members; of ``most`` games of each match.
    """
    held: dict[tuple[int, str, int], list[float]] = defaultdict(lambda: [0, 0, 0.0])
    for path in (path for match in sorted(folder.iterdir()) for path in sorted(match.glob("game-*.json"))[:most]):
        text = path.read_text(encoding="utf-8")
        game, names = replayed(text), read_history(text).tags
        for color in chess.COLORS:
            opponent = names["Black" if color else "White"]
            for cap in caps:
                known, own = PositionSet(color, game.positions[0], cap=cap), 0
                for ply, turn in enumerate(game.turns):
                    if turn.color == color:
                        known.noticed(turn.notice)
                        known.sensed(turn.sensed)
                        here = known.contains(game.positions[ply].row)
                        found = held[cap, opponent, own // TURNS * TURNS + 1]
                        found[:] = found[0] + 1, found[1] + here, found[2] + here / known.size
                        own += 1
                        if ply + 1 < len(game.turns):
                            known.moved(turn.moved)
    yield from ([*key, *found[:2], round(found[2], 3)] for key, found in sorted(held.items()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the games, print the tables and write them; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments.blind_games", description="games as papers show them")
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="folder of matches")
    add("--caps", nargs="*", type=count, default=[100, 1000, 10_000], metavar="N", help="of sets (default %(default)s)")
    add("--tracked", type=count, default=4, metavar="N", help="games of a match whose sets are followed (default 4)")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="of blind_games.json (experiments/runs/results)")
    parsed = parser.parse_args(arguments)

    def work() -> None:
        identities, games, questions = read(parsed.folder)
        if not games:
            raise MatchError(f"{parsed.folder}: got no finished game, expected a folder of matches")
        largest = [[*pair, None, score] for game in games for pair, score in (
            ((game[2], game[5]), game[4]), ((game[3], game[6]), 1 - game[4])) if pair[1]]  # fmt: skip
        sized = ("player", "size from", "number", "value", "score")
        document = head("blind_games", "numpy") | {
            "matches": identities,
            "elo": shown(("player", "Elo", "±", "games", "score", "worse seat"), elo_rows(games)),
            "by_largest": shown(sized, by_size(largest)),
            "by_size": shown(sized, by_size(questions)),
            "tracked": shown(
                ("cap", "against", "from turn", "questions", "with the truth", "sum of its shares"),
                list(tracked(parsed.folder, parsed.caps, parsed.tracked)),
            ),
            "samples": {"columns": list(COLUMNS), "rows": games},
        }
        write_document(parsed.results / "blind_games.json", document)

    return finished(work, MatchError, RecordError, OSError)


if __name__ == "__main__":
    sys.exit(main())
