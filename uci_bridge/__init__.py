"""Processes and protocols around the player.

Reading order:

- ``stockfish`` Stockfish as an evaluator, over UCI

Import from the modules.
"""
