"""Players for experiments alone; none comes with the installed packages, and no front door takes one.

``specs`` their texts, as series take them (``python -m experiments.head_to_head --players kluss-oracle,prior=0.4
kluss-value``); ``cheat`` Stockfish on the true position; ``oracle`` ``kluss`` with the true position among its roots,
``likelihood`` how it weighs them; ``contrary`` ``kluss`` that moves as a learned belief does not expect; ``makers``
what they have in common.
"""
