"""Players of Reconnaissance Blind Chess, and their configurations.

Reading order: ``holding`` (base of players with a position set), ``scripted``, ``outlook`` (values of requests),
``expectation``, ``siamese``, ``dsmcp``, ``named_rbc_players``.
"""
