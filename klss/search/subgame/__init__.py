"""How the next move's subgame is built from what is left of the last one and what player 0 has seen since.

Reading order: ``sections`` (what is left at player 0's infoset), ``carrying`` (from the previous trunk to the next),
``order_one`` (1-KLSS), ``order_two`` (2-KLUSS).
"""
