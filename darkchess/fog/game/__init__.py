"""The game.

Reading order: ``rules``, ``view`` (what a player sees), ``referee`` (the true game), ``san``, ``record`` (PGN),
``contest`` (what players and their hosts say to each other), ``arbiter`` (two players, one game), ``render`` (boards as
text).
"""
