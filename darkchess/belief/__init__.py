"""What a player holds possible.

Reading order: ``position_table``, ``enemy_moves``, ``position_set``; ``marginals``, ``belief_board``; ``siamese``.
"""
