"""``klss analyse FILE --all``: every game of a file, the costs by phase and by the size of the player's position set,
and the costliest moves.

Each game is analysed as by ``klss analyse`` (:mod:`klss_app.cli.fog.analyse_game`), and dropped: only sums and the
games of the costliest moves are kept. With ``--out FILE`` each analysed game becomes a line of JSON there, below a
first line with the settings; the same command continues after the last whole line.
"""

from __future__ import annotations

import difflib
import heapq
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import chess

from klss import __version__
from klss.support.text import counted, printable
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.fog.analyse_game import LEGEND, check_question
from klss_app.cli.options import written_games_of
from klss_app.progress import ProgressLine
from klss_app.web.summaries import LEAST_COST, MARKS, mark

if TYPE_CHECKING:
    from darkchess.fog.game.record import GameRecord
    from darkchess.fog.game.referee import Referee
    from klss.table.limits import Limit

SHOWN = 20
"""Number of the costliest moves that are kept."""

_OPENING_PLIES = 20
_END_MEN = 6
"""Most queens, rooks, bishops and knights on the board in an endgame, as lichess divides games."""

_KNOWN = {"1 to 10": 10, "to 1,000": 1_000, "to 100,000": 100_000, "more": 10**18}
_SAMPLE = "a sample"
"""The group of moves whose set was larger than its cap, so that its size is not known."""


def question(configuration: str, evaluator: str, limit: Limit, seed: int, rules: str) -> dict[str, Any]:
    """All settings on which the analysis of a game depends."""
    return {
        "configuration": configuration,
        "evaluator": evaluator,
        "nodes": limit.nodes,
        "time": limit.time_s,
        "seed": seed,
        "rules": rules,
        "klss": __version__,
    }


class Costly(NamedTuple):
    """A move with a cost. Sorted by cost; of equal costs the later move is the smaller one."""

    cost: float
    game: int  # the negative of its number in the file
    ply: int  # the negative of its ply
    row: dict[str, Any]


class KeptGame(NamedTuple):
    """A game that has one of the costliest moves."""

    record: GameRecord
    turns: list[dict[str, Any]]


@dataclass
class Sums:
    """Sums over the costs of a kind of moves."""

    moves: int = 0
    valued: int = 0
    cost: float = 0.0
    luck: float = 0.0
    marks: Counter[str] = field(default_factory=Counter)

    def add(self, played: Mapping[str, Any]) -> None:
        """Count a move."""
        self.moves += 1
        self.luck += played["turned"]
        if played["loss"] is not None:
            self.valued += 1
            self.cost += max(0.0, played["loss"])
            self.marks[mark(played["loss"])] += 1

    def document(self) -> dict[str, Any]:
        """The fields of a summary in docs/analyse.md."""
        return {
            "moves": self.moves,
            "mean_cost": round(self.cost / self.valued, 4) if self.valued else None,
            "mean_luck": round(self.luck / self.moves, 4) if self.moves else None,
            "marks": {sign: self.marks[sign] for sign in MARKS},
        }


@dataclass
class Archive:
    """The results of a file's games so far."""

    player: str | None
    colors: tuple[chess.Color, ...]
    games: int = 0
    refused: int = 0
    unfinished: int = 0
    interrupted: bool = False
    all: Sums = field(default_factory=Sums)
    phases: dict[str, Sums] = field(default_factory=lambda: {name: Sums() for name in ("opening", "middle", "end")})
    known: dict[str, Sums] = field(default_factory=lambda: {name: Sums() for name in (*_KNOWN, _SAMPLE)})
    costliest: list[Costly] = field(default_factory=list)  # a heap
    kept: dict[int, KeptGame] = field(default_factory=dict)

    def seats(self, record: GameRecord) -> tuple[chess.Color, ...]:
        """The sides of a game whose moves count."""
        return tuple(
            color
            for color in self.colors
            if self.player is None or _name(record, color).casefold() == self.player.casefold()
        )

    def add(self, number: int, record: GameRecord, game: Referee, turns: list[dict[str, Any]]) -> None:
        """Count the moves of an analysed game."""
        self.games += 1
        seats = {chess.COLOR_NAMES[color]: _name(record, color) for color in self.seats(record)}
        for turn in turns:
            if turn["color"] not in seats:
                continue
            row = _row(number, game, turn) | {"player": seats[turn["color"]]}
            for sums in (self.all, self.phases[row["phase"]], self.known[row["known"]]):
                sums.add(turn["played"])
            if (row["cost"] or 0.0) >= LEAST_COST:
                heapq.heappush(self.costliest, Costly(row["cost"], -number, -turn["ply"], row))
        # Games are kept only while they have a move in the list.
        while len(self.costliest) > SHOWN:
            heapq.heappop(self.costliest)
        self.kept[number] = KeptGame(record, turns)
        for other in self.kept.keys() - {-each.game for each in self.costliest}:
            del self.kept[other]

    def worst(self) -> list[dict[str, Any]]:
        """The costliest moves, the worst first."""
        return [each.row for each in sorted(self.costliest, reverse=True)]


def _name(record: GameRecord, color: chess.Color) -> str:
    return record.headers.get("White" if color else "Black", "?")


def _row(number: int, game: Referee, turn: Mapping[str, Any]) -> dict[str, Any]:
    """The row of one move."""
    ply, played = turn["ply"], turn["played"]
    size, sample = turn["positions"][turn["color"]]
    position = game.positions[ply]
    men = sum(piece.piece_type not in (chess.PAWN, chess.KING) for piece in position.pieces.values())
    return {
        "game": number,
        "ply": ply,
        "move_number": position.fullmove,
        "color": turn["color"],
        "san": played["san"],
        "cost": played["loss"],
        "positions": size,
        "phase": "end" if men <= _END_MEN else "opening" if ply < _OPENING_PLIES else "middle",
        "known": _SAMPLE if sample else next(name for name, most in _KNOWN.items() if size <= most),
        "best": turn["best"],
        "probability": played["p"],
        "turned": played["turned"],
    }


class ArchiveFile:
    """The file of ``--out``: ``question`` is its first line. Raises :class:`UsageError`: the file is something else, or
    was made with other settings."""

    def __init__(self, path: Path, question: Mapping[str, Any]) -> None:
        self._path = path
        self._question: dict[str, Any] = json.loads(json.dumps(question))
        try:
            self._file = path.open("r+b" if path.exists() else "w+b")
        except OSError as error:
            raise UsageError(f"--out: can't open {str(path)!r}: {error.strerror}") from None
        head = self._file.readline()
        if head:
            self._check(head)
        else:
            self._write(self._question)

    def _check(self, head: bytes) -> None:
        try:
            found = json.loads(head)
            missing = found.keys() - self._question.keys()
        except (ValueError, RecursionError, AttributeError):
            missing, found = {"?"}, {}
        if missing or not head.endswith(b"\n"):
            raise UsageError(
                f"--out: got {str(self._path)!r}, which has no analysis of a file of games; expected a file with one, "
                "or a new file"
            )
        check_question(self._path, found, self._question)

    def next(self, number: int, moves: list[str]) -> list[dict[str, Any]] | None:
        """The turns of the next wanted game, which has to be the file's next one; None at the end of the file."""
        while True:
            place = self._file.tell()
            line = self._file.readline()
            if not line.endswith(b"\n"):  # the end, or a line cut off by an interruption, which is overwritten
                self._file.seek(place)
                self._file.truncate()
                return None
            try:
                found = json.loads(line)
                if found["game"] < number:
                    continue
                if (found["game"], found["moves"]) == (number, moves) and len(found["turns"]) == len(moves):
                    return list(found["turns"])
            except (ValueError, RecursionError, KeyError, TypeError):
                pass
            raise UsageError(
                f"--out: got {str(self._path)!r}, which has another game where game {number} of the archive belongs; "
                "expected an analysis of the same games, or a new file"
            )

    def keep(self, number: int, moves: list[str], turns: list[dict[str, Any]]) -> None:
        """Write an analysed game."""
        self._write({"game": number, "moves": moves, "turns": turns})

    def _write(self, line: Mapping[str, Any]) -> None:
        try:
            self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise FailedError(f"can't write the analysis to {str(self._path)!r}: {error.strerror}") from None

    def close(self) -> None:
        """Close it."""
        self._file.close()


def read_archive(
    path: Path,
    archive: Archive,
    replay: Callable[[GameRecord], Referee],
    analyse: Callable[[Referee], Iterator[dict[str, Any]]],
    file: ArchiveFile | None,
    line: ProgressLine,
) -> None:
    """Analyse the games of ``path`` that belong to ``archive``; if interrupted, it has the games until then."""
    count = sum(1 for _ in written_games_of(path))
    names: set[str] = set()
    try:
        for number, record in _records(path, archive, line):
            names |= {_name(record, color) for color in chess.COLORS}
            if not archive.seats(record):
                continue
            game = replay(record)
            moves = [move.uci() for move in game.moves]
            turns = None if file is None else file.next(number, moves)
            if turns is None:
                turns = []
                for turn in analyse(game):
                    turns.append(turn)
                    line.tell(f"game {number} of {count}, turn {len(turns)} of {len(moves)}")
                if file is not None:
                    file.keep(number, moves, turns)
            archive.add(number, record, game, turns)
    except KeyboardInterrupt:
        archive.interrupted = True
    if not archive.games and not archive.interrupted:
        _complain(path, archive, count, names)


def _records(path: Path, archive: Archive, line: ProgressLine) -> Iterator[tuple[int, GameRecord]]:
    """The finished games of a file with their numbers; errors in reading the others go to stderr."""
    from darkchess.errors import RecordError

    for written in written_games_of(path):
        try:
            record = written.record()
        except RecordError as error:
            archive.refused += 1
            line.close()
            print(printable(str(error), 300), file=sys.stderr)
            continue
        if record.outcome is None or not record.moves:
            archive.unfinished += 1
            continue
        yield written.number, record


def _complain(path: Path, archive: Archive, count: int, names: set[str]) -> None:
    if archive.player is None or not names:
        raise UsageError(
            f"got {counted(count, 'game')} in {str(path)!r}, of which {archive.refused:,} can't be read and "
            f"{archive.unfinished:,} are not over; expected at least one with moves and a result"
        )
    near = difflib.get_close_matches(archive.player, sorted(names), n=3, cutoff=0.0)
    raise UsageError(
        f"--player: got {archive.player!r}, in none of {counted(count, 'game')}; expected a name such as {near}"
    )


# ---------------------------------------------------------------------------------------------------- the report
def document(archive: Archive, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The document of docs/analyse.md for a file of games."""
    return {
        **asked,
        "player": archive.player,
        "games": archive.games,
        "refused": archive.refused,
        "unfinished": archive.unfinished,
        "interrupted": archive.interrupted,
        "summary": archive.all.document(),
        "phases": {name: sums.document() for name, sums in archive.phases.items()},
        "known": {name: sums.document() for name, sums in archive.known.items()},
        "costliest": archive.worst(),
    }


def _tables(answer: Mapping[str, Any]) -> Iterator[tuple[str, list[list[str]]]]:
    """The tables of a report: caption, and rows of cells below a row of headings."""
    kinds = ["moves", "mean cost", "luck", *MARKS]
    for caption, groups in (
        ("by phase", answer["phases"] | {"all": answer["summary"]}),
        ("by how many positions were possible", answer["known"]),
    ):
        rows = [
            [
                name,
                f"{found['moves']:,}",
                f"{found['mean_cost'] or 0.0:.3f}",
                f"{found['mean_luck']:+.3f}",
                *map(str, found["marks"].values()),
            ]
            for name, found in groups.items()
            if found["moves"]
        ]
        yield caption, [["", *kinds], *rows]
    rows = [
        [
            str(each["game"]),
            each["player"],
            f"{each['move_number']}{'.' if each['color'] == 'white' else '...'} {each['san']}",
            f"{each['cost']:.2f}",
            each["phase"],
            f"{each['positions']:,}" + ("+" if each["known"] == _SAMPLE else ""),
            f"{each['best']['san']} ({100 * each['best']['p']:.0f}%)",
            f"{each['turned']:+.2f}",
        ]
        for each in answer["costliest"]
    ]
    yield (
        "the costliest moves",
        [["game", "player", "move", "cost", "phase", "possible", "the engine plays", "luck"], *rows],
    )


def _title(answer: Mapping[str, Any], evaluator: str) -> str:
    limit = f"{answer['time']:g} s" if answer["nodes"] is None else f"{answer['nodes']:,} nodes"
    whose = "both sides" if answer["player"] is None else answer["player"]
    return f"{counted(answer['games'], 'game')}, {whose}; {answer['configuration']} ({evaluator}), {limit} a turn"


def text(answer: Mapping[str, Any], evaluator: str) -> list[str]:
    """``answer`` for people."""
    lines = [_title(answer, evaluator)]
    for caption, rows in _tables(answer):
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines += ["", f"{caption}:"]
        lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return [*lines, *LEGEND]


def html_report(answer: Mapping[str, Any], evaluator: str) -> str:
    """``answer`` as HTML for above the board; each of the costliest moves is a link to its turn."""
    places = [f"#game={each['game']}&ply={each['ply']}" for each in answer["costliest"]]
    parts = [f"<details id='report' class='mixture' open><summary>{escape(_title(answer, evaluator))}</summary>"]
    for caption, (head, *rows) in _tables(answer):
        linked = len(head) > 2 and head[2] == "move"
        parts.append(f"<table><caption>{caption}</caption><tr>{_cells(map(escape, head), 'th')}</tr>")
        for i, row in enumerate(rows):
            cells = [escape(cell) for cell in row]
            if linked:
                cells[2] = f"<a href='{places[i]}'>{cells[2]}</a>"
            parts.append(f"<tr>{_cells(cells, 'td')}</tr>")
        parts.append("</table>")
    return "".join([*parts, "</details>"])


def _cells(texts: Iterable[str], tag: str) -> str:
    return "".join(f"<{tag}>{each}</{tag}>" for each in texts)
