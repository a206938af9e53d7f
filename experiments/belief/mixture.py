"""The games from which beliefs are learned: matches of a mixture of players, at a node budget so that they can be
reproduced; a fifth of the pairs is held out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from darkchess.fog.game.record import GameRecord, read_pgn
from experiments.learning.split import TEST, part_of
from experiments.series.runner import MatchProgress, Pairing, Plan, play

__all__ = ["MATCHES", "SERIES", "Played", "held_out", "play_all", "played_games"]

SERIES = "belief"
"""Directory of the matches under the runs."""

MATCHES: tuple[tuple[str, str, int], ...] = (
    ("kluss-value", "kluss-value", 300),
    ("klss2021", "baseline", 160),
    ("kluss-value", "best-guess", 160),
    ("kluss-value", "greedy", 160),
    ("kluss-value", "klss2021", 200),
)
"""The pairings and their numbers of games; no player has a learned belief, since it would learn from itself."""

NODES = 4000
SEED = 16
OPENINGS = 4
"""Random plies at the start of a pair, which are not learned from."""


@dataclass(frozen=True)
class Played:
    """A game that was played.

    Attributes
    ----------
    match
        Name of its match.
    game, pair
        Its numbers there.
    white, black
        The players' configurations.
    opening
        Number of its random plies.
    record
        Its moves.
    """

    match: str
    game: int
    pair: int
    white: str
    black: str
    opening: int
    record: GameRecord


def held_out(game: Played) -> bool:
    """Whether the game is held out from learning: every fifth pair is."""
    return part_of(game.pair) == TEST


def play_all(runs: Path, *, workers: int, games: float = 1.0, nodes: int = NODES) -> list[Path]:
    """Play the remaining games of the matches, the share ``games`` of each one's number; return all directories."""
    folders = []
    for a, b, count in MATCHES:
        pairing = Pairing(f"{a}-{b}", a, b)
        wanted = max(2, 2 * round(games * count / 2))
        plan = Plan(
            games=wanted, time_s=0.1, nodes=nodes, workers=workers, threads=1, openings=OPENINGS, seed=SEED, usual=SEED,
            runs=runs, mixed=True,
        )  # fmt: skip
        progress = MatchProgress(f"{SERIES}/{plan.name(pairing)}", wanted)
        progress.show(play(SERIES, pairing, plan, progress), last=True)
        folders.append(plan.folder(SERIES, pairing))
    return folders


def played_games(folder: Path) -> Iterator[Played]:
    """The games of a match's directory, in order."""
    lines = {}
    for line in (folder / "games.jsonl").read_text(encoding="utf-8").splitlines():
        shown = json.loads(line)
        lines[int(shown["game"])] = shown
    for game, shown in sorted(lines.items()):
        record = read_pgn((folder / f"game-{game:05d}.pgn").read_text(encoding="utf-8"))[0]
        opening = len((shown["opening"] or "").split())
        white, black = (str(shown[side]).removesuffix(",threads=1") for side in ("white", "black"))
        yield Played(folder.name, game, int(shown["pair"]), white, black, opening, record)
