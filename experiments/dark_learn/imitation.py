"""Decisions of players that stand, to imitate them: ``python -m experiments.dark_learn data RUN_DIR… --out DIR``
replays the games of finished matches of Fog of War (``klss match``), and writes what every player decided, in shards of
:mod:`experiments.rbc_learn.data`.

Of each decision a shard holds the synopsis of what the player held possible, cut at random to :data:`DRAWN` members as
a search cuts it; what she could do, promotions to queens only; and what she did. A player's decisions are taken as long
as her set is exact, which is up to ``--most`` positions; the opening's moves, which nobody decided, are left out.

A shard holds :data:`BLOCK` games of a match; one that is there and whole is not made again, so that the command goes on
where it was stopped, and goes on with a match that is still played.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import chess
import numpy as np

from blindchess.synoptic.networks import HEADSETS
from darkchess.belief.position_set import PositionSet
from darkchess.errors import DarkchessError
from darkchess.game.record import GameRecord, read_pgn
from darkchess.game.referee import Referee
from darkchess.game.view import View
from darkchess.synoptic.synopsis import Memory, own_half, synopsis
from darkchess.synoptic.worlds import action_of
from experiments.games import match_folders
from experiments.rbc_learn.data import made_shard
from experiments.rbc_learn.imitation import end_rows, men_of
from experiments.series.runner import positive
from klss.arrays import Words
from klss_app.progress import ProgressLine
from uci_bridge.match.files import read_match
from uci_bridge.match.match import MatchError

__all__ = ["BLOCK", "DRAWN", "MOST", "STRONGEST", "decisions", "main"]

DRAWN = 128
"""Members of a set that its synopsis is of."""
MOST = 50_000
"""Possible positions that a player may hold."""
BLOCK = 20
"""Games of a shard."""
STRONGEST = ("kluss", "klss2021")
"""Kinds of players whose decisions train ``top``; everybody's train ``all``."""

_TOP = HEADSETS.index("top")
_OTHER = HEADSETS.index("random")
"""Whom no headset but ``all`` learns from."""


class _Side:
    """One player of a game that is replayed."""

    def __init__(self, view: View, referee: Referee, most: int, rng: np.random.Generator) -> None:
        self.view = view
        self.known: PositionSet | None = PositionSet(view, referee.position, cap=most)
        self.rows: list[dict[str, Any]] = []
        self.moves = 0
        self._memory = Memory(view, referee.position.ep_square)
        self._rng = rng
        self._planes: Words | None = None

    def decides(self, move: chess.Move, referee: Referee, headset: int | None) -> None:
        """It is her turn, and she plays ``move``; ``headset`` None: it is not hers, but the opening's."""
        self.moves += 1
        if self.known is None:
            return
        members = self._rng.choice(self.known.size, min(DRAWN, self.known.size), replace=False)
        self._planes = synopsis(own_half(self.view), self.known.halves[members], self._memory.words)
        chosen = action_of(move, self.view.color)
        if headset is None or chosen is None:
            return
        legal = {action for each in self.view.legal_moves if (action := action_of(each, self.view.color)) is not None}
        self.rows.append(
            {
                "synopses": self._planes,
                "legal": np.array(sorted(legal)),
                "chosen": np.array([chosen]),
                "headset": headset,
                "pieces": men_of(referee.position, self.view.color),
                "action": self.moves - 1,
            }
        )

    def sees(self, view: View) -> None:
        """A ply was played that did not end the game."""
        if self.known is not None:
            self.known.observe(view)
            self._memory.observe(self.view, view, self._planes)
            if self.known.sampled:
                self.known = None
        self.view = view


def decisions(
    record: GameRecord, opening: int, headsets: dict[chess.Color, int], seed: Sequence[int], most: int = MOST
) -> list[dict[str, Any]]:
    """The decisions of one game, one side's after the other's, as rows of :func:`experiments.rbc_learn.data.of_rows`
    without the game's number.

    Parameters
    ----------
    record
        The game.
    opening
        Plies that nobody decided.
    headsets
        Who acts, in :data:`~blindchess.synoptic.networks.HEADSETS`.
    seed
        Of the draws.
    most
        Nothing more is taken of a player once her set passes this.
    """
    referee = Referee(record.fen)
    sides = {
        color: _Side(referee.view(color), referee, most, np.random.default_rng([*seed, color]))
        for color in chess.COLORS
    }
    for ply, move in enumerate(record.moves):
        color = referee.turn
        sides[color].decides(move, referee, None if ply < opening else headsets[color])
        referee.push(move)
        if referee.outcome is not None:
            break
        for each, side in sides.items():
            side.sees(referee.view(each))
    outcome = referee.outcome or record.outcome
    assert outcome is not None, "the game was aborted"
    for color, side in sides.items():
        end_rows(side.rows, outcome, color, side.moves)
    return [row for color in chess.COLORS for row in sides[color].rows]


def _headset(name: str) -> int:
    return _TOP if name.partition(",")[0].startswith(STRONGEST) else _OTHER


def _shards(folder: Path, most: int, out: Path) -> list[tuple[Path, dict[str, Any], list[dict[str, Any]]]]:
    """The shards of a match: path, what is said of each, and its games' lines."""
    kept = read_match(folder)
    if kept is None or kept[0].get("game", "dark") != "dark":
        return []
    identity, lines, _ = kept
    done = {line["game"]: line for line in lines if line["reason"] != "aborted"}
    found = []
    for first in range(0, max(done, default=-1) + 1, BLOCK):
        games = [done[game] for game in range(first, first + BLOCK) if game in done]
        about = {
            "match": folder.name,
            "players": [identity[side]["name"] for side in "ab"],
            "budgets": [identity["budget"], identity.get("budget_b", identity["budget"])],
            "seed": identity["seed"],
            "games": [line["game"] for line in games],
            "most": most,
        }
        if games:
            found.append((out / f"{folder.name}-{first:05}.npz", about, games))
    return found


def _rows(folder: Path, about: dict[str, Any], games: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The decisions of some games of a match."""
    rows = []
    number = zlib.crc32(folder.name.encode()) % 200_000  # the same, whatever other matches are replayed
    for line in games:
        record = read_pgn((folder / f"game-{line['game']:05}.pgn").read_text(encoding="utf-8"))[0]
        headsets = {chess.WHITE: _headset(line["white"]), chess.BLACK: _headset(line["black"])}
        seed = [int(about["seed"]) % 2**63, line["game"]]
        for row in decisions(record, len((line["opening"] or "").split()), headsets, seed, about["most"]):
            rows.append(row | {"game": 10_000 * number + line["game"]})
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay and write; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.dark_learn data", description="decisions of finished games, to imitate them"
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="RUN_DIR", help="of a match, or one that holds such")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the shards go")
    parser.add_argument("--most", type=positive, default=MOST, metavar="N", help=f"possible positions ({MOST})")
    parsed = parser.parse_args(arguments)
    total = 0
    try:
        folders = match_folders(parsed.folders)
        wanted = [(folder, shard) for folder in folders for shard in _shards(folder, parsed.most, parsed.out)]
        if not wanted:
            where = ", ".join(map(str, parsed.folders))
            print(f"no games in {where}; expected directories of matches", file=sys.stderr)
            return 1
        parsed.out.mkdir(parents=True, exist_ok=True)
        with closing(ProgressLine("decisions")) as line:
            for done, (folder, (path, about, games)) in enumerate(wanted):
                line.tell(f"{total}, {done} of {len(wanted)} shards", at_once=True)
                total += made_shard(path, about, lambda: _rows(folder, about, games))  # noqa: B023 (called now)
    except (MatchError, OSError, DarkchessError, IndexError) as error:
        print(f"{error}; expected finished matches with their PGN", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on", file=sys.stderr)
        return 130
    print(f"{parsed.out}: {total} decisions of {len(wanted)} shards", file=sys.stdout)
    return 0
