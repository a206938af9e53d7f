"""Experiments: what measures the project as a whole. Imports every other package and is imported by none.

Reading order:

- ``match`` games between two players, one line of JSON a game; its parts: ``match_game``, ``match_engines``,
  ``match_workers``, ``openings``, ``match_files``, ``match_statistics``, ``match_report``
- ``series`` matches that make one experiment, and ``series_summary`` what they have shown; ``head_to_head``,
  ``opponents``, ``ablations``, ``parts``, ``doublings``, ``headroom`` are series; ``games`` and ``first_moves`` look
  into games
- ``convergence`` how exploitable the searches' play is on small games
- ``report`` and ``plots`` render README's tables and the plots from the results
- ``players`` those that come with no installed package: two see the true game, one plays against a learned belief
- ``bench`` how fast the engine is, and one signature of what it does
- ``evaluation_positions``, ``tune_evaluation``, ``evaluation_in_games`` what the built-in evaluation is fitted to, the
  fit, and what its terms buy
- ``streamed_update`` position sets of 10⁸; ``clock_games`` a look at games by the clock
"""
