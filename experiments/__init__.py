"""Experiments: what measures the project as a whole. Imports every other package and is imported by none.

Reading order: ``series`` (matches that make one experiment), ``players`` (those that come with no installed package);
``convergence`` and ``openspiel_games`` (the search on OpenSpiel's games);
``paper_tables``, ``methods`` and ``openspiel_speed`` (the game theory); ``learning`` (what studies that learn share);
``belief`` (what beliefs learn); ``rbc_learn``, ``rbc_weighting`` and ``rbc_lines`` (Reconnaissance Blind Chess);
``evaluation_positions`` and ``tune_evaluation`` (the built-in evaluation); ``openings`` (the opening book);
``report``, ``plots``, ``markdown`` and ``commands`` (what README says of it all).
"""
