"""General helpers for every package, independent of games and of chess.

Reading order:
- ``arrays`` names of dtypes; ``hashing`` the mixer of hashes that kernels share
- ``kernel`` the decorator of every compiled function; ``kernel_cache`` the folders of compiled code
- ``archive`` files of arrays; ``inference`` networks in .onnx files; ``whole_file`` files that are written completely
  or not at all; ``file_lock`` files that only one process opens
- ``text`` untrusted text, read and shown; ``configuration_text`` those that choose a player's options; ``seeds``
  derived one-way
- ``drawing`` states drawn by weight; ``greatest`` the largest of many numbers
- ``memory`` used and available memory; ``threads`` work for several of them; ``signals`` those that ask for an end
"""
