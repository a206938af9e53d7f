"""Puzzles in words, for the terminal and the browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import chess

if TYPE_CHECKING:  # not at run time, as it would load compiled code in commands that show no puzzle
    from darkchess.fog.analysis.puzzles import Puzzle, Refutation


def puzzles(theme: str | None = None) -> list[Puzzle]:
    """The packaged puzzles, or those of a theme, in the order in which they are posed: easy ones first."""
    from darkchess.fog.analysis.puzzles import packaged_puzzles

    found = [each for each in packaged_puzzles() if theme in (None, each.theme)]
    return sorted(found, key=lambda each: (each.level or 9, -each.rating))


def posed(puzzle: Puzzle) -> str:
    """The question of a puzzle."""
    from darkchess.fog.analysis.puzzles import THEMES

    return f"{'White' if puzzle.color else 'Black'} to move. {THEMES[puzzle.theme]}"


def explained(puzzle: Puzzle, answer: chess.Move | None, against: Refutation | None) -> Iterator[str]:
    """Sentences on why an answer is wrong, if it is, and why the solution is right. ``against`` is the refutation of a
    wrong answer; ``answer`` None: given up.
    """
    from darkchess.fog.game.san import san

    view, proof = puzzle.views[-1], puzzle.proof
    right = san(view, puzzle.solution)
    if answer == puzzle.solution:
        yield f"Right: {right}."
    elif answer is not None and against is not None:
        after = against.position.after(answer)
        reply = "it is played" if against.reply is None else f"{san(after, against.reply)} is answered"
        yield f"{san(view, answer)} is not sure. In one possible position {reply}, and {_outcome(against.balance)}."
        yield f"Right is {right}."
    else:
        yield f"Right is {right}."
    yield (
        f"In all {proof.positions:,} positions that were possible, whatever is answered, {_outcome(proof.sure)}. After "
        f"any other move there is a position in which {_outcome(proof.next)}, or worse."
    )


def _outcome(balance: int) -> str:
    """The material result of a line, in words.

    >>> _outcome(3), _outcome(-1), _outcome(0)
    ("you win 3 pawns' worth", "you lose a pawn's worth", 'nothing is won or lost')
    """
    from darkchess.fog.analysis.puzzles import KING

    if abs(balance) > KING // 2:
        return "the enemy king falls" if balance > 0 else "your king falls"
    if balance == 0:
        return "nothing is won or lost"
    worth = "a pawn's worth" if abs(balance) == 1 else f"{abs(balance)} pawns' worth"
    return f"you {'win' if balance > 0 else 'lose'} {worth}"
