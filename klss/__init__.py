"""Subgame solving without common knowledge: game theory that knows no chess.

Reading order:

- ``game`` a two-player zero-sum game as frozen flat arrays; ``openspiel`` OpenSpiel's games as such
- ``sequence_form`` one player's treeplex and the payoffs A and B; ``equilibrium`` build, solve, read back
- ``_highs`` the solver
- ``best_response`` counterfactual best-response values, exploitability
- ``knowledge`` knowledge sets; ``subgame`` the gadgets of k-KLSS
- ``selection`` the choice among a gadget's optima; ``nested`` nested k-KLSS in three ways
- ``tables`` the paper's tables, one row at a time
- ``search`` the depth-limited, nested loop from a value function only
- ``text`` other people's text, read and shown; ``seeds`` one-way derived
- ``kernel`` the decorator of every compiled function; ``kernel_cache`` where its work is kept
- ``cli`` the command line, which composes everything

Import from the modules: this package imports nothing, so that the command line starts at once.
"""

__version__ = "0.1.0"
