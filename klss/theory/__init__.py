"""Two-player zero-sum games as flat arrays, and their equilibria.

Reading order:
- ``movers`` names of the movers; ``game`` a game as frozen flat arrays
- ``treeplex`` one player's sequences and strategies; ``sequence_form`` both players' and the payoffs A and B;
  ``equilibrium`` build, solve, read back; ``highs`` the solver, and the optimum that is the same for every
  version of it
- ``folding`` makes symmetric games smaller, and those with some behaviour given
- ``exact`` equilibria in fractions, by ``rational`` programs, with a ``certificate``
- ``first_order`` equilibria by regret minimisation
- ``implicit`` games that are too large to list
- ``policies`` strategies by names, in files, and best responses to them; ``html`` a solution in a notebook
- ``best_response`` counterfactual best-response values, exploitability
"""
