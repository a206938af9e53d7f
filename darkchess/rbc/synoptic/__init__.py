"""Sets of positions as a network sees them: summaries of a fixed size; and sure wins.

Reading order: ``synopsis``, ``worlds`` (the game as :mod:`klss.synoptic` sees it), ``networks``; sure wins are in
``_kernels.forced``.
"""
