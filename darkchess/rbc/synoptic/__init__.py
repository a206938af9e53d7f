"""Sets of positions as a network sees them: summaries of a fixed size; and sure wins.

Reading order: ``synopsis``, ``forced`` (sure wins), ``worlds`` (the game as :mod:`klss.synoptic` sees it),
``networks``.
"""
