"""Subgame solving without common knowledge: game theory that knows no chess.

>>> import klss
>>> solution = klss.solve("kuhn_poker")
>>> round(18 * solution.value, 9), solution.exploitability < 1e-9
(-1.0, True)

Reading order:
- ``movers`` names of who acts; ``game`` a two-player zero-sum game as frozen flat arrays; ``openspiel`` OpenSpiel's
  games as such
- ``treeplex`` one player's sequences and strategies; ``sequence_form`` both players' and the payoffs A and B;
  ``equilibrium`` build, solve, read back
- ``_highs`` the solver; ``lexicographic`` the one optimum among many that every version of it agrees on
- ``best_response`` counterfactual best-response values, exploitability
- ``knowledge`` knowledge sets; ``subgame`` the gadgets of k-KLSS
- ``selection`` the choice among a gadget's optima; ``nested`` nested k-KLSS in three ways
- ``tables`` the paper's tables, one row at a time
- ``search`` the depth-limited, nested loop from a value function only
- ``networks`` inference; ``belief`` weights over large sets; ``synoptic`` planning over sets of states
- ``table`` what every game with hidden information is played on: limits, outcomes, ways out
- ``errors`` what is raised; ``support`` the plumbing

Everything but :func:`solve` is imported from the modules: this package imports little until it is called, so that the
command line starts at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from klss.errors import TooLargeError

if TYPE_CHECKING:
    from klss.equilibrium import Method, Solution
    from klss.game import Game

__all__ = ["MAX_NODES", "__version__", "solve"]

__version__ = "0.1.0"

MAX_NODES = 5_000_000
"""The largest tree of OpenSpiel's that is taken by default: minutes to build, and gigabytes."""


def solve(
    game: str | Game,
    *,
    max_nodes: int = MAX_NODES,
    memory_mb: int | None = None,
    method: Method = "auto",
) -> Solution:
    """An equilibrium of a two-player zero-sum game.

    Parameters
    ----------
    game : str or Game
        A game string of OpenSpiel (``klss[experiments]`` has it), or a :class:`klss.game.Game` of your own.
    max_nodes : int
        Give up on a larger tree of OpenSpiel's.
    memory_mb : int, optional
        Give up where this process would hold more megabytes. None: no limit.
    method : "auto" | "simplex" | "ipm"
        As of :func:`klss.equilibrium.solve`, which has more options.

    Returns
    -------
    Solution
        Value, both players' strategies (:meth:`~klss.equilibrium.Solution.strategy`), and the exploitability as
        recomputed by best responses.

    Raises
    ------
    GameError
        No such game, or one that is not of two players and zero-sum.
    TooLargeError
        More than ``max_nodes`` nodes or ``memory_mb``; raised as soon as that is certain.
    """
    from klss import equilibrium
    from klss.sequence_form import sequence_form

    most = None if memory_mb is None else 1_000_000 * memory_mb
    try:
        if isinstance(game, str):
            from klss.openspiel import load

            game = load(game, max_nodes=max_nodes, max_bytes=most, to_solve=True)
        return equilibrium.solve(sequence_form(game), method=method, max_bytes=most)
    except TooLargeError as error:
        raise error.renamed({"max_nodes": "max_nodes", "max_bytes": "memory_mb"}) from None
