"""Weights of possible positions in both games: ``python -m experiments.weighting``, docs/dsmcp.md.

Reading order: ``blind`` and ``fog`` (a game's decisions, from the eyes of each side), ``data`` (writes them),
``decisions`` (reads and joins them), ``networks`` and ``training`` (the network in training).
"""
