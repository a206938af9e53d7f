"""What a player holds possible, and how likely.

Reading order: ``view_masks`` (what a view says of the enemy), ``weighed_positions`` (positions looked up and drawn),
``position_set`` (the update, view by view); ``marginals``, ``belief_board``; ``policy`` (how players move), ``filter``
(weights by it), ``weights`` (which of them a player asks for).
"""
