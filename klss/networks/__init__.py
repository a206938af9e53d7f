"""Inference of neural networks on one processor, in numpy and numba; no training, and independent of a game.

Reading order: ``weights`` (arrays checked and written), ``towers`` (one observation against many states: a belief),
``residual`` (planes to a policy and a value: planning).
"""
