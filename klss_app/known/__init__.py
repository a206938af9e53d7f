"""What one player knows of a game, and says: one class a game, for the terminal and the browser alike.

Reading order: ``known`` any game as text, and games on a chessboard; ``fog``; ``rbc``.

The wall: everything here is on the player's side, a function of one player's observations alone.
"""
