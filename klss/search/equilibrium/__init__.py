"""Solvers: they improve both players' plans on a trunk.

Reading order: ``linear_program`` on ``program`` (exact, after every growth) with ``reduction`` (takes out decided
infosets); ``pcfr`` (regrets, a few iterations after every growth) with ``restricted`` (double oracle at the end).
"""
