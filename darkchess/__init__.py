"""Fog of War chess: rules, views, the exact position set, and a player. Knows no process and no network.

Reading order:

- ``move``, ``position``, ``view``, ``rules`` the vocabulary and the rulesets
- ``referee`` the true game: applies moves, gives each player her view, declares the result
- ``position_set`` every position that agrees with a player's views
- ``evaluation`` the evaluator protocol and the built-in evaluator
- ``model`` the game as ``klss.search`` sees it; ``player`` a player; ``configuration`` the named configurations
- ``record``, ``render`` games as PGN, boards as text
- ``_kernels`` the compiled functions beneath

Import from the modules: this package imports nothing, so that the command line starts at once.
"""
