"""Compiled move generation, arrays in and arrays or a code out; public, since other games' kernels inline it.

Reading order: ``bits``, ``board`` (the row that a position is), ``tables``, ``attacks``, ``moves``, ``orthodox`` (what
chess has of it); ``halves``, ``position_table``, ``enemy_moves`` (what position sets share).
"""
