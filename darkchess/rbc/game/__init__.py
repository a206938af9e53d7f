"""The rules, the referee, the players' observations, records.

Reading order: ``rules``, ``own_half``, ``requests``, ``observation``, ``following``, ``referee``, ``contest``,
``history``.
"""
