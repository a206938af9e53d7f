"""Weights of positions in Reconnaissance Blind Chess: ``python -m experiments.rbc_weighting``, docs/rbc-weighting.md.

Reading order: ``data`` (decisions played and written), ``networks`` and
``training`` (what learns, and how), ``learning`` (the arms), ``ranking`` (measures), ``games``.
"""
