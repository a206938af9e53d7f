"""The engine protocol: ``messages`` (what is said), ``diagnostics`` (what of an engine's words is kept), ``shapes``
(what messages look like), ``fitting`` (JSON read as a shape, or refused), ``codec`` (how messages are read and
written); ``engine`` (our player served on it), ``engine_process`` and ``host`` (any program that speaks it, run and
hosted as a player).
"""
