"""Expanders: how a trunk grows.

Reading order: ``support`` (the paper's: driven by supports), ``one_sided`` (growing-tree walks), ``deepening`` (one ply
of imperfect information, the baseline's).
"""
