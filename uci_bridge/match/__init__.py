"""Games between two players, many of them.

Reading order: ``openings``, ``task`` (what the machinery knows of a game), ``lines`` and ``files`` (what is kept, and
resumed), ``pool`` and ``workers`` (who plays), ``statistics``, ``report``, ``standing`` and ``documents`` (what results
say), ``any_match`` (what holds it together). Then the games. Fog of War: ``guarded`` and ``engines`` (both sides'
processes, behind the wall), ``cheat`` (an upper bound that sees all), ``oracle`` (``kluss`` with the true position
among its roots), ``game`` (one game), ``match``. ``blind``: Reconnaissance Blind Chess.
"""
