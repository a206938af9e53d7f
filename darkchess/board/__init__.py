"""The board of any chess game (FEN, moves, positions, move generation), without fog; and the base of position sets, in
which all positions share one side's half: sixteen bytes a position, a hash table, the step across an enemy move.

Reading order: ``kernels`` (rows, tables, attacks, moves, which other packages' kernels may inline), ``fen``, ``move``,
``position``, ``true_game`` (shared by the referees); ``position_table``, ``position_step``, ``position_repair``,
``position_store`` (shared by the position sets of all games).
"""
