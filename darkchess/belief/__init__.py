"""What a player holds possible: ``position_table``, ``enemy_moves``, ``position_set``, ``marginals``, ``belief_board``."""
