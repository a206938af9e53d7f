"""``klss openings``: the opening book as a tree, and how often people play each move.

A page of the book belongs to an infoset of the player to move, while the tree has true games: two games that the player
can't tell apart have the same page, and the text prints it once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from darkchess.fog.game.referee import Referee
from darkchess.fog.game.san import san
from darkchess.fog.players.book import Book, Page, page_key
from klss_app.cli.errors import UsageError
from klss_app.cli.options import Parser, typed_moves
from klss_app.flag_types import count, whole
from klss_app.stdout import print_document

_MOVE_WIDTH = 28
"""Columns of the moves, which are indented by their depth."""

_INDENT = "   "


def _parser() -> Parser:
    parser = Parser(
        "openings",
        "What kluss plays at its first turns, by what the player to move has seen, and what people play there.",
    )
    parser.add_argument("moves", nargs="?", default="", metavar="MOVES", help='begin after these: "d4 d5"')
    parser.add_argument("--plies", type=count, default=2, metavar="N", help="depth of the tree")
    seldom = "percent: moves that neither kluss nor people play so often are left out"
    parser.add_argument("--least", type=whole(0, 100), default=5, metavar="P", help=seldom)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss openings``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    moves = typed_moves(parsed.moves)
    book = Book.packaged()
    game = Referee.replay(moves[: book.plies])  # the book has nothing beyond, and a longer game may be over
    names = [san(position, move) for position, move in zip(game.positions, game.moves)]
    key, page = _page(book, game)
    if page is None:
        raise UsageError(
            f"MOVES: got {' '.join(names)!r}, where the book has no page; expected moves that are often played, "
            f"{book.plies - 1} at the most (without MOVES the tree begins at the start)"
        )
    head, tree = book.head, list(_tree(book, game, page, parsed.plies, parsed.least / 100.0))
    if parsed.json:
        about = {"book": dict(head), "moves": names, "infoset": key, "value": page.value, "people": page.people}
        print_document({**about, "tree": tree})
        return 0
    print(
        f"{head['configuration'].split(',')[0]}, {head['searches']} searches of {head['nodes']:,} nodes at each of "
        f"{len(book.pages)} infosets, {head['created']}; {head['games']} games of people"
    )
    print(f"after {' '.join(names)}" if names else "from the start")
    print(f"{'':{_MOVE_WIDTH}}{'kluss':>6}{'value':>8}  people")
    for line in _lines(tree, names, 0, {key: " ".join(names)}):
        print(line)
    return 0


def _page(book: Book, game: Referee) -> tuple[str | None, Page | None]:
    """The key of the page for the views of the player to move, and the page."""
    views = game.views(game.position.turn)
    page = book.page(views) if game.outcome is None else None
    return (None, None) if page is None else (page_key(views), page)


def _tree(book: Book, game: Referee, page: Page, plies: int, least: float) -> Iterator[dict[str, Any]]:
    """The moves of a page that are played often enough, each with what is played after it (docs/json.md,
    "`klss openings`")."""
    for each in page.moves:
        if each.probability < least and each.people < max(1.0, least * page.people):
            continue
        after = Referee.replay([*game.moves, each.move])
        key, below = _page(book, after) if plies > 1 else (None, None)
        yield {
            "san": san(game.position, each.move),
            "move": each.move.uci(),
            "probability": each.probability,
            "value": each.value,
            "people": each.people,
            "of": page.people,
            "infoset": key,
            "replies": [] if below is None else list(_tree(book, after, below, plies - 1, least)),
        }


def _lines(
    tree: Sequence[dict[str, Any]], before: Sequence[str], depth: int, told: dict[str | None, str]
) -> Iterator[str]:
    """The tree after the moves ``before`` as text, one line per move. ``told``: infoset -> the moves below which its
    page was printed; each page is printed once."""
    ply = len(before)
    number = f"{ply // 2 + 1}{'...' if ply % 2 else '.'}"
    for each in tree:
        name = f"{_INDENT * depth}{number} {each['san']}"
        probability = f"{each['probability']:.0%}" if each["probability"] else "-"
        value = "" if each["value"] is None else f"{each['value'] + 0.0:+.3f}"
        people = f"{each['people']} of {each['of']}" if each["of"] else "-"
        yield f"{name:<{_MOVE_WIDTH}}{probability:>6}{value:>8}  {people}"
        moves, infoset = [*before, each["san"]], each["infoset"]
        to_move = "Black" if len(moves) % 2 else "White"
        if infoset is not None and infoset in told:
            yield f"{_INDENT * (depth + 1)}(as after {told[infoset]}: it looks the same to {to_move})"
        elif infoset is not None:
            told[infoset] = " ".join(moves)
            yield from _lines(each["replies"], moves, depth + 1, told)
