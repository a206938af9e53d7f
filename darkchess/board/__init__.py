"""The board that any chess game plays on: FEN, moves, positions, move generation. Knows nothing of fog.

Reading order: ``kernels`` (rows, tables, attacks, moves: what other packages' kernels may inline), ``fen``, ``move``,
``position``.
"""
