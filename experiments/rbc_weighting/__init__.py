"""Weights of positions in Reconnaissance Blind Chess: ``python -m experiments.rbc_weighting``, docs/rbc-weighting.md.

``data`` plays and writes decisions, ``learning`` trains, ``ranking`` measures.
"""
