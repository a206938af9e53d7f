"""Plumbing that every package uses and that knows neither games nor chess.

Reading order:
- ``arrays`` names of dtypes; ``hashing`` the mixer of hashes that kernels share
- ``kernel`` the decorator of every compiled function; ``kernel_cache`` where its work is kept
- ``archive`` files of arrays, read and written; ``whole_file`` and ``file_lock`` files that are written whole, or that
  one process holds
- ``text`` other people's text, read and shown; ``configurations`` texts that choose a player's options; ``seeds``
  derived one-way
- ``memory`` what is left of it; ``threads`` a second thread that is there when there is work
"""
