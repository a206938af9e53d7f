"""Games between two players, many of them.

Reading order: ``openings``, ``task`` (a game to be played), ``engines`` (both sides' processes, behind the wall;
players that a caller brings), ``game`` (one game), ``files`` (what is kept, and resumed), ``pool`` and ``workers``
(processes that play), ``statistics``, ``report`` and ``documents`` (what results say), ``match`` (what
holds it together).
"""
