"""``klss puzzles``: positions of real games in which one move is right, shown as the mover saw them.

``klss puzzles make`` finds them (:mod:`darkchess.fog.analysis.puzzles`), and counts how often players of this project
find the move; ``klss puzzles check`` verifies them again. A file of puzzles has one JSON object per line.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import chess

from darkchess.fog.game.render import ALL_SQUARES, beside
from klss.support.text import printable
from klss.table.contest import Resignation
from klss.table.limits import Limit
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.human import drawn, wrapped
from klss_app.cli.options import Parser, seed, whole, writable_file, written_games_of
from klss_app.cli.screen import Quit
from klss_app.cli.terminal import InputClosed, Terminal
from klss_app.progress import ProgressLine
from klss_app.puzzles import easy_first, explained, posed, read_puzzles
from klss_app.stdout import print_document

if TYPE_CHECKING:
    from darkchess.fog.analysis.puzzles import Puzzle

RATERS = ("greedy", "best-guess", "level-2", "level-4", "level-6", "kluss")
"""Players that try each puzzle for its rating."""

RATING_NODES = 2_000
"""Nodes of each try."""

RATING_SEEDS = 3
"""Tries of each player, with different seeds."""

_HELP = """\
Type a move (Nf3, exd5, g1f3); resign shows the solution, history the game as
far as its player knew it, moves the legal ones; quit ends."""


def _parser() -> Parser:
    parser = Parser(
        "puzzles",
        "Find the move: positions of real games, as the mover saw them, each with one right move that is proved. "
        "klss puzzles make ARCHIVE finds more in your games, klss puzzles check proves a file of them.",
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="what make wrote (default: the packaged puzzles)")
    parser.add_argument(
        "--number", type=whole("1 or more"), default=1, metavar="N", help="the first one; easy come first"
    )
    parser.add_argument("--theme", metavar="NAME", help="only those: force, save, win or keep")
    parser.add_argument("--ascii", action="store_true", help="letters, no chess figures and no colours")
    parser.add_argument("--json", action="store_true", help="list the puzzles as one JSON document, solutions and all")
    return parser


def _make_parser() -> Parser:
    parser = Parser("puzzles make", "Find puzzles in a file of games. Ctrl-C loses nothing: the command goes on.")
    parser.add_argument("file", metavar="ARCHIVE", help="games in any format that klss games reads")
    parser.add_argument("--out", metavar="FILE", required=True, help="a line of JSON for each puzzle; is gone on with")
    parser.add_argument("--most", type=whole("1 or more"), metavar="N", help="puzzles of each theme at most")
    parser.add_argument("--unrated", action="store_true", help="don't let players try them")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="of those players")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def _check_parser() -> Parser:
    parser = Parser("puzzles check", "Count anew in every possible position that each puzzle's solution is right.")
    parser.add_argument("file", metavar="FILE", nargs="?", help="what make wrote (default: the packaged puzzles)")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss puzzles``; see :mod:`klss_app.cli.main`."""
    match list(arguments):
        case ["make", *rest]:
            return _make(_make_parser().parse(rest))
        case ["check", *rest]:
            return _check(_check_parser().parse(rest))
    return _play(_parser().parse(arguments))


# ----------------------------------------------------------------------------------------------------------------- play
def _play(parsed: argparse.Namespace) -> int:
    from darkchess.fog.analysis.puzzles import THEMES

    if parsed.theme is not None and parsed.theme not in THEMES:
        raise UsageError(f"--theme: got {parsed.theme!r}, expected one of {', '.join(THEMES)}")
    puzzles = easy_first(each for each in _read(parsed.file) if parsed.theme in (None, each.theme))
    if parsed.json:
        print_document([each.document() | {"rating": each.rating} for each in puzzles])
        return 0
    if parsed.number > len(puzzles):
        raise UsageError(f"--number: got {parsed.number}, expected 1 to {len(puzzles)}")
    terminal, found, tried = Terminal(parsed.ascii), 0, 0
    for number in range(parsed.number, len(puzzles) + 1):
        try:
            found += _posed(terminal, puzzles[number - 1], f"Puzzle {number} of {len(puzzles)}")
            tried += 1
            if number < len(puzzles) and terminal.ask(" Enter for the next one, quit to leave: ") in (
                "quit",
                "exit",
                "q",
            ):
                break
        except (InputClosed, Quit):
            break
    terminal.say("", f" You found {found} of {tried}.")
    return 0


def _read(file: str | None) -> list[Puzzle]:
    from darkchess.errors import RecordError

    try:
        return read_puzzles(file)
    except RecordError as error:
        raise UsageError(str(error)) from None


def _posed(terminal: Terminal, puzzle: Puzzle, title: str) -> bool:
    """Let a human try a puzzle; return whether the first move was right."""
    from klss_app.cli.fog.human import HumanPlayer

    views, color = puzzle.views, puzzle.color
    human = HumanPlayer(terminal, {color: "you", not color: "who?"}, {}, resumed=len(views) - 1)
    human.help = _HELP
    human.start(views[0], puzzle.game.positions[0])
    for view in views[1:]:
        human.observe(view)
    told = "" if puzzle.rating is None else f", found by {puzzle.rating:.0%} of our players"
    terminal.say("", f" {title}{told}.", wrapped(posed(puzzle)))
    try:
        answer: chess.Move | None = human.choose(Limit()).answer
    except Resignation:
        answer = None
    terminal.say(*_explained(terminal, puzzle, answer))
    return bool(answer == puzzle.solution)


def _explained(terminal: Terminal, puzzle: Puzzle, answer: chess.Move | None) -> Iterator[str]:
    """The text after an answer, and the boards: the view, the true position, and one that refutes the answer."""
    against = puzzle.against(answer)
    yield from map(wrapped, explained(puzzle, answer, against))
    view = puzzle.views[-1]
    blocks = [("  You saw", drawn(terminal, view.pieces, view.visible, puzzle.color))]
    blocks.append(("  There was", drawn(terminal, puzzle.game.position.pieces, ALL_SQUARES, puzzle.color)))
    if against is not None:
        blocks.append(("  Could have been", drawn(terminal, against.position.pieces, ALL_SQUARES, puzzle.color)))
    yield ""
    yield from beside(blocks)


# ------------------------------------------------------------------------------------------------------- make and check
def _make(parsed: argparse.Namespace) -> int:
    from darkchess.errors import RecordError
    from darkchess.fog.analysis.puzzles import puzzles_in

    path = writable_file(Path(parsed.out), "--out")
    kept = _read(parsed.out) if path.exists() else []
    counts = Counter(each.theme for each in kept)
    turns = {(each.views[-1].key(), each.solution) for each in kept}
    # Games up to the last one with a puzzle in the file were searched before.
    name = Path(parsed.file).name
    before = [int(each.source.rpartition(" ")[2]) for each in kept if each.source.startswith(f"{name}, game ")]
    done, games, refused, why = max(before, default=0), 0, 0, ""
    with closing(ProgressLine("klss puzzles")) as line, path.open("a", encoding="utf-8") as file:
        for written in itertools.islice(written_games_of(Path(parsed.file)), done, None):
            games += 1
            line.tell(f"game {written.number:,}, {sum(counts.values()):,} puzzles")
            try:
                record = written.record()
            except RecordError as error:
                refused += 1
                why = str(error)
                line.close()
                print(printable(why), file=sys.stderr)
                continue
            for puzzle in puzzles_in(record, f"{name}, game {written.number}"):
                turn = (puzzle.views[-1].key(), puzzle.solution)
                if turn in turns or (parsed.most is not None and counts[puzzle.theme] >= parsed.most):
                    continue
                turns.add(turn)
                counts[puzzle.theme] += 1
                solved = {} if parsed.unrated else dict(_solved(puzzle, parsed.seed))
                file.write(json.dumps(puzzle.document() | {"solved": solved}) + "\n")
                file.flush()
    if not games and not done:
        raise UsageError(f"got no game in {parsed.file!r}, expected at least one")
    if refused and refused == games and not done:
        raise FailedError(f"got {refused:,} games in {parsed.file!r}, none of which can be read; the last: {why}")
    if parsed.json:
        print_document({"puzzles": sum(counts.values()), "themes": counts, "games": games, "refused": refused})
    else:
        themes = ", ".join(f"{count} {theme}" for theme, count in sorted(counts.items())) or "none"
        print(
            printable(
                f"{sum(counts.values())} puzzles in {parsed.out} ({themes}); {games:,} games read, {refused:,} refused"
            )
        )
    return 0


def _solved(puzzle: Puzzle, first_seed: int) -> Iterator[tuple[str, float]]:
    """The share of tries in which each rater finds the solution, from the mover's views alone."""
    from darkchess.evaluation.evaluator import BuiltinEvaluator
    from darkchess.fog.players.configuration import configuration, make_player
    from klss_app.bench.positions import BenchPosition, seated

    turn = BenchPosition("puzzle", puzzle.game.positions[0], puzzle.views)
    for name in RATERS:
        players = (
            seated(make_player(configuration(name), BuiltinEvaluator(), seed=first_seed + each), turn)
            for each in range(RATING_SEEDS)
        )
        found = sum(player.choose(Limit(nodes=RATING_NODES)).answer == puzzle.solution for player in players)
        yield name, round(found / RATING_SEEDS, 2)


def _check(parsed: argparse.Namespace) -> int:
    puzzles = _read(parsed.file)
    with closing(ProgressLine("klss puzzles")) as line:
        unproved = list(_unproved(puzzles, line))
    if parsed.json:
        print_document({"puzzles": len(puzzles), "unproved": unproved})
    if unproved:
        raise FailedError(f"got {len(unproved)} puzzles whose proof does not hold, the first in line {unproved[0]}")
    if not parsed.json:
        print(f"{len(puzzles)} puzzles, each proved in every position that was possible")
    return 0


def _unproved(puzzles: Sequence[Puzzle], line: ProgressLine) -> Iterator[int]:
    for number, puzzle in enumerate(puzzles, 1):
        line.tell(f"{number} of {len(puzzles)}")
        if not puzzle.proved():
            yield number
