"""Games between two players, many of them.

Reading order: ``openings``, ``task`` (a game to be played), ``engines`` (both sides' processes, behind the wall;
players that a caller brings), ``game`` (one game), ``files`` (the directory, for resuming), ``pool`` and ``workers``
(processes that play), ``statistics``, ``report`` and ``documents`` (results), ``match`` (the whole).
"""
