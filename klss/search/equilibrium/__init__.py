"""Solvers: how both players' plans on a trunk are improved.

Reading order: ``linear_program`` on ``program`` (exact, after every growth); ``pcfr`` (regrets, a few iterations after
every growth) with ``reduction`` (infosets decided already) and ``restricted`` (double oracle at the end).
"""
