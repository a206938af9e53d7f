"""The positions that a player can't rule out, and how likely each of them is.

Reading order: ``view_masks`` (what a view says of the enemy), ``weighed_positions`` (positions looked up and drawn),
``position_set`` (the update, view by view); ``marginals``; ``policy`` (how players move), ``filter``
(the weights under that policy), ``tower`` (what was learned of its errors).
"""
