"""Networks that plan Fog of War on synopses: ``python -m experiments.dark_learn``.

Shards, learner and trainer are :mod:`experiments.rbc_learn`'s: synopses and actions have the same numbers.
"""
