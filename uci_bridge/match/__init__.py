"""Games between two players, many of them.

Reading order: ``openings``, ``task`` (what the machinery knows of a game), ``lines`` and ``files`` (what is kept, and
resumed), ``pool`` and ``workers`` (who plays), ``statistics``, ``report``, ``standing`` and ``documents`` (what results
say), ``any_match`` (what holds it together); then the games: of Fog of War ``engines`` (both sides' processes, behind
the wall; players that a caller brings), ``game`` (one game) and ``match``; ``blind``, those of Reconnaissance Blind
Chess.
"""
