"""The front door: the ``klss`` command, one file a command. Imports every package; nothing imports it.

Reading order: ``main`` the entry point, ``options`` the flags that commands share, ``signals`` what ends those that
serve, then the commands.
"""
