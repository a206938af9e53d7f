"""What a player holds possible.

Reading order: ``position_set``; ``marginals``, ``belief_board``; ``siamese``.
"""
