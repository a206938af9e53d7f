"""Weights of positions in Reconnaissance Blind Chess: ``python -m experiments.rbc_weighting``, docs/rbc-weighting.md.

Reading order: ``data`` (plays and writes decisions), ``decisions`` (reads and joins them), ``networks`` and
``training`` (the network in training).
"""
