"""Players of Reconnaissance Blind Chess, and their configurations.

Reading order: ``holding`` (common to players with a position set), ``scripted``, ``outlook`` (what requests are worth),
``expectation``, ``dsmcp``, ``configuration``.
"""
