"""The engine protocol, for any game.

Reading order: ``messages`` (their content), ``diagnostics`` (the part of an engine's report that is kept), ``shapes``
(the fields of messages), ``wire`` (the part of each game), ``codec`` (reads and writes messages); ``fog``, ``rbc`` and
``openspiel``, the games; ``engine`` (serves our players); ``engine_process`` and ``host`` (run any program that speaks
the protocol, as a player).
"""
