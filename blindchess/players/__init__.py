"""Players of Reconnaissance Blind Chess, and their configurations.

Reading order: ``scripted``, ``expectation``, ``configuration``.
"""
