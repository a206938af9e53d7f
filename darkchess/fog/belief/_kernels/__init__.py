"""The position set and its weights, compiled.

Reading order: ``position_set``, ``policy``, ``filter``.
"""
