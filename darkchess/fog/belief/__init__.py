"""What a player holds possible, and how likely.

Reading order: ``position_set``; ``marginals``, ``belief_board``; ``policy`` (how players move), ``filter`` (weights by
it), ``siamese`` (weights by a network), ``weights`` (either or both).
"""
