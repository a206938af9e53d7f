"""The game.

Reading order: ``rules``, ``view`` (what a player sees), ``referee`` (the true game), ``san``, ``record`` (PGN),
``archive`` (files of games), ``contest`` (the interface of players and their hosts), ``render`` (boards as text).
"""
