"""Processes and protocols around the player.

Rooms: ``stockfish`` (an evaluator over UCI), ``protocol`` (the engine protocol, served and hosted), ``bot`` (an
account on a lichess-style server), ``match`` (many games between two players), ``reconchess`` (our players in its
games, its bots in ours). Shared modules: ``errors``, ``child_processes`` (what processes get, and how they end),
``evaluators`` (the evaluator of a configuration), ``commands`` (texts that name programs), ``kits`` (the games),
``players`` (players from texts).

Import from the modules.
"""
