"""Expanders: how a trunk grows.

Reading order: ``support`` (the paper's: driven by supports), ``one_sided`` (growing-tree walks), ``deepening`` (the
baseline's: one ply of imperfect information).
"""
