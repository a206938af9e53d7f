"""The rules, the referee, what players observe, records.

Reading order: ``rules``, ``requests``, ``own_half``, ``observation``, ``following``, ``referee``, ``contest``,
``history``.
"""
