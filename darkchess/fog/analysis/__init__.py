"""What a player could know, and how a game looks beside it.

Reading order: ``principal_lines``, ``believed`` (a belief in words), ``analyst``; ``whole_game`` and ``once_over`` hold
it against the truth; ``puzzles`` finds turns at which one move is right.
"""
