"""The analysis of games: one record a turn, a JSON document of what was possible for its player, what the engine plays,
and what the turn's moves cost. Commands, pages and files are made of these records.

Reading order: ``summaries`` (a turn's record, and a game in a few figures), ``turns`` (the records of any game),
``fog`` and ``rbc`` (what these games have of their own), ``one_turn`` (one turn of Fog of War in full), ``process`` (a
game's records from a process of its own).

It is on the referee's side: each side's engine gets this side's observations alone, and what the truth adds,
such as luck, comes afterwards.
"""
