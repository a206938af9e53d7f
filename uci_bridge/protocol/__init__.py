"""The engine protocol, for any game.

Reading order: :mod:`klss.play.messages` and :mod:`klss.play.wire` (the messages, and the part of each game in them),
``codec`` (reads and writes messages, and keeps a part of an engine's report); ``shapes`` (chess in them), ``fog`` and
``rbc``; ``engine`` (serves our players); ``engine_process`` and ``host`` (run any program that speaks the protocol, as
a player).
"""
