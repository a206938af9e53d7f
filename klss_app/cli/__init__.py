"""The front door: the ``klss`` command, one file a command. Imports every package; nothing imports it.

Reading order: ``main`` the entry point, which finds the command; ``games`` what ``--game`` takes; ``options`` the flags
that commands share; ``errors`` what ends as one line.

Commands: ``play`` with ``terminal``, ``screen``, ``human`` and ``saved_game``; ``board``; ``engine``
with ``serving``; ``bot``; ``match``; ``solve``, ``exploit`` and ``tables`` with ``openspiel``; ``bench``. What a game
has in its own way is in ``fog`` and ``rbc``.
"""
