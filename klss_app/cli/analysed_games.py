"""Analysed games: their sums and costliest moves, the file that keeps them, and the report on them.

The cost of a move is over the positions in its player's set; its luck on the true board is shown separately. A game is
dropped once it is analysed: only sums and the games of the costliest moves are kept. With ``--out FILE`` each analysed
game becomes a line of JSON there, below a first line with the settings; the same command continues after the last whole
line.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TypeAlias, TypedDict

import msgspec

from klss.support.file_lock import lock
from klss.support.text import counted
from klss_app.analysis.summaries import LEAST_COST, MARKS, Report, Sums, Turn, Turns, costly, signed
from klss_app.cli.errors import FailedError, UsageError
from klss_app.front import PHASES, Front, Reviewed

_LEGEND = (
    "",
    "Cost: value of what the engine plays less that of the move, over the positions",
    "possible for the mover.",
)
_LUCK = (
    "Luck: how much better than on average over these the move did on the true board,",
    "less the same of the mixture.",
)
"""What the columns of an analysis mean."""

_BECAUSE = "because"
"""The column of sentences, which are lines of their own in the terminal."""

_MOST_HEAD = 1 << 16
"""Most bytes of the settings, the first line of a file of ``--out``."""

_SHOWN = 20
"""Number of the costliest moves that are kept."""

_KNOWN = {"1 to 10": 10, "to 1,000": 1_000, "to 100,000": 100_000, "more": 10**18}
_SAMPLE = "a sample"
"""The group of moves whose set was larger than its cap, so that its size is not known."""

Moves: TypeAlias = list[str | None]
"""The turns of a game as they were asked for, in UCI where they are moves; None: a pass."""


class _Line(TypedDict):
    """A line of the file of ``--out``."""

    game: int
    moves: Moves
    turns: Turns


_LINES = msgspec.json.Decoder(_Line)


@dataclass
class Archive:
    """The results of the games so far: of the moves of ``player`` (None: of anybody) with one of ``sides``."""

    front: Front
    player: str | None
    sides: tuple[str, ...]
    games: int = 0
    refused: int = 0
    unfinished: int = 0
    interrupted: bool = False
    all: Sums = field(default_factory=Sums)
    phases: dict[str, Sums] = field(default_factory=lambda: {name: Sums() for name in PHASES})
    known: dict[str, Sums] = field(default_factory=lambda: {name: Sums() for name in (*_KNOWN, _SAMPLE)})
    costliest: list[Report] = field(default_factory=list)  # rows of moves, the worst first
    kept: dict[int, tuple[Reviewed, Turns]] = field(default_factory=dict)  # the games of these rows

    def seats(self, game: Reviewed) -> dict[str, str]:
        """The sides of a game whose moves count, and the names of their players."""
        return {
            side: name
            for side, name in zip(("white", "black"), game.names, strict=True)
            if side in self.sides and (self.player is None or name.casefold() == self.player.casefold())
        }

    def add(self, game: Reviewed, turns: Turns) -> None:
        """Count the moves of an analysed game."""
        self.games += 1
        seats, truth = self.seats(game), game.replay.game()
        for turn in turns:
            if turn["color"] not in seats:
                continue
            rows = _rows(game, turn, self.front.place(truth, turn["ply"]), seats[turn["color"]])
            self.costliest += [each for each in rows if (each["cost"] or 0.0) >= LEAST_COST]
            for sums in (self.all, self.phases.get(rows[0]["phase"]), self.known.get(rows[0]["known"])):
                if sums is not None:
                    sums.add(turn["played"])
        self.costliest.sort(key=lambda row: (-(row["cost"] or 0.0), row["game"], row["ply"]))
        del self.costliest[_SHOWN:]
        self.kept[game.number] = game, turns
        self.kept = {row["game"]: self.kept[row["game"]] for row in self.costliest}

    def document(self, asked: Mapping[str, object]) -> Report:
        """The document of docs/analyse.md for a file of games; ``asked`` are the settings."""
        return {
            **asked,
            "player": self.player,
            "games": self.games,
            "refused": self.refused,
            "unfinished": self.unfinished,
            "interrupted": self.interrupted,
            "summary": self.all.document(),
            "phases": {name: sums.document() for name, sums in self.phases.items()},
            "known": {name: sums.document() for name, sums in self.known.items()},
            "costliest": self.costliest,
        }


def _rows(game: Reviewed, turn: Turn, place: tuple[int, str], player: str) -> list[Report]:
    """The row of a turn's move; before it that of its look, if there was one."""
    known = turn["positions"][turn["color"]]
    size, sample = known or (0, False)
    group = _SAMPLE if sample else next(name for name, most in _KNOWN.items() if size <= most)
    move: Report = {
        **costly(turn),
        "game": game.number,
        "move_number": place[0],
        "color": turn["color"],
        "phase": place[1],
        "known": "" if known is None else group,
        "player": player,
    }
    if "look" not in turn:
        return [move]
    best, cost = turn["look"]["best"], turn["played"].get("look_loss")
    look = {"san": f"look {turn['look']['played']}", "cost": cost, "positions": size}
    return [move | look | {"best": {"san": best, "move": None, "p": None}, "because": None}, move]


class AnalysisFile:
    """The file of ``--out``; ``asked``, the settings, is its first line. Raises :class:`UsageError`: the file is
    something else, or was made with other settings, or another command writes it."""

    def __init__(self, path: Path, asked: Mapping[str, object]) -> None:
        self._path = path
        try:
            self._file = path.open("r+b" if path.exists() else "w+b")
        except OSError as error:
            raise UsageError(f"--out: can't open {str(path)!r}: {error.strerror}") from None
        if not lock(self._file):
            raise UsageError(f"--out: got {str(path)!r}, which another command writes; expected a file of this one")
        head = self._file.readline(_MOST_HEAD)  # a device might have no end
        if not head:
            self._write(asked)
        elif head != json.dumps(asked).encode() + b"\n":
            raise UsageError(
                f"--out: got {str(path)!r}, which has no analysis with these settings; expected one, or a new file"
            )

    def next(self, number: int, moves: Moves) -> Turns | None:
        """The turns of the next wanted game, which has to be the file's next one; None at the end of the file."""
        while True:
            place = self._file.tell()
            line = self._file.readline()
            if not line.endswith(b"\n"):  # the end, or a line cut off by an interruption, which is overwritten
                self._file.seek(place)
                self._file.truncate()
                return None
            try:
                found = _LINES.decode(line)
                if found["game"] < number:
                    continue
                if (found["game"], found["moves"]) == (number, moves) and len(found["turns"]) == len(moves):
                    return found["turns"]
            except (ValueError, RecursionError):
                pass
            raise UsageError(
                f"--out: got {str(self._path)!r}, which has another game where game {number} belongs, or one that "
                "another version of klss analysed; expected an analysis of the same games, or a new file"
            )

    def keep(self, number: int, moves: Moves, turns: Turns) -> None:
        """Write an analysed game."""
        self._write({"game": number, "moves": moves, "turns": turns})

    def _write(self, line: Mapping[str, object]) -> None:
        try:
            self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise FailedError(f"can't write the analysis to {str(self._path)!r}: {error.strerror}") from None

    def close(self) -> None:
        """Close it."""
        self._file.close()


def analyse(
    games: Iterator[Reviewed],
    archive: Archive,
    search: Callable[[Iterator[Reviewed]], Iterator[tuple[Reviewed, Turns]]],
    file: AnalysisFile | None,
) -> Turns:
    """Analyse the games and return the turns of the last one; if interrupted, ``archive`` has the games until then.

    ``search`` analyses those that ``file`` does not have, in order: it has the first ones, if any.
    """
    turns: Turns | None = None
    moves = archive.front.moves
    try:
        for each in games:
            turns = None if file is None else file.next(each.number, moves(each.replay))
            if turns is None:
                games = itertools.chain([each], games)
                break
            archive.add(each, turns)
        for each, turns in search(games):
            if file is not None:
                file.keep(each.number, moves(each.replay), turns)
            archive.add(each, turns)
    except KeyboardInterrupt:
        archive.interrupted = True
    return turns or []


# ---------------------------------------------------------------------------------------- the report
def _tables(answer: Report) -> Iterator[tuple[str, list[list[str]]]]:
    """The tables of a report: caption, and rows of cells below a row of headings."""
    looks = "mean_look_cost" in answer["summary"]
    kinds = ["moves", "mean cost", "look" if looks else "luck", *MARKS]
    for caption, groups in (
        ("mean costs", answer["phases"] | {"all": answer["summary"]}),
        ("by how many positions were possible", answer["known"]),
    ):
        rows = [
            [
                name,
                f"{found['moves']:,}",
                "" if found["mean_cost"] is None else f"{found['mean_cost']:.3f}",
                signed(found.get("mean_look_cost") if looks else found["mean_luck"], 3),
                *map(str, found["marks"].values()),
            ]
            for name, found in groups.items()
            if found["moves"]
        ]
        if rows:
            yield caption, [["", *kinds], *rows]
    rows = [
        [
            str(each["game"]),
            each["player"],
            f"{each['move_number']}{'.' if each['color'] == 'white' else '...'} {each['san']}",
            f"{each['cost'] or 0.0:.2f}",
            each["phase"],
            "" if each["positions"] is None else f"{each['positions']:,}{'+' if each['known'] == _SAMPLE else ''}",
            each["best"]["san"] + ("" if each["best"]["p"] is None else f" ({100 * each['best']['p']:.0f}%)"),
            signed(each["turned"], 2),
            each["because"] or "",
        ]
        for each in answer["costliest"]
    ]
    if rows:
        head = ["game", "player", "move", "cost", "phase", "possible", "the engine plays", "luck", _BECAUSE]
        yield "the costliest moves", [head, *rows]


def _title(answer: Report, evaluator: str) -> str:
    limit = f"{answer['time']:g} s" if answer["nodes"] is None else f"{answer['nodes']:,} nodes"
    whose = "both sides" if answer["player"] is None else answer["player"]
    return f"{counted(answer['games'], 'game')}, {whose}; {answer['configuration']} ({evaluator}), {limit} a turn"


def text(answer: Report, evaluator: str) -> list[str]:
    """An archive's document for people."""
    lines, valued = [_title(answer, evaluator)], answer["summary"]["mean_cost"] is not None
    for caption, rows in _tables(answer) if valued else ():
        columns = len(rows[0]) - (rows[0][-1] == _BECAUSE)
        widths = [max(len(row[i]) for row in rows) for i in range(columns)]
        lines += ["", f"{caption}:"]
        for row in rows:
            lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip())
            lines += [f"    {each}" for each in row[columns:] if each not in ("", _BECAUSE)]
    return [*lines, *(_LEGEND if valued else ()), *(_LUCK if answer["summary"]["mean_luck"] is not None else ())]


def html_report(answer: Report, evaluator: str) -> str:
    """The same as HTML for above the board; each of the costliest moves is a link to its turn."""
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
