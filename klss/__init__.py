"""Subgame solving without common knowledge: game theory that knows no chess.

>>> import klss
>>> solution = klss.solve("kuhn_poker")
>>> round(18 * solution.value, 9), solution.exploitability < 1e-9
(-1.0, True)

Reading order:

- ``arrays`` and ``movers`` names of dtypes and of who acts; ``game`` a two-player zero-sum game as frozen flat arrays;
  ``openspiel`` OpenSpiel's games as such
- ``treeplex`` one player's sequences and strategies; ``sequence_form`` both players' and the payoffs A and B;
  ``equilibrium`` build, solve, read back
- ``_highs`` the solver; ``lexicographic`` the one optimum among many that every version of it agrees on
- ``best_response`` counterfactual best-response values, exploitability
- ``knowledge`` knowledge sets; ``subgame`` the gadgets of k-KLSS
- ``selection`` the choice among a gadget's optima; ``nested`` nested k-KLSS in three ways
- ``tables`` the paper's tables, one row at a time
- ``search`` the depth-limited, nested loop from a value function only
- ``text`` other people's text, read and shown; ``memory`` what is left; ``seeds`` one-way derived;
  ``file_lock`` and ``whole_file`` files that one process holds, or that are written whole
- ``kernel`` the decorator of every compiled function; ``kernel_cache`` where its work is kept; ``hashing`` the mixer of
  hashes that kernels share

Everything but :func:`solve` is imported from the modules: this package imports nothing until it is called, so that the
command line starts at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from klss.equilibrium import Solution
    from klss.game import Game

__all__ = ["__version__", "solve"]

__version__ = "0.1.0"


def solve(game: str | Game, **options: Any) -> Solution:
    """An equilibrium of a two-player zero-sum game.

    Parameters
    ----------
    game : str or Game
        A game string of OpenSpiel (``klss[experiments]`` has it), or a :class:`klss.game.Game` of your own.
    options
        As of :func:`klss.equilibrium.solve`.

    Returns
    -------
    Solution
        Value, both players' realization plans, and the exploitability as recomputed by best responses.

    Raises
    ------
    GameError
        No such game, or one that is not of two players and zero-sum; TooLargeError where its tree is too large.
    """
    from klss import equilibrium
    from klss.sequence_form import sequence_form

    if isinstance(game, str):
        from klss.openspiel import load

        game = load(game)
    return equilibrium.solve(sequence_form(game), **options)
