"""A bot account on a lichess-style server.

Reading order: ``config``; ``dialect`` and ``lichess`` (the checked messages of a server, and a client); ``true_game``
(on the far side of the wall); ``stream``, ``game``, ``engine``, ``record`` (one game from stream to engine, its
record); ``account`` (the whole bot).
"""
