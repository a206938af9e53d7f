"""Games between two players, many of them.

Reading order: ``openings``, ``engines`` (both sides' processes, behind the wall), ``cheat`` (an upper bound that sees
all), ``oracle`` (``kluss`` with the true position among its roots), ``game`` (one game), ``files`` (what is kept, and
resumed), ``pool`` and ``workers`` (who plays), ``statistics``, ``report`` and ``documents`` (what results say of
themselves), ``match`` (what holds it together).
"""
