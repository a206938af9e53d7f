"""Subgame solving without common knowledge: game theory, independent of chess.

>>> import klss
>>> solution = klss.solve("kuhn_poker")
>>> round(18 * solution.value, 9), solution.exploitability < 1e-9
(-1.0, True)

Reading order: ``theory`` (games as flat arrays, sequence forms, equilibria, best responses), ``paper`` (knowledge sets,
subgames and gadgets, the paper's tables), ``search`` (the depth-limited, nested loop from a value function only),
``synoptic`` (planning over sets of states), ``openspiel`` and ``gambit`` (games of other libraries and in files),
``play`` (playing any game with hidden information: limits, outcomes, an arbiter, kits), ``errors``, ``support``
(general helpers).

Only :func:`solve` and :func:`solve_form` are imported from the package, all else from its modules: the package imports
little until it is called, so that the command line starts at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from klss.errors import MAX_NODES, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from klss.theory.equilibrium import Method, Solution
    from klss.theory.first_order import FirstOrderMethod
    from klss.theory.game import Game
    from klss.theory.policies import Named
    from klss.theory.sequence_form import SequenceForm

__all__ = ["MAX_NODES", "__version__", "solve", "solve_form"]

__version__ = "1.0.0"


def solve(
    game: str | Game,
    *,
    max_nodes: int = MAX_NODES,
    memory_mb: int | None = None,
    method: Method | FirstOrderMethod = "lp",
    gap: float | None = None,
    seconds: float | None = None,
    lock: tuple[Named, Named] | None = None,
) -> Solution:
    """Return an equilibrium of a two-player zero-sum game.

    Parameters
    ----------
    game : str or Game
        A game string of OpenSpiel (``klss[experiments]`` has it), or a :class:`klss.theory.game.Game` of your own.
    max_nodes : int
        Most nodes of OpenSpiel's tree; building a larger one stops with an error.
    memory_mb : int, optional
        Most megabytes of this process; None: no limit.
    method : "lp" | "simplex" | "ipm" | "auto" | "pcfr+" | "dcfr" | "cfr+"
        Exact, by linear programming (:func:`klss.theory.equilibrium.solve`), or to a given gap, by regret minimisation
        (:func:`klss.theory.first_order.solve`), for games whose program takes too long or too much memory.
    gap : float, optional
        With regret minimisation: the exploitability at which to stop, in the game's units
        (:data:`klss.theory.first_order.GAP`).
    seconds : float, optional
        Stop after this many seconds with the best found so far; building the game is not counted.
    lock : two of dict of str to dict of str to float, optional
        Both players' behaviour at some infosets, by names; it is fixed, and the rest is solved
        (:mod:`klss.theory.locking`).

    Returns
    -------
    Solution
        Value, both players' strategies (:meth:`~klss.theory.equilibrium.Solution.strategy`), and the exploitability as
        recomputed by best responses.

    Raises
    ------
    GameError
        No such game, or a game that is not zero-sum with two players.
    TooLargeError
        More than ``max_nodes`` nodes or ``memory_mb``; raised as soon as that is certain.
    """
    from klss.theory.sequence_form import sequence_form

    most = None if memory_mb is None else 1_000_000 * memory_mb
    try:
        if isinstance(game, str):
            from klss.openspiel import load

            game = load(game, max_nodes=max_nodes, max_bytes=most)
        return solve_form(sequence_form(game), method=method, gap=gap, seconds=seconds, lock=lock, max_bytes=most)
    except TooLargeError as error:  # use this function's names of the limits
        raise error.renamed({"max_nodes": "max_nodes", "max_bytes": "memory_mb"}) from None


def solve_form(
    form: SequenceForm,
    *,
    method: str = "lp",
    gap: float | None = None,
    seconds: float | None = None,
    lock: tuple[Named, Named] | None = None,
    max_bytes: int | None = None,
    resume: Path | None = None,
    on_progress: Callable[[int, float], None] | None = None,
) -> Solution:
    """Return an equilibrium of a sequence form; the parameters are those of :func:`solve`, and of
    :func:`klss.theory.first_order.solve`.
    """
    from klss.theory import equilibrium, first_order, locking
    from klss.theory.folding import fold

    # Locked infosets are no choices: solve the smaller game of the free ones, then add the locked ones again.
    fixed = None if lock is None else locking.lock_named(form, lock)
    folded = fold(form if fixed is None else fixed.form)
    if method in first_order.METHODS:
        found = first_order.solve(
            folded.form, method=method, gap=first_order.GAP if gap is None else gap, seconds=seconds,
            max_bytes=max_bytes, resume=resume, on_progress=on_progress,
        )  # fmt: skip
    else:
        found = equilibrium.solve(folded.form, method=method, time_limit_s=seconds, max_bytes=max_bytes)
    found = folded.restored(found)
    return found if fixed is None else fixed.restored(found)
