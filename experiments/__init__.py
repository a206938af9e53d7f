"""Experiments: what measures the project as a whole. Imports every other package and is imported by none.

Reading order: ``series`` (matches that make one experiment), with ``head_to_head``, ``opponents``, ``ablations``,
``parts``, ``doublings``, ``headroom`` and ``clock_games``; ``players`` (those that come with no installed package);
``games`` and ``first_moves`` (looks into games); ``convergence`` and ``openspiel_games`` (the search on OpenSpiel's
games); ``paper_tables`` and ``openspiel_speed`` (the game theory); ``belief`` (what beliefs learn); ``rbc_games``,
``rbc_planning``, ``rbc_learn`` and ``rbc_weighting`` (Reconnaissance Blind Chess); ``evaluation_positions``,
``tune_evaluation`` and ``evaluation_in_games`` (the built-in evaluation); ``streamed_update`` (position sets of 10⁸)
and ``first_paint`` (the page); ``report``, ``plots``, ``markdown`` and ``commands`` (what README says of it all).
"""
