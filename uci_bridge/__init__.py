"""Processes and protocols around the player.

Reading order:

- ``errors`` one base, few leaves
- ``uci`` questions to UCI engines over raw pipes: pipelined, timed, restarted
- ``stockfish`` Stockfish as an evaluator, over UCI
- ``players`` a configuration made into a player, with the evaluator that it names

Import from the modules.
"""
