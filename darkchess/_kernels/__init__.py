"""Compiled kernels of dark chess: arrays in, arrays or a code out; no exceptions, no Python objects.

Reading order: ``bits`` (popcount, scans), ``tables`` (attack tables, passed as an argument everywhere), ``board`` (the
row that a position is), ``attacks``, ``moves`` (generate and make), ``vision`` (what a player sees, as a mask and as a
key), then ``position_set``; ``features``, ``network`` and ``evaluation``, ``minimax`` (perfect-information search);
``orthodox`` (what a chess engine may be asked).
"""
