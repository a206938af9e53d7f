"""Analysis of what a player could know, and of games in its light.

Reading order: ``principal_lines``, ``analyst``; ``because`` finds what punishes a move; ``once_over`` compares with the
truth; ``puzzles`` finds turns at which exactly one move is right.
"""
