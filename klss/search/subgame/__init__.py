"""Builders: the next move's subgame from the rest of the last one and player 0's observations since.

Reading order: ``sections`` (the rest of the trunk at player 0's infoset), ``carrying`` (from the previous trunk to the
next), ``order_one`` (1-KLSS), ``order_two`` (2-KLUSS).
"""
