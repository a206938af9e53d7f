"""Games between two players, many of them.

Reading order: ``openings``, ``game`` (one game, and both sides' processes, behind the wall), ``files`` (the directory,
for resuming), ``workers`` (threads that play), ``statistics`` and ``documents`` (results), ``match`` (the whole).
"""
