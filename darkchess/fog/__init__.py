"""Fog of War chess (dark chess): rules, views, and an engine for it.

Rooms, in the way of the data; each imports only those before it: ``game`` (rules, views, the referee, records),
``belief`` (everything that a player holds possible), ``players`` (the search and other players), ``analysis`` (what a
player could have known). ``warm_up``, on top, is for hosts of games: compiled code loaded before a clock runs.
"""
