"""Games of a match of Fog of War that are learned from; a fifth of the pairs is held out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from darkchess.fog.game.record import GameRecord, read_pgn
from experiments.learning.split import TEST, part_of


@dataclass(frozen=True)
class Played:
    """A game that was played."""

    match: str  # name of its match
    pair: int  # its pair's number there
    white: str  # the players' configurations
    black: str
    opening: int  # number of its random plies, which are not learned from
    record: GameRecord  # its moves

    @property
    def held_out(self) -> bool:
        """Whether the game is held out from learning."""
        return part_of(self.pair) == TEST


def played_games(folder: Path) -> Iterator[Played]:
    """The games of a match's directory, in order."""
    lines = [json.loads(line) for line in (folder / "games.jsonl").read_text(encoding="utf-8").splitlines()]
    for line in sorted(lines, key=lambda line: int(line["game"])):
        record = read_pgn((folder / f"game-{line['game']:05d}.pgn").read_text(encoding="utf-8"))[0]
        opening = len((line["opening"] or "").split())
        white, black = (str(line[side]).removesuffix(",threads=1") for side in ("white", "black"))
        yield Played(folder.name, int(line["pair"]), white, black, opening, record)
