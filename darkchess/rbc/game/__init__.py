"""The rules, the referee, what players are told, records.

Reading order: ``rules``, ``requests``, ``own_half``, ``observation``, ``following``, ``referee``, ``contest``,
``arbiter``, ``history``.
"""
