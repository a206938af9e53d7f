"""``klss puzzles``: positions of real games in which one move is right, shown as the mover saw them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import chess

from darkchess.fog.game.render import beside
from klss.play.contest import Resignation
from klss.play.limits import Limit
from klss_app.cli.errors import UsageError
from klss_app.cli.human import Human, Quit, drawn
from klss_app.cli.options import Parser
from klss_app.cli.terminal import InputClosed, Terminal
from klss_app.flag_types import count
from klss_app.known.fog import FogKnown, pictured
from klss_app.known.known import Picture, wrapped
from klss_app.puzzles import explained, posed, puzzles
from klss_app.stdout import print_document

if TYPE_CHECKING:
    from darkchess.fog.analysis.puzzles import Puzzle

_HELP = """\
Type a move (Nf3, exd5, g1f3); resign shows the solution, history the game as
far as its player knew it, moves the legal ones; quit ends."""


def _parser() -> Parser:
    parser = Parser(
        "puzzles",
        "Find the move: positions of real games, as the mover saw them, each with one right move that is proved.",
    )
    parser.add_argument("--number", type=count, default=1, metavar="N", help="the first one; easy come first")
    parser.add_argument("--theme", metavar="NAME", help="only those: force, save, win or keep")
    parser.add_argument("--ascii", action="store_true", help="letters, no chess figures and no colours")
    parser.add_argument("--json", action="store_true", help="list the puzzles as one JSON document, solutions and all")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss puzzles``; see :mod:`klss_app.cli.main`."""
    from darkchess.fog.analysis.puzzles import THEMES

    parsed = _parser().parse(arguments)
    if parsed.theme is not None and parsed.theme not in THEMES:
        raise UsageError(f"--theme: got {parsed.theme!r}, expected one of {', '.join(THEMES)}")
    every = puzzles(parsed.theme)
    if parsed.json:
        print_document([each.document() | {"rating": each.rating, "level": each.level} for each in every])
        return 0
    if parsed.number > len(every):
        raise UsageError(f"--number: got {parsed.number}, expected 1 to {len(every)}")
    terminal, found, tried = Terminal(parsed.ascii), 0, 0
    for number in range(parsed.number, len(every) + 1):
        try:
            found += _posed(terminal, every[number - 1], f"Puzzle {number} of {len(every)}")
            tried += 1
            if number < len(every) and terminal.ask(" Enter for the next one, quit to leave: ") in ("quit", "q"):
                break
        except (InputClosed, Quit):
            break
    terminal.say("", f" You found {found} of {tried}.")
    return 0


def _posed(terminal: Terminal, puzzle: Puzzle, title: str) -> bool:
    """Let a human try a puzzle; return whether the first move was right."""
    color = puzzle.color
    human = Human(FogKnown, terminal, {color: "you", not color: "who?"}, {}, len(puzzle.views) - 1, _HELP)
    human.begin(color, puzzle.game.setup)
    for view in puzzle.views[1:]:
        human.observe(view)
    found = f"first found by level {puzzle.level}" if puzzle.level else "found by no level"
    terminal.say("", f" {title}, {found}.", wrapped(posed(puzzle)))
    try:
        answer: chess.Move | None = human.answer("move", Limit()).answer
    except Resignation:
        answer = None
    terminal.say(*_explained(terminal, puzzle, answer))
    return bool(answer == puzzle.solution)


def _explained(terminal: Terminal, puzzle: Puzzle, answer: chess.Move | None) -> Iterator[str]:
    """The text after an answer, and the boards: the view, the true position, and one that refutes the answer."""
    against = puzzle.against(answer)
    yield from map(wrapped, explained(puzzle, answer, against))
    boards = [("You saw", replace(pictured(puzzle.views[-1]), marked=()))]
    boards.append(("There was", Picture(puzzle.game.position.pieces)))
    if against is not None:
        boards.append(("Could have been", Picture(against.position.pieces)))
    yield ""
    yield from beside([(f"  {title}", drawn(terminal, board, puzzle.color)) for title, board in boards])
