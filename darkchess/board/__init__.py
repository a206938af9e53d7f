"""The board that any chess game plays on: FEN, moves, positions, move generation. Knows nothing of fog. Also what sets
of positions that share one side's half stand on: sixteen bytes each, a table of them, its step across a move.

Reading order: ``kernels`` (rows, tables, attacks, moves: what other packages' kernels may inline), ``fen``, ``move``,
``position``, ``true_game`` (what the referees share); ``position_table``, ``position_step``, ``position_store`` (what
the position sets of all games share).
"""
