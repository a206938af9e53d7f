"""Players for experiments alone; none comes with the installed packages, and no front door takes one.

Reading order: ``specs`` (their texts, as series take them: ``python -m experiments.series head_to_head --players
kluss-oracle,prior=0.4 kluss-value``), ``makers`` (what they have in common), ``cheat`` (Stockfish on the true
position), ``oracle`` (kluss with the true position among its roots), ``contrary`` (moves as a
learned belief does not expect).
"""
