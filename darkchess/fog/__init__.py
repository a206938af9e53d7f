"""Fog of War chess (dark chess): rules, views, and an engine for it.

Reading order, in which each package imports only those before it: ``game`` (rules, views, the referee, records),
``belief`` (the positions that a player can't rule out), ``players`` (the search and other players), ``analysis`` (what
a player could have known). ``warm_up``, above them, is for hosts of games: it loads compiled code before a clock runs.
"""
