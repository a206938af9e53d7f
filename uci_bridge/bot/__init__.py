"""A bot account on a lichess-style server.

Reading order: ``config``; ``dialect``, ``pychess_page`` and ``lichess`` (what a server says, checked; a client of it);
``true_game`` (on the far side of the wall); ``stream``, ``game``, ``seat``, ``engine``, ``record``, ``log`` (one game
from stream to engine, and what is kept of it); ``own_process`` (what engines can't learn from us); ``account`` (what
holds it together).
"""
