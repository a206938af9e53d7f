"""Players for experiments only; none is in the installed packages, and no command of klss takes one.

Reading order: ``specs`` (their texts, as series take them: ``python -m experiments.series head_to_head --players
kluss-oracle,prior=0.4 kluss-value``), ``makers`` (their common part), ``cheat`` (Stockfish on the true position),
``oracle`` (kluss with the true position among its roots), ``contrary`` (moves that a learned belief does not expect).
"""
