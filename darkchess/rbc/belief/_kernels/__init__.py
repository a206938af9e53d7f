"""The position set of Reconnaissance Blind Chess, compiled.

Reading order: ``position_set``, ``senses``, ``kinds``, ``features`` (what learned weights know of a member).
"""
