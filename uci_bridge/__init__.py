"""Processes and protocols around the player.

Rooms: ``stockfish`` (an evaluator over UCI), ``protocol`` (the engine protocol, served and hosted), ``bot`` (an account
on a lichess-style server), ``match`` (games between two players, many of them), ``reconchess`` (our players in its
games, its bots in ours). Everybody's: ``errors``, ``lines``, ``engine_environment`` (what engine processes get of
ours), ``pipes`` (what they say and are sent), ``child_processes`` (what they leave behind), ``guarded_process``
(engines that end with us), ``evaluators`` (the one that a configuration names), ``commands`` and ``own_program`` (how
programs are called), ``kits`` (the games), ``players`` (a text made into a player).

Import from the modules.
"""
