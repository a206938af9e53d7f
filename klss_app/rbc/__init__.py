"""What the commands of Reconnaissance Blind Chess run: the terminal game, and measurements.

Reading order: ``screen`` (the game in the terminal) with ``human``, ``spoken`` (requests as people type them) and
``review``; ``boards`` (a set of positions by reconchess's functions), ``verify``, ``bench``;
``expectation_thoughts`` and ``synoptic_thoughts`` (what players think at one turn).
"""
