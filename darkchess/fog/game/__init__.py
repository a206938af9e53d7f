"""The game.

Reading order: ``rules``, ``view`` (what a player sees), ``referee`` (the true game), ``san``, ``record`` (PGN),
``archive`` (files of games), ``contest`` (what players and their hosts give each other), ``render`` (boards as text).
"""
