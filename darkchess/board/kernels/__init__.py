"""Compiled move generation, from arrays to arrays or codes; public, since the kernels of both games inline it.

Reading order: ``bits``, ``board`` (the row of a position), ``tables``, ``attacks``, ``moves``, ``orthodox`` (which
positions a chess engine accepts); ``halves``, ``position_table``, ``enemy_moves`` (shared by position sets).
"""
