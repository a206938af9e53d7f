"""Experiments: what measures the project as a whole. Imports every other package and is imported by none.

Reading order:

- ``match`` games between two players, one line of JSON a game; its parts: ``match_game``, ``match_engines``,
  ``match_workers``, ``openings``, ``match_files``, ``match_statistics``, ``match_report``
- ``cheat`` Stockfish on the referee's side, for reference
- ``bench`` how fast the engine is, and one signature of what it does
- ``evaluation_positions``, ``tune_evaluation`` what the built-in evaluation is fitted to, and the fit
"""
