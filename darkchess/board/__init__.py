"""The board that any chess game plays on: FEN, moves, positions, move generation. Knows nothing of fog. And what
a set of positions stands on that share one side's men: sixteen bytes each, a table of them, its step across a move.

Reading order: ``kernels`` (rows, tables, attacks, moves: what other packages' kernels may inline), ``fen``, ``move``,
``position``; ``position_table``, ``position_step``.
"""
