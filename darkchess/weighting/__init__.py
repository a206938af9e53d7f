"""Learned weights of possible positions, for both games: a network reads what a player was told, and corrects the
weights of a filter.

Reading order: ``enemy_features`` (what a member of a position set is made of), ``network`` (what the network reads,
and the scores of members).

What each game tells the network is in its own module ``belief.tower``.
"""
