"""Weights of positions in Reconnaissance Blind Chess: ``python -m experiments.rbc_weighting``, docs/rbc-weighting.md.

Reading order: ``data`` (decisions played and written), ``decisions`` (read and joined), ``networks`` and ``training``
(what learns, and how).
"""
