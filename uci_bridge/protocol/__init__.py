"""The engine protocol, for any game.

Reading order: ``messages`` (what is said), ``diagnostics`` (what of an engine's words is kept), ``schema`` (JSON read
as a shape, or refused), ``shapes`` (what messages look like), ``wire`` (what a game adds), ``codec`` (how messages are
read and written); ``fog``, ``rbc`` and ``openspiel``, the games; ``engine`` (our players served on it) and ``serve``;
``engine_process`` and ``host`` (any program that speaks it, run and hosted as a player).
"""
