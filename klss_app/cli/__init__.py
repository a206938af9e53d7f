"""The front door: the ``klss`` command, one file a command. Imports every package; nothing imports it.

Reading order: ``main`` the entry point, which finds the command; ``game_option`` what ``--game`` takes; ``options`` the
flags that commands share; ``errors`` what ends as one line.

Commands: ``play`` with ``terminal``, ``screen``, ``human`` and ``saved_game``; ``board``; ``engine``; ``bot``;
``match``; ``track``; ``games``; ``analyse`` with ``analysed_games``; ``puzzles``; ``openings``; ``solve``, ``exploit``
and ``tables`` with ``openspiel``; ``bench``; ``about``.
"""
