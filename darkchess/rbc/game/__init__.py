"""The rules, the referee, what players observe, records.

Reading order: ``rules``, ``own_half``, ``requests``, ``observation``, ``following``, ``referee``, ``contest``,
``history``.
"""
