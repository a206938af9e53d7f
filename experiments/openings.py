"""The opening book: the mixtures of ``kluss`` at its first turns, searched once and packaged.

``python -m experiments.openings --people FILE`` makes the book, which is packaged as
``darkchess/fog/players/data/openings.json``; ``klss openings`` shows it. ``FILE`` holds games of people, of which only
the frequencies of moves are kept.

The walk goes ply by ply. At each infoset of the player to move, several searches with different seeds give mixtures;
their mean is the strategy of a player with an unknown seed. The walk follows moves that the engine or people often
play, and groups the resulting true games by the infosets of the next player. The reach of an infoset is the sum of its
games' probabilities, where the engine and people each have half of every move's; infosets with a small reach are left
out.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chess

from darkchess.errors import RecordError
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.game.archive import games_of
from darkchess.fog.game.referee import Referee
from darkchess.fog.players.book import page_key
from darkchess.fog.players.named_fog_players import configuration
from experiments.commands import RUNS, finished
from klss.play.limits import Limit
from klss_app.analysis.one_turn import analyst_at
from klss_app.flag_types import count
from uci_bridge.match.documents import head

KEPT = 0.02
"""Least probability of a move in the book: smaller ones are noise of the searches."""

_ENOUGH_GAMES = 5
"""Least number of people's games at an infoset for their frequencies to count."""

_RARE = 1 / 20
"""Share of the smallest reach below which true games are dropped, since they change no infoset's reach by much."""

People = dict[str, Counter[chess.Move]]
"""Key of an infoset -> number of times that people played each move there."""


@dataclass
class Infoset:
    """An infoset of the player to move: the true games that agree with it, with their probabilities."""

    games: list[tuple[tuple[chess.Move, ...], float]] = field(default_factory=list)

    @property
    def reach(self) -> float:
        """The reach: the sum of its games' probabilities."""
        return sum(weight for _, weight in self.games)


def searched(game: Referee, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Value of the infoset of a game's player to move, and its moves with their probabilities and values, as means of
    all searches.
    """
    first, searches = settings["seed"], settings["searches"]
    values: list[float] = []
    shares: dict[str, float] = defaultdict(float)
    worth: dict[str, list[float]] = defaultdict(list)
    for seed in range(first, first + searches):
        chosen = configuration(settings["configuration"])
        analyst = analyst_at(game, len(game.moves), chosen, BuiltinEvaluator(), seed=seed)
        analysis = analyst.think(Limit(nodes=settings["nodes"]))
        values.append(analysis.value or 0.0)
        for each in analysis.moves:
            shares[each.move.uci()] += each.probability / searches
            if each.value is not None:
                worth[each.move.uci()].append(each.value)
    return {
        "value": round(math.fsum(values) / searches, 4),
        "moves": {
            uci: [round(share, 4), round(math.fsum(worth[uci]) / len(worth[uci]), 4) if worth[uci] else None]
            for uci, share in shares.items()
        },
    }


def people_of(path: Path, plies: int) -> tuple[People, int]:
    """The counts of people's moves in the games of a file, and the number of games; games that can't be read, and
    those from another start position, are left out."""
    found: People = defaultdict(Counter)
    games = 0
    for written in games_of(path):
        try:
            record = written.record()
        except RecordError:
            continue
        if record.fen is not None:
            continue
        games += 1
        referee = Referee()
        for move in record.moves[:plies]:
            found[page_key(referee.views(referee.position.turn))][move] += 1
            referee.push(move)
            if referee.outcome is not None:
                break
    return found, games


def walk(settings: Mapping[str, Any], people: People, plies: int, least: float, follow: float) -> dict[str, list[Any]]:
    """The pages of the book: value and moves by key.

    Parameters
    ----------
    settings, people
        How the engine searches, and what people play.
    plies
        Of the last turn, plus one.
    least, follow
        Smallest reach of an infoset, and smallest share of a move that is followed.
    """
    pages: dict[str, list[Any]] = {}
    start = Referee()
    layer = {page_key(start.views(chess.WHITE)): Infoset([((), 1.0)])}
    for ply in range(plies):
        reached = {key: infoset for key, infoset in layer.items() if infoset.reach >= least}
        print(f"ply {ply}: {len(reached)} of {len(layer)} infosets", flush=True)
        layer = {}
        for key, infoset in sorted(reached.items(), key=lambda item: -item[1].reach):
            found, played = searched(Referee.replay(infoset.games[0][0]), settings), people.get(key, Counter())
            pages[key] = _page(found, played)
            _follow(layer, infoset, _shares(found, played, follow), least)
    return pages


def _page(found: dict[str, Any], played: Counter[chess.Move]) -> list[Any]:
    """A page in the file's form: the value, and for each move UCI, probability, value and people's games."""
    moves = [
        [uci, round(share, 3) if share >= KEPT else 0.0, None if value is None else round(value, 3), games]
        for uci, (share, value) in found["moves"].items()
        if (games := played[chess.Move.from_uci(uci)]) or share >= KEPT
    ]
    return [round(found["value"], 3), sorted(moves, key=lambda move: (-move[1], -move[3], move[0]))]


def _shares(found: dict[str, Any], played: Counter[chess.Move], follow: float) -> dict[chess.Move, float]:
    """The moves that are followed, and their probabilities."""
    total = played.total()
    shares = {}
    for uci, (share, _) in found["moves"].items():
        move = chess.Move.from_uci(uci)
        theirs = played[move] / total if total >= _ENOUGH_GAMES else share
        if max(share, theirs) >= follow:
            shares[move] = (share + theirs) / 2.0
    return shares


def _follow(layer: dict[str, Infoset], infoset: Infoset, shares: dict[chess.Move, float], least: float) -> None:
    """Add to ``layer`` the next player's infosets after each move in each of the games."""
    for moves, weight in infoset.games:
        for move, share in shares.items():
            if weight * share < least * _RARE:
                continue
            after = Referee.replay([*moves, move])
            if after.outcome is not None:
                continue
            key = page_key(after.views(after.position.turn))
            layer.setdefault(key, Infoset()).games.append(((*moves, move), weight * share))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments.openings", description="Make the opening book.")
    add = parser.add_argument
    add("--people", type=Path, metavar="FILE", help="games of people, of which frequencies of moves are kept")
    add("--configuration", default="kluss,threads=1", help="the player (default %(default)s)")
    add("--nodes", type=count, default=200_000, help="of a search (default %(default)s)")
    add("--searches", type=count, default=4, help="at an infoset, each with its seed (default %(default)s)")
    add("--seed", type=int, default=1, help="of the first search (default %(default)s)")
    add("--plies", type=count, default=6, help="that the book covers (default %(default)s)")
    add("--least", type=float, default=0.002, help="smallest reach of an infoset (default %(default)s)")
    add("--follow", type=float, default=0.05, help="smallest share of a followed move (default %(default)s)")
    add("--out", type=Path, default=RUNS / "openings.json", metavar="FILE", help="the book (experiments/runs/…)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the book; return the exit code."""
    parsed = _parser().parse_args(arguments)
    settings = {name: getattr(parsed, name) for name in ("configuration", "nodes", "searches", "seed")}

    def work() -> None:
        people, games = ({}, 0) if parsed.people is None else people_of(parsed.people, parsed.plies)
        pages = walk(settings, people, parsed.plies, parsed.least, parsed.follow)
        flags = {**settings, "plies": parsed.plies, "least": parsed.least, "follow": parsed.follow}
        command = "python -m experiments.openings " + " ".join(f"--{name} {value}" for name, value in flags.items())
        if parsed.people is not None:
            command += f" --people {parsed.people.name}"
        about = {**head("openings", "numpy"), "command": command, **flags, "games": games}
        _write(parsed.out, about, pages)
        print(f"{len(pages)} pages, {parsed.out.stat().st_size:,} bytes: {parsed.out.name}")

    return finished(work, OSError, ValueError)


def _write(path: Path, about: dict[str, Any], pages: dict[str, list[Any]]) -> None:
    """Write the book, one line per page."""
    rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(page, separators=(',', ':'))}" for key, page in pages.items())
    begin = json.dumps(about, indent=1).removesuffix("\n}")
    path.write_text(f'{begin},\n "pages": {{\n{rows}\n }}\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
