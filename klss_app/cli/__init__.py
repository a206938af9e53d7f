"""The front door: the ``klss`` command, one file a command. Imports every package; nothing imports it.

Reading order: ``main`` the entry point, ``dispatch`` finds the command, ``games`` what ``--game`` takes, ``options``
the flags that commands share, ``own_name`` how hints name the command, ``errors`` what ends as one line, ``signals``
what ends those that serve.

Commands: ``play`` with ``terminal``, ``screen``, ``fog_screen``, ``openspiel_screen``, ``human``, ``review`` and
``saved_game``; ``board``; ``engine`` with ``serving``; ``bot``; ``match`` with ``match_report``; ``rbc`` holds what
Reconnaissance Blind Chess has in its own way; ``track``; ``analyse`` with ``openspiel_analyse``, ``analyse_game``,
``analyse_report``, ``analysis_file`` and ``board_plot``; ``solve``, ``exploit`` and ``tables`` with ``openspiel``;
``bench``.
"""
