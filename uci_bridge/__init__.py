"""Processes and protocols around the player.

Rooms: ``stockfish`` (an evaluator over UCI), ``protocol`` (the engine protocol, served and hosted), ``bot`` (an
account on a lichess-style server), ``match`` (many games between two players), ``reconchess`` (our players in its
games, its bots in ours). Shared modules: ``errors``, ``lines``, ``engine_environment`` (the variables that engines
get), ``pipes`` (their input and output), ``child_processes`` (ends the processes that they leave behind),
``guarded_process`` (engines that end with us), ``evaluators`` (the evaluator of a configuration), ``commands`` and
``own_program`` (command lines), ``kits`` (the games), ``players`` (players from texts).

Import from the modules.
"""
