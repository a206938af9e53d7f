"""The engine protocol.

Reading order: ``messages`` (what is said), ``diagnostics`` (what of an engine's words is kept), ``shapes`` (what
messages look like), ``fitting`` (JSON read as a shape, or refused), ``common`` and ``codec`` (how messages are read and
written); ``served`` and ``engine`` (our player served on it); ``engine_process``, ``conversation`` and ``host`` (any
program that speaks it, run and hosted as a player). ``blind``: the same of Reconnaissance Blind Chess.
"""
