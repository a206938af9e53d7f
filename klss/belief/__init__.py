"""Learned beliefs over the states of an exact set: drawing and selecting states by weight.

Reading order: ``drawing`` (states drawn by weight), ``greatest`` (the largest of many numbers). The weights come from
the game.
"""
