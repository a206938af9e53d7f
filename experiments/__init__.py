"""Experiments: they measure the project as a whole, import all other packages, and are imported by none.

Reading order: ``series`` (matches that make one experiment), ``players`` (those that are in no installed package);
``convergence`` and ``openspiel_games`` (the search on OpenSpiel's games);
``paper_tables``, ``methods`` and ``openspiel_speed`` (the game theory); ``learning`` (shared by studies that learn);
``belief`` and ``weighting`` (learned beliefs); ``rbc_learn`` and ``rbc_lines`` (Reconnaissance Blind Chess);
``evaluation_positions`` and ``tune_evaluation`` (the built-in evaluation); ``openings`` (the opening book);
``report``, ``plots``, ``markdown`` and ``commands`` (README's tables and figures, and the commands).
"""
